"""A small server of the tests' own that speaks Ollama's wire protocol over loopback, and can misbehave on demand.

    with FakeOllama([FakeModel("qwen3.8:27b", honest())]) as server:
        gateway = OllamaGateway(server.url)
        …
        assert server.chats[0].options["num_ctx"] == 32768

It serves `/api/version`, `/api/tags`, `/api/ps`, `/api/show`, `/api/chat` (NDJSON stream and whole) and `/api/embed`. What a
model answers is its behaviour: a function from the `ChatCall` to a `Reply` (see `tests.fake_models` for a collection).
Every request is recorded with body, headers and the moment its client hung up, so that tests can assert what was sent and
that a cancelled question closes its connection.
"""

import json
import select
import socket
import sys
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.fake_wire import EMBEDDING_DIMENSION, ChatCall, FakeModel, Reply, embedding, last_line, stream_lines

POLL_SECONDS = 0.01
HELD_SECONDS = 30
"""A held stream goes on by then, so that a test that never lets it go fails instead of hanging."""


@dataclass(slots=True)
class Recorded:
    """One request; `hung_up_at` (monotonic seconds) is when the client closed the connection before the answer was whole."""

    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    started_at: float
    hung_up_at: float | None = None
    finished: threading.Event = field(default_factory=threading.Event)


