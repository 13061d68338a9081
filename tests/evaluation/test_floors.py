from pathlib import Path

from evaluation.answers import evaluate_answers
from evaluation.floors import FLOORS, broken_floors
from evaluation.goldset import GoldItem, Goldset
from evaluation.retrieval import Found, evaluate_retrieval

ITEM = GoldItem(id="q-x-1", question="Wie hoch?", kind="value", expected_ids=("pv-sv-05",), must_contain=("551,10 €",))


def test_every_missed_floor_is_named_with_its_figure() -> None:
    retrieval = evaluate_retrieval(lambda question: [Found("pv-sv-06", "x")], [ITEM], 8)
    answers = evaluate_answers(lambda question: [], Goldset((ITEM,), "v"), {}, index_version="i")
    broken = broken_floors("hard", retrieval, answers)
    assert "hard: recall_at_k is 0.000, must be ≥ 0.920" in broken
    assert "hard: false_refusals is 1.000, must be ≤ 0.050" in broken
    assert len(broken) == sum(floor.group == "hard" and floor.figure != "citation_precision" for floor in FLOORS)


def test_a_question_without_an_outcome_is_a_listed_failure() -> None:
    answers = evaluate_answers(lambda question: [], Goldset((ITEM,), "v"), {}, index_version="i")
    assert answers.crashed == ("q-x-1: no outcome",)
    assert (answers.values_correct, answers.false_refusals, answers.refusal_correct) == (0.0, 1.0, 0.0)


def test_the_command_is_part_of_make_check() -> None:
    makefile = (Path(__file__).resolve().parent.parent.parent / "Makefile").read_text(encoding="utf-8")
    assert "evaluation floors" in makefile
    assert "check: lint types test slow eval" in makefile
