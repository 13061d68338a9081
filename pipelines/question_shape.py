"""What a question asks for: which kinds of value, which years, which numbers of the case. Rules on folded text, no model."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from custom_postprocessors.evidence import Claim, ValueKind
from custom_postprocessors.found import FoundValue
from custom_postprocessors.values import find_values
from pipelines.rule_text import fold, rule
from pipelines.time_words import read_time

_UNIT = r"(?:minuten|stunden|std|tage?n?|werktage?n?|arbeitstage?n?|wochen|monate?n?|jahre?n?)"
_HOW_MUCH_PERCENT = rule(r"\bwie ?vie?l\w* (?:prozent\w*|%)|\bwie hoch ist der (?:prozent)?satz\b")
_HOW_LONG = rule(rf"\bwie ?vie?le? (?:\w+ )?{_UNIT}\b")
_RATE = rule(r"prozent|%|\b\w*(?:satz|sätze|sätzen|rate|quote|anteil)\b|\bum wie ?viel (?:steig|erhöh|sink)\w*")
_HEIGHT = rule(
    r"\bwie ?(?:hoch|viel|vü)\b|\bwie ?vü\b|\bhöhe\b|\bausmaß\b|\bwas (?:zahl|kost|kriegt|krieg|bekomm|verdient|setz|gilt)\w*|"
    r"\b\w*(?:grenze|grenzwert|betrag|beträge|pauschale|höchst\w*|mindest\w*|deckel|freibetrag)\b"
)
_MONEY = rule(
    r"€|\beuro\b|\bkost\w*|\bpreis\b|\b\w*(?:lohn|löhne|gehalt|gehälter|entgelt|geld|betrag|beträge|beitrag|beiträge|zuschuss)\b"
)
_PERIOD = rule(
    r"\bwie ?(?:lange?|oft)\b|\b\w*(?:frist|fristen|dauer|zeitraum)\b|"
    r"\bin welcher (?:zeit|frist)\b|\bwelche (?:zeit|arbeitszeit)\b"
)
_DATE = rule(
    r"\bwann\b|\bstichtag\w*|\bfällig\w*|\bseit wann\b|\bdatum\b|"
    r"\b(?:bis|ab|zu|seit|in) welche[mnrs]? (?:tag|monat|jahr|\w*jahr|zeitpunkt)"
)
_COUNT = rule(
    r"\bwie ?viele?\b|\banzahl\b|\bwelche (?:nummer|zahl)\b|\bwelche[nrs]? \w*(?:code|nummer|grund|jahr)\b|"
    r"\bab (?:wie ?viel|welche[mr]) \w+"
)
_NAMED_KINDS: tuple[tuple[ValueKind, re.Pattern[str]], ...] = (("rate", _HOW_MUCH_PERCENT), ("period", _HOW_LONG))
_WEIGHS = rule(
    r"\b(?:günstiger|billiger|gescheiter|gscheiter|besser|teurer|sinnvoller|vorteilhafter|lieber)\b|\blohnt\b|\bspar(?:t|en)\b|"
    r"\bunterschied\w*\b|\bwo (?:kriegt|bekommt) \w+ mehr\b|\bvariante\b"
)
_CASE_YEAR = rule(r"\b(?:19|20)[0-9][0-9]\b")


@dataclass(frozen=True, slots=True)
class QuestionShape:
    """What an answer has to bring: kinds of value (empty: no value is asked), the years spoken of, the case's own values.

    `years` always has the year of the month the question speaks for; `named_years` only those that the question names.
    `case_values` are the values that stand in the question, times left out. `weighs` says whether it asks what is better.
    """

    kinds: frozenset[ValueKind]
    years: frozenset[int]
    named_years: frozenset[int]
    case_values: tuple[FoundValue, ...]
    weighs: bool = False


def question_shape(question: str, as_of: str) -> QuestionShape:
    """The shape of a question that speaks for the month `as_of` (`YYYY-MM`)."""
    folded = fold(question)
    time = read_time(question, as_of)
    named = frozenset(time.years) | {int(hit.group()) for hit in _CASE_YEAR.finditer(folded)}
    values = tuple(value for value in find_values(question) if value.kind != "date")
    return QuestionShape(asked_kinds(question), named | {int(as_of[:4])}, named, values, bool(_WEIGHS.search(folded)))


def asked_kinds(question: str) -> frozenset[ValueKind]:
    """The kinds of value a question asks for; empty when it asks for none („Darf der Betrieb …?“).

    „Wie hoch“ may ask for an amount or a rate, and „wie viel“ without a noun for a count or a period too, so several kinds
    mean: one of them.
    """
    folded = fold(question)
    kinds: set[ValueKind] = set()
    # „Wie viel Prozent“ and „wie viele Wochen“ name their kind; what is left of the question may ask for another one.
    for kind, named in _NAMED_KINDS:
        if named.search(folded):
            kinds.add(kind)
            folded = named.sub(" ", folded)
    if _RATE.search(folded):
        kinds.add("rate")
    if _HEIGHT.search(folded):
        kinds |= {"amount"} if _MONEY.search(folded) and "rate" in kinds else {"amount", "rate"}
    if _PERIOD.search(folded):
        kinds.add("period")
    if _DATE.search(folded):
        kinds |= {"date", "period"}
    if _COUNT.search(folded):
        kinds |= {"count", "period"}
    return frozenset(kinds)


def answers_asked_value(question: str, claims: Sequence[Claim]) -> bool:
    """Whether the claims bring a value of a kind that the question asks for; True when it asks for no value.

    A value that the question itself names answers nothing.
    """
    kinds = asked_kinds(question)
    if not kinds:
        return True
    given = {(value.kind, value.normalized) for value in find_values(question)}
    return any(value.kind in kinds and (value.kind, value.normalized) not in given for claim in claims for value in claim.values)
