"""Conflicts that an entry announces in a sentence („nennt dagegen … siehe [pv-azt-07]“), with the statements that differ."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from custom_postprocessors.conflict_parts import Entries, SectionLike, by_unit, conflict_of_sides, values_by_year
from custom_postprocessors.evidence import Conflict, ConflictSide
from custom_postprocessors.sentences import TextUnit, plain_markdown, split_units
from custom_postprocessors.values import FoundValue, find_values
from custom_postprocessors.words import Word, WordReader, coverage, weighted_coverage

_LEAST_SENTENCE = 0.27
_LINKED_DEVIATION = re.compile(r"\bdagegen\b|\bhingegen\b|\bstrenger\b|\banderen? Wert|\bÄltere \w+ nennen")
_DEVIATES = re.compile(
    r"weicht .*\bab\b|\babweichende (?:Darstellung|Übersicht|Punkt|Wert)\w*|[Ww]iderspr(?:uch|icht)\w*|\bÄltere \w+ nennen"
    r"|\b[Aa]ndere (?:Quellen|Stellen)|\benger als\b|gehen .*auseinander|nennt? (?:niedrigere|höhere|andere)"
    r"|nach dieser (?:Darstellung|Quelle|Lesart)|[Nn]ach diesen Quellen|hier wiedergegeben|\bgibt d(?:ie|en) .*\bwieder\b"
)
LINK = re.compile(r"\[([a-z]{2,4}(?:-[a-z0-9]+){2,})\]")


def sentence_conflicts(
    sections: Sequence[SectionLike], entries: Entries, words: WordReader, disputed: set[frozenset[str]]
) -> Iterator[Conflict]:
    """For every entry that announces a deviation from another: the two statements that differ."""
    statements: dict[str, list[_Said]] = {}
    for section in sections:
        best: tuple[float, _Said, _Said] | None = None
        for target in sorted(_announced(section, entries)):
            if frozenset((section.entry_id, target)) in disputed:
                continue
            for entry in (section.entry_id, target):
                if entry not in statements:
                    statements[entry] = [said for part in entries.sections[entry] for said in _said_in(part, words)]
            pair = _best_pair(statements[section.entry_id], statements[target])
            if pair is not None and (best is None or pair[0] > best[0]):
                best = pair
        if best is not None:
            disputed.add(frozenset((best[1].section.entry_id, best[2].section.entry_id)))
            yield conflict_of_sides(_topic(best[1], best[2]), [_place(best[1]), _place(best[2])])


def _announced(section: SectionLike, entries: Entries) -> set[str]:
    """The entries from which a section says that it deviates: linked in the remark, else the cluster's cross references."""
    found: set[str] = set()
    whole = section.text
    if _LINKED_DEVIATION.search(whole) is None and _DEVIATES.search(whole) is None:
        return found
    for unit in split_units(whole):
        text = whole[unit.start : unit.end]
        if unit.kind != "sentence":
            continue
        linked = set(LINK.findall(text))
        cluster = section.entry_id.rpartition("-")[0]
        if linked and (_LINKED_DEVIATION.search(text) or _DEVIATES.search(text)):
            found |= linked
        elif _DEVIATES.search(text):
            found |= {ref for ref in section.cross_refs if ref.rpartition("-")[0] == cluster}
    return (found & entries.sections.keys()) - {section.entry_id}


@dataclass(frozen=True, slots=True)
class _Said:
    """One sentence or row with its words and values."""

    section: SectionLike
    unit: TextUnit
    text: str
    words: tuple[Word, ...]
    stems: frozenset[str]
    values: tuple[FoundValue, ...]
    cells: tuple[str, ...]
    years: frozenset[str]
    by_year: dict[str, str]


