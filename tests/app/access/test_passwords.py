import pytest

from app.access.passwords import fits, hash_password
from pipelines.errors import BadInput


def test_a_password_fits_its_hash_and_no_other():
    kept = hash_password("vier lange Wörter hier")
    assert fits("vier lange Wörter hier", kept)
    # The same umlaut, composed by another keyboard.
    assert fits("vier lange Wo\u0308rter hier", kept)
    assert [fits(other, kept) for other in ("vier lange Worter hier", "", "x" * 300)] == [False] * 3
    assert "vier" not in kept


def test_the_same_password_is_kept_differently_each_time():
    assert hash_password("vier lange Wörter hier") != hash_password("vier lange Wörter hier")


def test_nothing_fits_where_there_is_no_password():
    assert [fits(password, None) for password in ("", "\x00", "vier lange Wörter hier")] == [False] * 3


@pytest.mark.parametrize("password", ["", "kurz", "x" * 11, "x" * 257])
def test_too_short_and_too_long_passwords_are_refused_without_being_shown(password):
    with pytest.raises(BadInput) as refused:
        hash_password(password)
    assert not password or password not in str(refused.value)
