import pytest

from app.access.keys import LOCAL, OPEN, Access, Caller, Key, KeyRing, digest, keys_of
from app.settings import Settings
from app.store.database import Database
from app.store.keys import KeyStore
from pipelines.errors import BadInput, NotFound


@pytest.fixture
def database(tmp_path):
    opened = Database(tmp_path / "data")
    yield opened
    opened.close()


SERVICE = Key("odoo", "service", digest("s-1"))
ADMIN = Key("ops", "admin", digest("a-1"))


@pytest.mark.parametrize(
    ("keys", "secret", "access"),
    [
        ((), None, OPEN),
        ((), "anything", OPEN),
        ((SERVICE,), None, Access(None, open=False)),
        ((SERVICE,), "s-1", Access(Caller("odoo", "service"), open=False)),
        ((SERVICE,), "s-2", Access(None, open=False)),
        ((SERVICE,), "s-1 ", Access(None, open=False)),
        ((ADMIN,), None, Access(LOCAL, open=False)),
        ((ADMIN,), "s-2", Access(None, open=False)),
        ((SERVICE, ADMIN), "a-1", Access(Caller("ops", "admin"), open=False)),
    ],
)
def test_what_a_secret_gives_access_to(keys, secret, access):
    assert KeyRing(keys).access(secret) == access


@pytest.mark.parametrize(
    ("access", "may"),
    [(OPEN, True), (Access(LOCAL, open=False), False), (Access(None, open=False), False)],
)
def test_who_may_administer(access, may):
    assert access.may_administer is may
    assert Access(Caller("ops", "admin"), open=False).may_administer
    assert not Access(Caller("odoo", "service"), open=False).may_administer


def test_the_settings_name_two_keys():
    keys = keys_of(Settings(api_key="s-1", admin_key="a-1"))
    assert keys == (Key("env", "service", digest("s-1")), Key("env", "admin", digest("a-1")))
    assert keys_of(Settings()) == ()


def test_a_stored_key_is_valid_until_it_is_withdrawn_and_its_secret_is_not_kept(database, tmp_path):
    store = KeyStore(database)
    secret = store.add("odoo", "service")
    ring = KeyRing((), store.valid)
    assert ring.access(secret).caller == Caller("odoo", "service")
    files = [path for path in (tmp_path / "data").iterdir() if path.is_file()]
    assert files
    assert not any(secret.encode() in path.read_bytes() for path in files)
    store.withdraw("odoo")
    assert KeyRing((), store.valid).access(secret) == OPEN
    assert [(key.name, key.role, key.withdrawn_at is None) for key in store.list()] == [("odoo", "service", False)]


def test_a_key_is_rotated_without_a_gap(database):
    store = KeyStore(database)
    old, new = store.add("odoo-2026", "service"), store.add("odoo-2027", "service")
    assert all(KeyRing((), store.valid).access(secret).caller for secret in (old, new))
    store.withdraw("odoo-2026")
    ring = KeyRing((), store.valid)
    assert ring.access(old).caller is None
    assert ring.access(new).caller == Caller("odoo-2027", "service")


@pytest.mark.parametrize("name", ["", "  ", "x" * 61, "env", "local", "a\nb"])
def test_unusable_names_are_refused(database, name):
    with pytest.raises(BadInput):
        KeyStore(database).add(name, "service")


def test_a_name_is_used_once_and_an_unknown_one_is_named(database):
    store = KeyStore(database)
    store.add("odoo", "service")
    with pytest.raises(BadInput, match="There is or was a key 'odoo'"):
        store.add("odoo", "admin")
    store.withdraw("odoo")
    with pytest.raises(BadInput):
        store.add("odoo", "service")
    for name in ("odoo", "nobody"):
        with pytest.raises(NotFound, match=name):
            store.withdraw(name)
