"""A section cut into what the Zitatmodus may quote: sentences and table rows, each with everything the ranking looks at."""

import re
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import Protocol

from custom_postprocessors.evidence import Passage, ValueKind
from custom_postprocessors.sentences import TextUnit, plain_markdown, row_text, split_units
from custom_postprocessors.values import FoundValue, find_values
from pipelines.case_ranges import CaseRange, read_range
from pipelines.instructions import blanked, find_instructions

_ENTRY_ID = re.compile(r"(?<![\w-])[a-z]{2,4}(?:-[a-z0-9]+){2,}(?![\w-])")
_REFERENCE_AT_END = re.compile(
    r"\s*[,;:(–-]*\s*(?:(?:siehe|s\.|vgl\.?|dazu|näheres?|mehr|details?)\s+)*(?:(?:in|unter|bei|dazu)\s+)?"
    rf"\[{_ENTRY_ID.pattern}\](?:(?:,|\s+und)\s*\[{_ENTRY_ID.pattern}\])*\s*\)?\s*\.?\s*$",
    re.IGNORECASE,
)
_STAND = re.compile(r"\s*[(\[](Stand\b[^()\[\]]*)[)\]]")
FACT_SECTION = "Kernwerte & Fristen"
CACHED_SECTIONS = 4096


class Tokenizer(Protocol):
    """The part of the German analysis that cutting needs."""

    def tokens(self, text: str) -> list[str]:
        """Folded stems with the parts of compounds, without stop words."""
        ...


@dataclass(frozen=True, slots=True)
class Quotable:
    """One sentence or table row of a section: the slice `[start, end)`, and how a reader sees it (`text`).

    `label` is what a row is about (its first cell), `statement` the cells that may hold the value asked for; for a sentence
    `label` is empty and `statement` the sentence. `intro` are the tokens of the line or heading that a list item or sentence
    stands under. `header` is the slice of the table's header row where its columns name values („2025“).
    `values` are kind and normal form of the statement's values, `years` those of the whole text. `case_range` says to which
    cases a row of a graduated table applies.
    """

    start: int
    end: int
    is_row: bool
    is_fact: bool
    block: int
    text: str
    label: str
    tokens: frozenset[str]
    label_tokens: frozenset[str]
    intro: frozenset[str]
    heading: str
    header: tuple[int, int] | None
    values: frozenset[tuple[ValueKind, str]]
    years: frozenset[int]
    case_range: CaseRange | None

    @property
    def kinds(self) -> frozenset[ValueKind]:
        """The kinds of value that it states."""
        return frozenset(kind for kind, _ in self.values)

    @property
    def length(self) -> int:
        """Characters that quoting it costs."""
        header = self.header[1] - self.header[0] if self.header else 0
        return self.end - self.start + header


class QuotableCache:
    """Cuts sections, and keeps the pieces of those used last. Safe to use from several threads."""

    def __init__(self, tokenizer: Tokenizer, size: int = CACHED_SECTIONS) -> None:
        self._tokenizer = tokenizer
        self._size = size
        self._kept: OrderedDict[tuple[str, str, tuple[tuple[int, int], ...]], tuple[Quotable, ...]] = OrderedDict()
        self._lock = Lock()

    def of(self, passage: Passage) -> tuple[Quotable, ...]:
        """The quotable pieces of the parts of a passage that are shown, in order; empty when there is none."""
        key = (passage.section, passage.text, passage.shown)
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
                return found
        made = tuple(quotables(passage, self._tokenizer))
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)
        return made


def quotables(passage: Passage, tokenizer: Tokenizer) -> Iterator[Quotable]:
    """The sentences and rows of the shown parts, in order; text that addresses a model is left out."""
    evidence = blanked(passage.text, find_instructions(passage.text))
    blocks = 0
    for start, end in passage.shown:
        units = split_units(evidence[start:end])
        for piece in _part(evidence[start:end], units, start, blocks, passage.section, tokenizer):
            if passage.text[piece.start : piece.end] == evidence[piece.start : piece.end] and _proves_itself(piece, passage.text):
                yield piece
        blocks += 1 + max((unit.block for unit in units), default=0)


