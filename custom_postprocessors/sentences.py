"""German Markdown section text cut into what can be quoted: sentences, list items, table rows, headings, with offsets."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

UnitKind = Literal["sentence", "row", "header", "heading"]

_ABBREVIATIONS = frozenset(
    "abs art az bgbl bzw ca d dgl dh dr dzt etc evtl exkl f ff ggf gem hg i idf idgf idr inkl insb insbes iv kap "
    "lfd lit lt max mag mind min mio mrd mtl n nr o ob p pkt prof rd rz s sog st std str tsd u usw uu v va vgl vh "
    "vs wr z zb zi ziff zt zw abt anm bsp bsph allg allf ao aufl bes betr einschl entspr erg event gegr geg grds "
    "hrsg jährl monatl tel ua uä uvm zzgl abzgl jän jan feb mär apr jun jul aug sep sept okt nov dez wo mon mo di "
    "mi do fr sa so".split()
)
_STARTERS = frozenset(
    "der die das den dem des ein eine einen einem einer für bei wer wird werden im in am ab an auf aus mit nach "
    "ohne seit von vom zu zum zur es er sie ist sind war hat haben kein keine nur auch wenn ob als bis durch diese "
    "dieser dieses danach davon dafür dabei dazu daher dann damit hier alle jede jeder jedes beide sonst erst weil "
    "während über unter".split()
)
_END = re.compile(r"[.!?…]+[\"“”»)\]*_]*(?=\s+[\"„“»(\[*_]*[A-ZÄÖÜ0-9§])")
_ITEM = re.compile(r"^\s*(?:[-*+]|\d{1,3}[.)])\s+")
_HEADING = re.compile(r"^ {0,3}#{1,6}\s+")
_DELIMITER_ROW = re.compile(r"^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_CELL = re.compile(r"(?:\\\||[^|])*")


@dataclass(frozen=True, slots=True)
class TextUnit:
    """One quotable piece: the slice `[start, end)` of the section text, without list marks and outer blanks.

    `cells` are the slices of a table row's cells, `columns` the texts of its header row, `header` that row's slice.
    `heading` is the H3 or deeper heading above it („“ when there is none). `block` numbers the paragraph, item or table.
    """

    start: int
    end: int
    kind: UnitKind
    block: int
    heading: str = ""
    cells: tuple[tuple[int, int], ...] = ()
    columns: tuple[str, ...] = ()
    header: tuple[int, int] | None = None


@dataclass(slots=True)
class _Cursor:
    """Where the reader of lines stands."""

    heading: str = ""
    block: int = 0
    header: tuple[int, int] | None = None
    columns: tuple[str, ...] = ()
    pending: tuple[int, int] | None = None
    fence: str = ""


def split_units(text: str) -> tuple[TextUnit, ...]:
    """The quotable units of a section's text, in order; blank text gives none.

    Full stops of abbreviations („Abs.“), ordinals („15. des Monats“, „1. Jänner“), numbers and within brackets that go on
    in lower case do not end a sentence. Every letter and digit of the text is in exactly one unit, except delimiter rows.
    """
    cursor = _Cursor()
    units: list[TextUnit] = []
    lines = list(_lines(text))
    for number, (start, end) in enumerate(lines):
        line = text[start:end]
        following = text[slice(*lines[number + 1])] if number + 1 < len(lines) else ""
        units.extend(_read_line(text, start, end, line, following, cursor))
    units.extend(_flush(text, cursor))
    return tuple(units)


def _lines(text: str) -> Iterator[tuple[int, int]]:
    position = 0
    for line in text.split("\n"):
        yield position, position + len(line)
        position += len(line) + 1


def _read_line(text: str, start: int, end: int, line: str, following: str, cursor: _Cursor) -> Iterator[TextUnit]:
    fence = _FENCE.match(line)
    if fence and (not cursor.fence or fence[1].startswith(cursor.fence)):
        yield from _flush(text, cursor)
        cursor.fence = "" if cursor.fence else fence[1]
    elif not line.strip():
        yield from _flush(text, cursor)
        cursor.header, cursor.columns = None, ()
    elif not cursor.fence and (heading := _HEADING.match(line)):
        yield from _flush(text, cursor)
        cursor.block += 1
        cursor.heading = line[heading.end() :].strip(" #")
        yield TextUnit(*_trim(text, start + heading.end(), end), "heading", cursor.block)
    elif not cursor.fence and line.lstrip().startswith("|"):
        yield from _flush(text, cursor)
        yield from _read_row(text, start, end, following, cursor)
    else:
        item = _ITEM.match(line)
        if item or cursor.fence:
            yield from _flush(text, cursor)
        begin = start + (item.end() if item else 0)
        cursor.pending = (cursor.pending[0], end) if cursor.pending else (begin, end)


def _read_row(text: str, start: int, end: int, following: str, cursor: _Cursor) -> Iterator[TextUnit]:
    line = text[start:end]
    begin, finish = _trim(text, start, end)
    if _DELIMITER_ROW.match(line):
        return
    cells = tuple(_cells(text, begin, finish))
    if cursor.header is None and _DELIMITER_ROW.match(following):
        cursor.block += 1
        cursor.header = (begin, finish)
        cursor.columns = tuple(text[a:b] for a, b in cells)
        yield TextUnit(begin, finish, "header", cursor.block, cursor.heading, cells)
        return
    yield TextUnit(begin, finish, "row", cursor.block, cursor.heading, cells, cursor.columns, cursor.header)


def _cells(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    position = start + 1
    while position < end:
        match = _CELL.match(text, position, end)
        stop = match.end() if match else end
        yield _trim(text, position, stop)
        position = stop + 1


def _flush(text: str, cursor: _Cursor) -> Iterator[TextUnit]:
    if cursor.pending is None:
        return
    start, end = cursor.pending
    cursor.pending = None
    cursor.block += 1
    for begin, finish in _sentences(text, start, end):
        yield TextUnit(begin, finish, "sentence", cursor.block, cursor.heading)


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    begin = start
    for match in _END.finditer(text, start, end):
        if _ends_sentence(text, begin, match):
            span = _trim(text, begin, match.end())
            if span[0] < span[1]:
                yield span
            begin = match.end()
    span = _trim(text, begin, end)
    if span[0] < span[1]:
        yield span


def _ends_sentence(text: str, begin: int, match: re.Match[str]) -> bool:
    if match.group()[0] != ".":
        return True
    before = text[begin : match.start()]
    word = re.search(r"[\wäöüÄÖÜß]+$", before)
    if word is None:
        return True
    token = word.group()
    following = re.match(r"\s+[\"„“»(\[*_]*([\wäöüÄÖÜß§]+)", text[match.end() : match.end() + 40])
    next_word = following[1] if following else ""
    if token.isdigit():
        attached = before[: word.start()][-1:] in (",", ".", ":", "/")
        return attached or len(token) > 2 or next_word.lower() in _STARTERS
    if len(token) == 1 and token.isalpha():
        return False
    return token.lower() not in _ABBREVIATIONS or (
        token.lower() in ("usw", "etc", "uvm", "mtl", "std") and next_word.lower() in _STARTERS
    )


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def plain_markdown(text: str) -> str:
    """A unit's text as a reader sees it: no emphasis, code or link marks, cell borders as blanks, single spaces."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"(?<!\\)[*`|]+|(?<!\w)_+|_+(?!\w)|\\(?=\|)", " ", text)
    text = re.sub(r"\s+", " ", text)
    return re.sub(r"\s+([.,;:!?)])", r"\1", re.sub(r"([(„])\s+", r"\1", text)).strip()


def row_text(text: str, unit: TextUnit) -> str:
    """A table row as a statement: „Kennzahl: Wert (Gültig)“, other tables „erste Zelle: Spalte zweite Zelle, …“."""
    cells = [plain_markdown(text[a:b]) for a, b in unit.cells]
    if len(cells) < 2:
        return " ".join(cells)
    if unit.columns[:3] == ("Kennzahl", "Wert", "Gültig") and len(cells) >= 3:
        return f"{cells[0]}: {cells[1]}" + (f" ({cells[2]})" if cells[2] else "")
    if len(cells) == 2 or not unit.columns:
        return f"{cells[0]}: {', '.join(cells[1:])}"
    named = [f"{plain_markdown(name)} {cell}" for name, cell in zip(unit.columns[1:], cells[1:], strict=False) if cell]
    return f"{cells[0]}: {', '.join(named)}"
