"""Words that turn or narrow a statement: negation, exclusiveness, exception, bounds of values."""

import re
from typing import Literal

Turn = Literal["not", "only", "except"]
Bound = Literal["least", "most"]

_TURNS: dict[Turn, re.Pattern[str]] = {
    "not": re.compile(
        r"\b(?:nicht|nichts|kein|keine|keinen|keinem|keiner|keines|nie|niemals|weder|ohne|keinesfalls|keinerlei)"
        r"\b(?!\s+(?:nur|mehr als))(?:\s+mehr\b)?",
        re.IGNORECASE,
    ),
    "only": re.compile(
        r"\b(?:nur|ausschließlich|lediglich|einzig|bloß|allein(?:e|ige|iger)?)\b(?!\s*(?:mehr\b(?!\s+als)))", re.IGNORECASE
    ),
    "except": re.compile(r"\b(?:außer|ausgenommen|Ausnahme\w*|ausnahmsweise|es sei denn|abgesehen von)\b", re.IGNORECASE),
}
_SOFT_NOT = re.compile(
    r"\b(?:un(?:zulässig|wirksam|zumutbar|begrenzt|gültig|berechtigt|selbständig)\w*|entf(?:ällt|allen|iel)\w*|verbot\w*"
    r"|untersagt|ausgeschlossen|weggefallen|fällt weg|fallen weg|verfällt|verfallen|verliert|verlieren|verloren|scheidet aus"
    r"|\w*frei(?:e[nrsm]?)?|befreit\w*|statt|unterbleibt|schadet|bleibt? außer)\b",
    re.IGNORECASE,
)
_SOFT_ONLY = re.compile(r"\b(?:erst|begrenzt|beschränkt|(?:zur Gänze|allein) vom|abschließend)\b", re.IGNORECASE)
_LEAST = re.compile(r"\b(?:mindestens|wenigstens|zumindest|mind\.|frühestens)\b[^.;|\d]{0,30}$", re.IGNORECASE)
_MOST = re.compile(
    r"\b(?:höchstens|maximal\w*|max\.|längstens|spätestens|nicht mehr als|insgesamt höchstens)[^.;|\d]{0,30}$", re.IGNORECASE
)
_SOFT_LEAST = re.compile(r"\b(?:ab|mehr als|über|Mindest\w*|mindest\w*|untere|Untergrenze|erst)\b[^.;|\d]{0,30}$", re.IGNORECASE)
_SOFT_MOST = re.compile(
    r"\b(?:bis(?: zu)?|unter|weniger als|Höchst\w*|Obergrenze\w*|Maximal\w*|Deckel\w*|gedeckelt|begrenzt|Grenze|\w+grenze)\b"
    r"[^.;|\d]{0,30}$",
    re.IGNORECASE,
)


def found_turns(text: str) -> list[tuple[Turn, int, int]]:
    """The turning words of a text with their places, in order."""
    found = [(turn, match.start(), match.end()) for turn, pattern in _TURNS.items() for match in pattern.finditer(text)]
    return sorted(found, key=lambda item: item[1])


def says_not(text: str) -> bool:
    """Whether the text denies something, also by a word (unzulässig, entfällt, beitragsfrei)."""
    return bool(_TURNS["not"].search(text) or _SOFT_NOT.search(text))


def says_only(text: str) -> bool:
    """Whether the text restricts something, also softly (erst, begrenzt)."""
    return bool(_TURNS["only"].search(text) or _SOFT_ONLY.search(text) or _TURNS["except"].search(text))


def bound(before: str) -> Bound | None:
    """The explicit bound (mindestens, höchstens) of a value that follows `before`."""
    if _LEAST.search(before):
        return "least"
    return "most" if _MOST.search(before) else None


def soft_bound(before: str) -> Bound | None:
    """The bound of a value that follows `before`, also by ab, über, bis, unter or a noun (Mindestlohn, Grenze)."""
    explicit = bound(before)
    if explicit is not None:
        return explicit
    if _SOFT_LEAST.search(before):
        return "least"
    return "most" if _SOFT_MOST.search(before) else None
