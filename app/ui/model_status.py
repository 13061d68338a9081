"""Which model answers and which others could, known without waiting for a slow model server."""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Generic, TypeVar

from pipelines.errors import ModelError
from pipelines.model_choice import ModelChoice

_T = TypeVar("_T")

MODEL_CHECK_SECONDS = 30.0
"""How long a model choice is shown before it is asked for again."""
MODEL_WAIT_SECONDS = 0.5
"""Longest time that the first screen waits for a model server; then it shows what was known."""


class _Remembered(Generic[_T]):
    """What a slow question answered last; asked again when that is too long ago."""

    def __init__(self, worker: ThreadPoolExecutor, ask: Callable[[], _T]) -> None:
        self._worker = worker
        self._ask = ask
        self._lock = threading.Lock()
        self._asked: Future[_T] | None = None
        self._asked_at = 0.0

    def get(self) -> _T:
        """The answer, or what asking raised; TimeoutError when it takes longer than anybody should wait."""
        with self._lock:
            if self._asked is None or time.monotonic() - self._asked_at > MODEL_CHECK_SECONDS:
                self._asked, self._asked_at = self._worker.submit(self._ask), time.monotonic()
            asked = self._asked
        return asked.result(MODEL_WAIT_SECONDS)


class ModelStatus:
    """Which model answers and which others could, asked in the background and remembered; never blocks for long.

    Args:
        choose: the model that answers; may raise ModelError.
        configured: what the settings name, shown until it is known.
        installed: names of the models on Ollama that may answer; may raise ModelError.
    """

    def __init__(
        self, choose: Callable[[], ModelChoice], *, configured: str, installed: Callable[[], Sequence[str]] = tuple
    ) -> None:
        self._configured = configured
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="model-status")
        self._choice = _Remembered(self._worker, choose)
        self._installed = _Remembered(self._worker, installed)
        self._known: tuple[str, str, str | None] | None = None
        self._names: tuple[str, ...] = ()

    def current(self) -> tuple[str, str, str | None]:
        """Name of the model (`extractive` for the Zitatmodus), the reason, and why it cannot answer (None: it can)."""
        try:
            choice = self._choice.get()
            self._known = (choice.name, choice.reason, None)
        except FutureTimeout:
            return self._known or (self._configured, "Das Modell wird gerade geprüft.", None)
        except ModelError as exc:
            self._known = (self._configured, "", exc.message)
        return self._known

    def names(self) -> tuple[str, ...]:
        """Models that may be chosen; those known last while Ollama takes its time, none when it cannot be reached."""
        try:
            self._names = tuple(self._installed.get())
        except FutureTimeout:
            pass
        except ModelError:
            self._names = ()
        return self._names

    def close(self) -> None:
        """Waits for nothing."""
        self._worker.shutdown(wait=False, cancel_futures=True)
