"""The API on a real port."""

import threading
import time
from collections.abc import Callable

import uvicorn
from starlette.types import ASGIApp

from tests.app.api.conftest import Served


class Port:
    """A served API on a port of its own, while it is a context."""

    def __init__(self, served: Served | ASGIApp) -> None:
        application = served.application if isinstance(served, Served) else served
        self._server = uvicorn.Server(uvicorn.Config(application, port=0, log_level="warning"))
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self.number = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.number}"

    def __enter__(self) -> "Port":
        self._thread.start()
        wait_for(lambda: self._server.started)
        self.number = int(self._server.servers[0].sockets[0].getsockname()[1])
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(20)


def wait_for(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    """Returns once the condition holds; fails when it does not in time."""
    begun = time.monotonic()
    while not condition():
        assert time.monotonic() - begun < seconds
        time.sleep(0.01)
