"""Retrieval metrics, each defined once; binary relevance, ranks from 1. Rates have their Wilson interval."""

import math
from collections.abc import Collection, Sequence

from scipy.stats import binomtest


def recall_at_k(retrieved: Sequence[str], expected: Collection[str], k: int) -> float:
    """|expected ∩ first k different of retrieved| / |expected|, in [0, 1].

    Raises:
        ValueError: nothing is expected (such a question has no recall) or k < 1.
    """
    _check(expected, k)
    return len(set(_first(retrieved, k)) & set(expected)) / len(set(expected))


def hit_at_k(retrieved: Sequence[str], expected: Collection[str], k: int) -> float:
    """1 when at least one expected id is among the first k different ones, else 0.

    Raises:
        ValueError: nothing is expected or k < 1.
    """
    _check(expected, k)
    return float(bool(set(_first(retrieved, k)) & set(expected)))


def reciprocal_rank_at_k(retrieved: Sequence[str], expected: Collection[str], k: int) -> float:
    """1 / rank of the first expected id among the first k different ones, in [0, 1]; 0 when there is none.

    Raises:
        ValueError: nothing is expected or k < 1.
    """
    _check(expected, k)
    return next((1 / rank for rank, found in enumerate(_first(retrieved, k), start=1) if found in expected), 0.0)


def ndcg_at_k(retrieved: Sequence[str], expected: Collection[str], k: int) -> float:
    """Σ 1/log₂(rank + 1) over the expected ids among the first k, divided by the best value possible, in [0, 1].

    The best value possible has min(|expected|, k) expected ids first.

    Raises:
        ValueError: nothing is expected or k < 1.
    """
    _check(expected, k)
    gain = sum(1 / math.log2(rank + 1) for rank, found in enumerate(_first(retrieved, k), start=1) if found in expected)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(len(set(expected)), k) + 1))
    return gain / ideal


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean; 0.0 for no values."""
    return sum(values) / len(values) if values else 0.0


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` (in (0, 1]) of the values do not exceed; 0.0 for no values."""
    if not values:
        return 0.0
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def wilson_interval(successes: int, trials: int) -> tuple[float, float]:
    """The 95 % Wilson interval of a rate; (0, 1) without trials.

    Raises:
        ValueError: more successes than trials, or a negative number.
    """
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} successes of {trials} trials")
    if not trials:
        return 0.0, 1.0
    interval = binomtest(successes, trials).proportion_ci(method="wilson")
    return float(interval.low), float(interval.high)


def _first(retrieved: Sequence[str], k: int) -> list[str]:
    return list(dict.fromkeys(retrieved))[:k]


def _check(expected: Collection[str], k: int) -> None:
    if not expected:
        raise ValueError("nothing is expected, so the metric is not defined")
    if k < 1:
        raise ValueError(f"k is {k}, but has to be at least 1")
