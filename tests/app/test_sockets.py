"""Nothing connects anywhere but to the configured Ollama address: every Python process of the product is watched."""

import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from app.settings import PREFIX, ROOT
from tests import fake_models as fake
from tests.app.process import free_port, serving, until_ready
from tests.app.test_ingest import Folder, entry
from tests.fake_ollama import FakeOllama
from tests.fake_wire import FakeModel

WATCHER = """
import os
import sys

_LOG = os.environ.get("PV_TEST_SOCKETS")


def _watch(event, arguments):
    if event == "socket.connect" or event == "socket.sendto" or event == "socket.sendmsg":
        address = arguments[1]
    elif event == "socket.getaddrinfo" or event == "socket.gethostbyname":
        address = arguments[:2]
    else:
        return
    with open(_LOG, "a", encoding="utf-8") as log:
        log.write(f"{event}\\t{address!r}\\n")


if _LOG:
    sys.addaudithook(_watch)
"""
QUESTION = "Wie hoch ist die Grenze?"


def watched(root: Path) -> dict[str, str]:
    """The environment that makes every Python process of the product write down where it connects."""
    (root / "watch").mkdir()
    (root / "watch" / "sitecustomize.py").write_text(WATCHER, encoding="utf-8")
    return {
        "PYTHONPATH": str(root / "watch"),
        "PV_TEST_SOCKETS": str(root / "sockets.log"),
        "OLLAMA_API_KEY": "secret-of-the-cloud",
    }


def connections(root: Path) -> set[tuple[str, str]]:
    log = root / "sockets.log"
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    return {tuple(line.split("\t", 1)) for line in lines}  # type: ignore[misc]


def test_the_watcher_sees_a_connection(tmp_path: Path) -> None:
    environment = {**os.environ, **watched(tmp_path)}
    code = "import socket\ntry:\n socket.create_connection(('127.0.0.1', 9), 1)\nexcept OSError:\n pass"
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, timeout=30)
    assert ("socket.connect", "('127.0.0.1', 9)") in connections(tmp_path)


@pytest.mark.load
def test_serving_asking_and_indexing_connect_to_ollama_alone(tmp_path: Path) -> None:
    folder, port = Folder(tmp_path / "kb"), free_port()
    folder.put("pv-a-01", entry("pv-a-01"))
    models = [FakeModel("qwen3.8:27b", fake.honest()), FakeModel("bge-m3", capabilities=("embedding",))]
    environment = watched(tmp_path)
    with FakeOllama(models) as ollama:
        settings = {"PV_OLLAMA_URL": ollama.url, "PV_EMBED_MODEL": "auto", "PV_METRICS": "true", "PV_REVIEW_MODE": "true"}
        with serving(tmp_path, port, **environment, **settings) as process:
            until_ready(port, process)
            url = f"http://127.0.0.1:{port}"
            page = httpx.get(url, timeout=60)
            assert page.status_code == 200
            for path in ("/config", "/theme.css", "/gradio_api/info", "/metrics", "/v1/search?query=Grenze", "/v1/conflicts"):
                httpx.get(url + path, timeout=60)
            joined = {"data": [], "fn_index": 0, "session_hash": "s1"}
            httpx.post(f"{url}/gradio_api/queue/join", json=joined, timeout=60)
            context = {"facts": [{"key": "grenze", "value": "551,10 €"}]}
            for body in ({"question": QUESTION}, {"question": QUESTION, "mode": "review", "context": context}):
                assert httpx.post(f"{url}/v1/ask", json=body, timeout=60).status_code == 200
            kept = {name: value for name, value in os.environ.items() if not name.upper().startswith(PREFIX)}
            given = {"PV_KB_DIR": str(tmp_path / "kb"), "PV_DATA_DIR": str(tmp_path / "data"), **environment, **settings}
            # The command line works beside the running service, on its index and its log.
            for command in (["ask", QUESTION], ["search", QUESTION], ["doctor"], ["audit", "verify"]):
                done = subprocess.run(
                    [sys.executable, "-m", "app", *command],
                    cwd=ROOT,
                    env={**kept, **given},
                    capture_output=True,
                    text=True,
                    timeout=300,
                    check=False,
                )
                assert done.returncode == 0, done.stderr
        assert (len(ollama.of("/api/embed")) > 0, len(ollama.chats) > 0) == (True, True)
        sent = str([recorded.headers for recorded in ollama.requests])
        host, number = httpx.URL(ollama.url).host, httpx.URL(ollama.url).port
    seen = connections(tmp_path)
    allowed = {("socket.connect", f"('{host}', {number})")}
    resolved = {f"('{host}', {number})", f"(b'{host}', {number})", f"('{host}', '{number}')", f"(b'{host}', b'{number}')"}
    # The address that is bound is resolved as well.
    bound = {f"('127.0.0.1', {port})", "('127.0.0.1', 0)"}
    strange = {
        (event, address)
        for event, address in seen - allowed
        if not (event == "socket.getaddrinfo" and address in resolved | bound)
    }
    assert strange == set()
    assert allowed <= seen
    assert "secret-of-the-cloud" not in sent
