"""One event loop in a background thread: where the one asynchronous client of the program lives."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")

CLOSE_TIMEOUT_SECONDS = 5.0


class BackgroundLoop:
    """Runs coroutines for synchronous callers; the thread starts with the first one and ends with `close`."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Starts `work` on the loop and returns its future; cancelling the future cancels the work."""
        return asyncio.run_coroutine_threadsafe(work, self._running())

    def close(self, last: Callable[[], Awaitable[None]] | None = None) -> None:
        """Cancels what still runs, awaits `last()` on the loop, and ends the thread.

        A later `submit` starts a new thread. Closing twice is harmless; `last` is not called then.
        """
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(_cancel_all(last), loop).result(CLOSE_TIMEOUT_SECONDS)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(CLOSE_TIMEOUT_SECONDS)
        loop.close()

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name=self._name, daemon=True)
                self._thread.start()
            return self._loop


async def _cancel_all(last: Callable[[], Awaitable[None]] | None) -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    if last is not None:
        await last()
    await asyncio.get_running_loop().shutdown_asyncgens()
