"""Whether a value is said of the same thing in claim and source: other rows, years, sides and periods are caught here."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from custom_postprocessors.evidence import Violation
from custom_postprocessors.roles import Found, Roles, clash
from custom_postprocessors.segments import Segment, around, shared_end, split_segments, surroundings
from custom_postprocessors.support import EvidenceUnit
from custom_postprocessors.values import FoundValue, find_values, proves
from custom_postprocessors.words import Word, WordReader, coverage

_CACHED_TEXTS = 4096
_ENUMERATES = re.compile(r"\s*(?:,|und|sowie|oder)\s*")
BURDEN = re.compile(
    r"\b(?:zahl|bezahl|entricht|trag|trägt|schuld|haft|führt\b|abführ|leist|finanzier)\w*|\w*(?:anteil|beitrag|beiträge|abgabe|kosten)\w*",
    re.IGNORECASE,
)
"""Who bears something: there the side (Dienstnehmer, Dienstgeber) is the point, elsewhere a source leaves it unsaid."""
_END = re.compile(
    r"\b(?P<word>vor|bis|ab|seit)\s+(?:(?:dem|der|zum|zur|einschließlich|inklusive|Jahr|Jahres|des|Ende|Anfang)\s+)*[*_(]*$",
    re.IGNORECASE,
)
_ENDS = {"vor": "before", "bis": "until", "ab": "since", "seit": "since"}
_EXACT_MARK = 6.0
COMPARABLE = ("amount", "rate", "period", "count")

_GERMAN = {
    "frequency": "Zeitraum",
    "side": "Dienstnehmer/Dienstgeber",
    "place": "Bundesland",
    "people": "Personengruppe",
    "agency": "Stelle",
    "insurance": "Versicherungszweig",
}


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Chosen on the calibration half of the labelled pairs (`python -m evaluation verification`).

    Coverages are shares in [0, 1] of a statement's words by weight, `plain_coverage` by number; `margin` is how much better
    another unit with a value of the same kind may cover them; `subject_weight` is the least rarity of a noun that must not
    be missing.
    """

    coverage: float = 0.62
    plain_coverage: float = 0.45
    coverage_with_value: float = 0.5
    coverage_of_several: float = 0.7
    near_copy: float = 0.9
    margin: float = 0.22
    subject_weight: float = 2.2
    segment_margin: float = 1.0
    elsewhere: float = 0.15


@dataclass(frozen=True, slots=True)
class Statement:
    """A clause of a claim that says one thing, with its content words and values (offsets in `text`)."""

    text: str
    words: tuple[Word, ...]
    values: tuple[FoundValue, ...]


def noun_weight(word: Word) -> float:
    """How much a word counts for support: nouns in full, other words, which paraphrases exchange freely, far less."""
    return word.weight if word.is_noun else 0.3 * word.weight


