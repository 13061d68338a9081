"""What goes over the wire of the fake Ollama: the chat as a behaviour sees it, the reply, and its lines."""

import json
import math
import re
import threading
import unicodedata
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

CHARACTERS_PER_TOKEN = 2.8
EMBEDDING_DIMENSION = 256


@dataclass(frozen=True, slots=True)
class Block:
    """A block of the prompt, as the model sees it."""

    id: str
    head: str
    section: str
    text: str


@dataclass(frozen=True, slots=True)
class ChatCall:
    """What a behaviour gets to see of a chat request. `number` counts the chats of this model, from 0."""

    body: dict[str, Any]
    number: int

    @property
    def model(self) -> str:
        return str(self.body["model"])

    @property
    def options(self) -> dict[str, Any]:
        return self.body.get("options") or {}

    @property
    def system(self) -> str:
        return "\n".join(m["content"] for m in self.body["messages"] if m["role"] == "system")

    @property
    def user(self) -> str:
        return "\n".join(m["content"] for m in self.body["messages"] if m["role"] == "user")

    @property
    def blocks(self) -> tuple[Block, ...]:
        found = re.finditer(r"⟦BLOCK (\S+) · ([^⟧\n]*)⟧\nAbschnitt: ([^\n]*)\n(.*?)\n⟦ENDE \1⟧", self.user, re.DOTALL)
        return tuple(Block(m[1], m[2], m[3], m[4]) for m in found)

    @property
    def question(self) -> str:
        found = re.search(r"⟦FRAGE[^⟧\n]*⟧\n(.*?)\n⟦ENDE FRAGE⟧", self.user, re.DOTALL)
        return found[1] if found else self.user

    @property
    def second_draft(self) -> bool:
        """Whether the message names violations of a first draft."""
        return "verworfen:" in self.user

    @property
    def tokens(self) -> int:
        """Tokens of the prompt as this server counts them."""
        return math.ceil(len(self.system + self.user) / CHARACTERS_PER_TOKEN)


@dataclass(frozen=True, slots=True)
class Reply:
    """What the server does with one chat. Defaults: everything goes well.

    `content` is cut into pieces of a few characters unless it is a tuple, which gives the pieces. `prompt_tokens`: what the
    last line counts („counted“: the truth, as Ollama counts it; None: the field is missing). `ignores_budget`: writes on
    after `num_predict` tokens. `held`: the piece of this number, and all after it, are sent when the event is set, not before.
    """

    content: str | tuple[str, ...] = ""
    thinking: str = ""
    done_reason: str = "stop"
    prompt_tokens: int | Literal["counted"] | None = "counted"
    first_delay_seconds: float = 0.0
    piece_delay_seconds: float = 0.0
    status: int = 200
    error: str = ""
    location: str = ""
    error_after_pieces: int | None = None
    cut_after_pieces: int | None = None
    without_last_line: bool = False
    raw_lines: tuple[bytes, ...] = ()
    remote_host: str = ""
    ignores_budget: bool = False
    held: tuple[int, threading.Event] | None = None

    def within(self, num_predict: int) -> "Reply":
        """The reply as far as a budget goes (a piece counts as one token); a server stops there with `length`."""
        if self.ignores_budget or len(self.pieces) <= num_predict:
            return self
        return replace(self, content=self.pieces[:num_predict], done_reason="length")

    @property
    def pieces(self) -> tuple[str, ...]:
        if isinstance(self.content, tuple):
            return self.content
        return tuple(re.findall(r"(?s).{1,7}", self.content))


Behaviour = Callable[[ChatCall], Reply]


@dataclass(frozen=True, slots=True)
class FakeModel:
    """One line of `/api/tags` and how it answers. A model without behaviour only embeds."""

    name: str
    behaviour: Behaviour | None = None
    digest: str = ""
    size: int = 17_000_000_000
    capabilities: tuple[str, ...] | None = ("completion", "tools", "thinking")
    context_length: int = 262_144
    remote_host: str = ""

    @property
    def tag(self) -> dict[str, Any]:
        digest = self.digest or f"{zlib.crc32(self.name.encode()):08x}" * 8
        line: dict[str, Any] = {"name": self.name, "model": self.name, "digest": digest, "size": self.size, "details": {}}
        return line | ({"remote_host": self.remote_host, "remote_model": self.name} if self.remote_host else {})


def embedding(text: str) -> list[float]:
    """A deterministic unit vector that ranks: texts with common words and word parts are close, short words do not count."""
    lowered = re.sub("([aou])e", r"\1", text.lower().replace("ß", "ss"))
    folded = "".join(c for c in unicodedata.normalize("NFKD", lowered) if not unicodedata.combining(c))
    words = [word for word in re.findall(r"\w+", folded) if len(word) > 3] or ["-"]
    vector = [0.0] * EMBEDDING_DIMENSION
    for word in words:
        for feature in [word] * 3 + [word[i : i + 4] for i in range(len(word) - 3)]:
            vector[zlib.crc32(feature.encode()) % EMBEDDING_DIMENSION] += 1.0
    length = math.sqrt(sum(x * x for x in vector))
    return [x / length for x in vector]


def stream_lines(call: ChatCall, reply: Reply, num_ctx: int) -> Iterator[bytes | None]:
    """The lines of the stream; None means: drop the connection."""
    if reply.raw_lines:
        yield from reply.raw_lines
        return
    pieces = [{"content": "", "thinking": t} for t in re.findall(r"(?s).{1,40}", reply.thinking)]
    pieces += [{"content": text} for text in reply.pieces]
    for number, piece in enumerate(pieces):
        if number == reply.cut_after_pieces:
            yield None
        if number == reply.error_after_pieces:
            yield line({"error": reply.error or "llama runner process has terminated"})
            return
        remote = {"remote_host": reply.remote_host} if reply.remote_host else {}
        yield line({"model": call.model, "message": {"role": "assistant", **piece}, "done": False, **remote})
    if not reply.without_last_line:
        yield line({**last_line(call, reply, num_ctx), "message": {"role": "assistant", "content": ""}})


def last_line(call: ChatCall, reply: Reply, num_ctx: int) -> dict[str, Any]:
    counted = call.tokens if call.tokens < num_ctx else num_ctx // 2 + 2
    prompt_tokens = counted if reply.prompt_tokens == "counted" else reply.prompt_tokens
    written = len(reply.pieces) + math.ceil(len(reply.thinking) / 4)
    count = {} if prompt_tokens is None else {"prompt_eval_count": prompt_tokens}
    return {
        "model": call.model,
        "done": True,
        "done_reason": reply.done_reason,
        "eval_count": written,
        "eval_duration": 1 + written * 20_000_000,
        **count,
    }


def line(document: dict[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode() + b"\n"
