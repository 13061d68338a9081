"""What both kinds of conflict detection share: the entries, values compared by unit, a conflict from its sides."""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Protocol

from custom_postprocessors.evidence import Conflict, ConflictSide, Fact
from custom_postprocessors.sentences import plain_markdown
from custom_postprocessors.values import FoundValue, find_values
from custom_postprocessors.words import WordReader, weighted_coverage

OUTDATED_NOTE = "möglicherweise überholt"

_LEAST_TITLE = 0.3
_YEAR = re.compile(r"(?:19|20)\d\d")
_YEAR_REMARK = re.compile(r"(?P<value>\d[\d.,]*\s?(?:€|%|Euro))\s\((?P<year>(?:19|20)\d\d)\)")


class SectionLike(Protocol):
    """What detection reads of a section."""

    @property
    def node_id(self) -> str:
        """Stable id of the section."""
        ...

    @property
    def entry_id(self) -> str:
        """Its entry."""
        ...

    @property
    def section(self) -> str:
        """The H2 heading."""
        ...

    @property
    def title(self) -> str:
        """The entry's title."""
        ...

    @property
    def stand(self) -> str:
        """YYYY-MM."""
        ...

    @property
    def topic(self) -> str:
        """The topic."""
        ...

    @property
    def work(self) -> str:
        """pv, ris, kv or rj."""
        ...

    @property
    def cross_refs(self) -> tuple[str, ...]:
        """Linked entry ids."""
        ...

    @property
    def text(self) -> str:
        """The section text."""
        ...


class Entries:
    """Titles, links and topics of the entries."""

    def __init__(self, sections: Sequence[SectionLike], words: WordReader) -> None:
        self.sections: dict[str, list[SectionLike]] = defaultdict(list)
        for section in sections:
            self.sections[section.entry_id].append(section)
        self.title_stems = {entry: words.stems(items[0].title) for entry, items in self.sections.items()}
        self.title_words = {entry: words.words(items[0].title) for entry, items in self.sections.items()}

    def text(self, fact: Fact) -> str:
        """The text of the section that a fact stands in."""
        return next(section.text for section in self.sections[fact.entry_id] if section.node_id == fact.node_id)

    def related(self, one: str, other: str) -> bool:
        """Whether the entries belong together: same cluster, or one links the other."""
        if one.rpartition("-")[0] == other.rpartition("-")[0]:
            return True
        return other in self.sections[one][0].cross_refs or one in self.sections[other][0].cross_refs

    def same_field(self, one: str, other: str) -> bool:
        """Whether the titles speak of one thing, so that equal labels mean equal quantities."""
        shared = min(
            weighted_coverage(self.title_words[one], self.title_stems[other]),
            weighted_coverage(self.title_words[other], self.title_stems[one]),
        )
        return shared >= _LEAST_TITLE


def by_unit(values: Iterable[FoundValue]) -> dict[tuple[str, str], dict[str, None]]:
    """The normal forms per kind and unit, in order, once each."""
    found: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for value in values:
        if value.kind in ("amount", "rate", "period", "count") or (value.kind == "date" and value.number is None):
            found[value.kind, value.unit][value.normalized] = None
    return found


def values_by_year(text: str, columns: Sequence[str] = (), cells: Sequence[str] = ()) -> dict[str, str]:
    """The value per year of „45,00 € (2026), 50,00 € (2028)“ or of a row whose columns are years; normal forms."""
    found = {match["year"]: match["value"] for match in _YEAR_REMARK.finditer(text)}
    found |= {name: cell for name, cell in zip(columns, cells, strict=False) if _YEAR.fullmatch(name)}
    read = {year: find_values(value) for year, value in found.items()}
    return {year: values[0].normalized for year, values in read.items() if values}


def conflict_of_sides(quantity: str, sides: Sequence[ConflictSide]) -> Conflict:
    """An open conflict; its id depends on entries, sections and values only, so that it survives moved text."""
    key = "|".join(f"{side.entry_id}#{side.section}={side.value}" for side in sides)
    digest = hashlib.sha256(key.encode()).hexdigest()[:10]
    return Conflict(id=f"cf-{digest}", quantity=plain_markdown(quantity), note=_note(sides), sides=tuple(sides))


def _note(sides: Sequence[ConflictSide]) -> str:
    stands = sorted(int(side.stand[:4]) * 12 + int(side.stand[5:7]) for side in sides)
    old = any(re.search(r"\bStand (?:\w+ )?(?:19|20)\d\d", side.value) for side in sides)
    return OUTDATED_NOTE if old or stands[-1] - stands[0] >= 12 else ""
