"""The person of an event reaches the handler through Gradio's queue."""

import asyncio
import gc
import json
import threading
import time
import warnings
from collections.abc import Iterator

import gradio as gr
import httpx
import pytest
import uvicorn
from fastapi import FastAPI
from starlette.types import ASGIApp

from app.access.pages import SESSION_COOKIE, PageGate
from app.access.person import NOBODY, Person
from app.access.visitors import Visitors
from app.ui.environment import keep_gradio_local
from app.ui.person import person_of

MARIA = Person("maria", frozenset({"editor"}))
# Gradio makes event loops that it never closes; they are collected while the test that made them runs, or right after it.
pytestmark = [
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(autouse=True)
def collected() -> Iterator[None]:
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        asyncio.set_event_loop(None)  # or it lives until another test runs a loop, and is blamed on whichever test runs then
        gc.collect()


class Served:
    """An application on a port of its own, while it is a context."""

    def __init__(self, application: ASGIApp) -> None:
        self._server = uvicorn.Server(uvicorn.Config(application, port=0, log_level="warning"))
        self._thread = threading.Thread(target=self._server.run, daemon=True)

    def __enter__(self) -> str:
        self._thread.start()
        while not self._server.started:
            time.sleep(0.01)
        return f"http://127.0.0.1:{self._server.servers[0].sockets[0].getsockname()[1]}"

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(20)


def told(application: ASGIApp) -> str:
    """What a queued event that returns its person's name and roles answers."""
    join = {"data": [], "fn_index": 0, "session_hash": "s1", "event_data": None}
    with Served(application) as url, httpx.Client(base_url=url, timeout=20, cookies={SESSION_COOKIE: "token"}) as client:
        assert client.post("/gradio_api/queue/join", json=join).status_code == 200
        with client.stream("GET", "/gradio_api/queue/data", params={"session_hash": "s1"}) as events:
            for line in events.iter_lines():
                message = json.loads(line.removeprefix("data: ")) if line.startswith("data: ") else {}
                if message.get("msg") == "process_completed":
                    return str(message["output"]["data"][0])
    raise AssertionError("the event did not complete")


def page() -> FastAPI:
    keep_gradio_local()

    def whoami(request: gr.Request) -> str:
        person = person_of(request)
        return f"{person.name}:{','.join(sorted(person.roles))}"

    with gr.Blocks() as blocks:
        out = gr.Textbox()
        gr.Button().click(whoami, None, out)
    mounted: FastAPI = gr.mount_gradio_app(FastAPI(), blocks, path="/")
    return mounted


def test_a_queued_event_knows_its_person():
    visitors = Visitors(lambda: True, {"token": MARIA}.get, only_here=True)
    assert told(PageGate(page(), page(), visitors)) == "maria:editor"


def test_without_a_guard_nobody_is_recognised():
    assert told(page()) == ":"


@pytest.mark.parametrize("request_", [gr.Request(), gr.Request(username="maria")])
def test_a_request_that_passed_no_guard_is_nobodys(request_):
    assert person_of(request_) == NOBODY
