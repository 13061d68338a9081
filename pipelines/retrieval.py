"""Hybrid retrieval: three channels, fused over entries and sections, for a question or for a whole plan."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle
from numpy.typing import NDArray

from custom_postprocessors.evidence import SCOPE_OF_WORK, Scope
from pipelines.channels import ChannelRetriever
from pipelines.contracts import Channel, Plan
from pipelines.errors import IndexFault
from pipelines.fusion import CHANNELS, FusionOptions, SearchBundle, WeightedRRF, fuse
from pipelines.german import GermanAnalyzer, QueryAnalysis
from pipelines.node_file import NodeFile
from pipelines.postings import best_rows
from pipelines.reranking import MOST_RERANKED, reranked

MOST_SECTIONS = 40
SECTIONS_OF_SOURCE_TEXT = 3
SUB_QUERY_WEIGHT = 0.5
KEPT_OF_SUB_QUERY = 2
_KEPT_FROM_PLACE = 6
_MOST_UNFILTERED = 8
_FRESH_MONTHS, _STALE_MONTHS = 12, 36
_SCORE_KEYS: Mapping[Channel, str] = {"lexical": "score_bm25", "dense": "score_similarity", "typo": "score_ngram"}

_EVIDENCE_KEYS = (*_SCORE_KEYS.values(), "score_fused")


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What a plan found.

    `nodes`: sections best first, one of an ordinary entry, up to three of a source text; `score` is the fused score, which
    ranks and says nothing about relevance. The metadata have the raw evidence: `score_bm25`, `score_similarity`,
    `score_ngram` (absent: the channel did not find the section, or failed) and `score_fused`.
    `per_query`: the same for each query of the plan alone. `ranks`: node id → rank from 1 in each channel that had it among
    its candidates (the best rank over the queries). `analyses`: how each query was understood.
    """

    nodes: list[NodeWithScore]
    per_query: tuple[tuple[NodeWithScore, ...], ...] = ()
    beyond_scopes: tuple[NodeWithScore, ...] = ()
    """What the question finds without the plan's scopes, at most eight sections; empty for a plan without scopes."""
    degraded: tuple[Channel, ...] = ()
    ranks: Mapping[str, Mapping[Channel, int]] | None = None
    analyses: tuple[QueryAnalysis, ...] = ()


