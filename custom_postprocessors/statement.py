"""One statement of a claim against the units of the cited sections: who carries it, and what is wrong with it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from custom_postprocessors.evidence import Violation
from custom_postprocessors.norms import same_norm
from custom_postprocessors.polarity import found_turns, says_not, says_only
from custom_postprocessors.roles import Roles
from custom_postprocessors.subjects import SubjectChecker
from custom_postprocessors.support import EvidenceUnit
from custom_postprocessors.turning import TurnChecker
from custom_postprocessors.value_roles import COMPARABLE, RoleChecker, Statement, Thresholds, noun_weight
from custom_postprocessors.values import FoundValue, proves
from custom_postprocessors.words import Word, WordReader, coverage, reach


@dataclass(frozen=True, slots=True)
class Verdict:
    """The units that carry a statement (may be empty) and everything against it."""

    units: tuple[EvidenceUnit, ...]
    violations: tuple[Violation, ...]


_CACHED_TEXTS = 4096
_POINTS_BACK = re.compile(r"\W*(?:Davor|Zuvor|Vorher|Bis dahin|Danach|Seither|Seitdem|Bisher)\b")
_NAMED = ("people", "place", "agency")


class StatementChecker:
    """Finds the unit that carries a statement and compares both, word by word and value by value."""

    def __init__(self, words: WordReader, roles: Roles, thresholds: Thresholds) -> None:
        self._words = words
        self._roles = roles
        self._limits = thresholds
        self._roles_of = lru_cache(_CACHED_TEXTS)(roles.of)
        self._role_checker = RoleChecker(words, roles, thresholds)
        self._subjects = SubjectChecker(words, roles, thresholds)
        self._turns = TurnChecker(words, thresholds)

    def check(self, statement: Statement, units: Sequence[EvidenceUnit], before_unit: EvidenceUnit | None = None) -> Verdict:
        """The verdict on one statement; `before_unit` carries the statement before it, which it may continue.

        A continuation („…, der Dienstgeber 12,55 %“) says of itself only a role; it must rest on the same unit.
        """
        content = [word for word in statement.words if not self._words.is_neutral(word)]
        roles = self._named_roles(statement.text)
        headers = {(unit.passage.node_id, unit.unit.start): unit.values for unit in units if unit.unit.kind == "header"}
        ranked = sorted(
            units, key=lambda unit: -self._score(unit, content, statement.values, roles, _header_values(unit, headers))
        )
        if not ranked:
            return Verdict((), (_violation("unsupported", "Die zitierten Abschnitte enthalten keinen Satz dazu."),))
        best = ranked[0]
        if before_unit is not None and self._continues(statement, content, before_unit) and not _sibling(best, before_unit):
            best = before_unit
        near = _near(best, units)
        chosen, missing = _complete(best, near, units, statement.values)
        violations = list(_missing(missing, units))
        chosen = self._turns.with_denial(statement, self._with_neighbours(content, chosen, units), units)
        paragraph = _paragraph_stems(best, units)
        share = self._coverage(content, chosen, paragraph)
        proven = any(value.kind in COMPARABLE for value in statement.values) and not missing
        named = any(word.is_noun for word in content)
        said = proven and named and self._names_all(content, chosen)
        thin = not statement.values and self._plain_share(content, chosen) < self._limits.plain_coverage
        if (share < self._least(units, proven=proven) and (named or not proven) and not said) or thin:
            violations.append(_violation(*self._why(content, units, chosen)))
        elif self._continued_elsewhere(content, chosen, units):
            violations.append(_violation("merged", "Die Aussage verbindet, was in verschiedenen Einträgen steht; bitte trennen."))
        violations.extend(self._role_checker.wrong_roles(statement, content, best, units))
        violations.extend(self._subjects.violations(statement, content, best, chosen, paragraph))
        violations.extend(self._turns.violations(statement, best, chosen))
        return Verdict(chosen, tuple(violations))

    def check_derived(self, text: str, question: str, units: Sequence[EvidenceUnit]) -> Iterator[Violation]:
        """Of a calculated claim: whom it is said of, and what it denies or restricts, must be in its sources or the question.

        Periods and shares are left out, because calculating is how they change (monthly × 14).
        """
        given = " ".join((question, *(f"{unit.above} {unit.text}" for unit in units)))
        said = self._roles.of(given)
        for dimension, groups in self._roles.of(text).items():
            if dimension in self._roles.strict and dimension != "frequency" and not groups <= said.get(dimension, frozenset()):
                yield _violation("subject", f"Die Quellen der Berechnung sagen das nicht in dieser Zuordnung ({dimension}).")
        turns = {turn for turn, _, _ in found_turns(text)}
        if "not" in turns and not says_not(given):
            yield _violation("negation", "Die Quellen der Berechnung verneinen das nicht.")
        if "only" in turns and not says_only(given):
            yield _violation("negation", "Die Quellen der Berechnung sagen nicht „nur“.")

    def _named_roles(self, text: str) -> frozenset[tuple[str, str]]:
        """Whom and where a text names (Lehrlinge, Wien, AMS …)."""
        found = self._roles_of(text)
        return frozenset((name, group) for name, groups in found.items() if name in _NAMED for group in groups)

    def _score(
        self,
        unit: EvidenceUnit,
        words: Sequence[Word],
        values: Sequence[FoundValue],
        roles: frozenset[tuple[str, str]],
        header: Sequence[FoundValue],
    ) -> float:
        covered = sum(noun_weight(word) * max(coverage(word, unit.stems), 0.5 * coverage(word, unit.context)) for word in words)
        said = (*unit.values, *header)
        proven = sum(_worth(value) for value in values if any(proves(found, value) for found in said))
        total = sum(noun_weight(word) for word in words) or 1.0
        named = len(roles & self._named_roles(unit.text)) / len(roles) if roles else 0.0
        return covered / total + (1.2 * proven / sum(map(_worth, values)) if values else 0.0) + 0.3 * named

    def _with_neighbours(
        self, content: Sequence[Word], chosen: tuple[EvidenceUnit, ...], units: Sequence[EvidenceUnit]
    ) -> tuple[EvidenceUnit, ...]:
        """The chosen units, and the sentence beside the best one where it says a good part of what they leave open."""
        best = chosen[0]
        known = frozenset(stem for unit in chosen for stem in unit.stems | unit.context)
        left = [word for word in content if reach(word, known) < 0.5]
        total, open_weight = sum(map(noun_weight, content)), sum(map(noun_weight, left))
        if not total or open_weight / total < self._limits.elsewhere or best.unit.kind != "sentence":
            return chosen
        for unit in units:
            beside = unit.passage.node_id == best.passage.node_id and abs(unit.position - best.position) == 1
            if beside and unit.unit.kind == "sentence" and unit.paragraph == best.paragraph and unit not in chosen:
                gained = sum(noun_weight(word) for word in left if reach(word, unit.stems) >= 0.8)
                if gained >= 0.5 * open_weight:
                    return (*chosen, unit)
        return chosen

    def _coverage(self, words: Sequence[Word], units: Sequence[EvidenceUnit], paragraph: frozenset[str] = frozenset()) -> float:
        own = frozenset(stem for unit in units for stem in unit.stems)
        context = own | frozenset(stem for unit in units for stem in unit.context)
        total = sum(noun_weight(word) for word in words)
        section = frozenset[str]().union(*{self._words.section_stems(unit.passage.shown_text()) for unit in units})
        covered = sum(
            noun_weight(word)
            * max(reach(word, own), 0.85 * reach(word, context), 0.7 * reach(word, paragraph), self._told_above(word, section))
            for word in words
        )
        return covered / total if total else 1.0

    def _told_above(self, word: Word, section: frozenset[str]) -> float:
        """What a common noun (Löhne, Betrieb) is worth that only other sentences of the section name."""
        common = word.is_noun and word.weight < self._limits.subject_weight
        return 0.6 if common and word.whole in section else 0.0

    @staticmethod
    def _plain_share(content: Sequence[Word], units: Sequence[EvidenceUnit]) -> float:
        """The share of a statement's words that the units and their context name, every word counting alike."""
        known = frozenset(stem for unit in units for stem in unit.stems | unit.context)
        return sum(reach(word, known) for word in content) / len(content) if content else 1.0

    @staticmethod
    def _names_all(content: Sequence[Word], chosen: Sequence[EvidenceUnit]) -> bool:
        """Whether the carrying units name every noun themselves: with the values proven, other verbs need no support."""
        own = frozenset(stem for unit in chosen for stem in unit.stems)
        return all(reach(word, own) == 1.0 for word in content if word.is_noun)

    def _least(self, units: Sequence[EvidenceUnit], *, proven: bool) -> float:
        if len({unit.passage.entry_id for unit in units}) > 1:
            return self._limits.coverage_of_several
        return self._limits.coverage_with_value if proven else self._limits.coverage

    def _continued_elsewhere(
        self, content: Sequence[Word], chosen: Sequence[EvidenceUnit], units: Sequence[EvidenceUnit]
    ) -> bool:
        """Whether much of what the carrying units do not say stands in one unit of another entry: two halves put together."""
        known = frozenset(stem for unit in chosen for stem in unit.stems | unit.context)
        rest = [word for word in content if coverage(word, known) < 0.5]
        total, open_weight = sum(map(noun_weight, content)), sum(map(noun_weight, rest))
        if not total or open_weight / total < self._limits.elsewhere:
            return False
        entry = chosen[0].passage.entry_id
        return any(
            sum(noun_weight(word) for word in rest if coverage(word, unit.stems) == 1.0) >= 0.6 * open_weight
            for unit in units
            if unit.passage.entry_id != entry
        )

    def _why(self, words: Sequence[Word], units: Sequence[EvidenceUnit], chosen: Sequence[EvidenceUnit]) -> tuple[str, str]:
        if self._coverage(words, units) >= 0.8:
            return "merged", "Die Aussage verbindet, was an verschiedenen Stellen steht; bitte trennen."
        return "unsupported", "Kein Satz der zitierten Abschnitte sagt das."

    def _continues(self, statement: Statement, content: Sequence[Word], before_unit: EvidenceUnit) -> bool:
        """Whether a statement goes on about the unit before: all its values are there, or it names nothing but a role."""
        if all(any(proves(found, value) for found in before_unit.values) for value in statement.values):
            return True
        return all(not word.is_noun or (not word.parts and self._roles.of(word.text)) for word in content) and bool(
            statement.values
        )


