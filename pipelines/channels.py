"""The three retrieval channels as LlamaIndex retrievers over one opened index version."""

import logging
from abc import abstractmethod
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from numpy.typing import NDArray

from pipelines.contracts import Channel
from pipelines.dense import DenseIndex
from pipelines.embeddings import SectionEncoder
from pipelines.errors import IndexFault, PvAgentError
from pipelines.fusion import SearchBundle
from pipelines.german import GermanAnalyzer, QueryAnalysis
from pipelines.lexical import LexicalIndex
from pipelines.postings import best_rows
from pipelines.typo import TypoIndex

CHANNEL_ERRORS = (PvAgentError, OSError, ValueError, LookupError, ArithmeticError, MemoryError)
"""What a damaged index or an unreachable encoder raises; a channel that fails so is left out and reported."""

_log = logging.getLogger(__name__)


class SectionStubs:
    """Nodes with an id and the entry's id but no text: fusing needs no more, and texts stay on disk."""

    def __init__(self, node_ids: Sequence[str], entry_ids: Sequence[str]) -> None:
        self.node_ids = node_ids
        self.entry_ids = entry_ids
        self.at = lru_cache(maxsize=8192)(self._make)

    def _make(self, row: int) -> TextNode:
        return TextNode(id_=self.node_ids[row], text="", metadata={"entry_id": self.entry_ids[row], "row": row})


class ChannelRetriever(BaseRetriever):
    """One channel. Called with a `SearchBundle` it leaves its scores there, or why it failed, and then finds nothing.

    Called with anything else, as a notebook does, it analyses the question itself and raises what fails.
    """

    channel: Channel

    def __init__(self, analyzer: GermanAnalyzer, stubs: SectionStubs, candidates: int) -> None:
        super().__init__()
        self._analyzer = analyzer
        self._stubs = stubs
        self._candidates = candidates

    @abstractmethod
    def _scores(self, analysis: QueryAnalysis) -> NDArray[np.float32]:
        """The channel's score of every row."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        if not isinstance(query_bundle, SearchBundle):
            return self._nodes(best_rows(self._scores(self._analyzer.query_tokens(query_bundle.query_str)), self._candidates))
        return self._nodes(self.hits([query_bundle])[0])

    def hits(self, bundles: Sequence[SearchBundle]) -> list[list[tuple[int, float]]]:
        """For each of the queries its best rows with their scores, best first; also left in its bundle, or why there are none."""
        try:
            found = self._scores_of([bundle.analysis or self._analyzer.query_tokens(bundle.query_str) for bundle in bundles])
        except CHANNEL_ERRORS as exc:
            _log.warning("The %s channel failed: %s: %s", self.channel, type(exc).__name__, exc)
            for bundle in bundles:
                bundle.failures[self.channel] = str(exc)
            return [[] for _ in bundles]
        for bundle, scores in zip(bundles, found, strict=True):
            bundle.scores[self.channel] = scores
            bundle.hits[self.channel] = best_rows(scores, self._candidates, bundle.allowed)
        return [bundle.hits[self.channel] for bundle in bundles]

    def _scores_of(self, analyses: Sequence[QueryAnalysis]) -> Sequence[NDArray[np.float32]]:
        """The scores of every row for each of the queries."""
        return [self._scores(analysis) for analysis in analyses]

    def _nodes(self, hits: list[tuple[int, float]]) -> list[NodeWithScore]:
        return [NodeWithScore(node=self._stubs.at(row), score=score) for row, score in hits]


class LexicalRetriever(ChannelRetriever):
    """BM25F over the German analysis."""

    channel: Channel = "lexical"

    def __init__(self, index: LexicalIndex, analyzer: GermanAnalyzer, stubs: SectionStubs, candidates: int) -> None:
        super().__init__(analyzer, stubs, candidates)
        self._index = index

    def _scores(self, analysis: QueryAnalysis) -> NDArray[np.float32]:
        return self._index.scores(analysis)


class TypoRetriever(ChannelRetriever):
    """Character n-grams."""

    channel: Channel = "typo"

    def __init__(self, index: TypoIndex, analyzer: GermanAnalyzer, stubs: SectionStubs, candidates: int) -> None:
        super().__init__(analyzer, stubs, candidates)
        self._index = index

    def _scores(self, analysis: QueryAnalysis) -> NDArray[np.float32]:
        return self._index.scores(analysis)


class DenseRetriever(ChannelRetriever):
    """Cosine of the question's vector with the sections' vectors."""

    channel: Channel = "dense"

    def __init__(
        self, index: DenseIndex, encoder: SectionEncoder, analyzer: GermanAnalyzer, stubs: SectionStubs, candidates: int
    ) -> None:
        super().__init__(analyzer, stubs, candidates)
        self._index = index
        self._encoder = encoder

    def _scores(self, analysis: QueryAnalysis) -> NDArray[np.float32]:
        return self._scores_of([analysis])[0]

    def _scores_of(self, analyses: Sequence[QueryAnalysis]) -> Sequence[NDArray[np.float32]]:
        # Together, because model and matrix are read from memory once for all queries of a plan.
        return list(self._index.similarities(self._encoder.encode_queries([analysis.text for analysis in analyses])))


class MissingChannel(ChannelRetriever):
    """Stands for a channel that could not be opened: it always fails, so that every answer says so."""

    def __init__(self, channel: Channel, reason: str, analyzer: GermanAnalyzer, stubs: SectionStubs) -> None:
        super().__init__(analyzer, stubs, 1)
        self.channel = channel
        self._reason = reason

    def _scores(self, analysis: QueryAnalysis) -> NDArray[np.float32]:
        raise IndexFault(self._reason)
