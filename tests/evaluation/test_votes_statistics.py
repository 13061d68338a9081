import math

import numpy as np
import pytest
from scipy.optimize import minimize

from evaluation.ballots import Ballot
from evaluation.votes_statistics import PRIOR_TIES, bradley_terry, pair_record, vote_ranking


def ballot(best: str | None, models: str = "ab", outcome: str | None = None) -> Ballot:
    return Ballot(models=tuple(models), criterion="correctness", outcome=outcome or ("best" if best else "tie"), best=best)


def times(*groups: tuple[int, Ballot]) -> list[Ballot]:
    return [one for count, item in groups for one in [item] * count]


def test_pair_counts_wins_ties_and_both_wrong_with_the_exact_sign_test():
    record = pair_record(
        times((6, ballot("a")), (1, ballot("b")), (2, ballot(None)), (1, ballot(None, outcome="none"))), "a", "b"
    )
    assert record is not None
    assert (record.a_wins, record.b_wins, record.ties, record.both_wrong) == (6, 1, 2, 1)
    # P(6 or more, or 1 or fewer, of 7 tosses) = 2 · (1 + 7) / 128
    assert record.test.p_value == pytest.approx(16 / 128)


def test_best_of_several_beats_each_of_the_others_and_says_nothing_about_them():
    votes = [ballot("a", "abc")]
    assert (pair_record(votes, "a", "b").a_wins, pair_record(votes, "a", "c").a_wins) == (1, 1)
    rest = pair_record(votes, "b", "c")
    assert (rest.a_wins, rest.b_wins, rest.ties) == (0, 0, 0)
    assert pair_record(votes, "a", "d") is None


def test_ranking_before_thirty_ballots_is_by_share_of_wins():
    votes = times((3, ballot("b")), (2, ballot("a")), (1, ballot(None)), (1, ballot(None, outcome="none")))
    ranking = vote_ranking([*votes, Ballot(models=("a", "b"), criterion="citations", outcome="tie")], "correctness")
    assert (ranking.ballots, ranking.strengths) == (7, ())
    assert [(t.model, t.wins, t.losses, t.ties, t.all_wrong) for t in ranking.tallies] == [("b", 3, 2, 1, 1), ("a", 2, 3, 1, 1)]
    assert ranking.tallies[0].share == pytest.approx(3.5 / 6)


def test_thirty_ballots_give_strengths():
    assert vote_ranking(times((20, ballot("a")), (9, ballot("b"))), "correctness").strengths == ()
    strengths = vote_ranking(times((20, ballot("a")), (10, ballot("b"))), "correctness").strengths
    # Of two models the strengths differ by the log odds of the wins.
    odds = math.log((20 + PRIOR_TIES / 2) / (10 + PRIOR_TIES / 2))
    assert [strength.model for strength in strengths] == ["a", "b"]
    assert strengths[0].value - strengths[1].value == pytest.approx(odds)
    assert strengths[0].value == pytest.approx(-strengths[1].value)
    # The variance of a log odds is 1/w + 1/l; a strength is half of it.
    error = math.sqrt(1 / (20 + PRIOR_TIES / 2) + 1 / (10 + PRIOR_TIES / 2)) / 2
    assert strengths[0].interval == (
        pytest.approx(odds / 2 - 1.959964 * error, abs=1e-5),
        pytest.approx(odds / 2 + 1.959964 * error, abs=1e-5),
    )


def test_strengths_are_those_of_the_greatest_likelihood():
    votes = times(
        (12, ballot("a", "ab")),
        (5, ballot("b", "ab")),
        (7, ballot("c", "bc")),
        (9, ballot("b", "bc")),
        (4, ballot(None, "ac")),
        (6, ballot("a", "abc")),
    )
    models = ["a", "b", "c"]
    pairs = [pair_record(votes, x, y) for x, y in (("a", "b"), ("a", "c"), ("b", "c"))]
    found = {strength.model: strength.value for strength in bradley_terry(models, pairs)}
    wins = {
        ("a", "b"): (12 + 6, 5),
        ("b", "c"): (9, 7),
        ("a", "c"): (6 + 2, 2),
    }

    def loss(free: np.ndarray) -> float:
        value = {"a": free[0], "b": free[1], "c": -free[0] - free[1]}
        return sum(
            (w + PRIOR_TIES / 2) * math.log1p(math.exp(value[y] - value[x]))
            + (lost + PRIOR_TIES / 2) * math.log1p(math.exp(value[x] - value[y]))
            for (x, y), (w, lost) in wins.items()
        )

    best = minimize(loss, [0.0, 0.0], tol=1e-12).x
    assert [found["a"], found["b"]] == pytest.approx(list(best), abs=1e-4)


def test_model_that_never_lost_has_a_finite_strength():
    strengths = vote_ranking(times((40, ballot("a"))), "correctness").strengths
    assert strengths[0].model == "a"
    assert math.isfinite(strengths[0].value)
    assert strengths[0].interval[0] < strengths[0].value < strengths[0].interval[1]


def test_no_ballots_no_ranking():
    ranking = vote_ranking([], "correctness")
    assert (ranking.ballots, ranking.tallies, ranking.pairs, ranking.strengths) == (0, (), (), ())
