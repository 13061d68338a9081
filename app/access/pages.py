"""Who may use the page: the guard in front of the interface."""

from collections.abc import Callable

from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Receive, Scope, Send

from app.access.person import LOCAL_PERSON, Person


class PageGate:
    """Puts the person of every request into `scope["state"]["person"]`, where `app.ui.person.person_of` finds it.

    Args:
        page: what is guarded.
        recognise: the person of a session; called in a thread.
    """

    def __init__(self, page: ASGIApp, recognise: Callable[[], Person] = lambda: LOCAL_PERSON) -> None:
        self._page = page
        self._recognise = recognise

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request; see ASGI."""
        if scope["type"] == "http":
            person = await run_in_threadpool(self._recognise)
            scope["state"] = {**scope.get("state", {}), "person": person}
        await self._page(scope, receive, send)
