"""Who calls: keys of programs, compared in constant time, and what each may do."""

import hashlib
import hmac
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from app.settings import Settings

KeyRole = Literal["service", "admin"]
ENVIRONMENT_KEY = "env"
LOCAL_CALLER = "local"


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
    """The keys that are valid now.

    Args:
        fixed: keys that last as long as the process.
        stored: reads the keys that are made and withdrawn while it runs.
    """

    def __init__(self, fixed: Iterable[Key] = (), stored: Callable[[], Iterable[Key]] = tuple) -> None:
        self._fixed = tuple(fixed)
        self._stored = stored

    def keys(self) -> tuple[Key, ...]:
        """Every valid key."""
        return (*self._fixed, *self._stored())

    def identify(self, secret: str) -> Caller | None:
        """Whose secret this is; None when it is nobody's. Takes as long whichever key fits, or none."""
        given = digest(secret)
        found: Caller | None = None
        for key in self.keys():
            if hmac.compare_digest(given, key.digest):
                found = Caller(key.name, key.role)
        return found

    def has(self, role: KeyRole) -> bool:
        """Whether there is a key of this role."""
        return any(key.role == role for key in self.keys())


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
