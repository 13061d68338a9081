"""`serve` as its own process: what it refuses, and an orderly end. Its first index and its restart are in `test_container`."""

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
