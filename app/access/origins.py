"""Which Host and Origin a request may have, so that no web page can use a port of this machine."""

import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit

from pipelines.errors import SettingsError

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


class AllowedHosts:
    """The names under which the service may be asked for; loopback names always are.

    Args:
        host: the address that is bound.
        further: names separated by commas, as a reverse proxy hands them on.
    """

    def __init__(self, host: str, further: str = "") -> None:
        named = {name.strip().lower() for name in further.split(",") if name.strip()}
        self._names = LOOPBACK_NAMES | named | {host.lower()}

    def refusal(self, headers: Mapping[str, str], *, page: bool) -> str | None:
        """A German sentence that says why a request is refused; None when it may pass.

        `page` is true for the user interface: following a link from another site to it is allowed.
        """
        host = headers.get("host", "")
        if _name(host) not in self._names:
            return "Unter diesem Namen wird der Dienst nicht angeboten."
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
            return "Anfragen von anderen Webseiten werden nicht angenommen."
        site = headers.get("sec-fetch-site", "none")
        if site in ("none", "same-origin") or (page and headers.get("sec-fetch-mode") == "navigate"):
            return None
        return "Anfragen von anderen Webseiten werden nicht angenommen."


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def require_guards(host: str, *, service_key: bool, account: bool) -> None:
    """Does nothing for an address that only this machine reaches, or when both a key and an account guard the service.

    Raises:
        SettingsError: for any other address without a service key or without an account.
    """
    if is_loopback(host) or (service_key and account):
        return
    missing = " and ".join(
        step
        for there, step in (
            (service_key, "a service key (PV_API_KEY, or `python -m app keys add NAME --role service`)"),
            (account, "an account (`python -m app users add NAME --role admin`)"),
        )
        if not there
    )
    raise SettingsError(
        f"PV_HOST has value {host!r}, which other machines can reach.",
        hint=f"First make {missing}; without both only a loopback address such as 127.0.0.1 is served.",
    )


def _name(host: str) -> str | None:
    """The name in a Host header without the port; None when it cannot be read."""
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:
        return None
