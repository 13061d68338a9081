"""How well retrieval finds the entries that answers have to rest on, and what stood before those it missed."""

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from custom_postprocessors.evidence import Frozen
from evaluation.goldset import GoldItem, comparable
from evaluation.metrics import hit_at_k, mean, ndcg_at_k, percentile, recall_at_k, reciprocal_rank_at_k


@dataclass(frozen=True, slots=True)
class Found:
    """One retrieved section."""

    entry_id: str
    section: str


Retrieve = Callable[[str], Sequence[Found]]
"""A question → sections, best first; more than k of them tell at which rank a missed entry stands."""


class Miss(Frozen):
    """An expected entry that is not among the first k: its rank (None: not found at all) and the first k, which outranked it."""

    entry_id: str
    rank: int | None
    outranked_by: tuple[str, ...]


class QuestionResult(Frozen):
    """One question; `retrieved_ids` are the first k different entries."""

    id: str
    question: str
    kind: str
    expected_ids: tuple[str, ...]
    retrieved_ids: tuple[str, ...]
    recall: float
    reciprocal_rank: float
    section_recall: float | None
    latency_ms: float
    missing: tuple[Miss, ...]


class KindResult(Frozen):
    """The means over the questions of one kind."""

    questions: int
    recall_at_k: float
    hit_rate: float
    mrr: float
    ndcg_at_k: float


class Latency(Frozen):
    """Milliseconds of one search."""

    p50: float
    p95: float


class RetrievalReport(Frozen):
    """Means over the answerable questions (each counts the same); all 0.0 when there is none.

    `section_recall_at_k` is the mean over the questions that name sections, None when none does.
    """

    recall_at_k: float
    hit_rate: float
    mrr: float
    ndcg_at_k: float
    section_recall_at_k: float | None
    k: int
    questions: int
    latency_ms: Latency
    by_kind: dict[str, KindResult]
    per_question: tuple[QuestionResult, ...]
    goldset_version: str
    index_version: str


def evaluate_retrieval(
    retrieve: Retrieve, items: Sequence[GoldItem], k: int, *, goldset_version: str = "", index_version: str = ""
) -> RetrievalReport:
    """Asks every answerable question once, in order; `out_of_kb` questions do not count.

    Raises:
        ValueError: k < 1.
    """
    if k < 1:
        raise ValueError(f"k is {k}, but has to be at least 1")
    results = [_result(retrieve, item, k) for item in items if item.kind != "out_of_kb"]
    kinds: dict[str, list[QuestionResult]] = defaultdict(list)
    for result in results:
        kinds[result.kind].append(result)
    overall = _means(results, k)
    sections = [result.section_recall for result in results if result.section_recall is not None]
    return RetrievalReport(
        recall_at_k=overall.recall_at_k,
        hit_rate=overall.hit_rate,
        mrr=overall.mrr,
        ndcg_at_k=overall.ndcg_at_k,
        section_recall_at_k=mean(sections) if sections else None,
        k=k,
        questions=len(results),
        latency_ms=_latency([result.latency_ms for result in results]),
        by_kind={kind: _means(found, k) for kind, found in sorted(kinds.items())},
        per_question=tuple(results),
        goldset_version=goldset_version,
        index_version=index_version,
    )


def report_text(report: RetrievalReport) -> str:
    """The report for a terminal: figures, figures per kind, and every miss with what outranked it."""
    lines = [
        f"{report.questions} questions, k = {report.k}: recall@k {report.recall_at_k:.3f}, hit rate {report.hit_rate:.3f}, "
        f"MRR {report.mrr:.3f}, nDCG@k {report.ndcg_at_k:.3f}; "
        f"latency p50 {report.latency_ms.p50:.1f} ms, p95 {report.latency_ms.p95:.1f} ms"
    ]
    if report.section_recall_at_k is not None:
        lines.append(f"section recall@k {report.section_recall_at_k:.3f}")
    lines.extend(
        f"  {kind:<14} {found.questions:>3}  recall@k {found.recall_at_k:.3f}  MRR {found.mrr:.3f}"
        for kind, found in report.by_kind.items()
    )
    for result in report.per_question:
        for miss in result.missing:
            place = f"rank {miss.rank}" if miss.rank is not None else "not found"
            lines.append(f"  {result.id}: {miss.entry_id} {place}, behind {', '.join(miss.outranked_by)}: {result.question!r}")
    return "\n".join(lines)


def _result(retrieve: Retrieve, item: GoldItem, k: int) -> QuestionResult:
    started = time.perf_counter()
    found = retrieve(item.question)
    milliseconds = (time.perf_counter() - started) * 1000
    ranking = list(dict.fromkeys(section.entry_id for section in found))
    first = tuple(ranking[:k])
    missing = tuple(
        Miss(entry_id=entry_id, rank=ranking.index(entry_id) + 1 if entry_id in ranking else None, outranked_by=first)
        for entry_id in item.expected_ids
        if entry_id not in first
    )
    return QuestionResult(
        id=item.id,
        question=item.question,
        kind=item.kind,
        expected_ids=item.expected_ids,
        retrieved_ids=first,
        recall=recall_at_k(ranking, item.expected_ids, k),
        reciprocal_rank=reciprocal_rank_at_k(ranking, item.expected_ids, k),
        section_recall=_section_recall(found, item, k),
        latency_ms=milliseconds,
        missing=missing,
    )


def _section_recall(found: Sequence[Found], item: GoldItem, k: int) -> float | None:
    """The share of the expected sections among the first k sections; None when none is expected."""
    if not item.expected_sections:
        return None
    first = [f"{section.entry_id}#{comparable(section.section)}" for section in found[:k]]
    wanted = [f"{entry_id}#{comparable(prefix)}" for entry_id, _, prefix in (s.partition("#") for s in item.expected_sections)]
    return mean([float(any(section.startswith(prefix) for section in first)) for prefix in wanted])


def _means(results: Sequence[QuestionResult], k: int) -> KindResult:
    return KindResult(
        questions=len(results),
        recall_at_k=mean([result.recall for result in results]),
        hit_rate=mean([hit_at_k(result.retrieved_ids, result.expected_ids, k) for result in results]),
        mrr=mean([result.reciprocal_rank for result in results]),
        ndcg_at_k=mean([ndcg_at_k(result.retrieved_ids, result.expected_ids, k) for result in results]),
    )


def _latency(milliseconds: Sequence[float]) -> Latency:
    return Latency(p50=percentile(milliseconds, 0.5), p95=percentile(milliseconds, 0.95))
