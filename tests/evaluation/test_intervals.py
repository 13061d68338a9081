import pytest
from scipy.stats import binomtest

from evaluation.intervals import Rate, paired_test, sign_test


def test_rate_has_its_wilson_interval():
    rate = Rate.of(8, 10)
    known = binomtest(8, 10).proportion_ci(method="wilson")
    assert (rate.value, rate.n, rate.interval) == (0.8, 10, (pytest.approx(known.low), pytest.approx(known.high)))
    assert Rate.of_flags([True, False]) == Rate.of(1, 2)


def test_rate_of_nothing_has_the_stated_value_and_says_nothing():
    assert Rate.of(0, 0, empty=1.0) == Rate(value=1.0, n=0, interval=(0.0, 1.0))


def test_paired_test_counts_only_what_differs():
    test = paired_test([1.0, 1.0, 1.0, 0.5, 0.0], [0.0, 0.0, 1.0, 0.4, 0.5])
    # Three against one: 2 · (1 + 4) / 16
    assert (test.a_better, test.b_better, test.equal, test.p_value) == (3, 1, 1, pytest.approx(10 / 16))
    assert not test.tells_apart


def test_exact_sign_test_by_hand():
    assert sign_test(0, 0).p_value == 1.0
    assert sign_test(6, 0).p_value == pytest.approx(2 / 64)
    assert sign_test(6, 0).tells_apart
    assert not sign_test(5, 0).tells_apart


def test_unequal_lengths_are_refused():
    with pytest.raises(ValueError):
        paired_test([1.0], [1.0, 0.0])
