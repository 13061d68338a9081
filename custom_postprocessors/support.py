"""Which sentences and rows of the cited sections carry a statement."""

import re
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from threading import Lock

from custom_postprocessors.evidence import Citation, Passage
from custom_postprocessors.norms import heading_norms
from custom_postprocessors.sentences import TextUnit, split_units
from custom_postprocessors.values import FoundValue, find_values, proves
from custom_postprocessors.words import Word, WordReader, coverage

_CACHE_SECTIONS = 256
_VALUE_WEIGHT = 8.0
_MAX_UNITS = 5
_IMPLIED = (
    (re.compile(r"\b[Pp]lus\W{1,4}\d|\+\s?\d"), "steigen"),
    (re.compile(r"\b[Mm]inus\W{1,4}\d"), "sinken"),
    (re.compile(r"\b(?:muss|müssen|musste|mussten)\b"), "verpflichtend"),
)
_LIST_MARK = re.compile(r"(?:^|\n)\s*(?:[-*+]|\d{1,3}[.)])\s+[*_]*$")


@dataclass(frozen=True, slots=True)
class EvidenceUnit:
    """One quotable piece of a given section, read: `stems` are its own words', `context` those of headings above it.

    `context` holds the entry's title, the section's and the H3 heading, the table's column names, the sentence before and the
    line that introduces the list („Seit 1.1.2026 gilt:“); `above` is the text of all that. `position` counts the units of the
    section, `paragraph` its paragraphs and list items; `intro` is the position of the introducing line.
    """

    passage: Passage
    unit: TextUnit
    text: str
    words: tuple[Word, ...]
    values: tuple[FoundValue, ...]
    stems: frozenset[str]
    context: frozenset[str]
    above: str
    position: int
    paragraph: int = 0
    intro: int | None = None

    @property
    def norms(self) -> frozenset[str]:
        """The norms that the entry's title and the section's heading name for this unit."""
        return heading_norms((self.passage.title, self.passage.section), self.text)

    def citation(self) -> Citation:
        """The place of this unit, its quote an exact slice."""
        return Citation(
            entry_id=self.passage.entry_id,
            section=self.passage.section,
            stand=self.passage.stand,
            quote=self.text,
            start=self.unit.start,
            end=self.unit.end,
        )


class EvidenceReader:
    """Reads passages into evidence units and remembers the latest sections. Safe to use from several threads."""

    def __init__(self, words: WordReader) -> None:
        self._words = words
        self._read: OrderedDict[tuple[str, str, tuple[tuple[int, int], ...]], tuple[EvidenceUnit, ...]] = OrderedDict()
        self._lock = Lock()

    def units(self, passage: Passage) -> tuple[EvidenceUnit, ...]:
        """The units of what was given of a passage, in order; a unit cut by a gap is left out."""
        key = (passage.node_id, passage.text, passage.shown)
        with self._lock:
            if key in self._read:
                self._read.move_to_end(key)
                found = self._read[key]
                if found and found[0].passage is not passage:
                    found = tuple(replace(unit, passage=passage) for unit in found)
                return found
        units = self._read_units(passage)
        with self._lock:
            self._read[key] = units
            while len(self._read) > _CACHE_SECTIONS:
                self._read.popitem(last=False)
        return units

    def _read_units(self, passage: Passage) -> tuple[EvidenceUnit, ...]:
        title = f"{passage.title} {passage.section}"
        above = self._words.stems(title)
        units: list[EvidenceUnit] = []
        previous: EvidenceUnit | None = None
        intro: EvidenceUnit | None = None
        introduced: EvidenceUnit | None = None
        paragraph = 0
        for position, unit in enumerate(split_units(passage.text)):
            if not any(start <= unit.start and unit.end <= end for start, end in passage.shown):
                continue
            headings = " ".join((unit.heading, *unit.columns))
            before = None
            if _begins(passage.text, unit, previous):
                paragraph += 1
                intro = before = _introducing(passage.text, unit, previous, intro)
            elif unit.kind == "sentence":
                before = previous
            if unit.kind in ("header", "row"):
                before = introduced = _above_table(unit, previous, introduced)
            text = passage.text[unit.start : unit.end]
            words = self._words.words(text)
            previous = EvidenceUnit(
                passage=passage,
                unit=unit,
                text=text,
                words=words,
                values=find_values(text),
                stems=frozenset(stem for word in words for stem in word.stems) | self._implied(text),
                context=above | self._words.stems(headings) | (before.stems if before else frozenset()),
                above=f"{title} {headings} {before.text if before else ''}",
                position=position,
                paragraph=paragraph,
                intro=intro.position if intro else None,
            )
            units.append(previous)
        return tuple(units)

    def _implied(self, text: str) -> frozenset[str]:
        """The stems of what a text says by a sign or a modal verb: „plus 3 %“ is a rise, „muss“ a duty."""
        return frozenset(stem for pattern, word in _IMPLIED if pattern.search(text) for stem in self._words.stems(word))


