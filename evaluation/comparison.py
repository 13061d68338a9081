"""Two runs side by side: which figures moved, and which questions got better or worse."""

from collections.abc import Sequence

from custom_postprocessors.evidence import Frozen
from evaluation.answers import AnsweredQuestion
from evaluation.decision import draft_test, latency_test, refusal_test
from evaluation.intervals import PairedTest, paired_test
from evaluation.model_report import BakeoffReport, ModelReport
from pipelines.errors import BadInput


class FigureChange(Frozen):
    """A figure before (a) and after (b); `test` counts the questions on which each was better, None where none can tell."""

    figure: str
    before: float
    after: float
    test: PairedTest | None = None


class QuestionChange(Frozen):
    """A question on which something changed; `what` names it, German."""

    id: str
    question: str
    what: tuple[str, ...]


class ModelComparison(Frozen):
    """The same model in two runs (or the only model of each), over the questions that both have."""

    before: str
    after: str
    questions: int
    figures: tuple[FigureChange, ...]
    better: tuple[QuestionChange, ...]
    worse: tuple[QuestionChange, ...]


class RunComparison(Frozen):
    """Two runs; `conditions` are the things measured at that differ."""

    before: str
    after: str
    conditions: tuple[str, ...]
    models: tuple[ModelComparison, ...]


def compare_runs(before: BakeoffReport, after: BakeoffReport) -> RunComparison:
    """Compares models of the same name; of two runs with one model each, these.

    Raises:
        BadInput: the runs have no model or no question in common.
    """
    pairs = [(model, other) for model in before.models if (other := after.model(model.name)) is not None]
    if len(before.models) == len(after.models) == 1:
        pairs = [(before.models[0], after.models[0])]
    if not pairs:
        raise BadInput(f"Runs {before.run_id!r} and {after.run_id!r} have no model in common.", hint="Compare others.")
    return RunComparison(
        before=before.run_id,
        after=after.run_id,
        conditions=before.manifest.differences(after.manifest),
        models=tuple(compare_models(one, other) for one, other in pairs),
    )


def compare_models(before: ModelReport, after: ModelReport) -> ModelComparison:
    """Compares two models' answers over the questions that both were asked.

    Raises:
        BadInput: there is no such question.
    """
    ids = {one.id for one in after.per_question}
    common = [one for one in before.per_question if one.id in ids]
    if not common:
        raise BadInput(f"{before.name!r} and {after.name!r} were asked no common question.", hint="Compare others.")
    others = {one.id: one for one in after.per_question}
    pairs = [(one, others[one.id]) for one in common]
    changes = [(one, other, _gained(one, other), _gained(other, one)) for one, other in pairs]
    return ModelComparison(
        before=before.name,
        after=after.name,
        questions=len(pairs),
        figures=_figures(before, after, [one for one, _ in pairs], [other for _, other in pairs]),
        better=tuple(QuestionChange(id=one.id, question=one.question, what=got) for one, _, got, _ in changes if got),
        worse=tuple(QuestionChange(id=one.id, question=one.question, what=lost) for one, _, _, lost in changes if lost),
    )


def comparison_text(comparison: RunComparison) -> str:
    """The comparison for a terminal."""
    lines = [f"{comparison.before} → {comparison.after}"]
    lines += [f"  differs: {condition}" for condition in comparison.conditions]
    for model in comparison.models:
        name = model.before if model.before == model.after else f"{model.before} → {model.after}"
        lines.append(f"{name}, {model.questions} common questions")
        for change in model.figures:
            test = (
                f"  better {change.test.b_better}, worse {change.test.a_better}, p = {change.test.p_value:.3f}"
                if change.test
                else ""
            )
            lines.append(f"  {change.figure:<26}{change.before:10.3f} → {change.after:.3f}{test}")
        for title, changes in (("better", model.better), ("worse", model.worse)):
            lines.append(f"  {title}: {len(changes)}")
            lines += [f"    {one.id}: {', '.join(one.what)}: {one.question!r}" for one in changes]
    return "\n".join(lines)


def _figures(
    before: ModelReport, after: ModelReport, a: Sequence[AnsweredQuestion], b: Sequence[AnsweredQuestion]
) -> tuple[FigureChange, ...]:
    expected = [(x, y) for x, y in zip(a, b, strict=True) if x.answerable]
    valued = [(x, y) for x, y in zip(a, b, strict=True) if x.values_correct is not None and y.values_correct is not None]
    tests: dict[str, PairedTest | None] = {
        "draft_citation_precision": draft_test(a, b),
        "citation_precision": None,
        "refusal_correct": refusal_test(a, b),
        "false_refusals": None,
        "false_answers": None,
        "expected_source": paired_test([x.found_expected for x, _ in expected], [y.found_expected for _, y in expected]),
        "citation_recall": paired_test([x.citation_recall for x, _ in expected], [y.citation_recall for _, y in expected]),
        "values_correct": paired_test([bool(x.values_correct) for x, _ in valued], [bool(y.values_correct) for _, y in valued]),
        "regenerated": None,
        "dropped_claims": None,
    }
    changes = [
        FigureChange(figure=name, before=getattr(before, name), after=getattr(after, name), test=test)
        for name, test in tests.items()
    ]
    latency = FigureChange(
        figure="latency_ms.mean", before=before.latency_ms.mean, after=after.latency_ms.mean, test=latency_test(a, b)
    )
    return (*changes, latency)


def _gained(before: AnsweredQuestion, after: AnsweredQuestion) -> tuple[str, ...]:
    """What is right in `after` and was not in `before`."""
    points = (
        ("Verweigerung", before.refusal_correct, after.refusal_correct),
        ("Werte", before.values_correct is not False, after.values_correct is not False),
        ("erwartete Quelle", before.found_expected or not before.answerable, after.found_expected or not after.answerable),
        ("Belege", not before.faults, not after.faults),
        ("Entwurf", before.draft_passed == before.draft_total, after.draft_passed == after.draft_total),
        ("Absturz", not before.error, not after.error),
    )
    return tuple(name for name, was, is_now in points if is_now and not was)
