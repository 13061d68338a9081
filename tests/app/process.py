"""`serve` as its own process."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from app.settings import PREFIX, ROOT

LOG = "serve.log"


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def serving(root: Path, port: int, **settings: str) -> Iterator[subprocess.Popen[str]]:
    """Serves `root/kb` with the data in `root/data`, its log in `root/serve.log`; killed at the end if it still runs."""
    kept = {name: value for name, value in os.environ.items() if not name.upper().startswith(PREFIX)}
    given = {
        "PV_KB_DIR": str(root / "kb"),
        "PV_DATA_DIR": str(root / "data"),
        "PV_PORT": str(port),
        "PV_OLLAMA_URL": "http://127.0.0.1:9",
        "PV_EMBED_MODEL": "embedded",
        **settings,
    }
    command = [sys.executable, "-m", "app", "serve"]
    root.mkdir(exist_ok=True)
    with (root / LOG).open("w", encoding="utf-8") as log:
        process = subprocess.Popen(command, cwd=ROOT, env={**kept, **given}, stderr=log, text=True)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def log_of(root: Path) -> str:
    """What the last process has logged."""
    return (root / LOG).read_text(encoding="utf-8")


def health(port: int, process: subprocess.Popen[str]) -> httpx.Response:
    """The first answer of health, waiting for the port."""
    begun = time.monotonic()
    while True:
        try:
            return httpx.get(f"http://127.0.0.1:{port}/v1/health", timeout=10)
        except httpx.TransportError:
            assert process.poll() is None
            assert time.monotonic() - begun < 300
            time.sleep(0.1)


def until_ready(port: int, process: subprocess.Popen[str]) -> list[str]:
    """The states that health told on the way to ready."""
    states: list[str] = []
    begun = time.monotonic()
    while "ready" not in states:
        assert time.monotonic() - begun < 400
        states.append(health(port, process).json()["status"])
        time.sleep(0.2)
    return states