class RoleChecker:
    """Compares what stands around the values of a statement with what stands around them in its source."""

    def __init__(self, words: WordReader, roles: Roles, thresholds: Thresholds) -> None:
        self._words = words
        self._strict = roles.strict
        self._limits = thresholds
        self._roles_of = lru_cache(_CACHED_TEXTS)(roles.of)
        self._marks = lru_cache(_CACHED_TEXTS)(self._read_marks)

    def wrong_roles(
        self, statement: Statement, content: Sequence[Word], best: EvidenceUnit, units: Sequence[EvidenceUnit]
    ) -> Iterator[Violation]:
        """Values that the best unit says of something else, and roles (monatlich, Wien …) that it does not name."""
        clause_roles = self._roles_of(statement.text)
        yield from self._role_clash(statement.text, clause_roles, best)
        rival = self._better_unit(statement, content, best, units)
        if rival is not None:
            value = next((v for v in statement.values if v.kind in COMPARABLE or v.kind == "date"), None)
            text = value.text if value else statement.text
            yield Violation(kind="value_wrong_role", message=f"„{text}“ steht dort zu etwas anderem.", value=text)
        for value in statement.values:
            if value.kind == "date":
                yield from _other_end(statement.text, value, best)
            if value.kind not in COMPARABLE:
                continue
            yield from self._segment_clash(statement, value, best)

    def _role_clash(self, text: str, claimed: Found, best: EvidenceUnit) -> Iterator[Violation]:
        own_roles, above_roles = self._roles_of(best.text), self._roles_of(best.above)
        dimension = clash(claimed, own_roles)
        free = frozenset[str]() if BURDEN.search(text) else frozenset(("side",))
        if dimension is None:
            only_context = {name: groups for name, groups in above_roles.items() if name not in own_roles}
            dimension = clash(claimed, only_context)
        if dimension is None:
            said = own_roles.keys() | above_roles.keys()
            dimension = next((name for name in claimed if name in self._strict - free and name not in said), None)
        if dimension is None:
            for name, groups in claimed.items():
                own = own_roles.get(name, frozenset())
                both = own | above_roles.get(name, frozenset())
                replaced = bool(groups - own) and bool(own - groups)
                if name in self._strict and (not groups <= both or replaced) and not (name in free and not both):
                    dimension = name
        if dimension is not None:
            kind = "value_wrong_role" if dimension in ("frequency", "pay", "measure", "share", "time") else "subject"
            yield Violation(
                kind=kind,
                message=f"Die zitierte Stelle sagt das nicht in dieser Zuordnung ({_GERMAN.get(dimension, dimension)}).",
            )

    def _better_unit(
        self, statement: Statement, content: Sequence[Word], best: EvidenceUnit, units: Sequence[EvidenceUnit]
    ) -> EvidenceUnit | None:
        """A unit with a rival value that fits the statement's words clearly better than the one with its value."""
        values = [value for value in statement.values if value.kind in COMPARABLE]
        if not values:
            return None
        mine = max(self._own_share(best, content, statement), 0.9 * self._told_share(best, content, statement))
        named = self._names_all(best, content)
        for unit in units:
            if unit is best or unit.unit.kind in ("header", "heading"):
                continue
            rivals = any(
                found.kind == value.kind and _same_class(found, value) and not proves(found, value)
                for value in values
                for found in unit.values
            )
            proven = all(any(proves(found, value) for found in unit.values) for value in values)
            if not rivals or proven:
                continue
            row_named = best.unit.kind == unit.unit.kind == "row" and not named and self._names_all(unit, content)
            if row_named or self._own_share(unit, content, statement, least=1.0) > mine + self._limits.margin:
                return unit
        return None

    @staticmethod
    def _names_all(unit: EvidenceUnit, content: Sequence[Word]) -> bool:
        """Whether a unit names every word of a statement itself."""
        return bool(content) and all(coverage(word, unit.stems) == 1.0 for word in content)

    def _own_share(self, unit: EvidenceUnit, content: Sequence[Word], statement: Statement, least: float = 0.0) -> float:
        stems = _own_stems(unit)
        shares = ((noun_weight(word), coverage(word, stems)) for word in content)
        covered = sum(weight * share for weight, share in shares if share >= least)
        total = sum(noun_weight(word) for word in content)
        for value in statement.values:
            if value.kind == "date":
                total += 3.0
                covered += 3.0 if any(proves(found, value) for found in unit.values) else 0.0
        return covered / total if total else 0.0

    def _told_share(self, unit: EvidenceUnit, content: Sequence[Word], statement: Statement) -> float:
        """As `_own_share` with what the sentence before says; 0 for a row, whose headings say the same of every row."""
        if unit.unit.kind != "sentence":
            return 0.0
        return self._own_share(replace(unit, stems=unit.stems | unit.context), content, statement)

    def _segment_clash(self, statement: Statement, value: FoundValue, best: EvidenceUnit) -> Iterator[Violation]:
        """Whether the words right around a value belong, in the source, to a rival value of the same unit."""
        places = [found for found in best.values if proves(found, value)]
        rivals = [
            found
            for found in best.values
            if found.kind == value.kind
            and _same_class(found, value)
            and not any(proves(found, other) for other in statement.values if other.kind == value.kind)
        ]
        if not places:
            return
        local = self._marks(_local(statement, value))
        if sum(other.kind in COMPARABLE for other in statement.values) == 1:
            local |= {f"#{other.normalized}" for other in statement.values if other.kind == "date"}
        local_roles = self._roles_of(_local(statement, value))
        own_marks = frozenset[str]()
        role_ok = False
        for place in places:
            around_place = surroundings(best, place.start)
            own_marks |= self._marks(around_place) | _exact_marks(best, place)
            if best.unit.kind == "sentence":
                own_marks |= self._marks(_after_last_value(shared_end(best.text, place.start, place.end)))
                own_marks |= self._shared_before(best, place)
            role_ok = role_ok or clash(local_roles, self._roles_of(around_place)) is None
        if not role_ok:
            yield Violation(kind="value_wrong_role", message=f"„{value.text}“ steht dort zu etwas anderem.", value=value.text)
            return
        for rival in rivals:
            theirs = self._marks(surroundings(best, rival.start)) | _exact_marks(best, rival)
            if best.unit.kind == "sentence":
                theirs |= self._enumerated_before(best, rival)
            if self._mass(local & (theirs - own_marks)) > self._mass(local & (own_marks - theirs)) + self._limits.segment_margin:
                yield Violation(kind="value_wrong_role", message=f"„{value.text}“ steht dort zu etwas anderem.", value=value.text)
                return

    def _shared_before(self, unit: EvidenceUnit, place: FoundValue) -> frozenset[str]:
        """What a value shares with what stands before it.

        What is enumerated has one value („Löhne, Zulagen und Taggelder plus 2 %“), and a stretch without a noun goes on with
        the noun of the one before („nach dem 2. Dienstjahr zwei Monate, nach dem 5. drei Monate“).
        """
        segments = split_segments(unit.text)
        index = named = around(segments, place.start)
        while named > 0 and not self._has_noun(unit, segments[named]):
            named -= 1
        shared = self._enumerated_before(unit, place)
        if named != index:
            before = self._marks(unit.text[segments[named].start : segments[named].end])
            shared |= {mark for mark in before if not mark.startswith("#")}
        return shared

    def _enumerated_before(self, unit: EvidenceUnit, place: FoundValue) -> frozenset[str]:
        """The marks of the stretches without a value of their own that are enumerated before a value's."""
        segments = split_segments(unit.text)
        shared = frozenset[str]()
        for number in range(around(segments, place.start) - 1, -1, -1):
            own, following = segments[number], segments[number + 1]
            has_value = any(value.kind in COMPARABLE and own.start <= value.start < own.end for value in unit.values)
            if has_value or not _ENUMERATES.fullmatch(unit.text[own.end : following.start]):
                break
            shared |= self._marks(unit.text[own.start : own.end])
        return shared

    def _has_noun(self, unit: EvidenceUnit, segment: Segment) -> bool:
        inside = (word for word in unit.words if segment.start <= word.start < segment.end)
        return any(word.is_noun and not self._words.is_neutral(word) for word in inside)

    def _read_marks(self, text: str) -> frozenset[str]:
        """Stems and dates of a stretch of text: what tells one value's place from another's."""
        stems = {stem for word in self._words.words(text) if not self._words.is_neutral(word) for stem in word.stems}
        stems |= {f"#{value.normalized}" for value in find_values(text) if value.kind == "date" or value.unit.startswith(".")}
        return frozenset(stems)

    def _mass(self, marks: frozenset[str]) -> float:
        return sum(_EXACT_MARK if mark.startswith("#") else self._words.weight(mark) for mark in marks)


