"""The protocol: which model may answer. Citation precision first, then refusal correctness, then latency.

A criterion decides only where models are not equal in it. Two models are *equal* in a rate when both hold: their rates are at
most one percentage point apart, and the exact paired test over the same questions does not tell them apart (two-sided sign
test, 5 %). The first condition keeps a small goldset from calling different models equal only because it cannot prove more; the
second keeps a large one from overlooking a small but certain difference. So a faster model wins only at equal citation
precision, and equal refusal correctness.
"""

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from custom_postprocessors.evidence import Frozen
from evaluation.answer_metrics import LatencyFigures
from evaluation.answers import AnsweredQuestion
from evaluation.intervals import PairedTest, paired_test

EQUAL_WITHIN = 0.01
"""Rates further apart than this are never called equal."""
_ROUNDING = 1e-9

Criterion = Literal["draft_citation_precision", "refusal_correct", "latency", "unproven_claims"]


class Measured(Protocol):
    """What the protocol has to know of a model."""

    @property
    def name(self) -> str:
        """Its name, unique in the run."""
        ...

    @property
    def citation_precision(self) -> float:
        """Of the claims shown; below 1 it cannot win."""
        ...

    @property
    def draft_citation_precision(self) -> float:
        """First criterion."""
        ...

    @property
    def refusal_correct(self) -> float:
        """Second criterion."""
        ...

    @property
    def latency_ms(self) -> LatencyFigures:
        """Third criterion, by the mean."""
        ...

    @property
    def per_question(self) -> tuple[AnsweredQuestion, ...]:
        """Every question, in the same order for all models."""
        ...


class Place(Frozen):
    """A model's place; `decided_by` is the criterion that put it before the models that follow, None for the last."""

    rank: int
    model: str
    decided_by: Criterion | None


class Versus(Frozen):
    """The winner (a) against another model (b) over the same questions."""

    model: str
    equal_citation_precision: bool
    draft_citation_precision: PairedTest
    refusal_correct: PairedTest
    latency: PairedTest


class Decision(Frozen):
    """What the protocol says.

    `winner` is None when no model may answer. `runner_up` is the fastest of the others whose citation precision equals the
    winner's. `ranking` are all models, best first. `reason` is German.
    """

    winner: str | None
    runner_up: str | None
    ranking: tuple[str, ...]
    places: tuple[Place, ...]
    versus: tuple[Versus, ...]
    reason: str


def decide(models: Sequence[Measured]) -> Decision:
    """Ranks the models by the protocol: the best is found, then the best of the rest, and so on.

    A model that showed a claim which does not hold ranks behind all others and cannot win.
    """
    sound = [model for model in models if model.citation_precision >= 1.0]
    unsound = [model for model in models if model.citation_precision < 1.0]
    places: list[tuple[Measured, Criterion | None]] = []
    for group in (sound, unsound):
        left = list(group)
        while left:
            best, criterion = _best(left)
            left.remove(best)
            follows = bool(left) or (group is sound and bool(unsound))
            decided: Criterion | None = criterion if left else "unproven_claims" if follows else None
            places.append((best, decided))
    winner = places[0][0] if sound else None
    versus = tuple(_versus(winner, other) for other in models if other is not winner) if winner else ()
    equal = [model for model in sound if winner and model is not winner and equal_in_citation_precision(winner, model)]
    runner_up = min(equal, key=lambda model: model.latency_ms.mean) if equal else None
    return Decision(
        winner=winner.name if winner else None,
        runner_up=runner_up.name if runner_up else None,
        ranking=tuple(model.name for model, _ in places),
        places=tuple(
            Place(rank=rank, model=model.name, decided_by=criterion) for rank, (model, criterion) in enumerate(places, start=1)
        ),
        versus=versus,
        reason=_reason(winner, places, runner_up),
    )


def equal_in_citation_precision(a: Measured, b: Measured) -> bool:
    """Whether the protocol calls two models equal in the citation precision of their first drafts."""
    return _equal(a.draft_citation_precision, b.draft_citation_precision, draft_test(a.per_question, b.per_question))


def equal_in_refusals(a: Measured, b: Measured) -> bool:
    """Whether the protocol calls two models equal in refusal correctness."""
    return _equal(a.refusal_correct, b.refusal_correct, refusal_test(a.per_question, b.per_question))


def draft_test(a: Sequence[AnsweredQuestion], b: Sequence[AnsweredQuestion]) -> PairedTest:
    """Share of the first draft's claims that passed, over the questions for which both models wrote claims."""
    both = [(x, y) for x, y in _pairs(a, b) if x.draft_total and y.draft_total]
    return paired_test([x.draft_passed / x.draft_total for x, _ in both], [y.draft_passed / y.draft_total for _, y in both])


