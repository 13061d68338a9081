"""A real Chromium and a served interface for the tests marked `browser`."""

import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from fastapi import APIRouter, FastAPI, Request, Response

from app.access.person import LOCAL_PERSON, Person
from app.ui.environment import keep_gradio_local
from app.ui.tabs import Tab
from tests.app.ui.fake_service import FakeService

CHROMIUM = "/usr/bin/chromium"
WIDE = {"width": 1280, "height": 800}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright  # not installed where only `make test` runs

    if not Path(CHROMIUM).exists():
        pytest.fail(f"{CHROMIUM} is missing; install the system package chromium")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def fake_service() -> FakeService:
    return FakeService()


@pytest.fixture(scope="session")
def person() -> Person:
    """Who uses the served interface."""
    return LOCAL_PERSON


@contextmanager
def served_page(
    service: FakeService,
    person: Callable[[Request], Person],
    tabs: Sequence[Tab] = (),
    routers: Sequence[APIRouter] = (),
) -> Iterator[str]:
    """The interface over a service, with the product's content security policy; `person` says who a request is from."""
    keep_gradio_local()
    from app.ui.application import CONTENT_SECURITY_POLICY, mount_ui  # Gradio takes seconds to import

    app = FastAPI()

    @app.middleware("http")
    async def policy(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
        request.state.person = person(request)
        response = await call_next(request)
        response.headers["content-security-policy"] = CONTENT_SECURITY_POLICY
        return response

    for router in routers:
        app.include_router(router)
    mount_ui(app, service, tabs)
    port = free_port()
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    yield f"http://127.0.0.1:{port}/"
    server.should_exit = True
    thread.join(10)


@pytest.fixture(scope="session")
def fake_url(fake_service: FakeService, person: Person) -> Iterator[str]:
    """The interface over the fake service; `person` uses it."""
    with served_page(fake_service, lambda _: person) as url:
        yield url
