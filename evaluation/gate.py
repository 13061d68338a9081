"""How well the gate tells questions that the knowledge base answers from those that it does not, and the whole curve of it."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from custom_postprocessors.evidence import Frozen
from custom_postprocessors.gate_features import EvidenceFeatures
from custom_postprocessors.grounding import Judgement
from evaluation.goldset import GoldItem
from evaluation.metrics import wilson_interval

FOLDS = 5
REPEATS = 10
SEED = 20260601
RIDGE = 1.0
ALLOWED = (0.01, 0.02, 0.03, 0.05, 0.08, 0.10, 0.15, 0.20)
OUTSIDE_WEIGHT = -5.0

Judge = Callable[[str], Judgement]
"""A question → the gate's judgement on what retrieval finds for it."""
Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class GateSample:
    """One question with what the gate sees of it."""

    item: GoldItem
    features: EvidenceFeatures
    reason: str | None

    @property
    def answerable(self) -> bool:
        """Whether the knowledge base answers it."""
        return self.item.kind != "out_of_kb"


class Stopped(Frozen):
    """Questions of one sort: how many, how many were stopped, the rate in [0, 1] and its 95 % Wilson interval."""

    n: int
    stopped: int
    rate: float
    interval: tuple[float, float]


class CurvePoint(Frozen):
    """With the threshold that stops `allowed` of the answerable questions: what is stopped of those that are not answerable.

    `features_alone` leaves the lists of outside subjects away, `with_outside` uses them. Both cross-validated, years excluded.
    """

    allowed: float
    features_alone: float
    with_outside: float


class FittedWeights(Frozen):
    """The weights of the logistic model on all questions, and the raw score at 3 % of the answerable ones."""

    intercept: float
    support: float
    missing: float
    score_at_three_percent: float


class HalfResult(Frozen):
    """Weights and threshold (5 % of the answerable) from one half of the questions, measured on the other."""

    answerable: Stopped
    out_of_kb: Stopped


class GateReport(Frozen):
    """The gate as it ships, the cross-validated curve, and every question that it got wrong."""

    answerable: Stopped
    out_of_kb: Stopped
    by_kind: dict[str, Stopped]
    reasons: dict[str, int]
    curve: tuple[CurvePoint, ...]
    other_half: HalfResult
    fitted: FittedWeights
    false_stops: tuple[str, ...]
    let_through: tuple[str, ...]
    length_correlation: float
    """Pearson correlation of the raw score with the length of the question, among the answerable ones."""


def samples_of(items: Iterable[GoldItem], judge: Judge) -> tuple[GateSample, ...]:
    """Every question judged once, in order."""
    samples = []
    for item in items:
        judgement = judge(item.question)
        samples.append(GateSample(item, judgement.verdict.features, judgement.reason))
    return tuple(samples)


def gate_report(samples: Sequence[GateSample]) -> GateReport:
    """The report over questions of which both sorts are there.

    Raises:
        ValueError: one of the sorts is missing.
    """
    if {sample.answerable for sample in samples} != {True, False}:
        raise ValueError("The gate is measured on answerable and unanswerable questions; one of the sorts is missing.")
    # A year in which nothing holds is a refusal of its own and no matter of evidence.
    judged = [sample for sample in samples if sample.reason != "out_of_period"]
    features, answerable, outside = _arrays(judged)
    fitted = fit(features, answerable)
    raw = fitted.intercept + features @ np.array([fitted.support, fitted.missing])
    lengths = np.array([len(sample.item.question) for sample in judged], dtype=np.float64)
    yes = answerable == 1
    kinds: dict[str, list[GateSample]] = defaultdict(list)
    reasons: dict[str, int] = defaultdict(int)
    for sample in samples:
        kinds[sample.item.kind].append(sample)
        reasons[sample.reason or "passed"] += 1
    return GateReport(
        answerable=_stopped(sample for sample in samples if sample.answerable),
        out_of_kb=_stopped(sample for sample in samples if not sample.answerable),
        by_kind={kind: _stopped(found) for kind, found in sorted(kinds.items())},
        reasons=dict(sorted(reasons.items())),
        curve=_curve(features, answerable, outside),
        other_half=_other_half(features, answerable, outside),
        fitted=fitted,
        false_stops=tuple(sample.item.id for sample in samples if sample.answerable and sample.reason is not None),
        let_through=tuple(sample.item.id for sample in samples if not sample.answerable and sample.reason is None),
        length_correlation=float(np.corrcoef(raw[yes], lengths[yes])[0, 1]) if yes.sum() > 1 else 0.0,
    )


def report_text(report: GateReport) -> str:
    """The report for a terminal: rates with intervals, the curve, the errors by id."""
    lines = [
        f"answerable stopped {_text(report.answerable)}   out_of_kb stopped {_text(report.out_of_kb)}",
        f"other half         {_text(report.other_half.answerable)}                     {_text(report.other_half.out_of_kb)}",
        *(f"  {kind:14} {_text(stopped)}" for kind, stopped in report.by_kind.items()),
        "curve (cross-validated): answerable stopped → out_of_kb stopped by evidence alone, with the lists of outside subjects",
        *(f"  {point.allowed:5.0%} → {point.features_alone:6.1%} {point.with_outside:6.1%}" for point in report.curve),
        f"fitted: {report.fitted.model_dump()}; correlation of score and length {report.length_correlation:.2f}",
        f"stopped by mistake: {', '.join(report.false_stops) or '–'}",
        f"let through: {', '.join(report.let_through) or '–'}",
    ]
    return "\n".join(lines)


