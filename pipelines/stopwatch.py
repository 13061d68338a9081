"""Stage times of one question."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Literal

from pipelines.contracts import Timings

Stage = Literal["plan", "retrieve", "generate", "verify"]


class Stopwatch:
    """Adds up milliseconds per stage; one instance a question, used by one thread.

    Args:
        plan, retrieve: milliseconds that these stages took before; they count as if they had just passed.
    """

    def __init__(self, *, plan: float = 0.0, retrieve: float = 0.0) -> None:
        self._started = perf_counter() - (plan + retrieve) / 1000
        self._stages: dict[Stage, float] = {"plan": plan, "retrieve": retrieve} if plan or retrieve else {}
        self._first_claim: float | None = None

    @contextmanager
    def stage(self, name: Stage) -> Iterator[None]:
        """Adds the time of the block to the stage, also when the block raises."""
        before = perf_counter()
        try:
            yield
        finally:
            self.add(name, (perf_counter() - before) * 1000)

    def add(self, name: Stage, milliseconds: float) -> None:
        """Adds time that was measured elsewhere."""
        self._stages[name] = self._stages.get(name, 0.0) + milliseconds

    def elapsed_ms(self, name: Stage) -> float:
        """What the stage has taken so far."""
        return self._stages.get(name, 0.0)

    def claim_shown(self) -> None:
        """Notes the moment of the first claim; later calls change nothing."""
        if self._first_claim is None:
            self._first_claim = self._since_start()

    def timings(self) -> Timings:
        """The stages so far, `total` up to now."""
        return Timings(
            plan=round(self.elapsed_ms("plan"), 3),
            retrieve=round(self.elapsed_ms("retrieve"), 3),
            generate=round(self.elapsed_ms("generate"), 3),
            verify=round(self.elapsed_ms("verify"), 3),
            first_claim=self._first_claim,
            total=self._since_start(),
        )

    def _since_start(self) -> float:
        return round((perf_counter() - self._started) * 1000, 3)
