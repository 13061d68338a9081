"""Markdown tables inside a section: rows with their cells and places, fences left out."""

import re
from dataclasses import dataclass

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_DELIMITER = re.compile(r"\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?")
_SPLIT = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table.

    `cells` are trimmed, an escaped bar in them is a bar. `line` (from 0) and `start`/`end` count in the section's text.
    """

    cells: tuple[str, ...]
    line: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Table:
    """A run of rows. `header` is the first; `delimited` says whether a delimiter row follows it, as Markdown demands."""

    header: Row
    delimited: bool
    rows: tuple[Row, ...]


def find_tables(text: str) -> tuple[Table, ...]:
    """The tables of a section in order: runs of lines that begin with a bar, outside fences."""
    tables: list[Table] = []
    run: list[Row] = []
    fence = ""
    start = 0
    for number, line in enumerate(text.split("\n")):
        mark = _FENCE.match(line)
        if fence:
            if mark and line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif mark:
            fence = mark[1]
        is_row = not fence and not mark and line.lstrip().startswith("|") and len(line) - len(line.lstrip()) <= 3
        if is_row:
            run.append(_row(line, number, start))
        elif run:
            tables.append(_table(run))
            run = []
        start += len(line) + 1
    if run:
        tables.append(_table(run))
    return tuple(tables)


def _row(line: str, number: int, start: int) -> Row:
    content = line.strip()
    inner = content[1:]
    if inner.endswith("|") and not inner.endswith("\\|"):
        inner = inner[:-1]
    cells = tuple(cell.strip().replace("\\|", "|") for cell in _SPLIT.split(inner))
    begin = start + len(line) - len(line.lstrip())
    return Row(cells, number, begin, begin + len(content))


def _table(run: list[Row]) -> Table:
    delimited = len(run) > 1 and all(_DELIMITER.fullmatch(cell) for cell in run[1].cells)
    return Table(run[0], delimited, tuple(run[2:] if delimited else run[1:]))
