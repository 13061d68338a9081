"""What holds in the month asked about: which facts cover it, which are superseded, and whether anything covers it at all."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from typing import Any, Literal

from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle

from custom_postprocessors.evidence import Fact, Validity
from custom_postprocessors.sections import NodeSource, SectionRecord, entry_of, text_of

_LOOK_BACK_YEARS = 1
"""„davor 0,42 €“ has an open start, yet says nothing about how long before: it covers the year before its end."""
_PLACES_BACK = 3
_NEAR_THE_BEST = 0.7
_NEAR_WITH_TITLE = 0.9
_YEARS_AHEAD = 3
"""Rates and limits are set anew every year or two; so far ahead nothing is known."""
_SENTENCE = re.compile(r"(?<=[.;!?])\s+(?=[A-ZÄÖÜ*])|\n")
_FIGURE = re.compile(r"\d+(?:[.,]\d+)* ?(?:%|€|Euro|Tage|Wochen|Monate|Jahre|Stunden)|\d,\d")

Coverage = Literal["covered", "not_covered", "unknown"]


def month_span(month: str) -> tuple[date, date]:
    """The half-open time of a month `YYYY-MM`."""
    year, number = int(month[:4]), int(month[5:])
    return date(year, number, 1), date(year + number // 12, number % 12 + 1, 1)


def year_span(month: str) -> tuple[date, date]:
    """The half-open time of the year of a month `YYYY-MM`."""
    year = int(month[:4])
    return date(year, 1, 1), date(year + 1, 1, 1)


def overlaps(validity: Validity, span: tuple[date, date]) -> bool | None:
    """Whether the validity and the half-open span have a day in common; None when the validity is unknown."""
    if not validity.known:
        return None
    start = validity.start
    if start is None and validity.end is not None:
        start = date(validity.end.year - _LOOK_BACK_YEARS, 1, 1)
    return (start is None or start < span[1]) and (validity.end is None or span[0] < validity.end)


def coverage(facts: Iterable[Fact], span: tuple[date, date]) -> Coverage:
    """Whether any of the facts holds in the span; unknown when no validity could be read and none covers it.

    A fact with unknown validity („laufend“) is not held against the others: where a known one misses the span and an unknown
    one stands beside it, the result is unknown.
    """
    verdicts = [overlaps(fact.validity, span) for fact in facts]
    if any(verdicts):
        return "covered"
    return "not_covered" if verdicts and None not in verdicts else "unknown"


def superseded(fact: Fact, among: Iterable[Fact], as_of: str) -> bool:
    """Whether the fact had ended by `as_of` while another fact of the same quantity holds then."""
    span = month_span(as_of)
    ended = fact.validity.known and fact.validity.end is not None and fact.validity.end <= span[0]
    return ended and any(
        other.fact_id != fact.fact_id and other.quantity == fact.quantity and overlaps(other.validity, span) for other in among
    )


class ValidAt(BaseNodePostprocessor):
    """Moves entries whose facts all miss the month three places back, and changes nothing else.

    They stay in the context: a question may ask how it was, and a conflict shows both sides.
    """

    as_of: str
    _source: NodeSource = PrivateAttr()

    def __init__(self, source: NodeSource, **data: Any) -> None:
        super().__init__(**data)
        self._source = source

    @classmethod
    def class_name(cls) -> str:
        """Name in LlamaIndex's serialisation."""
        return "ValidAt"

    def _postprocess_nodes(self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None) -> list[NodeWithScore]:
        span = month_span(self.as_of)

        def place(pair: tuple[int, NodeWithScore]) -> float:
            index, hit = pair
            facts = [fact for record in self._source.sections_of(entry_of(hit)) for fact in self._source.facts_of(record.node_id)]
            return index + (_PLACES_BACK + 0.5 if coverage(facts, span) == "not_covered" else 0.0)

        return [hit for _, hit in sorted(enumerate(nodes), key=place)]


def period_coverage(
    hits: Sequence[NodeWithScore], source: NodeSource, worth: Callable[[str], float], as_of: str, *, top: int = 5
) -> Coverage:
    """Whether what the top entries say about the question holds in the year of `as_of`.

    The facts whose quantity says most of the question decide. A year is also covered by a fact that says as much together with
    the title of its entry (the row „DZ Wien“ below „Zuschlag zum Dienstgeberbeitrag“), and where it is written
    (`writes_year`). `worth` must not count numbers.
    """
    records, facts = _of_top(hits, source, worth, top)
    least = _least(facts)
    if least <= 0:
        return "unknown"
    if _writes_year(records, worth, least, as_of[:4]):
        return "covered"
    if _covered_with_title(facts, {entry_of(hit): text_of(hit, "title") for hit in hits}, worth, as_of):
        return "covered"
    return coverage([fact for value, fact in facts if value >= least], year_span(as_of))


def writes_year(
    hits: Sequence[NodeWithScore], source: NodeSource, worth: Callable[[str], float], year: str, *, top: int = 5
) -> bool:
    """Whether a sentence or row of the top entries names the year beside another figure and says as much as the best facts do."""
    records, facts = _of_top(hits, source, worth, top)
    return _writes_year(records, worth, _least(facts), year)


def is_far_ahead(year: int, newest_stand: int) -> bool:
    """Whether a year is three or more after the one up to which the knowledge base was kept, so that an open end says nothing."""
    return year >= newest_stand + _YEARS_AHEAD


_Valued = list[tuple[float, Fact]]


def _of_top(
    hits: Sequence[NodeWithScore], source: NodeSource, worth: Callable[[str], float], top: int
) -> tuple[list[SectionRecord], _Valued]:
    entry_ids = list(dict.fromkeys(entry_of(hit) for hit in hits))[:top]
    records = [record for entry_id in entry_ids for record in source.sections_of(entry_id)]
    return records, [(worth(fact.quantity), fact) for record in records for fact in source.facts_of(record.node_id)]


def _least(facts: _Valued) -> float:
    return _NEAR_THE_BEST * max((value for value, _ in facts), default=0.0)


def _writes_year(records: Sequence[SectionRecord], worth: Callable[[str], float], least: float, year: str) -> bool:
    return any(
        year in sentence and _FIGURE.search(sentence.replace(year, "")) and worth(sentence) >= least
        for record in records
        if year in record.text
        for sentence in _SENTENCE.split(record.text)
    )


def _covered_with_title(
    facts: Sequence[tuple[float, Fact]], titles: Mapping[str, str], worth: Callable[[str], float], as_of: str
) -> bool:
    told = [(worth(f"{titles[fact.entry_id]} {fact.quantity}"), own, fact) for own, fact in facts]
    least = _NEAR_WITH_TITLE * max(value for value, _, _ in told)
    span = year_span(as_of)
    return any(own > 0 and value >= least and overlaps(fact.validity, span) for value, own, fact in told)


def is_silent_about_year(entry_id: str, source: NodeSource, year: int, *, newest_stand: int) -> bool:
    """Whether an entry, as a whole, says nothing for a year that it does not write.

    That is so for a year three or more after `newest_stand`, the year up to which the knowledge base was kept, and where the
    entry has dated values and none of them holds in that year. An entry of undated rules holds in every other year.
    """
    records = source.sections_of(entry_id)
    if not records or any(str(year) in record.text for record in records):
        return False
    if is_far_ahead(year, newest_stand):
        return True
    span = year_span(f"{year}-01")
    verdicts = [overlaps(fact.validity, span) for record in records for fact in source.facts_of(record.node_id)]
    return False in verdicts and True not in verdicts
