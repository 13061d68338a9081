"""`serve` as its own process: the port is open at once, the first index is built in a job, and every end is orderly."""

import signal
import threading
from pathlib import Path

import httpx
import pytest

from tests import fake_models as fake
from tests.app.api.port import wait_for
from tests.app.process import free_port, log_of, serving, until_ready
from tests.app.test_ingest import Folder, entry
from tests.fake_ollama import FakeOllama
from tests.fake_wire import FakeModel

pytestmark = pytest.mark.load


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
        process.wait(60)
    log = log_of(tmp_path)
    assert process.returncode == 0, log
    assert f"Open http://127.0.0.1:{port} in a browser." in log
    assert "Traceback" not in log
    with serving(tmp_path, port) as process:
        until_ready(port, process)


def test_a_first_index_that_cannot_be_built_ends_the_process_with_the_reason(tmp_path: Path) -> None:
    folder, port = Folder(tmp_path / "kb"), free_port()
    folder.put("pv-a-01", entry("pv-a-01", stand="2026-13"))
    with serving(tmp_path, port) as process:
        process.wait(180)
    log = log_of(tmp_path)
    assert process.returncode == 1, log
    assert "Traceback" not in log


def test_an_address_that_others_reach_is_refused(tmp_path: Path) -> None:
    with serving(tmp_path, free_port(), PV_HOST="0.0.0.0") as process:
        process.wait(60)
    assert process.returncode == 2
    assert "loopback" in log_of(tmp_path)


def test_a_signal_ends_the_service_although_a_question_waits_for_the_model(tmp_path: Path) -> None:
    folder, port = Folder(tmp_path / "kb"), free_port()
    folder.put("pv-a-01", entry("pv-a-01"))
    slow = FakeModel("qwen3.8:27b", fake.slow(fake.honest(), first_seconds=120))
    with FakeOllama([slow]) as ollama, serving(tmp_path, port, PV_OLLAMA_URL=ollama.url, PV_LLM_MODEL="qwen3.8:27b") as process:
        until_ready(port, process)
        url, statuses = f"http://127.0.0.1:{port}/v1/ask", []

        def ask() -> None:
            try:
                statuses.append(httpx.post(url, json={"question": "Wie hoch ist die Grenze?"}, timeout=120).status_code)
            except httpx.TransportError:
                statuses.append(0)

        asking = threading.Thread(target=ask)
        asking.start()
        wait_for(lambda: len(ollama.chats) == 1)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0, log_of(tmp_path)
        asking.join(10)
        wait_for(lambda: ollama.of("/api/chat")[-1].hung_up_at is not None)
    assert set(statuses) <= {0, 500, 503}
