import numpy as np
import pytest

from custom_postprocessors.gate import GateVerdict
from custom_postprocessors.gate_features import EvidenceFeatures
from custom_postprocessors.grounding import Judgement
from evaluation.gate import fit, gate_report, samples_of
from evaluation.goldset import GOLDSET_DIRECTORY, GoldItem, load_goldset


def items(sort: str, count: int) -> list[GoldItem]:
    expected = () if sort == "out_of_kb" else ("pv-sv-01",)
    return [
        GoldItem(id=f"q-{sort.replace('_', '')}-{n}", question=f"Frage {n}?", kind=sort, expected_ids=expected)
        for n in range(count)
    ]


def judged(support_of: dict[str, float], limit: float = 0.5):
    def judge(question: str) -> Judgement:
        support = support_of[question]
        reason = None if support >= limit else "weak_evidence"
        return Judgement(reason, GateVerdict(support, EvidenceFeatures(support=support, missing=1 - support), reason))

    return judge


def samples(answerable: list[float], unanswerable: list[float]):
    yes, no = items("fact", len(answerable)), items("out_of_kb", len(unanswerable))
    found = samples_of(yes, judged({item.question: value for item, value in zip(yes, answerable, strict=True)}))
    return found + samples_of(no, judged({item.question: value for item, value in zip(no, unanswerable, strict=True)}))


def test_counts_what_ships_and_names_every_error():
    report = gate_report(samples([0.9, 0.8, 0.3, 0.7] * 5, [0.1, 0.2, 0.6, 0.3] * 5))

    assert (report.answerable.n, report.answerable.stopped, report.answerable.rate) == (20, 5, 0.25)
    assert (report.out_of_kb.n, report.out_of_kb.stopped, report.out_of_kb.rate) == (20, 15, 0.75)
    assert report.answerable.interval[0] < 0.25 < report.answerable.interval[1]
    assert report.false_stops == tuple(f"q-fact-{n}" for n in range(2, 20, 4))
    assert report.let_through == tuple(f"q-outofkb-{n}" for n in range(2, 20, 4))
    assert report.reasons == {"passed": 20, "weak_evidence": 20}


def test_the_curve_rises_and_separates_what_can_be_separated():
    values = np.linspace(0, 0.2, 40)
    report = gate_report(samples(list(0.7 + values), list(0.1 + values)))

    assert [point.features_alone for point in report.curve] == [1.0] * len(report.curve)
    assert report.other_half.out_of_kb.rate == 1.0


def test_the_curve_shows_that_chance_separates_nothing():
    generator = np.random.default_rng(1)
    report = gate_report(samples(list(generator.random(100)), list(generator.random(100))))
    stopped = [point.features_alone for point in report.curve]

    assert stopped == sorted(stopped)
    assert stopped[3] < 0.25


def test_is_the_same_every_time():
    found = samples([0.9, 0.8, 0.3, 0.7] * 5, [0.1, 0.2, 0.6, 0.3] * 5)

    assert gate_report(found) == gate_report(found)


def test_fits_weights_in_the_direction_of_the_evidence():
    features = np.array([[0.9, 0.1], [0.8, 0.2], [0.2, 0.9], [0.1, 0.8]])
    weights = fit(features, np.array([1.0, 1.0, 0.0, 0.0]))

    assert weights.support > 0 > weights.missing


def test_refuses_questions_of_one_sort_only():
    with pytest.raises(ValueError, match="one of the sorts is missing"):
        gate_report(samples([0.9], []))


def test_the_unanswerable_questions_are_as_long_as_the_answerable_ones(bundled_nodes):
    known = {node.entry_id: node.text for node in bundled_nodes}
    questions = load_goldset(GOLDSET_DIRECTORY / "out_of_kb.yaml", known).items
    lengths = [len(item.question) for item in questions]

    assert len(questions) == 80
    assert {item.kind for item in questions} == {"out_of_kb"}
    assert 95 <= float(np.median(lengths)) <= 120
    assert sum(not item.question[0].isupper() for item in questions) == 40