class FakeOllama:
    """The server; runs in threads while it is a context. `down` refuses connections until `up`, on the same port.

    `models`, `tags_status` and `listing` (another answer of `/api/tags`) may be changed while it runs.
    """

    def __init__(self, models: Iterable[FakeModel] = (), *, version: str = "0.15.0", tags_status: int = 200) -> None:
        self.models = list(models)
        self.version = version
        self.tags_status = tags_status
        self.listing: dict[str, Any] = {}
        self.requests: list[Recorded] = []
        self.defects: list[BaseException] = []
        self.loaded: dict[str, dict[str, Any]] = {}
        self.stopping = threading.Event()
        self._lock = threading.Lock()
        self._chats: dict[str, int] = {}
        self._server: _Server | None = None
        self._port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def chats(self) -> list[ChatCall]:
        """All chat requests with messages, in order."""
        with self._lock:
            recorded = [r for r in self.requests if r.path == "/api/chat" and r.body.get("messages")]
        return [ChatCall(r.body, n) for n, r in enumerate(recorded)]

    def of(self, path: str) -> list[Recorded]:
        """All requests to a path, in order."""
        with self._lock:
            return [r for r in self.requests if r.path == path]

    def __enter__(self) -> "FakeOllama":
        self.up()
        return self

    def __exit__(self, *_: object) -> None:
        self.down()
        if self.defects:
            raise AssertionError("a behaviour of the fake server failed") from self.defects[0]

    def up(self) -> None:
        self.stopping.clear()
        self._server = _Server(self, self._port)
        self._port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(POLL_SECONDS,), name="fake-ollama", daemon=True).start()

    def down(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            self.stopping.set()
            server.shutdown()
            server.server_close()

    def find(self, name: object) -> FakeModel | None:
        wanted = str(name) if ":" in str(name) else f"{name}:latest"
        return next((m for m in self.models if (m.name if ":" in m.name else f"{m.name}:latest") == wanted), None)

    def record(self, recorded: Recorded) -> None:
        with self._lock:
            self.requests.append(recorded)

    def count_chat(self, name: str) -> int:
        with self._lock:
            self._chats[name] = self._chats.get(name, -1) + 1
            return self._chats[name]


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    block_on_close = True
    allow_reuse_address = True

    def __init__(self, fake: FakeOllama, port: int) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.fake = fake

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is part of the game; everything else is a defect of the test, and told at the end."""
        error = sys.exception()
        if error is not None and not isinstance(error, OSError):
            self.fake.defects.append(error)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30
    server: _Server
    recorded: Recorded

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def handle_one_request(self) -> None:
        # an idle keep-alive connection must not hold up the server's end
        while not self.server.fake.stopping.is_set():
            if select.select([self.connection], [], [], POLL_SECONDS * 5)[0]:
                return super().handle_one_request()
        self.close_connection = True
        return None

    def do_GET(self) -> None:
        self._dispatch({})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self._dispatch(json.loads(raw) if raw else {})

    def _dispatch(self, body: dict[str, Any]) -> None:
        self.recorded = Recorded(self.command, self.path, dict(self.headers), body, time.monotonic())
        fake = self.server.fake
        fake.record(self.recorded)
        match self.command, self.path:
            case "GET", "/api/version":
                self._json({"version": fake.version})
            case "GET", "/api/tags":
                self._json(fake.listing or {"models": [m.tag for m in fake.models]}, fake.tags_status)
            case "GET", "/api/ps":
                self._json({"models": list(fake.loaded.values())})
            case "POST", "/api/show" | "/api/chat" | "/api/embed":
                model = fake.find(body.get("model"))
                if model is None:
                    self._json({"error": f"model '{body.get('model')}' not found"}, 404)
                else:
                    {"/api/show": self._show, "/api/chat": self._chat, "/api/embed": self._embed}[self.path](model, body)
            case _:
                self._json({"error": "not found"}, 404)
        self.recorded.finished.set()

    def _show(self, model: FakeModel, body: dict[str, Any]) -> None:
        info = {
            "general.architecture": "fake",
            "fake.context_length": model.context_length,
            "fake.embedding_length": EMBEDDING_DIMENSION,
        }
        capabilities = {} if model.capabilities is None else {"capabilities": list(model.capabilities)}
        remote = {"remote_host": model.remote_host, "remote_model": model.name} if model.remote_host else {}
        self._json({"details": {}, "model_info": info, "template": "", **capabilities, **remote})

    def _embed(self, model: FakeModel, body: dict[str, Any]) -> None:
        texts = body.get("input") or []
        texts = [texts] if isinstance(texts, str) else texts
        vectors = [embedding(text) for text in texts]
        self._json({"model": model.name, "embeddings": vectors, "prompt_eval_count": sum(len(t) // 3 for t in texts)})

    def _chat(self, model: FakeModel, body: dict[str, Any]) -> None:
        fake = self.server.fake
        if not body.get("messages"):
            if body.get("keep_alive") == 0:
                fake.loaded.pop(model.name, None)
            reason = "unload" if body.get("keep_alive") == 0 else "load"
            self._json(
                {"model": model.name, "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": reason}
            )
            return
        if model.behaviour is None:
            self._json({"error": f'"{model.name}" does not support chat'}, 400)
            return
        call = ChatCall(body, fake.count_chat(model.name))
        num_ctx = int(call.options.get("num_ctx") or 4096)
        fake.loaded = {
            model.name: model.tag | {"size_vram": model.size, "context_length": num_ctx, "expires_at": "2026-12-31T00:00:00Z"}
        }
        if call.tokens >= num_ctx and body.get("truncate") is False:
            self._json({"error": f"the input length exceeds the context length ({call.tokens} > {num_ctx})"}, 400)
            return
        reply = model.behaviour(call).within(int(call.options.get("num_predict") or 10_000))
        if reply.status != 200:
            self._json({"error": reply.error or "internal"}, reply.status, reply.location)
        elif body.get("stream", True):
            self._stream(call, reply, num_ctx)
        else:
            self._whole(call, reply, num_ctx)

    def _whole(self, call: ChatCall, reply: Reply, num_ctx: int) -> None:
        if self._waits(reply.first_delay_seconds + reply.piece_delay_seconds * len(reply.pieces)):
            message = {"role": "assistant", "content": "".join(reply.pieces), "thinking": reply.thinking}
            self._json({**last_line(call, reply, num_ctx), "message": message})

    def _stream(self, call: ChatCall, reply: Reply, num_ctx: int) -> None:
        if not self._waits(reply.first_delay_seconds):
            return
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for number, line in enumerate(stream_lines(call, reply, num_ctx)):
            if reply.held is not None and number == reply.held[0]:
                reply.held[1].wait(HELD_SECONDS)
            if line is None:
                self.connection.shutdown(socket.SHUT_RDWR)
                self.close_connection = True
                return
            if not self._waits(reply.piece_delay_seconds) or not self._chunk(line):
                return
        self._chunk(b"")

    def _chunk(self, data: bytes) -> bool:
        try:
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        except OSError:
            return self._hung_up()
        return True

    def _waits(self, seconds: float) -> bool:
        """Waits while watching the connection; False when the client hung up or the server stops."""
        until = time.monotonic() + seconds
        while True:
            if select.select([self.connection], [], [], 0)[0] and not self.connection.recv(1, socket.MSG_PEEK):
                return self._hung_up()
            left = until - time.monotonic()
            if left <= 0:
                return True
            if self.server.fake.stopping.wait(min(POLL_SECONDS, left)):
                self.close_connection = True
                return False

    def _hung_up(self) -> bool:
        self.recorded.hung_up_at = time.monotonic()
        self.close_connection = True
        return False

    def _json(self, document: dict[str, Any], status: int = 200, location: str = "") -> None:
        data = json.dumps(document, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        if location:
            self.send_header("Location", location)
        self.end_headers()
        self.wfile.write(data)