def _other_end(text: str, value: FoundValue, best: EvidenceUnit) -> Iterator[Violation]:
    """Whether a date is „vor“ in the claim and „bis“ or „ab“ in the source, everywhere it stands there."""
    mine = _end_of(text[: value.start])
    theirs = {_end_of(best.text[: found.start]) for found in best.values if proves(found, value)}
    if mine and theirs and None not in theirs and mine not in theirs:
        yield Violation(kind="value_wrong_role", message=f"„{value.text}“ begrenzt dort anders.", value=value.text)


def _end_of(before: str) -> str | None:
    match = _END.search(before)
    return _ENDS[match["word"].lower()] if match else None


def _own_stems(unit: EvidenceUnit) -> frozenset[str]:
    """The stems of a unit; of a Kernwerte row without its basis, which says nothing of the quantity."""
    if unit.unit.columns[:2] != ("Kennzahl", "Wert") or len(unit.unit.cells) < 4:
        return unit.stems
    basis = unit.unit.cells[3][0] - unit.unit.start
    return frozenset(stem for word in unit.words if word.start < basis for stem in word.stems)


def _exact_marks(unit: EvidenceUnit, place: FoundValue) -> frozenset[str]:
    """Dates and ordinals in the value's own stretch, as the whole unit reads them („nach dem 5. drei Monate“)."""
    segments = split_segments(unit.text)
    own = segments[around(segments, place.start)]
    near = (value for value in unit.values if own.start <= value.start < own.end)
    return frozenset(f"#{value.normalized}" for value in near if value.kind == "date" or value.unit.startswith("."))


def _after_last_value(text: str) -> str:
    return text[max((value.end for value in find_values(text)), default=len(text)) :]


def _same_class(one: FoundValue, other: FoundValue) -> bool:
    return one.kind != "count" or one.unit == other.unit


def _local(statement: Statement, value: FoundValue) -> str:
    segments = split_segments(statement.text)
    own = segments[around(segments, value.start)]
    return statement.text[own.start : own.end]