def _proves_itself(piece: Quotable, text: str) -> bool:
    """Whether every value that a reader sees is read from the quote as well; emphasis inside a value can hide it."""
    quote = text[piece.start : piece.end]
    if piece.is_row or "*" not in quote:
        return True
    written = {(value.kind, value.normalized) for value in find_values(quote)}
    return piece.values <= written


def _part(
    text: str, units: tuple[TextUnit, ...], offset: int, blocks: int, section: str, tokenizer: Tokenizer
) -> Iterator[Quotable]:
    before, intro = "", ""
    block = -1
    for unit in units:
        if unit.block != block:
            block = unit.block
            intro = before if before.rstrip("* ").endswith(":") else intro if text[: unit.start].endswith(("- ", "* ")) else ""
        before = text[unit.start : unit.end]
        if unit.kind in ("heading", "header"):
            continue
        kept = _without_reference(text, unit)
        if kept is not None:
            yield _quotable(text, kept, offset, blocks, section, intro, tokenizer)


def _without_reference(text: str, unit: TextUnit) -> TextUnit | None:
    """The unit without a reference to another entry at its end; None when nothing is left or one stands further inside.

    A citation mark in an answer means that the entry was given, which only the program may say.
    """
    said = text[unit.start : unit.end]
    if unit.kind == "sentence":
        said = _closed(_REFERENCE_AT_END.sub("", said))
    if _ENTRY_ID.search(said) or not any(sign.isalnum() for sign in said):
        return None
    return replace(unit, end=unit.start + len(said.rstrip()))


def _closed(said: str) -> str:
    """The text without a bracket at its end that was opened and not closed."""
    opened = said.rfind("(")
    return said[:opened] if said.count("(") > said.count(")") else said


def _quotable(text: str, unit: TextUnit, offset: int, blocks: int, section: str, intro: str, tokenizer: Tokenizer) -> Quotable:
    is_row = unit.kind == "row"
    is_fact = is_row and section == FACT_SECTION
    # „(Stand …)“ is what the program writes behind a claim; a validity that is worded so must not look like it.
    seen = _STAND.sub(r" – \1", row_text(text, unit) if is_row else plain_markdown(text[unit.start : unit.end]))
    cells = [plain_markdown(text[a:b]) for a, b in unit.cells]
    label = cells[0] if cells else ""
    begin = len(label)
    end = seen.find(cells[1], begin) + len(cells[1]) if is_fact and len(cells) > 1 else len(seen)
    values = find_values(seen)
    stated = [value for value in values if begin <= value.start and value.end <= end]
    names_values = is_row and not is_fact and any(any(sign.isdigit() for sign in column) for column in unit.columns)
    return Quotable(
        start=unit.start + offset,
        end=unit.end + offset,
        is_row=is_row,
        is_fact=is_fact,
        block=unit.block + blocks,
        text=seen,
        label=label,
        tokens=frozenset(tokenizer.tokens(seen)),
        label_tokens=frozenset(tokenizer.tokens(label)),
        intro=frozenset(tokenizer.tokens(f"{intro} {unit.heading}")),
        heading=unit.heading,
        header=(unit.header[0] + offset, unit.header[1] + offset) if names_values and unit.header else None,
        values=frozenset((value.kind, value.normalized) for value in stated),
        years=_years(values),
        case_range=read_range(label) if is_row else None,
    )


def _years(values: Sequence[FoundValue]) -> frozenset[int]:
    years: set[int] = set()
    for value in values:
        if value.kind == "date" and value.normalized[:4].isdigit():
            first = int(value.normalized[:4])
            years.update(range(first, (value.range_end or first) + 1))
    return frozenset(years)
