"""What became of old answers: each quote held against the sections served now, and a question asked again."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal

from rapidfuzz import fuzz, process

from app.store.audit import AuditRecord
from custom_postprocessors.evidence import Citation, Frozen
from custom_postprocessors.sentences import split_units
from pipelines.contracts import Outcome, Question
from pipelines.nodes import SectionNode

QuoteState = Literal["unchanged", "changed", "gone"]
LEAST_SIMILARITY = 60.0
"""A sentence or row less alike than this (0 to 100, by edit distance) is another statement, not a changed one."""

SectionsOf = Callable[[str], Sequence[SectionNode]]


class QuoteCheck(Frozen):
    """One quote of an old answer: whether the served section still says it; `new` is what stands there now."""

    entry_id: str
    section: str
    state: QuoteState
    old: str
    new: str | None = None


class Drift(Frozen):
    """An old answer that cites something that is no longer as it was."""

    request_id: str
    question: str
    index_version: str
    quotes: tuple[QuoteCheck, ...]


class Replay(Frozen):
    """An old question asked again: what differs. Empty lists and equal fields: the same answer."""

    request_id: str
    same: bool
    status: tuple[str, str]
    index_version: tuple[str, str]
    model: tuple[str, str]
    only_before: tuple[str, ...]
    only_now: tuple[str, ...]


def check_quotes(outcome: Outcome, sections_of: SectionsOf) -> tuple[QuoteCheck, ...]:
    """Every citation of an outcome, in order, each place once; empty for a refusal."""
    places: dict[tuple[str, str, int, int], Citation] = {}
    for claim in outcome.claims:
        for citation in claim.citations:
            places.setdefault((citation.entry_id, citation.section, citation.start, citation.end), citation)
    return tuple(_check(citation, sections_of) for citation in places.values())


def drifted(records: Iterable[AuditRecord], sections_of: SectionsOf) -> Iterator[Drift]:
    """The answers at least one of whose quotes changed or is gone; answers without content are passed over."""
    for record in records:
        if record.outcome is None:
            continue
        changed = tuple(check for check in check_quotes(record.outcome, sections_of) if check.state != "unchanged")
        if changed:
            yield Drift(
                request_id=record.request_id,
                question=record.outcome.question,
                index_version=record.outcome.index.version,
                quotes=changed,
            )


def question_of(outcome: Outcome) -> Question:
    """The question as it was asked: text, month, scopes and model of the record; earlier turns are in the rewritten text."""
    return Question(
        text=outcome.standalone_question or outcome.question,
        as_of=outcome.as_of,
        scopes=outcome.plan.scopes,
        model=None if outcome.model.name == "none" else outcome.model.name,
    )


def compared(before: Outcome, now: Outcome) -> Replay:
    """What differs between an outcome and its replay, claim by claim."""
    old, new = [claim.text for claim in before.claims], [claim.text for claim in now.claims]
    only_before, only_now = tuple(t for t in old if t not in new), tuple(t for t in new if t not in old)
    return Replay(
        request_id=before.request_id,
        same=not only_before and not only_now and before.status == now.status,
        status=(before.status, now.status),
        index_version=(before.index.version, now.index.version),
        model=(before.model.name, now.model.name),
        only_before=only_before,
        only_now=only_now,
    )


def _check(citation: Citation, sections_of: SectionsOf) -> QuoteCheck:
    def result(state: QuoteState, new: str | None = None) -> QuoteCheck:
        return QuoteCheck(entry_id=citation.entry_id, section=citation.section, state=state, old=citation.quote, new=new)

    node = next((node for node in sections_of(citation.entry_id) if node.section == citation.section), None)
    if node is None:
        return result("gone")
    if citation.quote in node.text:
        return result("unchanged")
    new = _successor(citation.quote, node.text)
    return result("gone") if new is None else result("changed", new)


def _successor(quote: str, text: str) -> str | None:
    """The sentence or row that stands for the quote now; a table row is known by its first cell."""
    units = [text[unit.start : unit.end] for unit in split_units(text)]
    if quote.startswith("|"):
        units = [unit for unit in units if unit.startswith("|") and _label(unit) == _label(quote)]
    best = process.extractOne(quote, units, scorer=fuzz.ratio, score_cutoff=LEAST_SIMILARITY)
    return None if best is None else best[0]


def _label(row: str) -> str:
    return row.strip("| ").split("|")[0].strip().casefold()
