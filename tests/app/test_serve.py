"""`serve` as its own process: the port is open at once, the first index is built in a job, and every end is orderly."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from app.settings import PREFIX, ROOT
from tests.app.test_ingest import Folder, entry

pytestmark = pytest.mark.load


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def serving(tmp_path: Path, port: int, **settings: str) -> Iterator[subprocess.Popen[str]]:
    kept = {name: value for name, value in os.environ.items() if not name.upper().startswith(PREFIX)}
    given = {
        "PV_KB_DIR": str(tmp_path / "kb"),
        "PV_DATA_DIR": str(tmp_path / "data"),
        "PV_PORT": str(port),
        "PV_OLLAMA_URL": "http://127.0.0.1:9",
        "PV_EMBED_MODEL": "embedded",
        **settings,
    }
    command = [sys.executable, "-m", "app", "serve"]
    process = subprocess.Popen(command, cwd=ROOT, env={**kept, **given}, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def health(port: int, process: subprocess.Popen[str]) -> httpx.Response:
    """The first answer of health, waiting for the port."""
    begun = time.monotonic()
    while True:
        try:
            return httpx.get(f"http://127.0.0.1:{port}/v1/health", timeout=10)
        except httpx.TransportError:
            assert process.poll() is None
            assert time.monotonic() - begun < 120
            time.sleep(0.1)


def until_ready(port: int, process: subprocess.Popen[str]) -> list[str]:
    """The states that health told on the way to ready."""
    states, begun = [], time.monotonic()
    while "ready" not in states:
        assert time.monotonic() - begun < 180
        states.append(health(port, process).json()["status"])
        time.sleep(0.2)
    return states


def test_serve_is_not_ready_while_the_first_index_is_built_and_ends_in_order(tmp_path: Path) -> None:
    folder, port = Folder(tmp_path / "kb"), free_port()
    for number in range(1, 4):
        folder.put(f"pv-a-{number:02d}", entry(f"pv-a-{number:02d}"))
    with serving(tmp_path, port) as process:
        assert until_ready(port, process)[0] == "not_ready"
        answer = httpx.post(f"http://127.0.0.1:{port}/v1/ask", json={"question": "Wie hoch ist die Grenze?"}, timeout=60)
        assert "551,10 €" in answer.json()["answer"]
        assert "pv-agent" in httpx.get(f"http://127.0.0.1:{port}/", timeout=60).text
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=60)
    assert process.returncode == 0, log
    assert f"Open http://127.0.0.1:{port} in a browser." in log
    assert "Traceback" not in log
    with serving(tmp_path, port) as process:
        until_ready(port, process)


def test_a_first_index_that_cannot_be_built_ends_the_process_with_the_reason(tmp_path: Path) -> None:
    folder, port = Folder(tmp_path / "kb"), free_port()
    folder.put("pv-a-01", entry("pv-a-01", stand="2026-13"))
    with serving(tmp_path, port) as process:
        _, log = process.communicate(timeout=180)
    assert process.returncode == 1, log
    assert "Traceback" not in log


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_an_address_that_others_reach_is_refused(tmp_path: Path, host: str) -> None:
    with serving(tmp_path, free_port(), PV_HOST=host) as process:
        _, log = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "loopback" in log
