from datetime import timedelta

import pytest

from app.access.person import Person
from app.store.accounts import Accounts
from app.store.database import Database
from pipelines.errors import BadInput, NotFound

PASSWORD = "vier lange Wörter hier"
HOUR = timedelta(hours=1)


@pytest.fixture
def database(tmp_path):
    opened = Database(tmp_path / "data")
    yield opened
    opened.close()


@pytest.fixture
def accounts(database):
    made = Accounts(database)
    made.add("maria", PASSWORD, ["analyst"])
    return made


def test_name_and_password_make_the_person(accounts):
    assert accounts.person("maria", PASSWORD) == Person("maria", frozenset({"analyst"}))
    assert [accounts.person(*pair) for pair in (("maria", "falsch"), ("Maria", PASSWORD), ("", ""))] == [None] * 3


def test_neither_password_nor_token_can_be_read_from_the_files(accounts, tmp_path):
    token = accounts.begin_session("maria", HOUR)
    kept = b"".join(path.read_bytes() for path in (tmp_path / "data").iterdir() if path.is_file())
    assert b"maria" in kept
    assert PASSWORD.encode() not in kept
    assert token.encode() not in kept


def test_a_session_lasts_until_it_ends_or_expires(accounts):
    ended, expired, running = (accounts.begin_session("maria", life) for life in (HOUR, timedelta(0), HOUR))
    accounts.end_session(ended)
    found = [accounts.of_session(token) for token in (ended, expired, running, "made-up", "")]
    assert found == [None, None, Person("maria", frozenset({"analyst"})), None, None]


def test_a_new_password_ends_every_session(accounts):
    token = accounts.begin_session("maria", HOUR)
    accounts.set_password("maria", "fünf andere Wörter")
    assert accounts.of_session(token) is None
    assert accounts.person("maria", PASSWORD) is None
    assert accounts.person("maria", "fünf andere Wörter") is not None


def test_roles_count_for_sessions_that_run(accounts):
    token = accounts.begin_session("maria", HOUR)
    accounts.set_roles("maria", ["editor", "analyst", "editor"])
    assert accounts.of_session(token) == Person("maria", frozenset({"analyst", "editor"}))
    assert accounts.list()[0].roles == ("analyst", "editor")


def test_a_removed_account_is_closed_and_its_name_is_not_given_again(accounts):
    token = accounts.begin_session("maria", HOUR)
    assert accounts.any()
    accounts.remove("maria")
    assert (accounts.any(), accounts.of_session(token), accounts.person("maria", PASSWORD)) == (False, None, None)
    with pytest.raises(BadInput, match="is or was an account"):
        accounts.add("maria", PASSWORD, ["analyst"])
    for change in (lambda: accounts.remove("maria"), lambda: accounts.set_roles("maria", ["admin"])):
        with pytest.raises(NotFound):
            change()


@pytest.mark.parametrize("name", ["", "  ", "x" * 61, "a\nb", "lokal", "Lokal", "env", "local"])
def test_unusable_names_are_refused(accounts, name):
    with pytest.raises(BadInput, match="Account name"):
        accounts.add(name, PASSWORD, ["analyst"])


def test_an_account_needs_a_role(accounts):
    with pytest.raises(BadInput, match="No role"):
        accounts.add("hans", PASSWORD, [])
