"""Where two entries disagree about one quantity: detected at index time, judged by editors."""

from collections.abc import Iterable, Sequence
from itertools import combinations
from pathlib import Path

from pydantic import TypeAdapter

from custom_postprocessors.conflict_facts import fact_conflicts
from custom_postprocessors.conflict_parts import Entries, SectionLike, conflict_of_sides
from custom_postprocessors.conflict_sentences import sentence_conflicts
from custom_postprocessors.data_files import read_yaml
from custom_postprocessors.evidence import Conflict, ConflictSide, ConflictStatus, Fact, Frozen, TextAnalyzer
from custom_postprocessors.sentences import plain_markdown, split_units
from custom_postprocessors.words import WordReader


def detect_conflicts(facts: Iterable[Fact], nodes: Iterable[SectionLike], analyzer: TextAnalyzer) -> tuple[Conflict, ...]:
    """The conflicts among facts and between sentences that announce a deviation and the entry they name, in stable order.

    Facts conflict when their labels say the same, their values of one kind differ, and their validities overlap or one is
    unknown; validities that do not touch are a series. Facts of one entry never conflict. Status is `open`, the note empty
    or „möglicherweise überholt“ when the sides' Stand differ by a year or more.
    """
    words = WordReader(analyzer)
    sections = list(nodes)
    entries = Entries(sections, words)
    found = list(fact_conflicts(list(facts), entries, words))
    disputed = {frozenset((a.entry_id, b.entry_id)) for conflict in found for a, b in combinations(conflict.sides, 2)}
    found.extend(sentence_conflicts(sections, entries, words, disputed))
    return tuple(sorted({conflict.id: conflict for conflict in found}.values(), key=_place_of))


def _place_of(conflict: Conflict) -> tuple[str, str, int]:
    return conflict.sides[0].entry_id, conflict.sides[0].section, conflict.sides[0].start


class VerdictSide(Frozen):
    """One side as an editor names it: the entry, the H2 heading, and the value as the register shows it, or a quote."""

    entry: str
    section: str
    value: str


class Verdict(Frozen):
    """What an editor decided about a conflict; one without a detected match adds the conflict."""

    quantity: str
    status: ConflictStatus
    note: str = ""
    sides: tuple[VerdictSide, ...]

    def key(self) -> frozenset[tuple[str, str, str]]:
        """What it is about: the entries, sections and values."""
        return frozenset((side.entry, side.section, side.value) for side in self.sides)


_VERDICTS = TypeAdapter(tuple[Verdict, ...])


def load_verdicts(path: Path) -> tuple[Verdict, ...]:
    """The verdicts of a YAML list; none when the file does not exist.

    Raises:
        ValueError: a verdict has a wrong or unknown field (pydantic's ValidationError names it).
    """
    if not path.exists():
        return ()
    return _VERDICTS.validate_python(read_yaml(path) or [])


def judged(detected: Sequence[Conflict], verdicts: Sequence[Verdict], nodes: Iterable[SectionLike]) -> tuple[Conflict, ...]:
    """The detected conflicts with what editors decided, then those that editors added.

    A verdict whose values no longer stand in the knowledge base is void: a detected conflict is open again, an added one
    is left out, because its quotes cannot be shown.
    """
    by_key = {verdict.key(): verdict for verdict in verdicts}
    result = [_with_verdict(conflict, by_key) for conflict in detected]
    known = {_key(conflict) for conflict in detected}
    added = [verdict for verdict in verdicts if verdict.key() not in known]
    wanted = {(side.entry, side.section) for verdict in added for side in verdict.sides}
    sections = {(node.entry_id, node.section): node for node in nodes if (node.entry_id, node.section) in wanted}
    for verdict in added:
        sides = [_quoted(side, sections.get((side.entry, side.section))) for side in verdict.sides]
        placed = [side for side in sides if side is not None]
        if len(placed) == len(verdict.sides) >= 2:
            conflict = conflict_of_sides(verdict.quantity, placed)
            result.append(conflict.model_copy(update={"status": verdict.status, "note": verdict.note or conflict.note}))
    return tuple(result)


def _key(conflict: Conflict) -> frozenset[tuple[str, str, str]]:
    return frozenset((side.entry_id, side.section, side.value) for side in conflict.sides)


def _with_verdict(conflict: Conflict, verdicts: dict[frozenset[tuple[str, str, str]], Verdict]) -> Conflict:
    verdict = verdicts.get(_key(conflict))
    if verdict is None:
        return conflict
    update = {"quantity": verdict.quantity, "status": verdict.status, "note": verdict.note or conflict.note}
    return conflict.model_copy(update=update)


def _quoted(side: VerdictSide, node: SectionLike | None) -> ConflictSide | None:
    if node is None:
        return None
    text = node.text
    for unit in split_units(text):
        quote = text[unit.start : unit.end]
        if plain_markdown(side.value) in plain_markdown(quote):
            return ConflictSide(
                entry_id=node.entry_id,
                section=node.section,
                stand=node.stand,
                value=side.value,
                quote=quote,
                start=unit.start,
                end=unit.end,
            )
    return None
