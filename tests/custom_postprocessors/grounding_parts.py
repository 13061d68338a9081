"""A small index for the tests of grounding: sections by entry, facts and conflicts, analysed for real, ranked by hand."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date

from llama_index.core.schema import NodeWithScore

from custom_postprocessors.budget import ContextBudget
from custom_postprocessors.evidence import Conflict, ConflictSide, Fact, Validity
from custom_postprocessors.grounding import Grounder
from pipelines.contracts import Plan, QuestionType
from pipelines.german import GermanAnalyzer
from pipelines.nodes import SectionNode


@dataclass
class SmallIndex:
    """Sections, facts and conflicts of a handful of entries."""

    sections: Sequence[SectionNode]
    facts: Sequence[Fact] = ()
    conflicts: Sequence[Conflict] = ()
    analyzer: GermanAnalyzer = field(init=False)

    def __post_init__(self) -> None:
        self.analyzer = GermanAnalyzer.build(self.sections)

    def node(self, node_id: str) -> SectionNode | None:
        return next((one for one in self.sections if one.node_id == node_id), None)

    def sections_of(self, entry_id: str) -> tuple[SectionNode, ...]:
        return tuple(one for one in self.sections if one.entry_id == entry_id)

    def facts_of(self, node_id: str) -> tuple[Fact, ...]:
        return tuple(fact for fact in self.facts if fact.node_id == node_id)

    def touching(self, entry_ids: Iterable[str]) -> tuple[Conflict, ...]:
        wanted = set(entry_ids)
        return tuple(one for one in self.conflicts if wanted & {side.entry_id for side in one.sides})

    def hits(self, *node_ids: str) -> list[NodeWithScore]:
        """The sections as retrieval returns them, best first."""
        found = []
        for place, node_id in enumerate(node_ids):
            node = next(one for one in self.sections if one.node_id == node_id).to_text_node()
            node.metadata.update(score_bm25=9.0 - place, score_fused=0.1)
            found.append(NodeWithScore(node=node, score=0.1))
        return found

    def grounder(self, **budget: int) -> Grounder:
        limits = {"tokens": 100_000, **budget}
        return Grounder(source=self, analyzer=self.analyzer, register=self, budget=ContextBudget(len, **limits))


@dataclass(frozen=True)
class Found:
    """What retrieval found."""

    nodes: Sequence[NodeWithScore]
    per_query: Sequence[Sequence[NodeWithScore]]
    beyond_scopes: Sequence[NodeWithScore] = ()


def found(*lists: Sequence[NodeWithScore]) -> Found:
    merged: dict[str, NodeWithScore] = {}
    for hits in lists:
        for hit in hits:
            merged.setdefault(hit.node.node_id, hit)
    return Found(list(merged.values()), lists)


def plan(*queries: str, kind: QuestionType = "fact", as_of: str = "2026-06", named: bool = False) -> Plan:
    return Plan(type=kind, queries=queries, as_of=as_of, as_of_named=named)


def fact(node_id: str, quantity: str, value: str, start: date | None, end: date | None, *, known: bool = True) -> Fact:
    return Fact(
        fact_id=f"{node_id}@{quantity}@{value}",
        node_id=node_id,
        entry_id=node_id.partition("#")[0],
        section="Kernwerte & Fristen",
        stand="2026-01",
        quantity=quantity,
        value=value,
        valid="",
        basis="",
        start=0,
        end=1,
        validity=Validity(raw="", start=start, end=end, known=known),
    )


def conflict(quantity: str, *sides: tuple[str, str, str]) -> Conflict:
    """A conflict; a side is entry, section and value."""
    return Conflict(
        id=f"c-{quantity}",
        quantity=quantity,
        sides=tuple(
            ConflictSide(entry_id=entry, section=section, stand="2026-01", value=value, quote=value, start=0, end=len(value))
            for entry, section, value in sides
        ),
    )
