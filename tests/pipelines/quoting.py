"""Contexts for tests of the Zitatmodus: whole entries of the bundled knowledge base, and sections made up for one case."""

from collections.abc import Iterable, Sequence

from custom_postprocessors.evidence import ChannelScores, Conflict, GroundedContext, Passage
from pipelines.contracts import Plan, QuestionType
from pipelines.nodes import SectionNode


def passage_of(node: SectionNode, *, bm25: float = 1.0) -> Passage:
    return Passage(
        block_id=node.node_id,
        node_id=node.node_id,
        entry_id=node.entry_id,
        section=node.section,
        title=node.title,
        stand=node.stand,
        work=node.work,
        topic=node.topic,
        text=node.text,
        shown=((0, len(node.text)),),
        scores=ChannelScores(bm25=bm25, ngram=bm25, similarity=bm25),
    )


def entries_context(
    nodes: Iterable[SectionNode], entry_ids: Sequence[str], conflicts: tuple[Conflict, ...] = ()
) -> GroundedContext:
    """Every section of these entries, in this order; the first entry has the strongest evidence."""
    of = {entry_id: [node for node in nodes if node.entry_id == entry_id] for entry_id in entry_ids}
    passages = [passage_of(node, bm25=1.0 / (1 + rank)) for rank, entry_id in enumerate(entry_ids) for node in of[entry_id]]
    return GroundedContext(tuple(passages), conflicts)


def made_up(text: str, *, section: str = "Zusammenfassung", entry_id: str = "pv-x-01", title: str = "Probe") -> Passage:
    return Passage(
        block_id=f"{entry_id}#{section.lower()}",
        node_id=f"{entry_id}#{section.lower()}",
        entry_id=entry_id,
        section=section,
        title=title,
        stand="2026-01",
        work="pv",
        topic="probe",
        text=text,
        shown=((0, len(text)),),
        scores=ChannelScores(bm25=1.0),
    )


def plan_for(question: str, *, kind: QuestionType = "value", parts: Sequence[str] = (), as_of: str = "2026-06") -> Plan:
    return Plan(type=kind, queries=(question, *parts), as_of=as_of)
