"""Whether this process can answer yet, and if not, why."""

from dataclasses import dataclass
from threading import Lock
from typing import Literal

ReadinessState = Literal["building", "ready", "failed"]


@dataclass(frozen=True, slots=True)
class ReadinessView:
    """One moment; `reason` is empty when ready."""

    state: ReadinessState
    reason: str = ""
    job_id: int | None = None


class Readiness:
    """Set by the start of the service, read by every request; safe for many threads."""

    def __init__(self, state: ReadinessState = "building") -> None:
        self._view = ReadinessView(state)
        self._lock = Lock()

    @property
    def view(self) -> ReadinessView:
        """The state now."""
        with self._lock:
            return self._view

    def building(self, reason: str, job_id: int | None = None) -> None:
        """Not yet, because of `reason`; `job_id` is the job that is waited for."""
        self._set(ReadinessView("building", reason, job_id))

    def ready(self) -> None:
        """Questions are answered from now on."""
        self._set(ReadinessView("ready"))

    def failed(self, reason: str) -> None:
        """It will not become ready; the process ends."""
        self._set(ReadinessView("failed", reason))

    def _set(self, view: ReadinessView) -> None:
        with self._lock:
            self._view = view
