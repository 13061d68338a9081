"""Who may come in: keys for programs, accounts for people, together for one process."""

from dataclasses import dataclass
from datetime import timedelta

from app.access.keys import KeyRing, keys_of
from app.access.login import Login
from app.access.origins import is_loopback, require_guards
from app.access.visitors import Visitors
from app.settings import Settings
from app.store.accounts import Accounts
from app.store.database import Database
from app.store.keys import KeyStore


@dataclass(frozen=True, slots=True)
class Guards:
    """The keys of the API, the visitors of the page, and the login that makes them."""

    keys: KeyRing
    visitors: Visitors
    login: Login


def make_guards(settings: Settings, database: Database) -> Guards:
    """The guards of a process that serves `settings.host`."""
    accounts = Accounts(database)
    only_here = is_loopback(settings.host)
    keys = KeyRing(keys_of(settings), KeyStore(database).valid, accounts=accounts.any, only_here=only_here)
    visitors = Visitors(accounts.any, accounts.of_session, only_here=only_here)
    return Guards(keys, visitors, Login(accounts, visitors, timedelta(hours=settings.session_hours)))


def require_guards_beyond_loopback(settings: Settings, database: Database) -> None:
    """Does nothing when the service may be started on `settings.host`.

    Raises:
        SettingsError: other machines can reach it, and a service key or an account is missing.
    """
    keys = (*keys_of(settings), *KeyStore(database).valid())
    service_key = any(key.role == "service" for key in keys)
    require_guards(settings.host, service_key=service_key, account=Accounts(database).any())
