"""The independent, cheap re-check of a finished answer's claims: quotes are slices, ids were given, values are quoted.

It shares the value reader with the verifier, and none of its decisions. Every figure about proven claims comes from here.
"""

from collections.abc import Collection, Iterable, Mapping

from custom_postprocessors.evidence import Claim, Violation
from custom_postprocessors.norms import heading_norms, same_norm
from custom_postprocessors.values import find_values, proves


def recheck(
    claims: Iterable[Claim],
    sections: Mapping[tuple[str, str], str],
    given_ids: Collection[str] | None = None,
    titles: Mapping[str, str] | None = None,
) -> tuple[Violation, ...]:
    """Everything that is provably wrong with final claims, in order; empty for a sound answer.

    Args:
        claims: as shown to the reader.
        sections: (entry id, section heading) → the section's text.
        given_ids: entries that the model was given; None when every entry of `sections` was.
        titles: entry id → title; a norm (never another value) may stand there or in the section's heading instead of the quote.
    """
    found: list[Violation] = []
    for claim in claims:
        found.extend(_of_citations(claim, sections, given_ids))
        found.extend(_of_values(claim, titles or {}))
    return tuple(found)


def _of_citations(
    claim: Claim, sections: Mapping[tuple[str, str], str], given_ids: Collection[str] | None
) -> Iterable[Violation]:
    if not claim.citations:
        yield Violation(kind="uncited", message="Die Aussage hat keine Quelle.", claim=claim.text)
    for citation in claim.citations:
        if given_ids is not None and citation.entry_id not in given_ids:
            yield Violation(
                kind="unknown_source", message="Quelle wurde nicht gegeben.", claim=claim.text, entry_id=citation.entry_id
            )
        text = sections.get((citation.entry_id, citation.section), "")
        if not citation.quote or text[citation.start : citation.end] != citation.quote:
            yield Violation(
                kind="quote_mismatch", message="Zitat ist nicht der Text.", claim=claim.text, entry_id=citation.entry_id
            )


def _of_values(claim: Claim, titles: Mapping[str, str]) -> Iterable[Violation]:
    """Of a calculated claim its result and the question's values are excused: they stand in no entry."""
    excused = {value.text for value in claim.values if value.entry_id is None} if claim.derived else set()
    quoted = [value for citation in claim.citations for value in find_values(citation.quote)]
    norms = {
        norm
        for citation in claim.citations
        for norm in heading_norms((titles.get(citation.entry_id, ""), citation.section), citation.quote)
    }
    for value in find_values(claim.text):
        if value.text in excused:
            continue
        if value.kind == "norm" and any(same_norm(value.normalized, norm) for norm in norms):
            continue
        if not any(proves(item, value) for item in quoted):
            yield Violation(kind="value_not_in_source", message="Wert in keinem Zitat.", claim=claim.text, value=value.text)
