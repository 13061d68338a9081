"""Who may call the API and how often: keys and rate limits, before anything of a request is read."""

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from app.access.keys import Caller, KeyRing
from app.access.rate import RateLimit
from app.api.problems import ApiProblem

HEALTH_PATHS = frozenset({"/v1/health", "/health"})
_SCHEME = "bearer"


class Gate:
    """Lets calls with a valid key through, and tells the handlers whose it is.

    Without any key everybody on this machine may do everything. From the first service key on every call but health needs
    a key. What only admins may do the handlers check (`app.api.parts.Admin`).

    Args:
        api: what is guarded.
        keys: the keys that are valid now.
        limit: requests per caller; failed attempts share one allowance.
    """

    def __init__(self, api: ASGIApp, keys: KeyRing, limit: RateLimit) -> None:
        self._api = api
        self._keys = keys
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request.

        Raises:
            ApiProblem: 401 without a valid key, 429 beyond the limit.
        """
        secret = _secret(Headers(scope=scope))
        access = await run_in_threadpool(self._keys.access, secret)
        if scope["path"] not in HEALTH_PATHS:
            # Callers without a key reach this port from this machine only, and are not limited.
            if access.caller is None or access.caller.role is not None:
                self._count(access.caller)
            if access.caller is None:
                raise key_required()
        scope["state"] |= {"access": access}
        await self._api(scope, receive, send)

    def _count(self, caller: Caller | None) -> None:
        seconds = self._limit.seconds_to_wait("nobody" if caller is None else f"{caller.role}:{caller.name}")
        if seconds:
            raise ApiProblem(
                429,
                "Für diesen Schlüssel sind gerade zu viele Anfragen eingegangen.",
                code="rate_limited",
                headers={"Retry-After": str(seconds)},
            )


def key_required() -> ApiProblem:
    """What a call without a valid key gets."""
    return ApiProblem(401, "Diese Adresse verlangt einen gültigen Schlüssel.", headers={"WWW-Authenticate": "Bearer"})


def _secret(headers: Headers) -> str | None:
    """The bearer token; None when there is none."""
    scheme, _, secret = headers.get("authorization", "").partition(" ")
    return secret.strip() if scheme.lower() == _SCHEME and secret.strip() else None