class HybridRetriever(WeightedRRF):
    """Fuses the three channels of one opened index version. Deterministic; safe for many threads; a failing channel is left out.

    Args:
        nodes: the version's sections; texts are read when a result needs them.
        analyzer: the version's German analysis.
        channels: one retriever for each of the three channels, in the order of `CHANNELS`.
        options: weights and constants.
        entries_of_tags: the entries that have one of these managed tags.
        reranker: puts the best sections of a plan into a new order; None: the order of the fusion stays.
    """

    def __init__(
        self,
        nodes: NodeFile,
        analyzer: GermanAnalyzer,
        channels: Sequence[ChannelRetriever],
        options: FusionOptions | None = None,
        *,
        entries_of_tags: Callable[[Sequence[str]], frozenset[str]] = lambda names: frozenset(),
        reranker: BaseNodePostprocessor | None = None,
    ) -> None:
        self._options = options or FusionOptions()
        super().__init__(channels, self._options.weights, self._options.rrf_k, self._options.candidates)
        self._channels = tuple(channels)
        self._entries_of_tags = entries_of_tags
        self._reranker = reranker
        self._nodes = nodes
        self._analyzer = analyzer
        infos = list(nodes.entries.values())
        self._entry_of_row = [info.entry_id for info in infos for _ in range(info.rows)]
        works = np.array([info.work for info in infos for _ in range(info.rows)], dtype=object)
        self._rows_of_work: dict[Scope, NDArray[np.bool_]] = {scope: works == work for work, scope in SCOPE_OF_WORK.items()}

    def retrieve_plan(self, plan: Plan, limit: int = MOST_SECTIONS) -> Retrieved:
        """The sections that the plan's queries find together; scopes filter; topics, tags and a fitting Stand are a mild boost.

        Every further query of the plan keeps its two best entries near the top. Nothing found is an empty result.

        Raises:
            IndexFault: all channels failed.
        """
        allowed = self._allowed(plan.scopes)
        bundles = self._search(plan.queries, allowed)
        boost_of = self._boost_of(plan)
        rankings = [self._boosted(fused, boost_of) for _, fused in bundles]
        searches = [bundle for bundle, _ in bundles]
        nodes = self._results(
            self._selected(self._merged(rankings), limit if self._reranker is None else max(limit, MOST_RERANKED)), searches
        )
        if self._reranker is not None:
            nodes = reranked(nodes, plan.queries[0], self._reranker)[:limit]
        return Retrieved(
            nodes=nodes,
            per_query=self._per_query(rankings, searches, limit) if len(searches) > 1 else (tuple(nodes),),
            beyond_scopes=() if allowed is None else self._unfiltered(searches[0]),
            degraded=_degraded(searches),
            ranks=self._ranks(searches),
            analyses=tuple(search.analysis for search in searches if search.analysis is not None),
        )

    def _per_query(
        self, rankings: list[list[tuple[int, float]]], searches: Sequence[SearchBundle], limit: int
    ) -> tuple[tuple[NodeWithScore, ...], ...]:
        return tuple(
            tuple(self._results(self._selected(ranking, limit), [search]))
            for ranking, search in zip(rankings, searches, strict=True)
        )

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        search, fused = self._search([query_bundle.query_str], None)[0]
        return self._results(self._selected(fused, MOST_SECTIONS), [search])

    def _search(
        self, queries: Sequence[str], allowed: NDArray[np.bool_] | None
    ) -> list[tuple[SearchBundle, list[tuple[int, float]]]]:
        analyses = [self._analyzer.query_tokens(query) for query in queries]
        bundles = [SearchBundle(analysis.text, analysis=analysis, allowed=allowed) for analysis in analyses]
        # Rows instead of the channels' nodes: making, checking and hashing hundreds of nodes takes longer than finding them.
        found = [channel.hits(bundles) for channel in self._channels]
        for bundle in bundles:
            if len(bundle.failures) == len(CHANNELS):
                raise IndexFault(
                    f"All retrieval channels failed: {'; '.join(bundle.failures.values())}", hint="See `python -m app doctor`."
                )
        return [(bundle, self._fused(rankings)) for bundle, rankings in zip(bundles, zip(*found, strict=True), strict=True)]

    def _fused(self, rankings: Sequence[list[tuple[int, float]]]) -> list[tuple[int, float]]:
        weighted = zip(self._weights, rankings, strict=True)
        return fuse(weighted, self._rrf_k, self._entry_of_row.__getitem__, self._nodes.node_ids.__getitem__)[: self._most]

    def _unfiltered(self, search: SearchBundle) -> tuple[NodeWithScore, ...]:
        rankings = [best_rows(search.scores[channel], self._most) if channel in search.scores else [] for channel in CHANNELS]
        return tuple(self._results(self._selected(self._fused(rankings), _MOST_UNFILTERED), [search]))

    def _allowed(self, scopes: Iterable[Scope]) -> NDArray[np.bool_] | None:
        masks = [self._rows_of_work[scope] for scope in scopes]
        return np.logical_or.reduce(masks) if masks else None

    def _boost_of(self, plan: Plan) -> Callable[[str], float] | None:
        """A factor for an entry, 1 or a little more; None when nothing is boosted."""
        options = self._options
        if options.mode == "keyword_leading":
            return None
        topics, tagged, month = frozenset(plan.topics), self._entries_of_tags(plan.tags), _month(plan.as_of)

        def factor(entry_id: str) -> float:
            info = self._nodes.entries[entry_id]
            age_months = abs(month - _month(info.stand))
            about = options.topic_boost * (info.topic in topics) + options.tag_boost * (entry_id in tagged)
            return 1.0 + about + options.stand_boost * _freshness(age_months)

        return factor

    def _boosted(self, ranking: list[tuple[int, float]], boost_of: Callable[[str], float] | None) -> list[tuple[int, float]]:
        if boost_of is None:
            return ranking
        factors = {entry_id: boost_of(entry_id) for entry_id in {self._entry_of_row[row] for row, _ in ranking}}
        boosted = [(row, score * factors[self._entry_of_row[row]]) for row, score in ranking]
        return sorted(boosted, key=lambda item: (-item[1], self._nodes.node_ids[item[0]]))

    def _merged(self, rankings: list[list[tuple[int, float]]]) -> list[tuple[int, float]]:
        if len(rankings) == 1:
            return rankings[0]
        sums: dict[int, float] = defaultdict(float)
        for number, ranking in enumerate(rankings):
            for row, score in ranking:
                sums[row] += score * (SUB_QUERY_WEIGHT if number else 1.0)
        merged = sorted(sums.items(), key=lambda item: (-item[1], self._nodes.node_ids[item[0]]))
        kept = [row for ranking in rankings[1:] for row in self._best_of_entries(ranking, KEPT_OF_SUB_QUERY)]
        return _lifted(merged, kept)

    def _best_of_entries(self, ranking: list[tuple[int, float]], count: int) -> list[int]:
        best: dict[str, int] = {}
        for row, _ in ranking:
            best.setdefault(self._entry_of_row[row], row)
            if len(best) == count:
                break
        return list(best.values())

    def _selected(self, ranking: list[tuple[int, float]], limit: int) -> list[tuple[int, float]]:
        """One section of an ordinary entry, up to three of a source text."""
        taken: dict[str, int] = defaultdict(int)
        selected: list[tuple[int, float]] = []
        for row, score in ranking:
            entry_id = self._entry_of_row[row]
            most = SECTIONS_OF_SOURCE_TEXT if self._nodes.entries[entry_id].source_text else 1
            if taken[entry_id] < most:
                taken[entry_id] += 1
                selected.append((row, score))
                if len(selected) == limit:
                    break
        return selected

    def _results(self, selected: list[tuple[int, float]], searches: Sequence[SearchBundle]) -> list[NodeWithScore]:
        results = []
        for row, fused in selected:
            node = self._nodes.at(row).to_text_node()
            for channel, key in _SCORE_KEYS.items():
                found = [float(search.scores[channel][row]) for search in searches if channel in search.scores]
                if found and max(found) > 0:
                    node.metadata[key] = max(found)
            node.metadata["score_fused"] = fused
            node.excluded_embed_metadata_keys.extend(_EVIDENCE_KEYS)
            node.excluded_llm_metadata_keys.extend(_EVIDENCE_KEYS)
            results.append(NodeWithScore(node=node, score=fused))
        return results

    def _ranks(self, searches: Sequence[SearchBundle]) -> Mapping[str, Mapping[Channel, int]]:
        ranks: dict[str, dict[Channel, int]] = defaultdict(dict)
        for search in searches:
            for channel, hits in search.hits.items():
                for rank, (row, _) in enumerate(hits, start=1):
                    of_node = ranks[self._nodes.node_ids[row]]
                    of_node[channel] = min(rank, of_node.get(channel, rank))
        return dict(ranks)


def _lifted(merged: list[tuple[int, float]], kept: Sequence[int]) -> list[tuple[int, float]]:
    """The ranking with every row of `kept` at place six or better."""
    top = {row for row, _ in merged[:_KEPT_FROM_PLACE]}
    below = [row for row in dict.fromkeys(kept) if row not in top]
    if not below or len(merged) <= _KEPT_FROM_PLACE:
        return merged
    head, tail = merged[:_KEPT_FROM_PLACE], [item for item in merged[_KEPT_FROM_PLACE:] if item[0] not in below]
    return [*head, *((row, head[-1][1]) for row in below), *tail]


def _degraded(searches: Sequence[SearchBundle]) -> tuple[Channel, ...]:
    return tuple(channel for channel in CHANNELS if any(channel in search.failures for search in searches))


def _freshness(age_months: int) -> float:
    """1 within a year of the month asked about, then falling to 0 at three years."""
    return min(1.0, max(0.0, (_STALE_MONTHS - age_months) / (_STALE_MONTHS - _FRESH_MONTHS)))


def _month(stand: str) -> int:
    """Months since year 0 of a `YYYY-MM`."""
    year, _, month = stand.partition("-")
    return int(year) * 12 + int(month)
