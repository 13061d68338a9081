"""The seam to Ollama: the one place that speaks its protocol, to the one configured address."""

import contextlib
import queue
import threading
from collections.abc import AsyncIterator, Generator
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import Any

from llama_index.core.llms import ChatMessage, MessageRole
from llama_index.llms.ollama import Ollama

from pipelines.background_loop import BackgroundLoop
from pipelines.contracts import Cancelled
from pipelines.errors import GenerationCancelled, ModelFailed, ModelUnavailable
from pipelines.installed_models import InstalledModel, LoadedModel, ModelDetails, is_cloud_name, same_model
from pipelines.ollama_errors import CHECK_OLLAMA, FOREIGN_ERRORS, cloud_refused, translated
from pipelines.ollama_http import StrictClient

POLL_SECONDS = 0.05
CANCELLED = "Die Anfrage wurde abgebrochen."
CLOSED = "Die Verbindung zu Ollama wurde geschlossen."
CHARACTERS_PER_TOKEN_AT_MOST = 16
"""No vocabulary has German text longer than this per token on average: what exceeds it ignored `num_predict`."""


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """How a model is run. One `num_ctx` for every call: another value makes Ollama load the model again."""

    num_ctx: int
    num_predict: int
    temperature: float = 0.1
    seed: int = 20260101
    keep_alive: str = "30m"


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One call: a system prompt, one user message, options, and the JSON schema of the answer (None: free text)."""

    model: str
    system: str
    user: str
    options: ChatOptions
    schema: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ChatPiece:
    """What arrived: a piece of the answer, or of the thinking that was not asked for."""

    text: str = ""
    thinking: str = ""


@dataclass(frozen=True, slots=True)
class ChatEnd:
    """The server's last word. `done_reason`: stop | length | load | unload. Counts are None where it gave none."""

    done_reason: str
    prompt_tokens: int | None = None
    output_tokens: int | None = None
    tokens_per_second: float | None = None


