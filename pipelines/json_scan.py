"""Finds finished claims in JSON that is still being written, without ever guessing how an unfinished one goes on."""

import json
from dataclasses import dataclass, field
from typing import Any

MOST_DEPTH = 12


class MalformedJson(ValueError):
    """The text is not the JSON object of a draft, and nothing that follows can make it one."""


@dataclass(slots=True)
class ClaimScanner:
    """Fed with text that begins at `{` or `[`; hands out each element of `claims` when its last character has arrived.

    A top-level list is taken as the list of claims. What follows the top-level value is ignored.
    """

    text: str = ""
    done: bool = False
    _at: int = 0
    _closers: list[str] = field(default_factory=list)
    _in_string: bool = False
    _escaped: bool = False
    _string_start: int = 0
    _last_string: str = ""
    _key: str = ""
    _key_start: int = 0
    _element_start: int = -1

    def feed(self, piece: str) -> list[Any]:
        """The claims that were completed by `piece`, parsed, in order.

        Raises:
            MalformedJson: brackets do not match, a key is there twice, or the nesting is deeper than any draft.
        """
        self.text += piece
        found = []
        while self._at < len(self.text) and not self.done:
            char = self.text[self._at]
            self._at += 1
            if self._in_string:
                self._string_step(char)
            elif char == '"':
                self._in_string, self._string_start = True, self._at
            elif char == ":":
                if len(self._closers) == 1:
                    self._key, self._key_start = self._last_string, self._string_start - 1
            elif char in "{[":
                self._open(char)
            elif char in "}]" and self._close(char):
                found.append(loads(self.text[self._element_start : self._at]))
        return found

    def head(self) -> dict[str, Any]:
        """The complete fields before the one that is being written; empty for a top-level list."""
        before = self.text[: self._key_start].rstrip().removesuffix(",")
        value = loads(before + "}") if before.startswith("{") else {}
        return value if isinstance(value, dict) else {}

    def whole(self) -> Any:
        """The finished top-level value.

        Raises:
            MalformedJson: it is not finished, or not valid.
        """
        if not self.done:
            raise MalformedJson("the JSON ends before it is complete")
        return loads(self.text[: self._at])

    def _string_step(self, char: str) -> None:
        if self._escaped:
            self._escaped = False
        elif char == "\\":
            self._escaped = True
        elif char == '"':
            self._in_string = False
            self._last_string = self.text[self._string_start : self._at - 1]

    def _open(self, char: str) -> None:
        if char == "{" and self._in_claims():
            self._element_start = self._at - 1
        self._closers.append("}" if char == "{" else "]")
        if len(self._closers) > MOST_DEPTH:
            raise MalformedJson("the JSON is nested too deeply")

    def _close(self, char: str) -> bool:
        """Whether a claim was completed."""
        if not self._closers or self._closers.pop() != char:
            raise MalformedJson("the brackets of the JSON do not match")
        self.done = not self._closers
        return char == "}" and self._in_claims()

    def _in_claims(self) -> bool:
        return self._closers == ["]"] or (self._closers == ["}", "]"] and self._key == "claims")


def loads(text: str) -> Any:
    """`json.loads` that refuses keys that are there twice and numbers that are none.

    Raises:
        MalformedJson: not valid.
    """
    try:
        return json.loads(text, object_pairs_hook=_without_duplicates, parse_constant=_no_constant)
    except (ValueError, RecursionError) as exc:
        raise MalformedJson(str(exc)) from exc


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise MalformedJson("a key is there twice")
    return value


def _no_constant(name: str) -> Any:
    raise MalformedJson(f"{name} is not a value of JSON")