def _header_values(unit: EvidenceUnit, headers: Mapping[tuple[str, int], Sequence[FoundValue]]) -> Sequence[FoundValue]:
    """The values that the header row of a table row names for its columns."""
    return headers.get((unit.passage.node_id, unit.unit.header[0]), ()) if unit.unit.kind == "row" and unit.unit.header else ()


def _paragraph_stems(best: EvidenceUnit, units: Sequence[EvidenceUnit]) -> frozenset[str]:
    """The stems of the sentences of a sentence's paragraph: what they name it may take up by a pronoun, or leave unsaid."""
    if best.unit.kind != "sentence":
        return frozenset()
    beside = (unit for unit in units if unit.passage.node_id == best.passage.node_id and unit.paragraph == best.paragraph)
    return frozenset(stem for unit in beside if unit.unit.kind == "sentence" for stem in unit.stems)


def _worth(value: FoundValue) -> float:
    """How much a proven value says for a unit: a year stands in many."""
    return 0.5 if value.kind == "date" else 1.0


def _sibling(unit: EvidenceUnit, other: EvidenceUnit) -> bool:
    """Whether both are items of one list, each of which says its own thing."""
    return unit.intro is not None and unit.intro == other.intro and unit.passage.node_id == other.passage.node_id


def _near(best: EvidenceUnit, units: Sequence[EvidenceUnit]) -> tuple[EvidenceUnit, ...]:
    """The unit itself, and what completes it: header row, heading, neighbours in its paragraph."""
    same = [unit for unit in units if unit.passage.node_id == best.passage.node_id and unit is not best]
    found = [
        unit
        for unit in same
        if (best.unit.header == (unit.unit.start, unit.unit.end))
        or (unit.unit.kind == "heading" and unit.text == best.unit.heading)
        or unit.position == best.intro
        or (unit.paragraph == best.paragraph and abs(unit.position - best.position) == 1 and unit.unit.kind == "sentence")
    ]
    return (best, *found)


