"""The API over a real port, with a slow model behind Ollama's protocol: order, bounds, and callers that go away."""

import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests import fake_models as fake
from tests.app.api.conftest import QUESTION
from tests.app.api.port import Port, wait_for
from tests.fake_ollama import FakeOllama
from tests.fake_wire import Behaviour, ChatCall, FakeModel, Reply

NAME = "qwen3.8:27b"


@pytest.fixture
def ollama() -> Iterator[FakeOllama]:
    with FakeOllama([FakeModel(NAME, fake.honest())]) as started:
        yield started


def held(release: threading.Event) -> Behaviour:
    """An honest model that answers nothing before `release`."""
    honest = fake.honest()

    def behave(call: ChatCall) -> Reply:
        assert release.wait(60)
        return honest(call)

    return behave


def send(port: Port, path: str) -> socket.socket:
    """Asks and does not read."""
    body = json.dumps({"question": QUESTION}).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    connection = socket.create_connection(("127.0.0.1", port.number))
    connection.sendall(head.encode() + body)
    return connection


@pytest.mark.parametrize("path", ["/v1/ask", "/v1/ask/stream"])
def test_a_caller_that_goes_away_before_the_first_token_stops_the_model(serve_with, ollama, path):
    ollama.models = [FakeModel(NAME, fake.slow(fake.honest(), first_seconds=60))]
    served = serve_with(llm_model=NAME, ollama_url=ollama.url)
    before = served.assembly.audit.count()
    with Port(served) as port:
        connection = send(port, path)
        wait_for(lambda: len(ollama.chats) == 1)
        connection.close()
        wait_for(lambda: ollama.of("/api/chat")[-1].hung_up_at is not None)
    assert served.assembly.audit.count() == before


def test_a_caller_that_goes_away_while_waiting_never_reaches_the_model(serve_with, ollama):
    release = threading.Event()
    ollama.models = [FakeModel(NAME, held(release))]
    served = serve_with(llm_model=NAME, ollama_url=ollama.url)
    with Port(served) as port:
        first = send(port, "/v1/ask")
        wait_for(lambda: len(ollama.chats) == 1)
        second = send(port, "/v1/ask")
        wait_for(lambda: served.assembly.queue.waiting == 1)
        second.close()
        wait_for(lambda: served.assembly.queue.waiting == 0)
        release.set()
        assert b"200 OK" in first.recv(100)
        first.close()
    assert len(ollama.chats) == 1


@pytest.mark.parametrize("waiting", [2, 50])
def test_questions_wait_in_order_and_beyond_the_bound_are_told_when_to_come_again(serve_with, ollama, waiting):
    release = threading.Event()
    ollama.models = [FakeModel(NAME, held(release))]
    served = serve_with(llm_model=NAME, ollama_url=ollama.url, queue_size=waiting)
    questions = [QUESTION + "?" * number for number in range(waiting + 1)]
    limits = httpx.Limits(max_connections=waiting + 2)
    with Port(served) as port, httpx.Client(base_url=port.url, timeout=120, limits=limits) as client:
        threads = ThreadPoolExecutor(waiting + 1)
        answers = []
        for number, question in enumerate(questions, start=1):
            answers.append(threads.submit(client.post, "/v1/ask", json={"question": question}))
            wait_for(lambda number=number: len(ollama.chats) + served.assembly.queue.waiting == number)
        beyond = client.post("/v1/ask", json={"question": QUESTION})
        release.set()
        assert [(a.result().status_code, a.result().json()["question"]) for a in answers] == [(200, q) for q in questions]
        threads.shutdown()
    assert (beyond.status_code, beyond.json()["code"]) == (429, "queue_full")
    assert int(beyond.headers["Retry-After"]) > 0
    assert [chat.question for chat in ollama.chats] == questions


def test_the_stream_shows_checked_claims_only_and_says_when_they_are_void(serve_with, ollama):
    lie = fake.altering(fake.honest(), "551,10", "511,10")
    ollama.models = [FakeModel(NAME, fake.first_then(lie, fake.honest()))]
    served = serve_with(llm_model=NAME, ollama_url=ollama.url)
    with served.client() as client:
        text = client.post("/v1/ask/stream", json={"question": QUESTION}).text
    names = [line.removeprefix("event: ") for line in text.split("\n") if line.startswith("event: ")]
    assert names == ["plan", "sources", "regenerating", "claim", "final"]
    shown = text.split("event: regenerating")[0] + text.split("event: claim")[1].split("event: final")[0]
    assert "511,10" not in shown


def test_a_failing_model_ends_the_stream_with_a_problem(serve_with, ollama):
    ollama.models = [FakeModel(NAME, fake.fails(500))]
    served = serve_with(llm_model=NAME, ollama_url=ollama.url)
    with served.client() as client:
        text = client.post("/v1/ask/stream", json={"question": QUESTION}).text
        whole = client.post("/v1/ask", json={"question": QUESTION})
    problem = json.loads(text.split("event: error\ndata: ")[1].split("\n")[0])
    assert (problem["status"], problem["code"]) == (503, "model_failed")
    assert served.assembly.audit.get(problem["request_id"]).metadata["status"] == "unavailable"
    assert (whole.status_code, whole.json()["code"]) == (503, "model_failed")
