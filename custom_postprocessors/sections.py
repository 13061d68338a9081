"""Sections of the index as the postprocessors see them: LlamaIndex nodes with scalar metadata, and where to get more of them."""

from collections.abc import Sequence
from typing import Protocol, cast

from llama_index.core.schema import NodeWithScore, TextNode

from custom_postprocessors.evidence import ChannelScores, Fact, Passage, Work

ROLE = "grounding_role"
_BAR = "|"
_SCORES = {"bm25": "score_bm25", "similarity": "score_similarity", "ngram": "score_ngram", "fused": "score_fused"}


class SectionRecord(Protocol):
    """One section of the index, read from disk."""

    @property
    def node_id(self) -> str:
        """`<entry id>#<slug>`."""
        ...

    @property
    def entry_id(self) -> str:
        """The entry it belongs to."""
        ...

    @property
    def section(self) -> str:
        """The H2 heading as written."""
        ...

    @property
    def text(self) -> str:
        """The Markdown below the heading."""
        ...

    def to_text_node(self) -> TextNode:
        """The section with scalar metadata."""
        ...


class NodeSource(Protocol):
    """Where sections come from that retrieval did not return; one index version."""

    def node(self, node_id: str) -> SectionRecord | None:
        """The section with this id, or None."""
        ...

    def sections_of(self, entry_id: str) -> Sequence[SectionRecord]:
        """The sections of an entry in their order; empty for an unknown entry."""
        ...

    def facts_of(self, node_id: str) -> tuple[Fact, ...]:
        """The facts of a section in the order of its rows."""
        ...


def text_of(hit: NodeWithScore, key: str) -> str:
    """A scalar of the hit's metadata as text; empty when it is missing."""
    value = hit.node.metadata.get(key)
    return "" if value is None else str(value)


def entry_of(hit: NodeWithScore) -> str:
    """The id of the hit's entry."""
    return text_of(hit, "entry_id")


def members(hit: NodeWithScore, key: str) -> tuple[str, ...]:
    """The members of a list that was stored as `|a|b|`."""
    value = text_of(hit, key).strip(_BAR)
    return tuple(value.split(_BAR)) if value else ()


def is_source_text(hit: NodeWithScore) -> bool:
    """Whether the hit's entry is a source text, which may give several sections."""
    return bool(hit.node.metadata.get("source_text"))


def content_of(hit: NodeWithScore) -> str:
    """The section's text, whole."""
    return cast(TextNode, hit.node).text


def instruction_spans(hit: NodeWithScore) -> tuple[tuple[int, int], ...]:
    """The half-open parts of the text that address a model instead of the reader; they are never evidence."""
    pairs = (member.partition(":") for member in members(hit, "instruction_spans"))
    return tuple((int(start), int(end)) for start, _, end in pairs)


def scores_of(hit: NodeWithScore) -> ChannelScores:
    """The raw evidence of each channel; None where a channel did not find the section."""
    found = {field: hit.node.metadata.get(key) for field, key in _SCORES.items()}
    return ChannelScores(bm25=found["bm25"], similarity=found["similarity"], ngram=found["ngram"], fused=found["fused"] or 0.0)


def role_of(hit: NodeWithScore) -> str:
    """Why the hit is there: `hit`, `cross_ref`, `conflict`, or `other_conflict` for one that the question does not ask about."""
    return text_of(hit, ROLE) or "hit"


def added(record: SectionRecord, role: str) -> NodeWithScore:
    """A section that retrieval did not return, without scores, marked with why it is there."""
    node = record.to_text_node()
    node.metadata[ROLE] = role
    return NodeWithScore(node=node, score=None)


def same_place(record: SectionRecord, like: NodeWithScore) -> NodeWithScore:
    """Another section of the entry of `like`, at its place in the ranking and with its evidence."""
    node = record.to_text_node()
    node.metadata.update({key: like.node.metadata[key] for key in (*_SCORES.values(), ROLE) if key in like.node.metadata})
    return NodeWithScore(node=node, score=like.score)


def passage_of(
    hit: NodeWithScore, *, block_id: str, shown: tuple[tuple[int, int], ...], secondary_source: bool = False
) -> Passage:
    """The hit as it is given to the model."""
    role = role_of(hit)
    return Passage(
        block_id=block_id,
        node_id=hit.node.node_id,
        entry_id=entry_of(hit),
        section=text_of(hit, "section"),
        title=text_of(hit, "title"),
        stand=text_of(hit, "stand"),
        work=cast(Work, text_of(hit, "work")),
        topic=text_of(hit, "topic"),
        text=content_of(hit),
        shown=shown,
        scores=scores_of(hit),
        role="cross_ref" if role == "cross_ref" else "conflict" if role.endswith("conflict") else "hit",
        legal_bases=members(hit, "legal_bases"),
        secondary_source=secondary_source,
    )
