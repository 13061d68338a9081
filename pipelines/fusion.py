"""Weighted reciprocal rank fusion over entries and their sections."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeVar

import numpy as np
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.retrievers.fusion_retriever import FUSION_MODES
from llama_index.core.schema import NodeWithScore, QueryBundle
from numpy.typing import NDArray

from pipelines.contracts import Channel
from pipelines.german import QueryAnalysis

Key = TypeVar("Key", int, str)
FusionMode = Literal["balanced", "keyword_leading"]
CHANNELS: tuple[Channel, ...] = ("lexical", "dense", "typo")
_ADDING_ONLY = 1e-4
"""So small that the other channels together never outweigh the step between two neighbouring lexical ranks
(k between 5 and 20, at most 150 candidates)."""


@dataclass(frozen=True, slots=True)
class FusionOptions:
    """Constants of the fusion, with their measured justification in docs/retrieval.md.

    `keyword_leading`: lexical hits keep their order, the other channels add what it did not find and break its ties.
    """

    mode: FusionMode = "balanced"
    lexical_weight: float = 1.0
    dense_weight: float = 0.5
    typo_weight: float = 0.5
    rrf_k: float = 5.0
    candidates: int = 100
    topic_boost: float = 0.03
    tag_boost: float = 0.03
    stand_boost: float = 0.02

    @property
    def weights(self) -> tuple[float, float, float]:
        """The weights of `CHANNELS`."""
        if self.mode == "keyword_leading":
            return 1.0, _ADDING_ONLY, _ADDING_ONLY
        return self.lexical_weight, self.dense_weight, self.typo_weight


@dataclass
class SearchBundle(QueryBundle):
    """One query on its way through the channels: what is allowed, and what each channel found or why it failed.

    It belongs to one call; retrievers keep nothing, so that they can serve many threads.
    """

    analysis: QueryAnalysis | None = None
    allowed: NDArray[np.bool_] | None = None
    scores: dict[Channel, NDArray[np.float32]] = field(default_factory=dict)
    hits: dict[Channel, list[tuple[int, float]]] = field(default_factory=dict)
    failures: dict[Channel, str] = field(default_factory=dict)


class WeightedRRF(QueryFusionRetriever):
    """Fuses channels by weighted reciprocal rank: entries by their best section, then the sections of each entry.

    Unlike the stock class it uses the weights and the constant k, gives no credit to hits with a score of zero or less,
    ranks equal scores equal, knows nodes by their id, calls no model, changes no score of the channels, and breaks ties by id.
    The score of an entry's best section is the entry's sum; a further section has the share of it that its own sum has.
    At most `most` sections are returned.
    """

    def __init__(self, retrievers: Sequence[BaseRetriever], weights: Sequence[float], rrf_k: float, most: int = 1000) -> None:
        super().__init__(
            list(retrievers),
            llm=MockLLM(),
            mode=FUSION_MODES.RECIPROCAL_RANK,
            num_queries=1,
            use_async=False,
            similarity_top_k=most,
            retriever_weights=list(weights),
        )
        self._weights = tuple(weights)
        self._rrf_k = rrf_k
        self._most = most

    def _reciprocal_rerank_fusion(self, results: dict[tuple[str, int], list[NodeWithScore]]) -> list[NodeWithScore]:
        nodes = {hit.node.node_id: hit.node for hits in results.values() for hit in hits}
        entry_of = {node_id: str(node.metadata["entry_id"]) for node_id, node in nodes.items()}
        rankings = [
            (self._weights[channel], sorted(_scored(hits), key=lambda hit: (-hit[1], hit[0])))
            for (_, channel), hits in results.items()
        ]
        fused = fuse(rankings, self._rrf_k, entry_of.__getitem__, str)
        return [NodeWithScore(node=nodes[node_id], score=score) for node_id, score in fused[: self._most]]


def fuse(
    rankings: Iterable[tuple[float, Sequence[tuple[Key, float]]]],
    rrf_k: float,
    entry_of: Callable[[Key], str],
    id_of: Callable[[Key], str],
) -> list[tuple[Key, float]]:
    """Fuses ranked sections as `WeightedRRF` does.

    Args:
        rankings: weight and hits of each channel, (section, score above zero), best first; equal scores share a rank.
        rrf_k: what is added to every rank, counted from 1.
        entry_of: a section's entry.
        id_of: a section's id, which breaks ties.
    """
    entries: dict[str, float] = defaultdict(float)
    sections: dict[Key, float] = defaultdict(float)
    for weight, hits in rankings:
        seen: set[str] = set()
        rank = entry_rank = 0
        last = last_of_entries = math.inf
        for position, (key, score) in enumerate(hits, start=1):
            if score != last:
                rank, last = position, score
            sections[key] += weight / (rrf_k + rank)
            entry_id = entry_of(key)
            if entry_id not in seen:
                seen.add(entry_id)
                if score != last_of_entries:
                    entry_rank, last_of_entries = len(seen), score
                entries[entry_id] += weight / (rrf_k + entry_rank)
    best: dict[str, float] = defaultdict(float)
    for key, score in sections.items():
        entry_id = entry_of(key)
        best[entry_id] = max(best[entry_id], score)
    scored = [(key, entries[entry_of(key)] * score / best[entry_of(key)]) for key, score in sections.items()]
    return sorted(scored, key=lambda item: (-item[1], id_of(item[0])))


def _scored(hits: Iterable[NodeWithScore]) -> Iterator[tuple[str, float]]:
    return ((hit.node.node_id, hit.score) for hit in hits if hit.score is not None and hit.score > 0)
