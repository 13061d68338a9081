"""A synchronous path of events, watched from an event loop."""

import asyncio
import threading
import time
from collections.abc import Iterator

import pytest

from app.ui.streaming import watched
from pipelines.contracts import Cancelled, Event, Plan, PlanEvent
from pipelines.errors import IndexMissing

FIRST = PlanEvent(Plan(type="fact", queries=("a",), as_of="2026-01"))
SECOND = PlanEvent(Plan(type="fact", queries=("b",), as_of="2026-01"))


def test_gives_every_event_once_and_in_order():
    async def read() -> list[Event]:
        return [event async for batch in watched(lambda _: iter([FIRST, SECOND]), threading.Event()) for event in batch]

    assert asyncio.run(read()) == [FIRST, SECOND]


def test_an_empty_batch_says_that_nothing_has_come_for_a_while(monkeypatch):
    monkeypatch.setattr("app.ui.streaming.HEARTBEAT_SECONDS", 0.02)

    def path(cancelled: Cancelled) -> Iterator[Event]:
        time.sleep(0.1)
        yield FIRST

    async def read() -> list[list[Event]]:
        return [batch async for batch in watched(path, threading.Event())]

    batches = asyncio.run(read())
    assert batches[0] == []
    assert batches[-1] == [FIRST]


def test_raises_what_the_path_raises_after_the_events_before_it():
    seen: list[Event] = []

    def path(cancelled: Cancelled) -> Iterator[Event]:
        yield FIRST
        raise IndexMissing("none")

    async def read() -> None:
        async for batch in watched(path, threading.Event()):
            seen.extend(batch)

    with pytest.raises(IndexMissing):
        asyncio.run(read())
    assert seen == [FIRST]


def test_tells_the_path_when_nobody_reads_any_more():
    told = threading.Event()

    def path(cancelled: Cancelled) -> Iterator[Event]:
        try:
            yield FIRST
            while not cancelled():
                time.sleep(0.01)
        finally:
            told.set()

    async def read() -> None:
        stream = watched(path, threading.Event())
        await anext(stream)
        await stream.aclose()

    asyncio.run(read())
    assert told.wait(5)
