"""Transmitted values against the rows of „Kernwerte & Fristen“: same quantity, same month, equal or not. No model."""

import re
from collections.abc import Iterable, Sequence
from datetime import date

from custom_postprocessors.evidence import Fact, GroundedContext, TextAnalyzer
from custom_postprocessors.values import FoundValue, find_values
from pipelines.contracts import PlausibilityCheck
from pipelines.review_context import ReceivedValue
from pipelines.vocabulary import fold

_YEAR = re.compile(r"(?:19|20)\d\d")
_TELLING = re.compile(
    r"monat|jahr|tag|woch|stund|quartal|mindest|hochst|dienstnehmer|dienstgeber|brutto|netto|ohne|nicht|max|min"
)
_AMBIGUOUS = re.compile(r"-?\d{1,3}\.\d{3}")
"""1.234 is a thousand to a German reader and one to a program."""


def compared(
    received: Iterable[ReceivedValue], context: GroundedContext, analyzer: TextAnalyzer, as_of: str
) -> tuple[PlausibilityCheck, ...]:
    """One check for every received value.

    OK and WARN rest on exactly one value of the month `as_of` (`YYYY-MM`) for the same quantity, and quote its row. OFFEN:
    the context has no such fact, or several that differ, or one whose validity or value is not read.
    """
    return tuple(_check(value, context, analyzer, date.fromisoformat(f"{as_of}-01")) for value in received)


def same_number(received: str, expected: FoundValue) -> bool | None:
    """Whether a received value is the expected one; None when that cannot be said (other unit, several, none, ambiguous)."""
    found = find_values(received)
    if len(found) != 1 or found[0].number is None or expected.number is None or _AMBIGUOUS.fullmatch(received.strip()):
        return None
    only = found[0]
    # A bare number has no unit of its own: programs send 551.10 for 551,10 €.
    bare = only.kind == "count" and not only.unit
    if not bare and (only.kind != expected.kind or only.unit != expected.unit):
        return None
    return only.number == expected.number


def _check(value: ReceivedValue, context: GroundedContext, analyzer: TextAnalyzer, month: date) -> PlausibilityCheck:
    facts = [fact for fact in context.facts if _is_same_quantity(value, fact, analyzer) and fact.validity.covers(month)]
    read = [(fact, only) for fact in facts if (only := _only_value(fact.value)) is not None]
    open_check = PlausibilityCheck(item=value.key, result="OFFEN", received=value.value)
    if not read or len(read) < len(facts) or len({(only.kind, only.normalized) for _, only in read}) > 1:
        return open_check
    fact, expected = read[0]
    equal = same_number(value.value, expected)
    if equal is None:
        return open_check
    return PlausibilityCheck(
        item=value.key,
        result="OK" if equal else "WARN",
        expected=fact.value,
        received=value.value,
        entry_id=fact.entry_id,
        section=fact.section,
        quote=_row(fact, context),
    )


def _only_value(text: str) -> FoundValue | None:
    found = [value for value in find_values(text) if value.kind in ("amount", "rate", "period", "count")]
    return found[0] if len(found) == 1 else None


def _is_same_quantity(value: ReceivedValue, fact: Fact, analyzer: TextAnalyzer) -> bool:
    """Whether the key, made clear by its note, says what the row's quantity says: no word more, none less."""
    key = _terms(re.sub(r"[_.\-]+", " ", value.key), analyzer)
    quantity = _terms(fact.quantity, analyzer)
    return bool(key) and key <= quantity <= key | _terms(value.note, analyzer)


def _terms(text: str, analyzer: TextAnalyzer) -> frozenset[str]:
    folded = fold(_YEAR.sub(" ", text))
    # Search passes over these words; here a month's value is not a year's.
    return frozenset((*analyzer.tokens(folded), *(f"{part}*" for part in _TELLING.findall(folded))))


def _row(fact: Fact, context: GroundedContext) -> str | None:
    texts: Sequence[str] = [passage.text for passage in context.passages if passage.node_id == fact.node_id]
    return texts[0][fact.start : fact.end] if texts else None
