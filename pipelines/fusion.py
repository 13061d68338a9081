"""Weighted reciprocal rank fusion over entries and their sections."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.retrievers.fusion_retriever import FUSION_MODES
from llama_index.core.schema import NodeWithScore, QueryBundle
from numpy.typing import NDArray

from pipelines.contracts import Channel
from pipelines.german import QueryAnalysis

FusionMode = Literal["balanced", "keyword_leading"]
CHANNELS: tuple[Channel, ...] = ("lexical", "dense", "typo")
_ADDING_ONLY = 1e-4
"""So small that the other channels together never outweigh the step between two neighbouring lexical ranks (k ≤ 20, 150 candidates)."""


@dataclass(frozen=True, slots=True)
class FusionOptions:
    """Constants of the fusion, with their measured justification in docs/retrieval.md.

    `keyword_leading`: lexical hits keep their order, the other channels add what it did not find and break its ties.
    """

    mode: FusionMode = "balanced"
    lexical_weight: float = 1.0
    dense_weight: float = 1.0
    typo_weight: float = 1.0
    rrf_k: float = 10.0
    candidates: int = 150
    topic_boost: float = 0.05
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
    """

    def __init__(self, retrievers: Sequence[BaseRetriever], weights: Sequence[float], rrf_k: float) -> None:
        super().__init__(
            list(retrievers),
            llm=MockLLM(),
            mode=FUSION_MODES.RECIPROCAL_RANK,
            num_queries=1,
            use_async=False,
            similarity_top_k=len(retrievers) * 1000,
            retriever_weights=list(weights),
        )
        self._weights = tuple(weights)
        self._rrf_k = rrf_k

    def _reciprocal_rerank_fusion(self, results: dict[tuple[str, int], list[NodeWithScore]]) -> list[NodeWithScore]:
        entries: dict[str, float] = defaultdict(float)
        sections: dict[str, float] = defaultdict(float)
        found: dict[str, NodeWithScore] = {}
        for (_, channel), hits in results.items():
            ranked = sorted((hit for hit in hits if (hit.score or 0.0) > 0), key=lambda hit: (-(hit.score or 0.0), hit.node_id))
            for rank, hit in _ranks(ranked):
                sections[hit.node_id] += self._weights[channel] / (self._rrf_k + rank)
                found.setdefault(hit.node_id, hit)
            for rank, hit in _ranks(_first_of_entries(ranked)):
                entries[_entry(hit)] += self._weights[channel] / (self._rrf_k + rank)
        best: dict[str, float] = defaultdict(float)
        for node_id, score in sections.items():
            entry = _entry(found[node_id])
            best[entry] = max(best[entry], score)
        fused = [
            NodeWithScore(node=hit.node, score=entries[_entry(hit)] * sections[node_id] / best[_entry(hit)])
            for node_id, hit in found.items()
        ]
        return sorted(fused, key=lambda hit: (-(hit.score or 0.0), hit.node_id))


def _entry(hit: NodeWithScore) -> str:
    return str(hit.node.metadata["entry_id"])


def _first_of_entries(ranked: list[NodeWithScore]) -> list[NodeWithScore]:
    first: dict[str, NodeWithScore] = {}
    for hit in ranked:
        first.setdefault(_entry(hit), hit)
    return list(first.values())


def _ranks(ranked: list[NodeWithScore]) -> list[tuple[int, NodeWithScore]]:
    """Ranks from 1; equal scores share the rank of the first of them."""
    result: list[tuple[int, NodeWithScore]] = []
    for position, hit in enumerate(ranked, start=1):
        same = position > 1 and hit.score == ranked[position - 2].score
        result.append((result[-1][0] if same else position, hit))
    return result
