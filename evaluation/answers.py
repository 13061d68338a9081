"""Asks the questions of a goldset through the whole path and measures the answers."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from custom_postprocessors.evidence import Frozen
from evaluation.answer_metrics import AnswerFigures, AnswerScore, SectionTexts, summarise
from evaluation.goldset import GoldItem, Goldset
from evaluation.records import AskEvents, QuestionRecord, answered_record

NO_RECORD = "no record"


class AnsweredQuestion(Frozen):
    """One question of a report: what was expected, what came, and what does not hold.

    `faults` were found by the evaluation in what was shown; `violations` by the verifier in drafts, repaired ones included.
    `draft_passed` of `draft_total` claims of the first draft passed.
    """

    id: str
    question: str
    kind: str
    status: str
    refusal_reason: str | None
    expected_ids: tuple[str, ...]
    cited_ids: tuple[str, ...]
    values_correct: bool | None
    refusal_correct: bool
    quotes: int
    quotes_of_expected: int
    characters: int
    faults: tuple[str, ...]
    violations: tuple[str, ...]
    answer: str
    latency_ms: float
    must_contain: tuple[str, ...] = ()
    draft_passed: int = 0
    draft_total: int = 0
    citation_recall: float = 0.0
    found_expected: bool = False
    regenerated: bool = False
    dropped_claims: int = 0
    first_claim_ms: float | None = None
    error: str = ""

    @property
    def answerable(self) -> bool:
        """Whether the knowledge base has the answer."""
        return self.kind != "out_of_kb"

    @property
    def failed(self) -> bool:
        """Whether anything about it is wrong for the reader: values, refusal, source, or a claim that does not hold."""
        missed = self.answerable and not self.found_expected
        return self.values_correct is False or not self.refusal_correct or missed or bool(self.faults) or bool(self.error)


class AnswersReport(AnswerFigures):
    """The figures of a run, overall and per kind of question, every question, and what was asked of which index."""

    per_question: tuple[AnsweredQuestion, ...]
    crashed: tuple[str, ...]
    goldset_version: str
    index_version: str
    by_kind: dict[str, AnswerFigures]

    @property
    def failures(self) -> tuple[AnsweredQuestion, ...]:
        """The questions with anything wrong, in order."""
        return tuple(one for one in self.per_question if one.failed)


def evaluate_answers(
    ask: AskEvents,
    goldset: Goldset,
    sections: SectionTexts,
    *,
    index_version: str,
    progress: Callable[[Sequence[GoldItem]], Iterator[GoldItem]] = iter,
) -> AnswersReport:
    """Asks every question once, in order, and keeps nothing.

    A question whose path raises is a failure in everything and is listed.
    """
    records = [answered_record("", item, ask) for item in progress(goldset.items)]
    return answers_report(goldset, records, sections, index_version=index_version)


def answers_report(
    goldset: Goldset, records: Iterable[QuestionRecord], sections: SectionTexts, *, index_version: str
) -> AnswersReport:
    """The report over one model's records; a question without a record has crashed."""
    found: Mapping[str, QuestionRecord] = {record.question_id: record for record in records}
    pairs = [
        (item, found.get(item.id) or QuestionRecord(model="", question_id=item.id, error=NO_RECORD)) for item in goldset.items
    ]
    scores = [record.score(item, sections) for item, record in pairs]
    kinds: dict[str, list[AnswerScore]] = defaultdict(list)
    for score in scores:
        kinds[score.kind].append(score)
    figures = summarise(scores)
    return AnswersReport(
        **{name: getattr(figures, name) for name in AnswerFigures.model_fields},
        per_question=tuple(_answered(item, record, score) for (item, record), score in zip(pairs, scores, strict=True)),
        crashed=tuple(f"{item.id}: {record.error}" for item, record in pairs if record.outcome is None),
        goldset_version=goldset.version,
        index_version=index_version,
        by_kind={kind: summarise(kinds[kind]) for kind in sorted(kinds)},
    )


def report_text(report: AnswersReport) -> str:
    """The figures and every failed question, for a terminal."""
    curve = ", ".join(f"{length}: {share:.3f}" for length, share in report.values_by_length.items())
    lines = [
        f"{report.questions} questions: citation precision {report.citation_precision:.3f} "
        f"(first draft {_with_interval(report, 'draft_citation_precision')}), "
        f"expected source {_with_interval(report, 'expected_source')}, "
        f"values correct {_with_interval(report, 'values_correct')}, quotes from expected entries {report.quote_precision:.3f}",
        f"refusal correct {_with_interval(report, 'refusal_correct')}, false refusals {report.false_refusals:.3f}, "
        f"false answers {report.false_answers:.3f}; regenerated {report.regenerated}, dropped claims {report.dropped_claims}, "
        f"unavailable {report.unavailable}",
        f"latency mean {report.latency_ms.mean:.0f} ms, p50 {report.latency_ms.p50:.0f} ms, p95 {report.latency_ms.p95:.0f} ms"
        + (f", first claim {report.first_claim_ms:.0f} ms" if report.first_claim_ms is not None else "")
        + (f", {report.tokens_per_second:.1f} tokens/s" if report.tokens_per_second is not None else ""),
        f"values correct by characters of quotes: {curve}",
    ]
    lines.extend(f"  crashed: {crash}" for crash in report.crashed)
    lines.extend(
        f"  {one.id} ({one.kind}): {one.status}, values {_mark(one.values_correct)}, cited {', '.join(one.cited_ids) or '–'}, "
        f"expected {', '.join(one.expected_ids) or 'refusal'}: {one.question!r}"
        for one in report.failures
    )
    return "\n".join(lines)


def _with_interval(report: AnswerFigures, name: str) -> str:
    rate = report.rates[name]
    return f"{rate.value:.3f} [{rate.interval[0]:.3f}, {rate.interval[1]:.3f}]"


def _answered(item: GoldItem, record: QuestionRecord, score: AnswerScore) -> AnsweredQuestion:
    outcome = record.outcome
    return AnsweredQuestion(
        id=item.id,
        question=item.question,
        kind=item.kind,
        status=score.outcome_status,
        refusal_reason=outcome.refusal_reason if outcome else None,
        expected_ids=item.expected_ids,
        cited_ids=score.cited_ids,
        values_correct=score.values_correct,
        refusal_correct=score.refusal_correct,
        quotes=score.quotes,
        quotes_of_expected=score.quotes_of_expected,
        characters=score.characters,
        faults=score.faults,
        violations=tuple(violation.message for violation in outcome.grounding.violations) if outcome else (),
        answer=outcome.answer if outcome else "",
        latency_ms=score.latency_ms,
        must_contain=item.must_contain,
        draft_passed=score.draft.passed,
        draft_total=score.draft.total,
        citation_recall=score.citation_recall,
        found_expected=score.found_expected,
        regenerated=score.regenerated,
        dropped_claims=score.dropped_claims,
        first_claim_ms=score.first_claim_ms,
        error=record.error,
    )


def _mark(correct: bool | None) -> str:
    return "–" if correct is None else "right" if correct else "wrong"
