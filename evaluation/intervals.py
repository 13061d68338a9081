"""A rate with its interval, and exact tests for two runs over the same questions."""

from collections.abc import Sequence

from scipy.stats import binomtest

from custom_postprocessors.evidence import Frozen
from evaluation.metrics import wilson_interval

SIGNIFICANT = 0.05
"""A two-sided p below this tells two models apart."""


class Rate(Frozen):
    """A share in [0, 1], of how many (`n`), with its 95 % Wilson interval; of nothing: the empty value and (0, 1)."""

    value: float
    n: int
    interval: tuple[float, float]

    @classmethod
    def of(cls, successes: int, n: int, *, empty: float = 0.0) -> "Rate":
        """The rate of `successes` among `n`.

        Raises:
            ValueError: more successes than `n`, or a negative number.
        """
        return cls(value=successes / n if n else empty, n=n, interval=wilson_interval(successes, n))

    @classmethod
    def of_flags(cls, flags: Sequence[bool], *, empty: float = 0.0) -> "Rate":
        """The rate of true flags."""
        return cls.of(sum(flags), len(flags), empty=empty)


class PairedTest(Frozen):
    """Two results per question, a and b: where a is better, where b is, where they are equal, and the exact two-sided p.

    `p_value` is the sign test's (on binary results: McNemar's exact test): the chance of a split at least so uneven if each
    differing question were a coin toss. It is 1 when no question differs.
    """

    a_better: int
    b_better: int
    equal: int
    p_value: float

    @property
    def tells_apart(self) -> bool:
        """Whether the difference is beyond chance at the 5 % level."""
        return self.p_value < SIGNIFICANT


def paired_test(a: Sequence[float], b: Sequence[float]) -> PairedTest:
    """Compares results of the same questions in the same order; higher is better.

    Raises:
        ValueError: the two have different lengths.
    """
    pairs = list(zip(a, b, strict=True))
    return sign_test(sum(x > y for x, y in pairs), sum(x < y for x, y in pairs), sum(x == y for x, y in pairs))


def sign_test(a_better: int, b_better: int, equal: int = 0) -> PairedTest:
    """The exact sign test over counts; ties are left out of it."""
    differing = a_better + b_better
    p_value = float(binomtest(a_better, differing, 0.5).pvalue) if differing else 1.0
    return PairedTest(a_better=a_better, b_better=b_better, equal=equal, p_value=p_value)
