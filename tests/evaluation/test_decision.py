from dataclasses import dataclass

import pytest

from evaluation.answer_metrics import LatencyFigures
from evaluation.answers import AnsweredQuestion
from evaluation.decision import Decision, decide, draft_test, equal_in_citation_precision


@dataclass(frozen=True)
class Model:
    """A model as the protocol sees it: `drafts` are (passed, total) per question, `refusals` whether each was handled right."""

    name: str
    drafts: tuple[tuple[int, int], ...]
    refusals: tuple[bool, ...]
    seconds: float = 1.0
    citation_precision: float = 1.0

    @property
    def draft_citation_precision(self) -> float:
        total = sum(total for _, total in self.drafts)
        return sum(passed for passed, _ in self.drafts) / total if total else 0.0

    @property
    def refusal_correct(self) -> float:
        return sum(self.refusals) / len(self.refusals)

    @property
    def latency_ms(self) -> LatencyFigures:
        return LatencyFigures(mean=self.seconds * 1000, p50=self.seconds * 1000, p95=self.seconds * 1000)

    @property
    def per_question(self) -> tuple[AnsweredQuestion, ...]:
        pairs = zip(self.drafts, self.refusals, strict=True)
        return tuple(question(n, *draft, refusal, self.seconds) for n, (draft, refusal) in enumerate(pairs))


def question(number: int, passed: int, total: int, refusal_correct: bool, seconds: float) -> AnsweredQuestion:
    return AnsweredQuestion(
        id=f"q-t-{number}",
        question="q",
        kind="value",
        status="answered",
        refusal_reason=None,
        expected_ids=("pv-sv-05",),
        cited_ids=(),
        values_correct=None,
        refusal_correct=refusal_correct,
        quotes=0,
        quotes_of_expected=0,
        characters=0,
        faults=(),
        violations=(),
        answer="",
        latency_ms=seconds * 1000,
        draft_passed=passed,
        draft_total=total,
    )


def model(name: str, *, failed: int = 0, of: int = 100, wrong: int = 0, seconds: float = 1.0, **more: float) -> Model:
    """`failed` of `of` questions have a draft that fails, `wrong` of them are refused or answered wrongly."""
    drafts = tuple((0, 1) if n < failed else (1, 1) for n in range(of))
    return Model(name, drafts, tuple(n >= wrong for n in range(of)), seconds, **more)


def names(decision: Decision) -> tuple[str | None, str | None, tuple[str, ...]]:
    return decision.winner, decision.runner_up, decision.ranking


def test_higher_citation_precision_wins_over_everything_else():
    slow, fast = model("slow", seconds=60.0, wrong=30), model("fast", failed=10)
    decision = decide([fast, slow])
    assert names(decision) == ("slow", None, ("slow", "fast"))
    assert decision.places[0].decided_by == "draft_citation_precision"
    assert "keine zweite Wahl" in decision.reason


def test_faster_model_wins_at_equal_citation_precision_and_refusals():
    decision = decide([model("slow", seconds=60.0), model("fast", failed=1), model("middle", seconds=5.0)])
    assert names(decision) == ("fast", "middle", ("fast", "middle", "slow"))
    assert decision.places[0].decided_by == "latency"


def test_refusals_come_before_latency():
    decision = decide([model("fast", wrong=8), model("right", seconds=9.0)])
    assert names(decision) == ("right", "fast", ("right", "fast"))
    assert decision.places[0].decided_by == "refusal_correct"


def test_runner_up_is_the_fastest_of_equal_citation_precision_and_not_the_second():
    decision = decide([model("best", seconds=9.0), model("second", seconds=5.0, wrong=5), model("hasty", seconds=0.1, wrong=40)])
    assert decision.ranking == ("best", "second", "hasty")
    assert decision.runner_up == "hasty"


def test_small_goldset_does_not_make_different_models_equal():
    a, b = model("a", of=10), model("b", of=10, failed=3, seconds=0.1)
    assert draft_test(a.per_question, b.per_question).p_value == pytest.approx(0.25)
    assert not equal_in_citation_precision(a, b)
    assert decide([b, a]).winner == "a"


def test_large_goldset_does_not_overlook_a_small_certain_difference():
    a, b = model("a", of=1000), model("b", of=1000, failed=8, seconds=0.1)
    assert abs(a.draft_citation_precision - b.draft_citation_precision) < 0.01
    assert draft_test(a.per_question, b.per_question).tells_apart
    assert decide([b, a]).winner == "a"


def test_chance_difference_within_a_point_is_equal():
    a, b = model("a", of=1000, failed=2), model("b", of=1000, failed=5, seconds=0.1)
    assert equal_in_citation_precision(a, b)
    assert decide([a, b]).winner == "b"


def test_model_that_showed_an_unproven_claim_cannot_win():
    decision = decide([model("liar", seconds=0.1, citation_precision=0.99), model("honest", failed=40)])
    assert names(decision) == ("honest", None, ("honest", "liar"))
    assert decision.places[0].decided_by == "unproven_claims"
    assert "liar scheidet aus" in decision.reason
    assert names(decide([model("liar", citation_precision=0.99)]))[0] is None


def test_model_that_never_drafts_anything_is_not_precise():
    silent = Model("silent", ((0, 0),) * 10, (False,) * 10, seconds=0.1)
    assert decide([silent, model("talks", of=10, failed=2)]).ranking == ("talks", "silent")


def test_questions_that_only_one_model_drafted_do_not_count_in_the_pair():
    a = Model("a", ((1, 1), (1, 1), (0, 0)), (True,) * 3)
    b = Model("b", ((1, 1), (0, 0), (0, 2)), (True,) * 3)
    test = draft_test(a.per_question, b.per_question)
    assert (test.a_better, test.b_better, test.equal) == (0, 0, 1)


def test_one_model_and_none():
    alone = decide([model("alone", failed=3)])
    assert names(alone) == ("alone", None, ("alone",))
    assert "kein anderes Modell" in alone.reason
    assert names(decide([])) == (None, None, ())


def test_three_models_without_a_transitive_order_get_one_all_the_same():
    decision = decide([model("a", failed=0), model("b", failed=1, seconds=0.5), model("c", failed=2, seconds=0.1)])
    assert decision.ranking == ("b", "a", "c"), "b equals a and is faster; c equals b, but not a"
