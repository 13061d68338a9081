"""Norms („§ 68 Abs 2 Z 1 EStG“, „Art 267 AEUV“) and case numbers („C-233/20“, „8 ObA 23/23z“) in German text."""

import re
from collections.abc import Iterable

from custom_postprocessors.found import Canvas

_NUMBER = r"\d+[a-z]{0,2}(?![\w]|,\d)"
_LAW = (
    r"(?:[A-ZÄÖÜ][\wäöüß-]*(?:gesetz(?:buch)?(?:es)?|verordnung|richtlinie)\b|Wr\.? KommStG|VO|RL|"
    r"[A-ZÄÖÜ][\w]*-?[\w-]*[A-Z]{1,}[\w-]*|EO|GRC)"
)
_LOWER_LAW = (
    "asvg|estg|abgb|angg|avrag|urlg|efzg|kommstg|azg|arg|mschg|vkg|bmsvg|alvg|gewo|arbvg|flag|bao|glbg|apsg|gsvg|aeuv|dsgvo|ugb|"
    "stgb|zpo|asgg|iesg|beinstg|bag|kjbg|auslbg|ustg|lsd-bg|buag"
)
_SUB = (
    r"(?:\s*,?\s*(?:und\s+|oder\s+|sowie\s+|iVm\s+)?"
    r"(?:Abs(?:atz|ätze|\.)?|Z(?:iffern?|iff\.?|\.)?|lit(?:era|\.)?|Satz|UAbs\.?|Unterabs(?:atz|\.)?)"
    r"\s*(?:\d+[a-z]{0,2}|[a-z]{1,2})(?![\w])(?:\s*(?:,|und|oder|bis|-)\s*(?:\d+[a-z]?|[a-z])(?![\w.]))*)"
)
_HEAD = re.compile(r"(?P<sign>§§?|\bParagra(?:f|ph)(?:en|s)?\b|\bArt(?:ikel|\.)?(?=\s+(?:\d|[IVX]+\b)))\s*")
_PARAGRAPH = re.compile(rf"(?P<number>{_NUMBER}|[IVX]+\b)(?P<sub>{_SUB}*)")
_NEXT = re.compile(
    r"\s*(?:,\s*(?:und\s+)?|und\s+|oder\s+|sowie\s+|bis\s+|-\s*|iVm\s+)(?:§§?\s*|Art(?:\.|ikel)?\s+)?(?=\d|[IVX]+\b)"
)
_LAW_AFTER = re.compile(rf"\s*(?:des\s+|der\s+|\(\s*)?(?P<law>{_LAW}|(?i:{_LOWER_LAW})\b)(?P<old>\s+aF\b)?")
_LONE_SUB = re.compile(
    r"\b(?:Abs(?:atz|\.)?|Z(?:iffer|\.)?|lit\.?)\s?\d+[a-z]?\b(?:\s(?:Z|lit|Satz)\s?[\da-z]+\b)*(?:\s+(?P<law>[A-ZÄÖÜ]\w*[A-Z]\w*))?"
)
_GAZETTE = re.compile(r"\bBGBl\.?\s?(?P<part>I{1,3})?\s?(?:Nr\.?\s?)?(?P<number>\d+/\d{4})")
_CASES = re.compile(
    r"\b(?:[CT]-\d+/\d{2}(?:\s?P)?"
    r"|\d{1,2}\s?Ob[A-Z]?\s?\d+/\d{2}[a-z]?"
    r"|R[aoev]\s?\d{4}/\d{2}/\d{3,4}(?:-\d+)?"
    r"|\d{4}/\d{2}/\d{4}"
    r"|R[VSM]/\d+/\d{4}"
    r"|[GVEB]\s?\d+(?:-\d+)?/\d{4}(?:-\d+)?"
    r"|W\d{3}\s?\d+-\d/\d{4})"
)
_PIECE = re.compile(
    r"(?P<label>Abs|Z|lit|Satz|UAbs|Unterabs)[a-zäöü.]*\s*|(?P<value>\d+[a-z]{0,2}|[a-z]{1,2})(?![\w])|(?P<range>bis|-)|und|oder|sowie|iVm|,"
)
_LEVELS = ("Abs", "UAbs", "Z", "lit", "Satz")


