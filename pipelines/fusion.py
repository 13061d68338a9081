"""Weighted reciprocal rank fusion over entries and their sections."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.retrievers.fusion_retriever import FUSION_MODES
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle
from numpy.typing import NDArray

from pipelines.contracts import Channel
from pipelines.german import QueryAnalysis

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
        entries: dict[str, float] = defaultdict(float)
        sections: dict[str, float] = defaultdict(float)
        found: dict[str, _Candidate] = {}
        for (_, channel), hits in results.items():
            weight = self._weights[channel]
            ranked = _best_first(hits)
            for rank, candidate in _ranks(ranked):
                sections[candidate.node_id] += weight / (self._rrf_k + rank)
                found.setdefault(candidate.node_id, candidate)
            for rank, candidate in _ranks(_first_of_entries(ranked)):
                entries[candidate.entry_id] += weight / (self._rrf_k + rank)
        best: dict[str, float] = defaultdict(float)
        for node_id, score in sections.items():
            entry_id = found[node_id].entry_id
            best[entry_id] = max(best[entry_id], score)
        scores = {
            node_id: entries[candidate.entry_id] * sections[node_id] / best[candidate.entry_id]
            for node_id, candidate in found.items()
        }
        order = sorted(scores, key=lambda node_id: (-scores[node_id], node_id))[: self._most]
        return [NodeWithScore(node=found[node_id].node, score=scores[node_id]) for node_id in order]


class _Candidate(NamedTuple):
    score: float
    node_id: str
    entry_id: str
    node: BaseNode


def _best_first(hits: list[NodeWithScore]) -> list[_Candidate]:
    candidates = [
        _Candidate(hit.score, hit.node.id_, str(hit.node.metadata["entry_id"]), hit.node)
        for hit in hits
        if hit.score is not None and hit.score > 0
    ]
    return sorted(candidates, key=lambda candidate: (-candidate.score, candidate.node_id))


def _first_of_entries(ranked: list[_Candidate]) -> list[_Candidate]:
    first: dict[str, _Candidate] = {}
    for candidate in ranked:
        first.setdefault(candidate.entry_id, candidate)
    return list(first.values())


def _ranks(ranked: list[_Candidate]) -> list[tuple[int, _Candidate]]:
    """Ranks from 1; equal scores share the rank of the first of them."""
    result: list[tuple[int, _Candidate]] = []
    rank, last = 0, math.inf
    for position, candidate in enumerate(ranked, start=1):
        if candidate.score != last:
            rank, last = position, candidate.score
        result.append((rank, candidate))
    return result