def _above_table(unit: TextUnit, previous: EvidenceUnit | None, known: EvidenceUnit | None) -> EvidenceUnit | None:
    """The sentence right above a table; its rows keep it."""
    if unit.kind == "row":
        return known
    return previous if previous is not None and previous.unit.kind == "sentence" else None


def _begins(text: str, unit: TextUnit, previous: EvidenceUnit | None) -> bool:
    """Whether a unit is the first of its paragraph or list item."""
    return previous is None or previous.unit.block != unit.block or _is_item(text, unit)


def _is_item(text: str, unit: TextUnit) -> bool:
    return _LIST_MARK.search(text[max(unit.start - 12, 0) : unit.start]) is not None


def _introducing(text: str, unit: TextUnit, previous: EvidenceUnit | None, intro: EvidenceUnit | None) -> EvidenceUnit | None:
    """The line with a colon above a list item; the items after the first keep it."""
    if previous is None or not _is_item(text, unit):
        return None
    if previous.unit.kind == "sentence" and previous.text.rstrip("* ").endswith(":"):
        return previous
    return intro


@dataclass(frozen=True, slots=True)
class Support:
    """The units chosen for a statement, best first, and how much of it they carry.

    `coverage` in [0, 1] is the rarity-weighted share of its words in the units or their context; `missing_values` are in none.
    """

    units: tuple[EvidenceUnit, ...]
    coverage: float
    missing_values: tuple[FoundValue, ...]
    uncovered: tuple[Word, ...]


def choose_support(words: Sequence[Word], values: Sequence[FoundValue], units: Sequence[EvidenceUnit]) -> Support:
    """Chooses the fewest units that prove all values and cover the words, greedily, at most five."""
    chosen: list[EvidenceUnit] = []
    open_values = list(values)
    covered = [0.0] * len(words)
    while len(chosen) < _MAX_UNITS:
        best, gain = None, 0.0
        for unit in units:
            gained = _gain(unit, words, covered, open_values)
            if gained > gain and unit not in chosen:
                best, gain = unit, gained
        if best is None or (chosen and not _needed(best, words, covered, open_values, gain)):
            break
        chosen.append(best)
        open_values = [value for value in open_values if not _proven(best, value)]
        covered = [max(old, _reach(word, best)) for old, word in zip(covered, words, strict=True)]
    total = sum(word.weight for word in words)
    share = sum(word.weight * value for word, value in zip(words, covered, strict=True)) / total if total else 1.0
    uncovered = tuple(word for word, value in zip(words, covered, strict=True) if value < 0.5)
    return Support(tuple(chosen), share, tuple(open_values), uncovered)


def _proven(unit: EvidenceUnit, value: FoundValue) -> bool:
    return any(proves(found, value) for found in unit.values)


def _reach(word: Word, unit: EvidenceUnit) -> float:
    return max(coverage(word, unit.stems), 0.9 * coverage(word, unit.context), coverage(word, unit.stems | unit.context))


def _gain(unit: EvidenceUnit, words: Sequence[Word], covered: Sequence[float], values: Sequence[FoundValue]) -> float:
    gained = sum(_VALUE_WEIGHT for value in values if _proven(unit, value))
    for word, old in zip(words, covered, strict=True):
        own = coverage(word, unit.stems)
        gained += word.weight * (max(own - old, 0.0) + 0.1 * max(coverage(word, unit.context) - max(own, old), 0.0))
    return gained


def _needed(
    unit: EvidenceUnit, words: Sequence[Word], covered: Sequence[float], values: Sequence[FoundValue], gain: float
) -> bool:
    """Whether a further unit adds a value, or a good part of the words that are still open."""
    if any(_proven(unit, value) for value in values):
        return True
    total = sum(word.weight for word in words)
    return total > 0 and gain / total > 0.15
