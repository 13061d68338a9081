"""Ollama's HTTP without the liberties of its client: one address, no silent shortening, no guessing at broken lines."""

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
from ollama import AsyncClient, ChatResponse, ResponseError
from pydantic import ValidationError

from pipelines.ollama_errors import cloud_refused

LISTING_TIMEOUT_SECONDS = 10.0
CONNECT_TIMEOUT_SECONDS = 10.0
LONGEST_LINE_BYTES = 1_000_000


class StrictClient(AsyncClient):
    """Ollama's client without its liberties.

    It connects to `url` and nothing else: no `OLLAMA_HOST`, no proxy, no redirect, no `OLLAMA_API_KEY`. Chats are sent with
    `truncate: false` and `shift: false`, so that a prompt that does not fit is an error instead of a silently shortened prompt.
    """

    def __init__(self, url: str, *, timeout_seconds: float) -> None:
        address = httpx.URL(url)
        if not address.host or not 0 < (address.port or 80) <= 65535:
            raise httpx.InvalidURL("the configured address has no host, or a port that does not exist")
        # not super().__init__: that one reads OLLAMA_HOST and OLLAMA_API_KEY from the environment
        self._client = httpx.AsyncClient(
            base_url=url,
            trust_env=False,
            follow_redirects=False,
            timeout=httpx.Timeout(timeout_seconds, connect=min(CONNECT_TIMEOUT_SECONDS, timeout_seconds)),
            headers={"Accept": "application/json", "User-Agent": "pv-agent"},
        )

    async def _request(self, cls: type[Any], *args: Any, stream: bool = False, **kwargs: Any) -> Any:
        if args[1] == "/api/chat":
            kwargs["json"] = {**kwargs["json"], "truncate": False, "shift": False}
        if stream:
            return self._parts(*args, **kwargs)
        return await super()._request(cls, *args, stream=False, **kwargs)

    async def _parts(self, *args: Any, **kwargs: Any) -> AsyncIterator[ChatResponse]:
        async with self._client.stream(*args, **kwargs) as reply:
            if reply.status_code != httpx.codes.OK:
                raise ResponseError(await _error_text(reply), reply.status_code)
            async for line in _lines(reply):
                yield _part(line)

    async def aclose(self) -> None:
        """Closes all connections."""
        await self._client.aclose()

    async def get_json(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """One small call outside of chats, as a dict.

        Raises:
            ResponseError: any other status than 200, or an answer that is not a JSON object.
        """
        reply = await self._client.request(method, path, json=body, timeout=LISTING_TIMEOUT_SECONDS)
        if reply.status_code != httpx.codes.OK:
            raise ResponseError(_error_of(reply.content), reply.status_code)
        try:
            document = reply.json()
        except ValueError as exc:
            raise ResponseError("the answer is not JSON", reply.status_code) from exc
        if not isinstance(document, dict):
            raise ResponseError("the answer is not a JSON object", reply.status_code)
        return document


async def _lines(reply: httpx.Response) -> AsyncIterator[bytes]:
    """NDJSON lines. Not `aiter_lines`: that one also splits at U+0085 and U+2028, which may stand inside a JSON string."""
    rest = b""
    async for data in reply.aiter_bytes():
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            if line.strip():
                yield line
        if len(rest) > LONGEST_LINE_BYTES:
            raise ResponseError("a line of the stream is too long")
    if rest.strip():
        yield rest


def _part(line: bytes) -> ChatResponse:
    try:
        part = json.loads(line)
        if part.get("error"):
            raise ResponseError(json.dumps({"error": str(part["error"])}))
        if part.get("remote_host") or part.get("remote_model"):
            raise cloud_refused(str(part.get("model")))
        message = {**part["message"], "content": part["message"].get("content") or ""}
        return ChatResponse(**{**part, "message": message})
    except (ValueError, TypeError, KeyError, AttributeError, ValidationError, RecursionError) as exc:
        raise ResponseError("a line of the stream is not what Ollama sends") from exc


async def _error_text(reply: httpx.Response) -> str:
    body = b""
    async for data in reply.aiter_bytes():
        body += data
        if len(body) > LONGEST_LINE_BYTES:
            break
    return _error_of(body)


def _error_of(body: bytes) -> str:
    """The server's own words, wrapped as `ResponseError` wants them (it fails on JSON that is no object)."""
    text = body.decode("utf-8", "replace")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        document = None
    return json.dumps({"error": str(document["error"]) if isinstance(document, dict) and "error" in document else text[:500]})
