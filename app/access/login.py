"""The login: one form, one session in a cookie that no script can read."""

import logging
from datetime import timedelta
from urllib.parse import parse_qs

import anyio
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from app.access.attempts import Attempts
from app.access.login_page import LOGIN_POLICY, login_page
from app.access.pages import LOGIN_PATH, SESSION_COOKIE, session_token
from app.access.person import Person
from app.access.visitors import Visitors
from app.store.accounts import Accounts

FAILED_TEXT = "Name oder Passwort stimmt nicht."
WAIT_TEXT = "Zu viele Versuche. Bitte in {minutes} neu versuchen."
_MOST_BODY_BYTES = 4096
_AT_ONCE = 2
"""Passwords that are compared at the same time: each takes 32 MiB."""
_HEADERS = {"Cache-Control": "no-store", "Content-Security-Policy": LOGIN_POLICY, "Referrer-Policy": "same-origin"}
"""With `no-referrer` a browser would send the form with `Origin: null`, which no guard could tell from another page's."""
_log = logging.getLogger(__name__)


class Login:
    """Answers `/login` and `/logout`.

    Args:
        accounts: names, passwords, sessions.
        visitors: told when a session ends.
        lifetime: how long a session lasts.
    """

    def __init__(self, accounts: Accounts, visitors: Visitors, lifetime: timedelta) -> None:
        self._accounts = accounts
        self._visitors = visitors
        self._lifetime = lifetime
        self._attempts = Attempts()
        self._comparing = anyio.CapacityLimiter(_AT_ONCE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request; see ASGI."""
        request = Request(scope, receive)
        match request.url.path, request.method:
            case ("/login", "GET" | "HEAD"):
                answer = await run_in_threadpool(self._form, request)
            case ("/login", "POST"):
                name, password = _given(await request.body())
                answer = await anyio.to_thread.run_sync(self._log_in, request, name, password, limiter=self._comparing)
            case ("/logout", "GET" | "POST"):
                answer = await run_in_threadpool(self._log_out, request)
            case _:
                answer = Response(status_code=405)
        await answer(scope, receive, send)

    def _form(self, request: Request) -> Response:
        if self._visitors.person(session_token(request.headers)) is not None:
            return RedirectResponse("/", 303, _HEADERS)
        return HTMLResponse(login_page(), headers=_HEADERS)

    def _log_in(self, request: Request, name: str, password: str) -> Response:
        if not self._visitors.login_needed():
            return RedirectResponse("/", 303, _HEADERS)
        seconds = self._attempts.seconds_to_wait(name)
        if seconds:
            text = WAIT_TEXT.format(minutes="einer Minute" if seconds <= 60 else f"{-(-seconds // 60)} Minuten")
            return HTMLResponse(login_page(text, name), 429, {**_HEADERS, "Retry-After": str(seconds)})
        person = self._accounts.person(name, password)
        if person is None:
            self._attempts.failed(name)
            # Not the name: people type passwords into the wrong field.
            _log.warning("A login failed.")
            return HTMLResponse(login_page(FAILED_TEXT, name), 401, _HEADERS)
        return self._begun(request, person)

    def _begun(self, request: Request, person: Person) -> Response:
        self._end(request)
        token = self._accounts.begin_session(person.name, self._lifetime)
        _log.info("%r logged in.", person.name)
        answer = RedirectResponse("/", 303, _HEADERS)
        seconds = int(self._lifetime.total_seconds())
        answer.set_cookie(
            SESSION_COOKIE, token, max_age=seconds, httponly=True, samesite="strict", secure=_is_encrypted(request), path="/"
        )
        return answer

    def _log_out(self, request: Request) -> Response:
        # A link or an image cannot end a session: a strict cookie comes from the page itself, and an image is no navigation.
        if request.headers.get("sec-fetch-dest", "document") in ("document", "empty"):
            self._end(request)
        answer = RedirectResponse(LOGIN_PATH, 303, _HEADERS)
        answer.delete_cookie(SESSION_COOKIE, path="/", httponly=True, samesite="strict", secure=_is_encrypted(request))
        return answer

    def _end(self, request: Request) -> None:
        token = session_token(request.headers)
        if token is not None:
            self._accounts.end_session(token)
            self._visitors.forget(token)


def _given(body: bytes) -> tuple[str, str]:
    """Name and password of a form; empty where it has none."""
    if len(body) > _MOST_BODY_BYTES:
        return "", ""
    try:
        fields = parse_qs(body.decode("ascii", "strict"), keep_blank_values=True, max_num_fields=10)
    except ValueError:
        return "", ""
    return fields.get("name", [""])[-1].strip(), fields.get("password", [""])[-1]


def _is_encrypted(request: Request) -> bool:
    """Whether the browser speaks HTTPS, with this process or with the reverse proxy in front of it."""
    return request.url.scheme == "https" or request.headers.get("x-forwarded-proto", "").split(",")[0].strip() == "https"
