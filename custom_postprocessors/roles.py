"""What values are said of (monthly, employer's share, Vienna …): groups of words that exclude each other."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from custom_postprocessors.data_files import read_yaml

_DATA = Path(__file__).parent / "data" / "roles.yaml"

_ACCORDING = re.compile(
    r"\bnach (?=(?:(?:der|dem|den|dieser|diesem|diesen)\s+)?(?:[a-zäöüß]+\s+)?(?:fassung|darstellung|ansicht|"
    r"auffassung|meinung|quelle|"
    r"angabe|gesetz|kollektivvertrag|lehre|rechtsprechung|richtlinie|entscheidung|urteil|information|übersicht|regel)|§|art\b)"
)
"""„nach der alten Fassung“ says by what, not when."""

Found = Mapping[str, frozenset[str]]
"""Dimension → the groups of it that a text names."""


@dataclass(frozen=True, slots=True)
class Roles:
    """The dimensions of `data/roles.yaml`, ready to find.

    `hints` are strings of which a text must contain one before a dimension's pattern can match: most texts name few groups,
    and a look for a string is far cheaper than a pattern that is tried at every character.
    """

    patterns: Mapping[str, re.Pattern[str]]
    hints: Mapping[str, tuple[str, ...]]
    strict: frozenset[str]

    def of(self, text: str) -> Found:
        """The groups that `text` names, per dimension; dimensions without any are left out."""
        found: dict[str, frozenset[str]] = {}
        lowered = _ACCORDING.sub("laut ", text.lower())
        for dimension, pattern in self.patterns.items():
            if not any(hint in lowered for hint in self.hints[dimension]):
                continue
            groups = frozenset(match.lastgroup for match in pattern.finditer(lowered) if match.lastgroup)
            if groups:
                found[dimension] = groups
        return found


@lru_cache(maxsize=1)
def bundled_roles() -> Roles:
    """The bundled dimensions."""
    data: dict[str, Any] = read_yaml(_DATA)
    patterns = {
        dimension: re.compile("|".join(f"(?P<{group}>{_alternatives(words)})" for group, words in spec["groups"].items()))
        for dimension, spec in data.items()
    }
    hints = {dimension: _hints(word for words in spec["groups"].values() for word in words) for dimension, spec in data.items()}
    return Roles(patterns, hints, frozenset(name for name, spec in data.items() if spec["strict"]))


def _hints(words: Iterable[str]) -> tuple[str, ...]:
    """The longest piece without blanks of each word, those left out that contain another."""
    pieces = {max(word.strip("*+").split(), key=len) for word in words}
    return tuple(sorted(piece for piece in pieces if not any(other != piece and other in piece for other in pieces)))


def _alternatives(words: list[str]) -> str:
    return "|".join(_pattern(word) for word in sorted(words, key=len, reverse=True))


def _pattern(word: str) -> str:
    body = re.escape(word.strip("*+")).replace(r"\ ", r"\s+")
    before = r"" if word.startswith("*") else r"(?<![\wäöüß])"
    after = {"*": r"[\wäöüß-]*", "+": r"[\wäöüß-]+"}.get(word[-1], r"(?![\wäöüß])")
    year = r"(?!\s+(?:19|20)\d\d)" if body.endswith(("jahr", "jahr*")) or word.strip("*+").endswith("jahr") else ""
    return f"{before}{body}{after}{year}"


def clash(claimed: Found, said: Found) -> str | None:
    """The first dimension in which both name groups and none is common."""
    return next((name for name, groups in claimed.items() if name in said and groups.isdisjoint(said[name])), None)
