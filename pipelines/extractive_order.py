"""In which order the chosen quotes are read: first those that name what was asked and hold in the month asked about."""

from collections.abc import Sequence

from custom_postprocessors.evidence import Fact
from custom_postprocessors.validity import month_span
from pipelines.extractive_selection import Excerpt

_NAMES_IT = 0.5


def in_reading_order(excerpts: Sequence[Excerpt], facts: Sequence[Fact], as_of: str) -> list[Excerpt]:
    """The same excerpts: those that speak of the question themselves, then those only found beside such; else as they were.

    Speaking of it means at least half the share of the question that the best of them covers. A row whose every value had ended
    by `as_of` comes after the others of its kind. Nothing is left out.
    """
    most = max((_coverage(excerpt) for excerpt in excerpts), default=0.0)
    return sorted(excerpts, key=lambda one: (_coverage(one) < _NAMES_IT * most, _has_ended(one, facts, as_of)))


def _coverage(excerpt: Excerpt) -> float:
    return max(candidate.coverage for candidate in excerpt.candidates)


def _has_ended(excerpt: Excerpt, facts: Sequence[Fact], as_of: str) -> bool:
    begin = month_span(as_of)[0]
    node_id = excerpt.candidates[0].passage.node_id
    own = [fact for fact in facts if fact.node_id == node_id and excerpt.start < fact.end and fact.start < excerpt.end]
    return bool(own) and all(fact.validity.end is not None and fact.validity.end <= begin for fact in own)
