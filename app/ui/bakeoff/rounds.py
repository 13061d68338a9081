"""One open page's comparison: the answers side by side, and what of them may be seen before the vote."""

import secrets
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, assert_never

from app.bakeoff_desk import Round
from custom_postprocessors.evidence import Claim
from evaluation.ballots import CRITERIA, Ballot
from evaluation.metering import Usage
from pipelines.contracts import ClaimEvent, Event, FinalEvent, Outcome, PlanEvent, RegeneratingEvent, SourcesEvent

LABELS = ("A", "B", "C", "D")
TIE, NONE = "tie", "none"
Phase = Literal["waits", "writes", "rewrites", "done", "failed", "stopped"]


@dataclass(slots=True)
class Column:
    """One model's answer; `label` is what it is called before the names are shown."""

    label: str
    model: str
    phase: Phase = "waits"
    claims: list[Claim] = field(default_factory=list)
    outcome: Outcome | None = None
    usage: Usage = field(default_factory=Usage)
    cancelled: threading.Event = field(default_factory=threading.Event)
    """Set when nobody waits for this answer any more, also when it is there."""

    @property
    def ended(self) -> bool:
        """Whether nothing more comes."""
        return self.phase in ("done", "failed", "stopped")

    def take(self, event: Event) -> None:
        """Moves on; what was replaced is gone."""
        match event:
            case PlanEvent() | SourcesEvent():
                self.phase = "writes"
            case ClaimEvent(_, claim):
                self.claims.append(claim)
            case RegeneratingEvent():
                self.claims.clear()
                self.phase = "rewrites"
            case FinalEvent(outcome):
                self.outcome, self.claims = outcome, list(outcome.claims)
                self.phase = "failed" if outcome.status == "unavailable" else "done"
            case _:
                assert_never(event)

    def fail(self) -> None:
        """Ends without an outcome; nothing that was shown stays."""
        self.claims.clear()
        self.phase = "failed"

    def stop(self) -> None:
        """Ends where it is, if it has not ended."""
        self.cancelled.set()
        if not self.ended:
            self.phase = "stopped"


@dataclass(slots=True)
class Comparison:
    """One question to several models. `shown_claims`: how many claims of each column a blind reader sees yet."""

    question: str
    round: Round
    columns: tuple[Column, ...]
    blind: bool
    id: str = field(default_factory=lambda: secrets.token_hex(16))
    revealed: bool = False
    voted: bool = False
    shown_claims: int = 0
    choices: Mapping[str, str] = field(default_factory=dict)
    stopped: bool = False

    @classmethod
    def of(cls, question: str, round_: Round, models: Sequence[str], *, blind: bool) -> "Comparison":
        """A comparison about to begin; blind in random order."""
        order = list(models)
        if blind:
            secrets.SystemRandom().shuffle(order)
        columns = tuple(Column(label, model) for label, model in zip(LABELS, order, strict=False))
        return cls(question=question, round=round_, columns=columns, blind=blind, revealed=not blind)

    def asking_order(self) -> tuple[Column, ...]:
        """The order in which the models are asked; blind another random one, so that waiting tells nothing of the places."""
        order = list(self.columns)
        if self.blind:
            secrets.SystemRandom().shuffle(order)
        return tuple(order)

    @property
    def ended(self) -> bool:
        """Whether every answer is there, and a blind reader has seen all of it."""
        return all(column.ended for column in self.columns) and not self.held_back

    @property
    def held_back(self) -> bool:
        """Whether a blind reader has not seen every claim yet."""
        return not self.revealed and self.shown_claims < max((len(column.claims) for column in self.columns), default=0)

    @property
    def secret(self) -> bool:
        """Whether the names are still hidden."""
        return not self.revealed

    def stop(self) -> None:
        """Ends what runs."""
        self.stopped = True
        for column in self.columns:
            column.stop()
        self.shown_claims = max((len(column.claims) for column in self.columns), default=0)

    def ballots(self, choices: Mapping[str, str]) -> tuple[Ballot, ...]:
        """The ballots of the voter's choices; those of criteria without a valid choice are left out."""
        names = {column.label: column.model for column in self.columns}
        models = tuple(sorted(names.values()))
        found = []
        for criterion in CRITERIA:
            choice = choices.get(criterion, "")
            if choice in names:
                found.append(Ballot(models=models, criterion=criterion, outcome="best", best=names[choice]))
            elif choice == TIE:
                found.append(Ballot(models=models, criterion=criterion, outcome="tie"))
            elif choice == NONE:
                found.append(Ballot(models=models, criterion=criterion, outcome="none"))
        return tuple(found)


@dataclass(slots=True)
class BakeoffPage:
    """What one open page has before it; gone when the page is. `notice`: what became of the last click on the list of runs."""

    comparison: Comparison | None = None
    notice: str = ""

    @property
    def secret(self) -> bool:
        """Whether nothing on the page may name a model."""
        return self.comparison is not None and self.comparison.secret