def refusal_test(a: Sequence[AnsweredQuestion], b: Sequence[AnsweredQuestion]) -> PairedTest:
    """Answered or refused as it should be, over all questions (McNemar's exact test)."""
    return _test(a, b, lambda one: float(one.refusal_correct))


def latency_test(a: Sequence[AnsweredQuestion], b: Sequence[AnsweredQuestion]) -> PairedTest:
    """Which model was faster, question by question, where both came to an outcome."""
    both = [(x, y) for x, y in _pairs(a, b) if "crashed" not in (x.status, y.status)]
    return paired_test([-x.latency_ms for x, _ in both], [-y.latency_ms for _, y in both])


def _best(models: Sequence[Measured]) -> tuple[Measured, Criterion]:
    """The model that the protocol puts first, and the criterion that decided."""
    top = max(models, key=lambda model: model.draft_citation_precision)
    equal = [model for model in models if model is top or equal_in_citation_precision(top, model)]
    if len(equal) == 1:
        return top, "draft_citation_precision"
    top = max(equal, key=lambda model: model.refusal_correct)
    equal = [model for model in equal if model is top or equal_in_refusals(top, model)]
    if len(equal) == 1:
        return top, "refusal_correct"
    return min(equal, key=lambda model: model.latency_ms.mean), "latency"


def _equal(a: float, b: float, test: PairedTest) -> bool:
    return abs(a - b) <= EQUAL_WITHIN + _ROUNDING and not test.tells_apart


def _versus(winner: Measured, other: Measured) -> Versus:
    return Versus(
        model=other.name,
        equal_citation_precision=equal_in_citation_precision(winner, other),
        draft_citation_precision=draft_test(winner.per_question, other.per_question),
        refusal_correct=refusal_test(winner.per_question, other.per_question),
        latency=latency_test(winner.per_question, other.per_question),
    )


def _pairs(a: Sequence[AnsweredQuestion], b: Sequence[AnsweredQuestion]) -> list[tuple[AnsweredQuestion, AnsweredQuestion]]:
    others = {one.id: one for one in b}
    return [(one, others[one.id]) for one in a if one.id in others]


def _test(a: Sequence[AnsweredQuestion], b: Sequence[AnsweredQuestion], value: Callable[[AnsweredQuestion], float]) -> PairedTest:
    pairs = _pairs(a, b)
    return paired_test([value(x) for x, _ in pairs], [value(y) for _, y in pairs])


def _reason(winner: Measured | None, places: Sequence[tuple[Measured, Criterion | None]], runner_up: Measured | None) -> str:
    """The decision in German, as it stands in the record."""
    if winner is None:
        return "Kein Modell darf antworten: Jedes hat Aussagen gezeigt, die ihr Beleg nicht trägt."
    others = [model for model, _ in places[1:] if model.citation_precision >= 1.0]
    parts = [f"{winner.name} antwortet: {_because(winner, others, places[0][1])}"]
    if runner_up is not None:
        parts.append(
            f"Zweite Wahl ist {runner_up.name}, das schnellste der übrigen Modelle mit gleicher Zitier-Präzision "
            f"({_seconds(runner_up)} im Mittel)."
        )
    elif others:
        parts.append("Kein anderes Modell hat die gleiche Zitier-Präzision, also gibt es keine zweite Wahl.")
    parts += [
        f"{model.name} scheidet aus, weil es Aussagen gezeigt hat, die ihr Beleg nicht trägt."
        for model, _ in places
        if model.citation_precision < 1.0
    ]
    return " ".join(parts)


def _because(winner: Measured, others: Sequence[Measured], criterion: Criterion | None) -> str:
    precision = f"Zitier-Präzision im ersten Entwurf {_number(winner.draft_citation_precision)}"
    if not others:
        return f"{precision}, kein anderes Modell steht zur Wahl."
    if criterion == "draft_citation_precision":
        second = max(others, key=lambda model: model.draft_citation_precision)
        return f"{precision}, die höchste (danach {second.name} mit {_number(second.draft_citation_precision)})."
    equal = [model for model in others if equal_in_citation_precision(winner, model)]
    alike = f"{precision}, gleich wie {', '.join(model.name for model in equal) or 'der höchste Wert'}"
    if criterion == "refusal_correct":
        second = max(equal, key=lambda model: model.refusal_correct) if equal else others[0]
        return (
            f"{alike}; darunter verweigert es am häufigsten richtig "
            f"({_number(winner.refusal_correct)}, danach {second.name} mit {_number(second.refusal_correct)})."
        )
    return f"{alike}; Verweigerungen ebenso richtig, und darunter das schnellste ({_seconds(winner)} im Mittel)."


def _number(value: float) -> str:
    return f"{value:.3f}".replace(".", ",")


def _seconds(model: Measured) -> str:
    return f"{model.latency_ms.mean / 1000:.2f} s".replace(".", ",")