def _said_in(section: SectionLike, words: WordReader) -> Iterator[_Said]:
    if section.section in ("Rechtsgrundlagen", "Payroll-Relevanz (Odoo)"):
        return
    whole = section.text
    for unit in split_units(whole):
        text = whole[unit.start : unit.end]
        if unit.kind not in ("sentence", "row") or LINK.search(text) or _DEVIATES.search(text) or "eispiel" in text:
            continue
        if _UNCLEAR.match(text):
            continue
        read = text if unit.kind == "sentence" else whole[slice(*unit.cells[0])]
        found = tuple(word for word in words.words(read) if word.text not in _NORM_WORDS)
        values = find_values(whole[unit.start : unit.cells[-1][0]] if len(unit.cells) > 3 else text)
        cells = tuple(plain_markdown(whole[a:b]) for a, b in unit.cells)
        dates = find_values(_STAND.sub("", text))
        years = frozenset(
            value.normalized[:4] for value in dates if value.kind == "date" and value.normalized[:2] in ("19", "20")
        )
        stems = frozenset(stem for word in found for stem in word.stems)
        yield _Said(section, unit, text, found, stems, values, cells, years, values_by_year(text, unit.columns, cells))


def _best_pair(mine: Sequence[_Said], yours: Sequence[_Said]) -> tuple[float, _Said, _Said] | None:
    best: tuple[float, _Said, _Said] | None = None
    for one in mine:
        for other in yours:
            if (
                (one.unit.kind != other.unit.kind and min(len(one.words), len(other.words)) < 2)
                or not one.words
                or not other.words
            ):
                continue
            sure = _statements_differ(one, other)
            if not sure:
                continue
            score = sure * min(weighted_coverage(one.words, other.stems), weighted_coverage(other.words, one.stems))
            if score >= _LEAST_SENTENCE and (best is None or score > best[0]):
                best = (score, one, other)
    return best


_NORM_WORDS = frozenset(("Abs", "Z", "Nr", "BGBl", "Art", "lit", "EStG", "ASVG", "AZG", "AngG", "AlVG", "FLAG"))
_UNCLEAR = re.compile(r"(?:Sie|Er|Es|Dies\w*|Das|Damit|Dafür|Bei \d+|\d+) ")
"""Statements that need the sentence before them, or that calculate an example."""
_STAND = re.compile(r"Stand (?:\w+ )?\d{4}|\(Ankündigung \d{4}\)|laut \w+ \w+ \d{4}")
_DENIED = re.compile(r"\b(?:nicht(?! nur)|kein\w*|nie|ohne|unzulässig\w*|entfällt|weggefallen)\b", re.IGNORECASE)


def _statements_differ(one: _Said, other: _Said) -> float:
    """How surely two statements differ: 1 for disjoint values of one kind, 0.6 when one of them denies, else 0.

    Statements about different years do not differ; rows of tables with a column per year are compared year by year.
    """
    shared_years = one.by_year.keys() & other.by_year.keys()
    if shared_years:
        same_row = not one.cells or not other.cells or one.cells[0] == other.cells[0]
        return 1.0 if same_row and any(one.by_year[year] != other.by_year[year] for year in shared_years) else 0.0
    if one.years and other.years and one.years.isdisjoint(other.years):
        return 0.0
    mine, yours = by_unit(one.values), by_unit(other.values)
    shared = mine.keys() & yours.keys()
    if shared and all(mine[unit].keys().isdisjoint(yours[unit]) for unit in shared):
        return 1.0
    return 0.6 if (_DENIED.search(one.text) is None) != (_DENIED.search(other.text) is None) else 0.0


def _topic(one: _Said, other: _Said) -> str:
    """The words both statements share, as a name of the quantity."""
    shared = [word.text.rstrip(".") for word in one.words if word.is_noun and coverage(word, other.stems) == 1.0]
    return ", ".join(dict.fromkeys(shared)) or plain_markdown(one.text)[:80]


def _place(said: _Said) -> ConflictSide:
    return ConflictSide(
        entry_id=said.section.entry_id,
        section=said.section.section,
        stand=said.section.stand,
        value=plain_markdown(said.text),
        quote=said.text,
        start=said.unit.start,
        end=said.unit.end,
    )
