"""Who may use the page: the guard in front of the interface."""

from http.cookies import CookieError, SimpleCookie

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from app.access.visitors import Visitors

SESSION_COOKIE = "pv_session"
LOGIN_PATH = "/login"
LOGOUT_PATH = "/logout"
_LONGEST_TOKEN = 100


class PageGate:
    """Lets people in who are logged in, and tells the handlers who they are.

    The person is put into `scope["state"]["person"]`, where `app.ui.person.person_of` finds it, also in queued events. Whoever
    opens the page without a session is sent to the login; every other request without one gets 401.

    Args:
        page: what is guarded.
        login: answers `/login` and `/logout`, for everybody.
        visitors: who they are.
    """

    def __init__(self, page: ASGIApp, login: ASGIApp, visitors: Visitors) -> None:
        self._page = page
        self._login = login
        self._visitors = visitors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request; see ASGI."""
        if scope["type"] != "http":
            await self._page(scope, receive, send)
            return
        if scope["path"] in (LOGIN_PATH, LOGOUT_PATH):
            await self._login(scope, receive, send)
            return
        person = await run_in_threadpool(self._visitors.person, session_token(Headers(scope=scope)))
        if person is None:
            await _refusal(scope)(scope, receive, send)
            return
        scope["state"] = {**scope.get("state", {}), "person": person}
        await self._page(scope, receive, send)


def session_token(headers: Headers) -> str | None:
    """The token of a session that a request carries; None when there is none."""
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(SESSION_COOKIE)
    except CookieError:
        return None
    return found.value if found is not None and 0 < len(found.value) <= _LONGEST_TOKEN else None


def _refusal(scope: Scope) -> Response:
    if scope["method"] in ("GET", "HEAD") and scope["path"] == "/":
        return RedirectResponse(LOGIN_PATH, 303, {"Cache-Control": "no-store"})
    return Response("Bitte neu anmelden.", 401, {"Cache-Control": "no-store"}, "text/plain")
