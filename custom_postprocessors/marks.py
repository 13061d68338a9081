"""What a reader has to know about a proven claim: its source is old, overtaken for the month asked about, or not official."""

from custom_postprocessors.evidence import Claim, Fact, GroundedContext, Mark
from custom_postprocessors.validity import month_span, overlaps, superseded


def with_marks(claim: Claim, context: GroundedContext, *, as_of: str, outdated_after_months: int) -> Claim:
    """The claim with its marks.

    `outdated`: even the newest Stand it rests on is more than `outdated_after_months` before `as_of`. `superseded`: it quotes
    a key value that had ended by `as_of` while another row of the same quantity holds then, and does not quote that one too, as
    „231 € (2025: 215 €)“ does. `secondary_source`: none of the cited entries has an official publisher.
    """
    marks: list[Mark] = []
    newest = max((citation.stand for citation in claim.citations), default=as_of)
    if _months(as_of) - _months(newest) > outdated_after_months:
        marks.append("outdated")
    quoted = _quoted_facts(claim, context)
    holding = {fact.quantity for fact in quoted if overlaps(fact.validity, month_span(as_of))}
    if any(fact.quantity not in holding and superseded(fact, context.facts, as_of) for fact in quoted):
        marks.append("superseded")
    cited = {citation.entry_id for citation in claim.citations}
    secondary = {passage.entry_id for passage in context.passages if passage.secondary_source}
    if cited and cited <= secondary:
        marks.append("secondary_source")
    return claim.model_copy(update={"marks": tuple(marks)})


def _quoted_facts(claim: Claim, context: GroundedContext) -> list[Fact]:
    """The facts whose row a citation overlaps, as far as the claim has their value."""
    return [
        fact
        for fact in context.facts
        for citation in claim.citations
        if (citation.entry_id, citation.section) == (fact.entry_id, fact.section)
        and citation.start < fact.end
        and fact.start < citation.end
        and fact.value in claim.text
    ]


def _months(month: str) -> int:
    return int(month[:4]) * 12 + int(month[5:])
