import math

import pytest
from llama_index.core.evaluation.retrieval.metrics import MRR, NDCG, HitRate, Recall

from evaluation.metrics import hit_at_k, mean, ndcg_at_k, percentile, recall_at_k, reciprocal_rank_at_k, wilson_interval

RETRIEVED = ["a", "b", "c", "d", "e"]


def test_hand_computed_cases():
    assert recall_at_k(RETRIEVED, ["b", "d", "x"], 4) == pytest.approx(2 / 3)
    assert recall_at_k(RETRIEVED, ["b", "d", "x"], 3) == pytest.approx(1 / 3)
    assert hit_at_k(RETRIEVED, ["e"], 4) == 0.0
    assert hit_at_k(RETRIEVED, ["e"], 5) == 1.0
    assert reciprocal_rank_at_k(RETRIEVED, ["c", "d"], 8) == pytest.approx(1 / 3)
    assert reciprocal_rank_at_k(RETRIEVED, ["c"], 2) == 0.0
    gain, ideal = 1 / math.log2(3) + 1 / math.log2(5), 1 + 1 / math.log2(3) + 1 / 2
    assert ndcg_at_k(RETRIEVED, ["b", "d", "x"], 8) == pytest.approx(gain / ideal)


@pytest.mark.parametrize("expected", [["a"], ["e"], ["b", "d"], ["x"], ["a", "b", "c"]])
def test_agree_with_llama_index(expected):
    k = len(RETRIEVED)
    assert recall_at_k(RETRIEVED, expected, k) == pytest.approx(
        Recall().compute(expected_ids=expected, retrieved_ids=RETRIEVED).score
    )
    assert hit_at_k(RETRIEVED, expected, k) == HitRate().compute(expected_ids=expected, retrieved_ids=RETRIEVED).score
    assert reciprocal_rank_at_k(RETRIEVED, expected, k) == pytest.approx(
        MRR().compute(expected_ids=expected, retrieved_ids=RETRIEVED).score
    )
    assert ndcg_at_k(RETRIEVED, expected, k) == pytest.approx(
        NDCG().compute(expected_ids=expected, retrieved_ids=RETRIEVED).score
    )


def test_k_counts_different_ids():
    assert recall_at_k(["a", "a", "b"], ["b"], 2) == 1.0


def test_nothing_retrieved_scores_zero():
    assert [metric([], ["a"], 8) for metric in (recall_at_k, hit_at_k, reciprocal_rank_at_k, ndcg_at_k)] == [0.0] * 4


@pytest.mark.parametrize("metric", [recall_at_k, hit_at_k, reciprocal_rank_at_k, ndcg_at_k])
def test_undefined_cases_are_refused(metric):
    with pytest.raises(ValueError, match="nothing is expected"):
        metric(["a"], [], 8)
    with pytest.raises(ValueError, match="k is 0"):
        metric(["a"], ["a"], 0)


def test_mean_and_percentile():
    assert (mean([]), mean([1.0, 2.0])) == (0.0, 1.5)
    values = [5.0, 1.0, 4.0, 2.0, 3.0]
    assert (percentile(values, 0.5), percentile(values, 0.95), percentile([], 0.5)) == (3.0, 5.0, 0.0)


def test_wilson_interval():
    assert wilson_interval(8, 10) == (pytest.approx(0.4902, abs=1e-4), pytest.approx(0.9433, abs=1e-4))
    assert wilson_interval(0, 0) == (0.0, 1.0)
    assert wilson_interval(0, 10)[0] == 0.0
    with pytest.raises(ValueError, match="11 successes"):
        wilson_interval(11, 10)
