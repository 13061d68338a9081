"""A synchronous path of events, watched from the event loop."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator

from pipelines.contracts import Cancelled, Event

_END = object()
HEARTBEAT_SECONDS = 2.0


async def watched(run: Callable[[Cancelled], Iterator[Event]], cancelled: threading.Event) -> AsyncIterator[list[Event]]:
    """The events of `run`, in order, in batches of what is there; `run` is worked off in a thread of its own.

    An empty batch says that nothing has come for `HEARTBEAT_SECONDS`.

    When the reader goes away (stop button, page left) `cancelled` is set and the thread is left to end by itself.
    What `run` raises is raised here, after the events before it.
    """
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[object] = asyncio.Queue()

    def work() -> None:
        try:
            for event in run(cancelled.is_set):
                loop.call_soon_threadsafe(queue.put_nowait, event)
                if cancelled.is_set():
                    break
        finally:
            loop.call_soon_threadsafe(queue.put_nowait, _END)

    task = asyncio.create_task(asyncio.to_thread(work))
    try:
        ended = False
        while not ended:
            batch: list[Event] = []
            try:
                item = await asyncio.wait_for(queue.get(), HEARTBEAT_SECONDS)
            except TimeoutError:
                yield batch
                continue
            while True:
                if item is _END:
                    ended = True
                    break
                batch.append(item)  # type: ignore[arg-type]
                if queue.empty():
                    break
                item = queue.get_nowait()
            if batch:
                yield batch
        await task
    finally:
        cancelled.set()
