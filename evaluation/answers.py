"""Asks the questions of a goldset through the whole path and measures the answers."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from custom_postprocessors.evidence import Frozen
from evaluation.answer_metrics import (
    AnswerFigures,
    AnswerScore,
    SectionTexts,
    draft_counts,
    score_answer,
    summarise,
)
from evaluation.goldset import GoldItem, Goldset
from pipelines.contracts import Event, FinalEvent, Outcome
from pipelines.errors import PvAgentError

AskEvents = Callable[[str], Iterable[Event]]
"""A question → its events; may raise, which counts as a crash."""


class AnsweredQuestion(Frozen):
    """One question of a report: what was expected, what came, and what does not hold."""

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


class AnswersReport(AnswerFigures):
    """The figures of a run, every question, and what was asked of which index."""

    per_question: tuple[AnsweredQuestion, ...]
    crashed: tuple[str, ...]
    goldset_version: str
    index_version: str


def evaluate_answers(
    ask: AskEvents,
    goldset: Goldset,
    sections: SectionTexts,
    *,
    index_version: str,
    progress: Callable[[Sequence[GoldItem]], Iterator[GoldItem]] = iter,
) -> AnswersReport:
    """Asks every question once, in order. A question whose path raises is a failure in everything and is listed."""
    scores: list[AnswerScore] = []
    answered: list[AnsweredQuestion] = []
    crashed: list[str] = []
    for item in progress(goldset.items):
        events, error = _events(ask, item.question)
        outcome = next((event.outcome for event in events if isinstance(event, FinalEvent)), None)
        if outcome is None:
            crashed.append(f"{item.id}: {error}")
        score = score_answer(item, outcome, sections, draft_counts(events) if outcome else None)
        scores.append(score)
        answered.append(_answered(item, outcome, score))
    figures = summarise(scores)
    return AnswersReport(
        **{name: getattr(figures, name) for name in AnswerFigures.model_fields},
        per_question=tuple(answered),
        crashed=tuple(crashed),
        goldset_version=goldset.version,
        index_version=index_version,
    )


def report_text(report: AnswersReport) -> str:
    """The figures and every failed question, for a terminal."""
    curve = ", ".join(f"{length}: {share:.3f}" for length, share in report.values_by_length.items())
    lines = [
        f"{report.questions} questions: citation precision {report.citation_precision:.3f} "
        f"(first draft {report.draft_citation_precision:.3f}), expected source {report.expected_source:.3f}, "
        f"values correct {report.values_correct:.3f}, quotes from expected entries {report.quote_precision:.3f}",
        f"refusal correct {report.refusal_correct:.3f}, false refusals {report.false_refusals:.3f}, "
        f"false answers {report.false_answers:.3f}; regenerated {report.regenerated}, dropped claims {report.dropped_claims}",
        f"latency mean {report.latency_ms.mean:.0f} ms, p50 {report.latency_ms.p50:.0f} ms, p95 {report.latency_ms.p95:.0f} ms",
        f"values correct by characters of quotes: {curve}",
    ]
    lines.extend(f"  crashed: {crash}" for crash in report.crashed)
    lines.extend(
        f"  {one.id} ({one.kind}): {one.status}, values {_mark(one.values_correct)}, cited {', '.join(one.cited_ids) or '–'}, "
        f"expected {', '.join(one.expected_ids) or 'refusal'}: {one.question!r}"
        for one in report.per_question
        if one.values_correct is False or not one.refusal_correct or one.faults
    )
    return "\n".join(lines)


def _events(ask: AskEvents, question: str) -> tuple[list[Event], str]:
    events: list[Event] = []
    try:
        events.extend(ask(question))
    except PvAgentError as exc:
        return events, str(exc)
    return events, "no outcome"


def _answered(item: GoldItem, outcome: Outcome | None, score: AnswerScore) -> AnsweredQuestion:
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
    )


def _mark(correct: bool | None) -> str:
    return "–" if correct is None else "right" if correct else "wrong"
