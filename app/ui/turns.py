"""The turns of one open page, and how far each has come."""

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, assert_never

from custom_postprocessors.evidence import Claim
from pipelines.contracts import (
    ClaimEvent,
    Event,
    FinalEvent,
    Outcome,
    Plan,
    PlanEvent,
    RegeneratingEvent,
    Source,
    SourcesEvent,
    Turn,
)

Phase = Literal["start", "search", "write", "regenerate", "final", "stopped", "error"]


@dataclass(slots=True)
class ShownTurn:
    """One question of this page; changed only by the handler that answers it and by the stop button."""

    turn_id: str
    question: str
    phase: Phase = "start"
    plan: Plan | None = None
    claims: list[Claim] = field(default_factory=list)
    sources: tuple[Source, ...] = ()
    outcome: Outcome | None = None
    error: str = ""
    waiting: int = 0
    """Questions that wait for the model, as far as known; this one may be among them."""
    began: float = field(default_factory=time.monotonic)
    """Monotonic seconds."""
    model_reason: str = ""
    titles: Mapping[str, str] = field(default_factory=dict)
    """Titles of the entries that the outcome points to, as far as they are served."""
    cancelled: threading.Event = field(default_factory=threading.Event)

    @property
    def running(self) -> bool:
        """Whether more can come."""
        return self.phase not in ("final", "stopped", "error")

    def take(self, event: Event) -> None:
        """Moves the turn on; after a stop nothing is taken any more."""
        if not self.running:
            return
        match event:
            case PlanEvent(plan):
                self.plan, self.phase = plan, "search"
            case SourcesEvent(sources):
                self.sources, self.phase = sources, "write"
            case ClaimEvent(_, claim):
                self.claims.append(claim)
                self.phase = "write"
            case RegeneratingEvent():
                self.claims.clear()
                self.phase = "regenerate"
            case FinalEvent(outcome):
                self.outcome, self.phase = outcome, "final"
                self.claims, self.sources = list(outcome.claims), outcome.sources
            case _:
                assert_never(event)

    def stop(self) -> None:
        """Ends a running turn; what was checked so far stays."""
        self.cancelled.set()
        if self.running:
            self.phase = "stopped"

    def fail(self, message: str) -> None:
        """Ends a running turn with a German message; nothing of it stays."""
        if self.running:
            self.claims.clear()
            self.phase, self.error = "error", message


@dataclass(slots=True)
class Conversation:
    """The questions of one open page, oldest first; gone when the page is."""

    turns: list[ShownTurn] = field(default_factory=list)

    def begin(self, question: str) -> ShownTurn:
        """Adds a turn; one that still runs is stopped."""
        for turn in self.turns:
            turn.stop()
        turn = ShownTurn(turn_id=f"t{len(self.turns) + 1}", question=question)
        self.turns.append(turn)
        return turn

    def history(self) -> tuple[Turn, ...]:
        """The questions answered so far, oldest first, without their answers."""
        outcomes = [turn.outcome for turn in self.turns if turn.outcome is not None]
        return tuple(Turn(question=o.standalone_question or o.question, request_id=o.request_id) for o in outcomes)
