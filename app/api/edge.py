"""What every request and every answer of the process passes, API and page alike; plain ASGI, so that streams stay streams."""

import logging
import re
import uuid
from collections.abc import Mapping

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.access.origins import AllowedHosts
from app.api.problems import ApiProblem, api_problem, defect, problem_of, problem_response
from pipelines.errors import PvAgentError

API_BODY_BYTES = 256 * 1024
DOCUMENT_BODY_BYTES = 8 * 1024 * 1024
DOCUMENTS_PATH = "/v1/documents"
PAGE_BODY_BYTES = 8 * 1024 * 1024
CLIENT_REQUEST_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,99}")
API_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
_HEADERS: Mapping[str, str] = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
ALIASES: Mapping[str, str] = {"/ask": "/v1/ask", "/health": "/v1/health", "/reindex": "/v1/reindex"}
"""Unversioned addresses that are still answered, and what took their place."""
METRICS_PATH = "/metrics"
DEPRECATED_SINCE = "@1767225600"
"""RFC 9745: since when they are deprecated, in seconds since 1970."""
_log = logging.getLogger(__name__)


class Edge:
    """The outermost application: ids, Host and Origin, size of bodies, security headers, and an answer for every defect.

    Args:
        api: answers `/v1/…` and the unversioned aliases.
        page: answers everything else, and gets the events of start and end.
        hosts: which names and origins are served.
        page_policy: content security policy of the page.
    """

    def __init__(self, api: ASGIApp, page: ASGIApp, hosts: AllowedHosts, page_policy: str) -> None:
        self._api = api
        self._page = page
        self._hosts = hosts
        self._page_policy = page_policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request; see ASGI."""
        if scope["type"] == "lifespan":
            await self._page(scope, receive, send)
        elif scope["type"] == "http":
            await self._request(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        to_api = path == "/v1" or path.startswith("/v1/") or path == METRICS_PATH or path in ALIASES
        headers = Headers(scope=scope)
        given = headers.get("x-request-id", "")
        client_request_id = given if CLIENT_REQUEST_ID.fullmatch(given) else None
        request_id = uuid.uuid4().hex
        scope["state"] = {**scope.get("state", {}), "request_id": request_id, "client_request_id": client_request_id}
        answer = _Answer(send, self._added(path, to_api=to_api), client_request_id)
        try:
            refusal = self._hosts.refusal(headers, page=not to_api)
            if refusal is not None:
                raise ApiProblem(403, refusal, code="foreign_origin")
            body = _Body(receive, headers, _most_bytes(path, to_api=to_api))
            await (self._api if to_api else self._page)(scope, body, answer)
        except ApiProblem as exc:
            await problem_response(problem_of(exc, request_id), exc.headers)(scope, receive, answer)
        except PvAgentError as exc:
            _log.warning("Request %s: %s: %s", request_id, type(exc).__name__, exc)
            problem = problem_of(api_problem(exc), request_id)
            await problem_response(problem, api_problem(exc).headers)(scope, receive, answer)
        except HTTPException as exc:
            problem = problem_of(ApiProblem(exc.status_code, "Die Anfrage wurde nicht angenommen."), request_id)
            await problem_response(problem)(scope, receive, answer)
        except Exception:
            # The last one who can answer: the defect goes to the log, and the caller gets the id to find it by.
            _log.exception("Request %s failed.", request_id)
            if not answer.started:
                await problem_response(problem_of(defect(), request_id))(scope, receive, answer)
            elif not answer.finished:
                raise

    def _added(self, path: str, *, to_api: bool) -> dict[str, str]:
        added = {**_HEADERS, "Content-Security-Policy": API_POLICY if to_api else self._page_policy}
        if to_api:
            added["Cache-Control"] = "no-store"
        if path in ALIASES:
            added |= {"Deprecation": DEPRECATED_SINCE, "Link": f'<{ALIASES[path]}>; rel="successor-version"'}
        return added


def _most_bytes(path: str, *, to_api: bool) -> int:
    if not to_api:
        return PAGE_BODY_BYTES
    return DOCUMENT_BODY_BYTES if path == DOCUMENTS_PATH else API_BODY_BYTES


class _Answer:
    """Adds the headers that every answer has, unless a handler has set them."""

    def __init__(self, send: Send, added: Mapping[str, str], client_request_id: str | None) -> None:
        self._send = send
        self._added = added
        self._client_request_id = client_request_id
        self.started = False
        self.finished = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            headers = MutableHeaders(scope=message)
            for name, value in self._added.items():
                headers.setdefault(name, value)
            if self._client_request_id is not None:
                headers["X-Request-ID"] = self._client_request_id
        elif message["type"] == "http.response.body":
            self.finished = not message.get("more_body", False)
        await self._send(message)


class _Body:
    """Refuses a body that is larger than allowed, whether its length was announced or not."""

    def __init__(self, receive: Receive, headers: Headers, limit: int) -> None:
        self._receive = receive
        self._limit = limit
        self._bytes = 0
        announced = headers.get("content-length", "")
        if announced.isdigit() and int(announced) > limit:
            raise _too_large()

    async def __call__(self) -> Message:
        message = await self._receive()
        self._bytes += len(message.get("body", b""))
        if self._bytes > self._limit:
            # An HTTPException is the one error that FastAPI lets through while it reads a body.
            raise HTTPException(413)
        return message


def _too_large() -> ApiProblem:
    return ApiProblem(413, "Der Inhalt der Anfrage ist größer als erlaubt.")
