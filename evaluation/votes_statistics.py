"""What people's votes say about models: wins and ties with an exact test, and strengths once there are enough of them.

A ballot over more than two models counts for each pair of its best model and another one; what voters think of the others
among themselves they did not say. „All wrong“ counts for no model and against none, and is counted on its own.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from custom_postprocessors.evidence import Frozen
from evaluation.ballots import Ballot, Criterion
from evaluation.intervals import PairedTest, sign_test

STRENGTHS_FROM_BALLOTS = 30
PRIOR_TIES = 0.5
"""Ties that each pair of models is given in advance, so that a model that never lost has a finite strength."""
_NORMAL_95 = 1.959963984540054
_MOST_STEPS = 10_000
_TOLERANCE = 1e-10


class PairRecord(Frozen):
    """How two models stand against each other, a against b; `test` is the exact sign test over wins, ties left out."""

    a: str
    b: str
    a_wins: int
    b_wins: int
    ties: int
    both_wrong: int
    test: PairedTest


class Strength(Frozen):
    """A model's strength on the log scale (the mean of all is 0) with its 95 % interval.

    The chance that a is preferred to b is 1 / (1 + exp(strength of b − strength of a)).
    """

    model: str
    value: float
    interval: tuple[float, float]


class ModelTally(Frozen):
    """A model's ballots: won, lost, tied, all wrong; `share` is (wins + ties / 2) ÷ (wins + losses + ties), 0 without any."""

    model: str
    wins: int
    losses: int
    ties: int
    all_wrong: int
    share: float


class VoteRanking(Frozen):
    """The ranking of one criterion, best first; `strengths` is empty below 30 ballots."""

    criterion: Criterion
    ballots: int
    tallies: tuple[ModelTally, ...]
    pairs: tuple[PairRecord, ...]
    strengths: tuple[Strength, ...]


def vote_ranking(ballots: Iterable[Ballot], criterion: Criterion) -> VoteRanking:
    """The ranking by the ballots of one criterion: by strength once there are enough, before by share of wins."""
    counted = [ballot for ballot in ballots if ballot.criterion == criterion]
    models = sorted({model for ballot in counted for model in ballot.models})
    pairs = tuple(record for a, b in combinations(models, 2) if (record := pair_record(counted, a, b)) is not None)
    strengths = bradley_terry(models, pairs) if len(counted) >= STRENGTHS_FROM_BALLOTS and len(models) > 1 else ()
    tallies = [_tally(model, pairs, counted) for model in models]
    order = {strength.model: strength.value for strength in strengths}
    tallies.sort(key=lambda tally: (order.get(tally.model, 0.0), tally.share), reverse=True)
    return VoteRanking(criterion=criterion, ballots=len(counted), tallies=tuple(tallies), pairs=pairs, strengths=strengths)


def pair_record(ballots: Sequence[Ballot], a: str, b: str) -> PairRecord | None:
    """The record of two models; None when they never met."""
    met = [ballot for ballot in ballots if a in ballot.models and b in ballot.models]
    if not met:
        return None
    a_wins, b_wins = (sum(ballot.outcome == "best" and ballot.best == model for ballot in met) for model in (a, b))
    ties = sum(ballot.outcome == "tie" for ballot in met)
    return PairRecord(
        a=a,
        b=b,
        a_wins=a_wins,
        b_wins=b_wins,
        ties=ties,
        both_wrong=sum(ballot.outcome == "none" for ballot in met),
        test=sign_test(a_wins, b_wins, ties),
    )


def bradley_terry(models: Sequence[str], pairs: Sequence[PairRecord]) -> tuple[Strength, ...]:
    """Bradley–Terry strengths, strongest first; a tie is half a win for both.

    Fitted by the MM algorithm (Hunter 2004); the intervals come from the observed information of the strengths whose sum is
    held at 0 (its pseudo-inverse). Each pair of models is given half a tie in advance (see `PRIOR_TIES`).
    """
    place = {model: n for n, model in enumerate(models)}
    wins = np.full((len(models), len(models)), PRIOR_TIES / 2)
    np.fill_diagonal(wins, 0.0)
    for pair in pairs:
        i, j = place[pair.a], place[pair.b]
        wins[i, j] += pair.a_wins + pair.ties / 2
        wins[j, i] += pair.b_wins + pair.ties / 2
    values = _fitted(wins)
    errors = _standard_errors(wins + wins.T, values)
    found = [
        Strength(
            model=model,
            value=float(values[n]),
            interval=(float(values[n] - _NORMAL_95 * errors[n]), float(values[n] + _NORMAL_95 * errors[n])),
        )
        for n, model in enumerate(models)
    ]
    return tuple(sorted(found, key=lambda strength: strength.value, reverse=True))


def _fitted(wins: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log strengths with mean 0: each step divides a model's wins by what they would be worth at the strengths so far."""
    met, strengths = wins + wins.T, np.ones(len(wins))
    for _ in range(_MOST_STEPS):
        better = wins.sum(axis=1) / (met / (strengths[:, None] + strengths[None, :])).sum(axis=1)
        better /= np.exp(np.log(better).mean())
        if np.abs(better - strengths).max() < _TOLERANCE:
            strengths = better
            break
        strengths = better
    values: NDArray[np.float64] = np.log(strengths)
    return values


def _standard_errors(met: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    chance = 1 / (1 + np.exp(values[None, :] - values[:, None]))
    weights = met * chance * (1 - chance)
    information = np.diag(weights.sum(axis=1)) - weights
    errors: NDArray[np.float64] = np.sqrt(np.clip(np.diag(np.linalg.pinv(information)), 0.0, None))
    return errors


def _tally(model: str, pairs: Sequence[PairRecord], ballots: Sequence[Ballot]) -> ModelTally:
    mine = [pair for pair in pairs if model in (pair.a, pair.b)]
    wins = sum(pair.a_wins if pair.a == model else pair.b_wins for pair in mine)
    losses = sum(pair.b_wins if pair.a == model else pair.a_wins for pair in mine)
    ties = sum(pair.ties for pair in mine)
    met = wins + losses + ties
    return ModelTally(
        model=model,
        wins=wins,
        losses=losses,
        ties=ties,
        all_wrong=sum(ballot.outcome == "none" and model in ballot.models for ballot in ballots),
        share=(wins + ties / 2) / met if met else 0.0,
    )
