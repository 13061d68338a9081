"""A sentence or row cut into the stretches that belong to one value each."""

import re
from dataclasses import dataclass

from custom_postprocessors.numbers import plain
from custom_postprocessors.support import EvidenceUnit

_CUT = re.compile(
    r",(?=\s)|(?<!\d):|[;()|]|\s[/–-]\s|\s(?:und|sowie|bzw\.?|beziehungsweise|oder|während|wobei|aber|jedoch|dagegen)\s"
)


@dataclass(frozen=True, slots=True)
class Segment:
    """The half-open stretch `[start, end)` of a text."""

    start: int
    end: int


def split_segments(text: str) -> tuple[Segment, ...]:
    """The stretches between commas, colons, brackets, cell borders and „und“; empty ones are left out."""
    found: list[Segment] = []
    position = 0
    for match in _CUT.finditer(plain(text)):
        if text[position : match.start()].strip():
            found.append(Segment(position, match.start()))
        position = match.end()
    if text[position:].strip():
        found.append(Segment(position, len(text)))
    return tuple(found)


def around(segments: tuple[Segment, ...], start: int) -> int:
    """The index of the segment that holds offset `start` (the last one that begins before it)."""
    return max((index for index, segment in enumerate(segments) if segment.start <= start), default=0)


def shared_end(text: str, start: int, end: int) -> str:
    """What a value at `[start, end)` shares with the last of its enumeration („8 Wochen, ab 15 Jahren 10 Wochen volles Entgelt“).

    Empty when something of its own stands after the value, or its clause is the last.
    """
    segments = split_segments(text)
    index = around(segments, start)
    if text[end : segments[index].end].strip(" *_"):
        return ""
    last = index
    while last + 1 < len(segments) and re.fullmatch(
        r"\s*(?:,|und|oder|sowie)\s*", text[segments[last].end : segments[last + 1].start]
    ):
        last += 1
    return text[segments[last].start : segments[last].end] if last > index else ""


def cell_of(unit: EvidenceUnit, start: int) -> int | None:
    """The index of a row's cell that holds offset `start` of the unit's text; None outside of rows."""
    absolute = unit.unit.start + start
    return next((index for index, (a, b) in enumerate(unit.unit.cells) if a <= absolute <= b), None)


def surroundings(unit: EvidenceUnit, start: int) -> str:
    """What stands with the value at `start`: its segment; in a row also the label cell and the column's name.

    A value in „Wert“ goes with the beginning of „Gültig“, up to the first remark there.
    """
    segments = split_segments(unit.text)
    own = segments[around(segments, start)]
    text = unit.text[own.start : own.end]
    cell = cell_of(unit, start)
    if cell is None:
        return text
    cells = [unit.passage.text[a:b] for a, b in unit.unit.cells]
    parts = [text]
    if cell != 0:
        parts.append(cells[0])
    if unit.unit.columns[:3] == ("Kennzahl", "Wert", "Gültig"):
        if cell == 1 and len(cells) > 2:
            parts.append(cells[2].partition("(")[0])
    elif cell < len(unit.unit.columns):
        parts.append(unit.unit.columns[cell])
    return " ".join(parts)