def _complete(
    best: EvidenceUnit, near: Sequence[EvidenceUnit], units: Sequence[EvidenceUnit], values: Sequence[FoundValue]
) -> tuple[tuple[EvidenceUnit, ...], tuple[FoundValue, ...]]:
    """The best unit with the fewest others needed so that every value is quoted, and the values that none proves."""
    chosen = [best]
    missing: list[FoundValue] = []
    for value in values:
        if any(proves(found, value) for unit in chosen for found in unit.values):
            continue
        if value.kind == "norm" and any(same_norm(value.normalized, norm) for unit in chosen for norm in unit.norms):
            continue  # the heading above the quote names it
        pool: Sequence[EvidenceUnit] = units if value.kind in ("norm", "case") else near
        if value.kind == "date" and any(_has_year(found) for found in best.values):
            told = _POINTS_BACK.match(best.text) is not None
            pool = [unit for unit in near if unit.unit.kind in ("header", "heading") or (told and unit.position < best.position)]
        if value.kind in COMPARABLE:
            pool = [unit for unit in pool if not _of_other_years(unit, values)]
        other = next((unit for unit in pool if any(proves(found, value) for found in unit.values)), None)
        if other is None:
            missing.append(value)
        elif other not in chosen:
            chosen.append(other)
    return tuple(chosen), tuple(missing)


def _of_other_years(unit: EvidenceUnit, values: Sequence[FoundValue]) -> bool:
    """Whether a unit speaks of years, a statement too, and of none of the same."""
    claimed = [value for value in values if _has_year(value)]
    said = [found for found in unit.values if _has_year(found)]
    return bool(claimed and said) and not any(proves(found, value) for found in said for value in claimed)


def _has_year(value: FoundValue) -> bool:
    return value.kind == "date" and value.normalized[:2] in ("19", "20") and value.normalized[:4].isdigit()


def _missing(values: Sequence[FoundValue], units: Sequence[EvidenceUnit]) -> Iterator[Violation]:
    for value in values:
        elsewhere = any(proves(found, value) for unit in units for found in unit.values)
        if value.kind in ("norm", "case"):
            kind, message = "norm_not_in_source", f"„{value.text}“ steht in keinem zitierten Abschnitt; Normen nie ergänzen."
        elif elsewhere:
            kind, message = "value_wrong_role", f"„{value.text}“ steht im zitierten Abschnitt zu etwas anderem."
        else:
            kind, message = "value_not_in_source", f"„{value.text}“ steht in keinem zitierten Abschnitt."
        yield Violation(kind=kind, message=message, value=value.text)


def _violation(kind: str, message: str) -> Violation:
    return Violation(kind=kind, message=message)