def find_norms(canvas: Canvas) -> None:
    """Takes norms, gazette numbers and case numbers from the canvas.

    Each paragraph of an enumeration becomes a value of its own; the law named once at the end holds for all of it.
    Normal forms: `§ 68 Abs 2 Z 1 EStG`, `Art 267 AEUV`, `BGBl I 47/2025`, `8ObA23/23z`.
    """
    for match in _CASES.finditer(canvas.plain):
        canvas.take(match.start(), match.end(), "case", re.sub(r"\s", "", match.group()))
        canvas.blank(match.start(), match.end())
    for match in _GAZETTE.finditer(canvas.plain):
        part = match["part"] or ""
        canvas.take(match.start(), match.end(), "norm", " ".join(filter(None, ("BGBl", part, match["number"]))))
        canvas.blank(match.start(), match.end())
    position = 0
    while head := _HEAD.search(canvas.plain, position):
        position = _take_enumeration(canvas, head)
    for match in _LONE_SUB.finditer(canvas.plain):
        for path in _sub_paths(match.group()):
            canvas.take(match.start(), match.end(), "norm", " ".join(filter(None, (path, match["law"]))))
        canvas.blank(match.start(), match.end())


def _take_enumeration(canvas: Canvas, head: re.Match[str]) -> int:
    """Takes what follows one § or Art sign; returns where to go on."""
    sign = "Art" if head["sign"].startswith("Art") else "§"
    parts: list[tuple[int, int, list[str]]] = []
    start, position = head.start(), head.end()
    while match := _PARAGRAPH.match(canvas.plain, position):
        paths = _sub_paths(match["sub"])
        parts.append((start, match.end(), [f"{sign} {match['number']} {path}".strip() for path in paths]))
        following = _NEXT.match(canvas.plain, match.end())
        if _LAW_AFTER.match(canvas.plain, match.end()) or following is None:
            break
        start = position = following.end()
    if not parts:
        return head.end()
    law = _LAW_AFTER.match(canvas.plain, parts[-1][1])
    if law is not None:
        last_start, _, norms = parts[-1]
        parts[-1] = (last_start, law.end(), norms)
    suffix = f" {law['law']}{' aF' if law['old'] else ''}" if law is not None else ""
    for begin, end, norms in parts:
        for norm in norms:
            canvas.take(begin, end, "norm", norm + suffix)
    canvas.blank(head.start(), parts[-1][1])
    return parts[-1][1]


def _sub_paths(sub: str) -> list[str]:
    """„Abs 1 und 2 Z 3“ as [`Abs 1`, `Abs 2 Z 3`]; [""] when there is none. A range names its two ends."""
    levels: dict[str, str] = {}
    paths: list[str] = []
    label = ""
    for piece in _PIECE.finditer(sub):
        if piece["label"]:
            new = {"Unterabs": "UAbs"}.get(piece["label"], piece["label"])
            if new in levels and levels:
                paths.append(_path(levels))
            deeper = _LEVELS.index(new)
            levels = {name: value for name, value in levels.items() if _LEVELS.index(name) < deeper}
            label = new
        elif piece["value"] and label:
            if label in levels:
                paths.append(_path(levels))
            levels[label] = piece["value"]
    paths.append(_path(levels))
    return paths


def _path(levels: dict[str, str]) -> str:
    return " ".join(f"{name} {levels[name]}" for name in _LEVELS if name in levels)


def heading_norms(headings: Iterable[str], quote: str = "") -> frozenset[str]:
    """The norms that headings above a quote name; below „§ 49 ASVG“ a quote that begins „(1)“ is also § 49 Abs 1 ASVG."""
    found: set[str] = set()
    for heading in headings:
        canvas = Canvas(heading)
        find_norms(canvas)
        found |= {value.normalized for value in canvas.found}
    paragraph = re.match(r"\W*\((\d+[a-z]?)\)", quote)
    if paragraph:
        whole = [re.fullmatch(r"(§ \S+) (?!Abs|Z|lit|Satz)(.+)", norm) for norm in found]
        found |= {f"{match[1]} Abs {paragraph[1]} {match[2]}" for match in whole if match}
    return frozenset(found)


def same_norm(claimed: str, found: str) -> bool:
    """Whether `found` in a source proves that a claim names `claimed`.

    The claim may be less exact („§ 68 EStG“ for „§ 68 Abs 2 EStG“, no law named), never more exact.
    """
    if claimed == found:
        return True
    claim_path, claim_law = _split(claimed)
    found_path, found_law = _split(found)
    if claim_law and claim_law != found_law:
        return False
    return len(claim_path) > 0 and _contains(found_path, claim_path)


def _contains(found: list[tuple[str, str]], claimed: list[tuple[str, str]]) -> bool:
    return found[: len(claimed)] == claimed or (claimed[0][0] not in ("§", "Art") and set(claimed) <= set(found))


def _split(norm: str) -> tuple[list[tuple[str, str]], str]:
    words = norm.split()
    path: list[tuple[str, str]] = []
    while len(words) >= 2 and words[0] in ("§", "Art", *_LEVELS):
        path.append((words[0], words[1]))
        words = words[2:]
    return path, _canonical_law(" ".join(words))


def _canonical_law(law: str) -> str:
    return (law.removesuffix("es") if law.endswith("gesetzes") else law).replace("-", "").lower()
