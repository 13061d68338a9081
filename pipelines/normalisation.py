"""From the bytes of a file to the text that is stored: UTF-8, no byte order mark, LF, NFC, nothing invisible."""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

_BOM = b"\xef\xbb\xbf"
_CANDIDATE = re.compile(r"[^\n\t -~\u00a0-\u00ac\u00ae-\u033f\u2010-\u2027\u202f-\u205e\u20a0-\u20c0\u2100-\u27ff]")
_LINE_BREAK_LIKE = {"\u2028", "\u2029", "\u0085", "\x0b", "\x0c"}
_KEPT_SELECTORS = {"\ufe0e", "\ufe0f"}
_BLANK_LETTERS = {"\u034f", "\u115f", "\u1160", "\u17b4", "\u17b5", "\u2800", "\u3164", "\uffa0"}


@dataclass(frozen=True, slots=True)
class Decoded:
    """The text of a file with what was changed to get it. Line numbers are those of the file on disk, from 1."""

    text: str
    had_bom: bool
    had_carriage_returns: bool
    was_nfc: bool
    invisible: tuple[tuple[int, tuple[str, ...]], ...]
    """Per line, in order, the different characters removed from it as `U+200B`, in order of appearance."""
    replacement_line: int | None
    """The first line with U+FFFD: somebody decoded the text wrongly before it came here."""


class NotUtf8(ValueError):
    """The bytes are not UTF-8; `line` is where the first wrong byte is, `byte` its value."""

    def __init__(self, line: int, byte: int) -> None:
        super().__init__(f"byte 0x{byte:02X} in line {line} is not UTF-8")
        self.line = line
        self.byte = byte


def decode(data: bytes) -> Decoded:
    """The stored form of a file's bytes. The same text in another encoding form gives the same result.

    Characters that nobody sees are removed; those that break a line without being a line end become a blank.

    Raises:
        NotUtf8: the bytes are not UTF-8.
    """
    had_bom = data.startswith(_BOM)
    try:
        raw = data[len(_BOM) :].decode("utf-8") if had_bom else data.decode("utf-8")
    except UnicodeDecodeError as exc:
        offset = exc.start + (len(_BOM) if had_bom else 0)
        before = data[:offset].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        raise NotUtf8(before.count(b"\n") + 1, data[offset]) from exc
    unified = raw.replace("\r\n", "\n").replace("\r", "\n")
    invisible = _invisible_by_line(unified)
    visible = remove_invisible(unified) if invisible else unified
    composed = unicodedata.normalize("NFC", visible)
    replacement = composed.find("\ufffd")
    return Decoded(
        text=composed,
        had_bom=had_bom,
        had_carriage_returns="\r" in raw,
        was_nfc=composed == visible,
        invisible=invisible,
        replacement_line=composed.count("\n", 0, replacement) + 1 if replacement >= 0 else None,
    )


def remove_invisible(text: str) -> str:
    """`text` without characters that nobody sees; line and page separators become a blank."""
    return _CANDIDATE.sub(lambda match: " " if match[0] in _LINE_BREAK_LIKE else "" if is_invisible(match[0]) else match[0], text)


@lru_cache(maxsize=4096)
def is_invisible(character: str) -> bool:
    """Whether a reader cannot see the character: control, format, private use, noncharacters, blank letters.

    Line feed, tab, ordinary spaces and the two presentation selectors of symbols are not invisible.
    """
    if character in "\n\t" or character in _KEPT_SELECTORS:
        return False
    if character in _BLANK_LETTERS or unicodedata.category(character) in {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"}:
        return True
    code = ord(character)
    if 0xFDD0 <= code <= 0xFDEF or code & 0xFFFE == 0xFFFE or 0xE0000 <= code <= 0xE0FFF or 0xFFF0 <= code <= 0xFFF8:
        return True
    return unicodedata.name(character, "").startswith(("VARIATION SELECTOR", "MONGOLIAN FREE VARIATION"))


def printable(text: str, limit: int = 80) -> str:
    """`text` for a message or a log: one line, invisible characters as `<U+202E>`, at most `limit` characters."""
    shown = "".join(
        f"<U+{ord(character):04X}>" if is_invisible(character) or 0xD800 <= ord(character) <= 0xDFFF else character
        for character in text[: limit + 1].replace("\n", " ").replace("\t", " ")
    )
    return shown if len(text) <= limit else shown[:limit] + "…"


def _invisible_by_line(text: str) -> tuple[tuple[int, tuple[str, ...]], ...]:
    found: dict[int, dict[str, None]] = {}
    line, position = 1, 0
    for match in _CANDIDATE.finditer(text):
        if is_invisible(match[0]):
            line += text.count("\n", position, match.start())
            position = match.start()
            found.setdefault(line, {})[f"U+{ord(match[0]):04X}"] = None
    return tuple((number, tuple(characters)) for number, characters in found.items())