def _text(stopped: Stopped) -> str:
    return f"{stopped.stopped}/{stopped.n} = {stopped.rate:.1%} [{stopped.interval[0]:.1%}, {stopped.interval[1]:.1%}]"


def fit(features: Matrix, answerable: Matrix) -> FittedWeights:
    """Ridge logistic regression on standardised features, both sorts weighing the same.

    Args:
        features: shape (n, 2): support and missing.
        answerable: shape (n,): 1 or 0.
    """
    mean, spread = features.mean(axis=0), features.std(axis=0) + 1e-9
    scaled = (features - mean) / spread
    share = answerable.mean()
    weight = np.where(answerable == 1, 0.5 / share, 0.5 / (1 - share))
    sign = np.where(answerable == 1, 1.0, -1.0)

    def loss(values: Matrix) -> tuple[float, Matrix]:
        raw = values[0] + scaled @ values[1:]
        cost = float((weight * np.logaddexp(0, -sign * raw)).sum() + RIDGE / 2 * (values[1:] ** 2).sum())
        error = (1 / (1 + np.exp(-raw)) - answerable) * weight
        return cost, np.concatenate(([error.sum()], scaled.T @ error + RIDGE * values[1:]))

    found = minimize(loss, np.zeros(features.shape[1] + 1), jac=True).x
    weights = found[1:] / spread
    intercept = float(found[0] - (weights * mean).sum())
    raw = intercept + features @ weights
    return FittedWeights(
        intercept=intercept,
        support=float(weights[0]),
        missing=float(weights[1]),
        score_at_three_percent=_threshold(raw[answerable == 1], 0.03),
    )


def _arrays(samples: Sequence[GateSample]) -> tuple[Matrix, Matrix, Matrix]:
    features = np.array([[sample.features.support, sample.features.missing] for sample in samples], dtype=np.float64)
    answerable = np.array([float(sample.answerable) for sample in samples])
    outside = np.array([sample.features.outside for sample in samples], dtype=np.float64)
    return features, answerable, outside


def _curve(features: Matrix, answerable: Matrix, outside: Matrix) -> tuple[CurvePoint, ...]:
    """Mean over the repeats of scores that each come from a model that did not see the question."""
    generator = np.random.default_rng(SEED)
    scores = [_held_out_scores(features, answerable, generator) for _ in range(REPEATS)]
    points = []
    for allowed in ALLOWED:
        alone = [_stopped_share(score, answerable, allowed) for score in scores]
        both = [_stopped_share(score + OUTSIDE_WEIGHT * outside, answerable, allowed) for score in scores]
        points.append(CurvePoint(allowed=allowed, features_alone=float(np.mean(alone)), with_outside=float(np.mean(both))))
    return tuple(points)


def _held_out_scores(features: Matrix, answerable: Matrix, generator: np.random.Generator) -> Matrix:
    fold = np.zeros(len(answerable), dtype=np.int64)
    for sort in (0, 1):
        rows = generator.permutation(np.flatnonzero(answerable == sort))
        fold[rows] = np.arange(len(rows)) % FOLDS
    scores = np.zeros(len(answerable))
    for held_out in range(FOLDS):
        model = fit(features[fold != held_out], answerable[fold != held_out])
        scores[fold == held_out] = model.intercept + features[fold == held_out] @ np.array([model.support, model.missing])
    return scores


def _other_half(features: Matrix, answerable: Matrix, outside: Matrix) -> HalfResult:
    """Odd questions give weights and threshold, even ones are measured."""
    tuned = np.arange(len(answerable)) % 2 == 0
    model = fit(features[tuned], answerable[tuned])
    scores = model.intercept + features @ np.array([model.support, model.missing]) + OUTSIDE_WEIGHT * outside
    threshold = _threshold(scores[tuned & (answerable == 1)], 0.05)
    measured = {sort: scores[~tuned & (answerable == sort)] for sort in (0, 1)}
    return HalfResult(
        answerable=_rate(int((measured[1] < threshold).sum()), len(measured[1])),
        out_of_kb=_rate(int((measured[0] < threshold).sum()), len(measured[0])),
    )


def _stopped_share(scores: Matrix, answerable: Matrix, allowed: float) -> float:
    return float((scores[answerable == 0] < _threshold(scores[answerable == 1], allowed)).mean())


def _threshold(scores: Matrix, allowed: float) -> float:
    """The score below which at most the share `allowed` of these scores lies."""
    return float(np.sort(scores)[int(allowed * len(scores))])


def _stopped(samples: Iterable[GateSample]) -> Stopped:
    reasons = [sample.reason for sample in samples]
    return _rate(sum(reason is not None for reason in reasons), len(reasons))


def _rate(stopped: int, n: int) -> Stopped:
    return Stopped(n=n, stopped=stopped, rate=stopped / n if n else 0.0, interval=wilson_interval(stopped, n))
