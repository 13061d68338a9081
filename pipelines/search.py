"""Retrieval alone: what a question finds, with every score; the JSON of `search` in command line and API."""

from llama_index.core.schema import NodeWithScore

from custom_postprocessors.evidence import ChannelScores, Frozen
from pipelines.answering import Planner, PlanRetriever
from pipelines.contracts import Channel, Plan, Question


class SearchHit(Frozen):
    """One section; `rank` counts from 1."""

    rank: int
    entry_id: str
    section: str
    node_id: str
    title: str
    stand: str
    work: str
    topic: str
    scores: ChannelScores
    text: str


class SearchResult(Frozen):
    """What was found. `entries`: different entry ids in the order of their best section; both lists may be empty."""

    question: str
    plan: Plan
    degraded: tuple[Channel, ...]
    entries: tuple[str, ...]
    results: tuple[SearchHit, ...]


def search(question: Question, planner: Planner, retriever: PlanRetriever, k: int) -> SearchResult:
    """The `k` best sections for a question: one of an ordinary entry, up to three of a source text.

    Raises:
        IndexFault: every retrieval channel failed.
    """
    plan = planner.plan(question)
    retrieved = retriever.retrieve_plan(plan, limit=k)
    hits = tuple(_hit(rank, found) for rank, found in enumerate(retrieved.nodes[:k], start=1))
    return SearchResult(
        question=question.text,
        plan=plan,
        degraded=retrieved.degraded,
        entries=tuple(dict.fromkeys(hit.entry_id for hit in hits)),
        results=hits,
    )


def scores_of(found: NodeWithScore) -> ChannelScores:
    """The raw evidence that retrieval left in the node's metadata."""
    metadata = found.node.metadata
    return ChannelScores(
        bm25=metadata.get("score_bm25"),
        similarity=metadata.get("score_similarity"),
        ngram=metadata.get("score_ngram"),
        fused=metadata.get("score_fused", 0.0),
    )


def _hit(rank: int, found: NodeWithScore) -> SearchHit:
    metadata = found.node.metadata
    return SearchHit(
        rank=rank,
        entry_id=metadata["entry_id"],
        section=metadata["section"],
        node_id=found.node.node_id,
        title=metadata["title"],
        stand=metadata["stand"],
        work=metadata["work"],
        topic=metadata["topic"],
        scores=scores_of(found),
        text=found.node.get_content(),
    )
