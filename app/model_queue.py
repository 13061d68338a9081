"""The queue in front of the model: questions wait in order, and beyond a bound they are told to come again."""

import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from custom_postprocessors.evidence import DraftClaim, GroundedContext, Rejected
from pipelines.contracts import Cancelled, ClaimGenerator, DraftEnd, Plan
from pipelines.errors import GenerationCancelled, QueueFull
from pipelines.review_checks import CheckWriter, DraftCheck, Unusable
from pipelines.review_context import ReceivedValue
from pipelines.wrapped_generator import WrappedGenerator

POLL_SECONDS = 0.1
"""How soon a question that nobody waits for any more leaves the queue."""


class ModelQueue:
    """Turns at the model, first come, first served; one for all threads of a process.

    Args:
        parallel: how many have their turn at once.
        waiting: how many may wait; one more is refused.
    """

    def __init__(self, *, parallel: int, waiting: int) -> None:
        self._free = parallel
        self._most_waiting = waiting
        self._tickets: deque[threading.Event] = deque()
        self._lock = threading.Lock()

    @property
    def waiting(self) -> int:
        """How many wait right now."""
        with self._lock:
            return len(self._tickets)

    @contextmanager
    def turn(self, cancelled: Cancelled, *, first: bool = False) -> Iterator[None]:
        """Waits for a turn and gives it back at the end; `first` goes before everybody who waits.

        Raises:
            QueueFull: too many wait already.
            GenerationCancelled: `cancelled` became true while waiting.
        """
        self._wait(cancelled, first=first)
        try:
            yield
        finally:
            self._pass_on()

    def _wait(self, cancelled: Cancelled, *, first: bool) -> None:
        ticket = threading.Event()
        with self._lock:
            if self._free > 0:
                self._free -= 1
                return
            if not first and len(self._tickets) >= self._most_waiting:
                raise QueueFull(
                    f"Es warten schon {len(self._tickets)} Fragen auf das Modell.",
                    hint="Bitte in einigen Sekunden noch einmal fragen.",
                )
            self._tickets.insert(0 if first else len(self._tickets), ticket)
        while not ticket.wait(POLL_SECONDS):
            if cancelled() and self._left(ticket):
                raise GenerationCancelled("Die Anfrage wurde abgebrochen, bevor das Modell an der Reihe war.")

    def _left(self, ticket: threading.Event) -> bool:
        """Takes a ticket out of the queue; False when its turn has come meanwhile."""
        with self._lock:
            if ticket.is_set():
                return False
            self._tickets.remove(ticket)
            return True

    def _pass_on(self) -> None:
        with self._lock:
            if self._tickets:
                self._tickets.popleft().set()
            else:
                self._free += 1


class QueuedGenerator(WrappedGenerator):
    """A generator for one question that waits for its turn; a second draft does not wait behind other questions."""

    def __init__(self, inner: ClaimGenerator, queue: ModelQueue) -> None:
        super().__init__(inner)
        self._queue = queue

    def draft(
        self,
        plan: Plan,
        question: str,
        context: GroundedContext,
        *,
        feedback: tuple[Rejected, ...] = (),
        cancelled: Cancelled = lambda: False,
    ) -> Iterator[DraftClaim | DraftEnd]:
        """See `ClaimGenerator.draft`; the turn ends with the draft.

        Raises:
            QueueFull: too many questions wait for the model.
        """
        with self._queue.turn(cancelled, first=bool(feedback)):
            yield from self._inner.draft(plan, question, context, feedback=feedback, cancelled=cancelled)


class QueuedCheckWriter:
    """A writer of checks that does not wait behind other questions: its question had its turn already."""

    def __init__(self, writer: CheckWriter, queue: ModelQueue) -> None:
        self._writer = writer
        self._queue = queue

    def checks(
        self,
        plan: Plan,
        question: str,
        context: GroundedContext,
        received: Sequence[ReceivedValue],
        *,
        feedback: Sequence[Unusable] = (),
        cancelled: Cancelled = lambda: False,
    ) -> tuple[DraftCheck, ...]:
        """See `CheckWriter.checks`."""
        with self._queue.turn(cancelled, first=True):
            return self._writer.checks(plan, question, context, received, feedback=feedback, cancelled=cancelled)
