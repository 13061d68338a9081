"""What a slow question answered last, so that nobody has to wait for it."""

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import Generic, TypeVar

_T = TypeVar("_T")

CHECK_SECONDS = 30.0
"""How long an answer is given before it is asked for again."""
WAIT_SECONDS = 0.5
"""Longest time that anybody waits for a new answer."""


class Remembered(Generic[_T]):
    """Asks in the background and keeps what came; safe for many threads."""

    def __init__(self, worker: ThreadPoolExecutor, ask: Callable[[], _T]) -> None:
        self._worker = worker
        self._ask = ask
        self._lock = Lock()
        self._asked: Future[_T] | None = None
        self._asked_at = 0.0

    def get(self) -> _T:
        """The answer, or what asking raised; TimeoutError when it takes longer than anybody should wait."""
        with self._lock:
            if self._asked is None or time.monotonic() - self._asked_at > CHECK_SECONDS:
                self._asked, self._asked_at = self._worker.submit(self._ask), time.monotonic()
            asked = self._asked
        return asked.result(WAIT_SECONDS)

    def forget(self) -> None:
        """Asks anew with the next `get`."""
        with self._lock:
            self._asked = None
