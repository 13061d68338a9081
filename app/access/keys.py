"""Who calls: keys of programs, compared in constant time, and what each may do."""

import hashlib
import hmac
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from app.settings import Settings

KeyRole = Literal["service", "admin"]
ENVIRONMENT_KEY = "env"
LOCAL_CALLER = "local"
READ_EVERY_SECONDS = 1.0
"""How long a key that was withdrawn may still be accepted."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key without its secret: `digest` is the SHA-256 of the secret's UTF-8 bytes."""

    name: str
    role: KeyRole
    digest: bytes


@dataclass(frozen=True, slots=True)
class Caller:
    """Who a request is from. `role` None: nobody had to say, because the service is open on this machine only."""

    name: str
    role: KeyRole | None


LOCAL = Caller(LOCAL_CALLER, None)


@dataclass(frozen=True, slots=True)
class Access:
    """What was found out about a request. `caller` None: a key is needed and none fits; `open`: there are no keys at all."""

    caller: Caller | None
    open: bool

    @property
    def may_administer(self) -> bool:
        """Whether what is served may be changed."""
        return self.open or (self.caller is not None and self.caller.role == "admin")


OPEN = Access(LOCAL, open=True)


class KeyRing:
    """The keys that are valid now; safe for many threads.

    Args:
        fixed: keys that last as long as the process.
        stored: reads the keys that are made and withdrawn while it runs; asked at most once a second.
        accounts: whether people log in; the one local user is not everybody any more then. Asked as `stored`.
        only_here: whether only this machine reaches the service; elsewhere nobody comes in without a key.
    """

    def __init__(
        self,
        fixed: Iterable[Key] = (),
        stored: Callable[[], Iterable[Key]] = tuple,
        *,
        accounts: Callable[[], bool] = lambda: False,
        only_here: bool = True,
    ) -> None:
        self._fixed = tuple(fixed)
        self._stored = stored
        self._accounts = accounts
        self._only_here = only_here
        self._known: tuple[Key, ...] = ()
        self._alone = False
        self._read_again_at = 0.0

    def access(self, secret: str | None) -> Access:
        """What a request with this secret (None: without one) may do.

        From the first service key on a key is needed; with admin keys or accounts alone only for what admins do. A secret
        that fits no key is never as good as none.
        """
        keys = self._keys()
        if not keys and self._alone:
            return OPEN
        if secret is None:
            needed = not self._only_here or any(key.role == "service" for key in keys)
            return Access(None if needed else LOCAL, open=False)
        return Access(_whose(secret, keys), open=False)

    def _keys(self) -> tuple[Key, ...]:
        now = time.monotonic()
        if now >= self._read_again_at:
            self._known = (*self._fixed, *self._stored())
            self._alone = self._only_here and not self._accounts()
            self._read_again_at = now + READ_EVERY_SECONDS
        return self._known


def _whose(secret: str, keys: Iterable[Key]) -> Caller | None:
    """Whose secret this is; takes as long whichever key fits, or none."""
    given = digest(secret)
    found: Caller | None = None
    for key in keys:
        if hmac.compare_digest(given, key.digest):
            found = Caller(key.name, key.role)
    return found


def digest(secret: str) -> bytes:
    """What is kept of a secret."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def keys_of(settings: Settings) -> tuple[Key, ...]:
    """The keys that the settings name; both are called `env`."""
    named: tuple[tuple[KeyRole, str | None], ...] = (
        ("service", settings.api_key.get_secret_value() if settings.api_key else None),
        ("admin", settings.admin_key.get_secret_value() if settings.admin_key else None),
    )
    return tuple(Key(ENVIRONMENT_KEY, role, digest(secret)) for role, secret in named if secret)
