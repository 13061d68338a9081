"""Who a session's visitor is, asked for with every request of the page."""

import time
from collections.abc import Callable
from threading import Lock

from app.access.person import LOCAL_PERSON, Person

REMEMBERED_SECONDS = 1.0
"""How long a session that was ended elsewhere, or a role that was taken away, may still count."""
_MOST_REMEMBERED = 1000


class Visitors:
    """Recognises visitors by the token of their session; safe for many threads.

    Args:
        accounts: whether there is any account.
        of_session: the person of a session's token, None when there is none.
        only_here: whether only this machine reaches the service; then, and as long as there is no account, whoever comes is
            the local person.
    """

    def __init__(self, accounts: Callable[[], bool], of_session: Callable[[str], Person | None], *, only_here: bool) -> None:
        self._accounts = accounts
        self._of_session = of_session
        self._only_here = only_here
        self._lock = Lock()
        self._needed: tuple[float, bool] = (0.0, True)
        self._known: dict[str, tuple[float, Person | None]] = {}

    def login_needed(self) -> bool:
        """Whether the page asks for a login."""
        if not self._only_here:
            return True
        now = time.monotonic()
        until, needed = self._needed
        if now >= until:
            needed = self._accounts()
            self._needed = (now + REMEMBERED_SECONDS, needed)
        return needed

    def person(self, token: str | None) -> Person | None:
        """Who comes with this token (None: without one); None when a login is needed first."""
        if not self.login_needed():
            return LOCAL_PERSON
        if token is None:
            return None
        now = time.monotonic()
        with self._lock:
            until, person = self._known.get(token, (0.0, None))
        if now < until:
            return person
        person = self._of_session(token)
        with self._lock:
            if len(self._known) >= _MOST_REMEMBERED:
                self._known.clear()
            self._known[token] = (now + REMEMBERED_SECONDS, person)
        return person

    def forget(self, token: str) -> None:
        """Asks for this session anew with the next request."""
        with self._lock:
            self._known.pop(token, None)