class OllamaGateway:
    """The program's one connection to Ollama, for synchronous callers; one per process. Use as a context manager or `close` it.

    Every error that leaves it is a `ModelError` with a German message that names no address.
    """

    def __init__(self, url: str, *, timeout_seconds: float = 300.0) -> None:
        self._url = url
        self._timeout_seconds = timeout_seconds
        self._background = BackgroundLoop("ollama")
        self._client: StrictClient | None = None

    def __enter__(self) -> "OllamaGateway":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes all connections and the background thread; running chats end as cancelled."""
        self._background.close(self._disconnect)

    @property
    def url(self) -> str:
        """The address that is asked; not for readers."""
        return self._url

    def version(self) -> str:
        """The server's version, as it says.

        Raises:
            ModelUnavailable: not reachable.
        """
        return str(self._call("GET", "/api/version").get("version", ""))

    def models(self) -> tuple[InstalledModel, ...]:
        """What `/api/tags` lists, cloud models included (see `InstalledModel.is_cloud`), in the server's order.

        Raises:
            ModelUnavailable: not reachable, or the list cannot be read.
        """
        return InstalledModel.many(self._listing("/api/tags"))

    def loaded(self) -> tuple[LoadedModel, ...]:
        """What `/api/ps` lists: models in memory with their real context length.

        Raises:
            ModelUnavailable: not reachable, or the list cannot be read.
        """
        return LoadedModel.many(self._listing("/api/ps"))

    def details(self, name: str) -> ModelDetails:
        """Capabilities and longest context of a model, from `/api/show`.

        Raises:
            ModelUnavailable: not reachable, or no such model.
        """
        return ModelDetails.of(self._call("POST", "/api/show", {"model": name}, model=name))

    def local_model(self, name: str) -> InstalledModel:
        """The installed model of this name (`x` is `x:latest`), if it runs on this server.

        Raises:
            ModelUnavailable: not reachable, not installed, or a cloud model.
        """
        if is_cloud_name(name):
            raise cloud_refused(name)
        found = next((model for model in self.models() if same_model(model.name, name)), None)
        if found is None:
            raise ModelUnavailable(
                f"Das Modell {name!r} ist in Ollama nicht installiert.",
                hint=f"Mit `ollama pull {name}` laden oder ein anderes wählen.",
            )
        if found.is_cloud:
            raise cloud_refused(name)
        return found

    def unload(self, name: str) -> None:
        """Frees the memory of a model.

        Raises:
            ModelUnavailable: not reachable, or no such model.
        """
        self._call("POST", "/api/chat", {"model": name, "messages": [], "keep_alive": 0, "stream": False}, model=name)

    def chat(self, request: ChatRequest, *, cancelled: Cancelled = lambda: False) -> Generator[ChatPiece | ChatEnd, None, None]:
        """Yields pieces as they arrive, then exactly one `ChatEnd`.

        Closing the iterator, or `cancelled` becoming true, closes the connection at once, also while the server still reads the
        prompt; a closed connection makes Ollama stop.

        Raises:
            ModelUnavailable: not reachable, not installed, overloaded, or a cloud model.
            ModelFailed: an error or a cut in the middle, a prompt that does not fit, endless output, no sign of life in time.
            GenerationCancelled: `cancelled` became true.
        """
        if is_cloud_name(request.model):
            raise cloud_refused(request.model)
        if cancelled():
            raise GenerationCancelled(CANCELLED)
        pieces: queue.SimpleQueue[ChatPiece | ChatEnd | None] = queue.SimpleQueue()
        closed = threading.Event()
        running = self._background.submit(self._pump(request, pieces, closed))
        try:
            while True:
                if cancelled():
                    raise GenerationCancelled(CANCELLED)
                try:
                    piece = pieces.get(timeout=POLL_SECONDS)
                except queue.Empty:
                    continue
                if piece is None:
                    return running.result()
                yield piece
        except CancelledError as exc:
            raise GenerationCancelled(CLOSED) from exc
        finally:
            if not running.done():
                running.cancel()
                closed.wait(1.0)

    async def _pump(
        self, request: ChatRequest, pieces: "queue.SimpleQueue[ChatPiece | ChatEnd | None]", closed: threading.Event
    ) -> None:
        try:
            async for piece in self._stream(request):
                pieces.put(piece)
        except FOREIGN_ERRORS as exc:
            raise translated(exc, request.model) from exc
        finally:
            pieces.put(None)
            closed.set()

    async def _stream(self, request: ChatRequest) -> AsyncIterator[ChatPiece | ChatEnd]:
        written, most = 0, max(2000, request.options.num_predict * CHARACTERS_PER_TOKEN_AT_MOST)
        stream = await self._llm(request).astream_chat(
            _messages(request), **({"format": request.schema} if request.schema else {})
        )
        async with contextlib.aclosing(stream) as responses:
            async for response in responses:
                raw = response.raw or {}
                piece = ChatPiece(text=response.delta or "", thinking=response.additional_kwargs.get("thinking_delta") or "")
                written += len(piece.text) + len(piece.thinking)
                if written > most:
                    raise ModelFailed(f"Das Modell {request.model!r} schreibt ohne Ende.", hint="Bitte noch einmal fragen.")
                if piece.text or piece.thinking:
                    yield piece
                if raw.get("done"):
                    yield _end(raw)
                    return
        raise ModelFailed(f"Die Antwort des Modells {request.model!r} brach ab.", hint="Bitte noch einmal fragen.")

    def _llm(self, request: ChatRequest) -> Ollama:
        """LlamaIndex's class ignores options given per call, hence one object per request; it holds no connection of its own."""
        options = request.options
        return Ollama(
            model=request.model,
            base_url=self._url,
            temperature=options.temperature,
            context_window=options.num_ctx,
            request_timeout=self._timeout_seconds,
            thinking=False,
            keep_alive=options.keep_alive,
            additional_kwargs={"num_predict": options.num_predict, "seed": options.seed},
            async_client=self._connected(),
        )

    async def _disconnect(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def _connected(self) -> StrictClient:
        """The one client; only ever called on the background loop, to which it is bound."""
        if self._client is None:
            self._client = StrictClient(self._url, timeout_seconds=self._timeout_seconds)
        return self._client

    def _listing(self, path: str) -> dict[str, Any]:
        document = self._call("GET", path)
        if "models" not in document:
            raise ModelUnavailable("Unter der eingestellten Adresse antwortet kein Ollama.", hint=CHECK_OLLAMA)
        return document

    def _call(self, method: str, path: str, body: dict[str, Any] | None = None, *, model: str = "") -> dict[str, Any]:
        async def work() -> dict[str, Any]:
            return await self._connected().get_json(method, path, body)

        try:
            return self._background.submit(work()).result()
        except FOREIGN_ERRORS as exc:
            raise translated(exc, model, listing=True) from exc
        except CancelledError as exc:
            raise GenerationCancelled(CLOSED) from exc


def _messages(request: ChatRequest) -> list[ChatMessage]:
    return [
        ChatMessage(role=MessageRole.SYSTEM, content=request.system),
        ChatMessage(role=MessageRole.USER, content=request.user),
    ]


def _end(raw: dict[str, Any]) -> ChatEnd:
    output, nanoseconds = raw.get("eval_count"), raw.get("eval_duration")
    return ChatEnd(
        done_reason=str(raw.get("done_reason") or "stop"),
        prompt_tokens=raw.get("prompt_eval_count") or None,
        output_tokens=output,
        tokens_per_second=output * 1e9 / nanoseconds if output and nanoseconds else None,
    )
