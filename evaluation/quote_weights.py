"""Learns the weights of the Zitatmodus from goldset questions, and checks them on questions that were not learned from.

The model is a choice: among all pieces of a question's context, the softmax of their scores should lie on pieces that hold a
required value (any one of them for each value), and, less strongly, on pieces of the expected entries. Fitted by maximum
likelihood with an L2 penalty; deterministic.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from custom_postprocessors.evidence import GroundedContext
from evaluation.goldset import GoldItem
from evaluation.required import contains_all
from pipelines.contracts import Plan
from pipelines.extractive_ranking import QueryAnalyzer, featured
from pipelines.extractive_units import QuotableCache
from pipelines.question_shape import question_shape

PENALTY = 0.1
ENTRY_SHARE = 0.5
"""How much the expected entries count beside the required values."""
_ITERATIONS = 150
_NEVER_ZERO = 1e-12

Numbers = NDArray[np.float64]
Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Example:
    """One question's pieces: features (pieces × features), and the sets of pieces one of which should be chosen.

    `holding` has for each required string the pieces of expected entries that hold it (those held by none are left out),
    `expected` the pieces of expected entries.
    """

    names: tuple[str, ...]
    features: Numbers
    holding: tuple[Rows, ...]
    expected: Rows


def make_example(item: GoldItem, plan: Plan, context: GroundedContext, analyzer: QueryAnalyzer, cache: QuotableCache) -> Example:
    """The pieces of a context (whole entries) as an example; `item` must be answerable and the context not empty."""
    pieces = [cache.of(passage) for passage in context.passages]
    rows = featured(item.question, question_shape(item.question, plan.as_of), context.passages, pieces, analyzer)
    expected = [number for number, (passage, *_) in enumerate(rows) if passage.entry_id in item.expected_ids]
    holding = (
        np.array([number for number in expected if contains_all(rows[number][2].text, [required])], dtype=np.intp)
        for required in item.must_contain
    )
    return Example(
        names=tuple(rows[0][3]),
        features=np.array([list(features.values()) for *_, features in rows], dtype=np.float64),
        holding=tuple(found for found in holding if len(found)),
        expected=np.array(expected, dtype=np.intp),
    )


def learn_weights(examples: Sequence[Example], penalty: float = PENALTY) -> dict[str, float]:
    """The weights per feature, in points per unit of the feature as it is (not scaled).

    Raises:
        ValueError: there is no example.
    """
    if not examples:
        raise ValueError("no example to learn from")
    together = np.vstack([example.features for example in examples])
    centre, spread = together.mean(axis=0), together.std(axis=0) + 1e-9
    scaled = [(example.features - centre) / spread for example in examples]

    def loss(weights: Numbers) -> tuple[float, Numbers]:
        total, slope = penalty * float(weights @ weights) / 2, penalty * weights
        for example, features in zip(examples, scaled, strict=True):
            value, gradient = _example_loss(example, features, weights)
            total += value / len(examples)
            slope = slope + gradient / len(examples)
        return total, slope

    start = np.zeros(together.shape[1])
    fitted = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": _ITERATIONS})
    return {name: float(weight) for name, weight in zip(examples[0].names, fitted.x / spread, strict=True)}


def halves(count: int, seed: int) -> tuple[list[int], list[int]]:
    """A random split of `count` questions: numbers to learn from, numbers to check on."""
    order = np.random.default_rng(seed).permutation(count).tolist()
    return sorted(order[: count // 2]), sorted(order[count // 2 :])


def log_likelihood(examples: Sequence[Example], weights: Mapping[str, float]) -> float:
    """Mean log likelihood of the right choices under these weights, ≤ 0; what to compare on the half not learned from."""
    values = []
    for example in examples:
        vector = np.array([weights.get(name, 0.0) for name in example.names])
        values.append(-_example_loss(example, example.features, vector)[0])
    return float(np.mean(values)) if values else 0.0


def _example_loss(example: Example, features: Numbers, weights: Numbers) -> tuple[float, Numbers]:
    scores = features @ weights
    chance = np.exp(scores - scores.max())
    chance /= chance.sum()
    targets = [(rows, 1.0 / len(example.holding)) for rows in example.holding]
    if len(example.expected):
        targets.append((example.expected, ENTRY_SHARE))
    value, gradient = 0.0, np.zeros_like(weights)
    for rows, share in targets:
        right = float(chance[rows].sum()) + _NEVER_ZERO
        value -= share * float(np.log(right))
        missing = chance.copy()
        missing[rows] -= chance[rows] / right
        gradient += share * (features.T @ missing)
    return value, gradient
