"""What a voter says about models."""

from typing import Literal

from custom_postprocessors.evidence import Frozen

Criterion = Literal["correctness", "citations", "completeness"]
CRITERIA: tuple[Criterion, ...] = ("correctness", "citations", "completeness")
BallotOutcome = Literal["best", "tie", "none"]


class Ballot(Frozen):
    """One voter's word on one criterion: the best of `models`, all alike (`tie`), or all wrong (`none`)."""

    models: tuple[str, ...]
    criterion: Criterion
    outcome: BallotOutcome
    best: str | None = None
