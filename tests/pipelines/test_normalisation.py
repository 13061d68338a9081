import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.normalisation import Decoded, NotUtf8, decode, is_invisible, printable, remove_invisible


def test_plain_text_stays_as_it_is() -> None:
    assert decode("ä\n\tb 1.000,00 €\n".encode()) == Decoded("ä\n\tb 1.000,00 €\n", False, False, True, (), None)


def test_says_what_was_changed() -> None:
    decoded = decode("\ufeffa\r\nu\u0308\u200b\u200b\u00ad\r\nc\ufffd".encode())
    assert decoded == Decoded("a\nü\nc\ufffd", True, True, False, ((2, ("U+200B", "U+00AD")),), 3)


@pytest.mark.parametrize(
    ("data", "line", "byte"),
    [(b"\xff", 1, 0xFF), (b"a\nb\xe4c", 2, 0xE4), (b"a\r\nb\r\nc\rd\xc3", 4, 0xC3), (b"\xef\xbb\xbfa\n\xff", 2, 0xFF)],
)
def test_bytes_that_are_not_utf8_are_named_with_their_line(data: bytes, line: int, byte: int) -> None:
    with pytest.raises(NotUtf8) as caught:
        decode(data)
    assert (caught.value.line, caught.value.byte) == (line, byte)


def test_printable_text_is_one_line_of_limited_length() -> None:
    assert printable("a\nb\t\u202ec\ud800") == "a b <U+202E>c<U+D800>"
    assert printable("x" * 81) == "x" * 80 + "…"


@given(st.text())
def test_decoding_twice_changes_nothing(text: str) -> None:
    once = decode(text.encode())
    again = decode(once.text.encode())
    assert again.text == once.text
    assert not any((again.had_bom, again.had_carriage_returns, not again.was_nfc, again.invisible))


@given(st.text())
def test_the_stored_text_has_nothing_invisible(text: str) -> None:
    stored = decode(text.encode()).text
    assert not any(is_invisible(character) for character in stored)
    assert unicodedata.is_normalized("NFC", stored)


@given(st.characters(exclude_categories=["Cs"]))
def test_every_invisible_character_is_removed_or_a_blank(character: str) -> None:
    assert remove_invisible(character) == (
        character if not is_invisible(character) else " " if character in "\u2028\u2029\x85\x0b\x0c" else ""
    )
