"""Labelled pairs for the verifier: true claims, and what a lying model makes of them, one kind of lie at a time.

Everything is derived from the knowledge base and `data/true_claims.yaml` in a fixed order; nothing is random.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import yaml
from pydantic import TypeAdapter

from custom_postprocessors.evidence import DraftClaim, DraftFormula, Frozen
from custom_postprocessors.sentences import TextUnit, plain_markdown, row_text, split_units
from custom_postprocessors.values import FoundValue, find_values, proves
from pipelines.nodes import SectionNode

TRUE_CLAIMS = Path(__file__).parent / "data" / "true_claims.yaml"
SWAPS = Path(__file__).parent / "data" / "swaps.yaml"

_SKIPPED = ("Rechtsgrundlagen", "Payroll-Relevanz (Odoo)", "Verweise")
_PER_KIND = 120
_NUMERIC = ("amount", "rate", "period", "count")


@dataclass(frozen=True, slots=True)
class LabelledClaim:
    """A drafted claim with the sections given to the model; `kind` is `true` or the kind of lie.

    `held_out` pairs are never used to choose a threshold; the split is by the cited entry. `seen` ones were looked at while
    the rules were written and count to the other half, whatever their entry.
    """

    kind: str
    draft: DraftClaim
    node_ids: tuple[str, ...]
    question: str = ""
    seen: bool = False

    @property
    def held_out(self) -> bool:
        """Half of the entries, by a hash of their id, without what was seen."""
        if self.seen:
            return False
        entry = self.node_ids[0].partition("#")[0]
        return hashlib.sha256(entry.encode()).digest()[0] % 2 == 1


@dataclass(frozen=True, slots=True)
class _Base:
    """A statement that its section proves: a paraphrase, a sentence, or a row as a sentence."""

    text: str
    node: SectionNode
    unit: TextUnit | None = None
    written: bool = False
    seen: bool = False


def labelled_claims(nodes: Sequence[SectionNode], path: Path = TRUE_CLAIMS) -> tuple[LabelledClaim, ...]:
    """All pairs of the suite, true claims first, then the lies, at most 120 of a kind."""
    by_id = {node.node_id: node for node in nodes}
    written = [_Base(text, by_id[one.cite], written=True, seen=one.seen) for one in _read(path) for text in one.claims]
    bases = [*written, *_statements(nodes)]
    found = [LabelledClaim("true", _draft(base), (base.node.node_id,), seen=base.seen) for base in written]
    others = _Neighbours(nodes)
    seen = {one.cite for one in _read(path) if one.seen}
    for kind, lies in _LIES.items():
        found.extend(
            _spread(
                LabelledClaim(kind, draft, ids, question, seen=not seen.isdisjoint(ids))
                for draft, ids, question in lies(bases, others)
            )
        )
    return tuple(found)


class _Written(Frozen):
    """One item of `data/true_claims.yaml`."""

    cite: str
    claims: tuple[str, ...]
    seen: bool = False


def _read(path: Path) -> tuple[_Written, ...]:
    return TypeAdapter(tuple[_Written, ...]).validate_python(yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader))


def _spread(claims: Iterable[LabelledClaim]) -> list[LabelledClaim]:
    """At most `_PER_KIND` of them, evenly over the whole."""
    items = list(claims)
    step = max(1, len(items) // _PER_KIND)
    return items[::step][:_PER_KIND]


def _statements(nodes: Sequence[SectionNode]) -> Iterator[_Base]:
    for node in nodes:
        if node.section in _SKIPPED or node.source_text:
            continue
        for unit in split_units(node.text):
            text = node.text[unit.start : unit.end]
            if unit.kind == "sentence" and 45 <= len(text) <= 260 and "eispiel" not in text and "[" not in text:
                yield _Base(plain_markdown(text), node, unit)
            elif unit.kind == "row" and unit.columns[:2] == ("Kennzahl", "Wert"):
                yield _Base(row_text(node.text, unit), node, unit)


@lru_cache(maxsize=4096)
def _values_of(text: str) -> tuple[FoundValue, ...]:
    """The values of a whole section, read once for all of its statements."""
    return find_values(text)


class _Neighbours:
    """Other sections that retrieval would put beside one: same topic, most words in common."""

    def __init__(self, nodes: Sequence[SectionNode]) -> None:
        self._by_topic: dict[str, list[SectionNode]] = defaultdict(list)
        self._words: dict[str, frozenset[str]] = {}
        for node in nodes:
            if node.section not in _SKIPPED:
                self._by_topic[node.topic].append(node)
                self._words[node.node_id] = frozenset(re.findall(r"[a-zäöüß]{5,}", node.text.lower()))

    def near(self, node: SectionNode) -> SectionNode | None:
        """The most similar section of another entry of the topic; None when the topic has one entry only."""
        mine = self._words.get(node.node_id, frozenset())
        others = [item for item in self._by_topic[node.topic] if item.entry_id != node.entry_id]
        return max(others, key=lambda item: (len(mine & self._words[item.node_id]), item.node_id), default=None)


Lie = tuple[DraftClaim, tuple[str, ...], str]


def _draft(base: _Base, text: str | None = None) -> DraftClaim:
    return DraftClaim(text or base.text, (base.node.node_id,))


def _replaced(base: _Base, value: FoundValue, new: str) -> str:
    return base.text[: value.start] + new + base.text[value.end :]


def _numeric(base: _Base) -> list[FoundValue]:
    return [
        value
        for value in find_values(base.text)
        if value.kind in _NUMERIC and value.number is not None and not value.unit.startswith(".")
    ]


def _altered_values(bases: Sequence[_Base], _: _Neighbours) -> Iterator[Lie]:
    for base in bases:
        known = _values_of(base.node.text)
        for value in _numeric(base)[:1]:
            digits = re.search(r"\d[\d.,]*\d|\d", value.text)
            if digits is None:
                continue
            new = value.text.replace(digits.group(), _other_digits(digits.group()), 1)
            lie = find_values(_replaced(base, value, new))
            if all(any(proves(item, v) for item in known) for v in lie):
                continue
            yield _draft(base, _replaced(base, value, new)), (base.node.node_id,), ""


def _other_digits(digits: str) -> str:
    """The number with two digits swapped, or its first digit moved on by one."""
    for (i, a), (j, b) in pairwise(enumerate(digits)):
        if a.isdigit() and b.isdigit() and a != b and (i > 0 or b != "0"):
            return digits[:i] + b + a + digits[j + 1 :]
    return str(int(digits[0]) % 9 + 1) + digits[1:]


def _invented_norms(bases: Sequence[_Base], _: _Neighbours) -> Iterator[Lie]:
    for number, base in enumerate(bases):
        norm = ("§ 917 ABGB", "§ 68 Abs 17 EStG", "Art 999 AEUV", "§ 49 Abs 3 Z 98 ASVG")[number % 4]
        yield _draft(base, f"Nach {norm} gilt: {base.text}"), (base.node.node_id,), ""


def _unknown_ids(bases: Sequence[_Base], _: _Neighbours) -> Iterator[Lie]:
    for number, base in enumerate(bases):
        fake = ("pv-xx-01", "pv-sv-99", "8", "pv-sv-01#frei-erfunden")[number % 4]
        if number % 2:
            yield (
                DraftClaim(f"{base.text.rstrip('.')} [pv-xx-{number % 90 + 10}].", (base.node.node_id,)),
                (base.node.node_id,),
                "",
            )
        else:
            yield DraftClaim(base.text, (fake,)), (base.node.node_id,), ""


def _question_values(bases: Sequence[_Base], others: _Neighbours) -> Iterator[Lie]:
    for draft, ids, _ in _altered_values(bases, others):
        yield draft, ids, f"Stimmt das: {draft.text}"


def _other_rows(bases: Sequence[_Base], _: _Neighbours) -> Iterator[Lie]:
    rows: dict[str, list[_Base]] = defaultdict(list)
    for base in bases:
        if base.unit is not None and base.unit.kind == "row":
            rows[base.node.node_id].append(base)
    for group in rows.values():
        for base, other in pairwise(group):
            mine, theirs = _numeric_of_cell(base), _numeric_of_cell(other)
            if mine and theirs and mine.kind == theirs.kind and mine.normalized != theirs.normalized:
                label, theirs_label = _label(base), _label(other)
                if _words(label) <= _words(theirs_label) or _words(theirs_label) <= _words(label):
                    continue  # rows of one quantity: without the year the value is not wrong
                if not any(proves(value, theirs) for value in find_values(base.text)):
                    yield _draft(base, f"{label}: {theirs.text}"), (base.node.node_id,), ""


def _label(base: _Base) -> str:
    return plain_markdown(base.node.text[slice(*base.unit.cells[0])]) if base.unit else ""


def _words(label: str) -> set[str]:
    return set(re.findall(r"\w+", label.partition("(")[0].lower()))


def _numeric_of_cell(base: _Base) -> FoundValue | None:
    if base.unit is None or len(base.unit.cells) < 2:
        return None
    cell = plain_markdown(base.node.text[slice(*base.unit.cells[1])])
    values = [value for value in find_values(cell) if value.kind in _NUMERIC]
    return values[0] if len(values) == 1 else None


def _other_years(bases: Sequence[_Base], _: _Neighbours) -> Iterator[Lie]:
    for base in bases:
        values = find_values(base.text)
        years = [
            value
            for value in values
            if value.kind == "date" and re.fullmatch(r"\d{4}", value.normalized) and value.range_end is None
        ]
        if len(years) != 1 or not _numeric(base) or "Stand" in base.text:
            continue  # a Stand in the text is stripped and written anew by the program
        known = {value.normalized for value in _values_of(base.node.text) if value.kind == "date" and len(value.normalized) == 4}
        other = next((year for year in sorted(known) if year not in (years[0].normalized,)), str(int(years[0].normalized) - 1))
        if base.unit is not None and other in base.node.text[base.unit.start : base.unit.end]:
            continue
        if not base.written or other not in known:
            yield _draft(base, _replaced(base, years[0], other)), (base.node.node_id,), ""


def _pairs(name: str) -> list[tuple[str, str]]:
    """The swaps of one group of `data/swaps.yaml`."""
    swaps: dict[str, list[list[str]]] = yaml.load(SWAPS.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    return [(one, other) for one, other in swaps[name]]


def _swapped(bases: Sequence[_Base], pairs: Iterable[tuple[str, str]]) -> Iterator[Lie]:
    for base in bases:
        for one, other in pairs:
            pattern = re.compile(rf"(?<![\wäöüÄÖÜß-]){re.escape(one)}(?![\wäöüß-])")
            if pattern.search(base.text) and other.lower() not in base.text.lower():
                yield _draft(base, pattern.sub(other, base.text)), (base.node.node_id,), ""
                break


def _other_sides(bases: Sequence[_Base], _: _Neighbours) -> Iterator[Lie]:
    both = [*_pairs("sides"), *((b, a) for a, b in _pairs("sides"))]
    yield from _swapped([base for base in bases if _numeric(base)], both)


def _other_periods(bases: Sequence[_Base], _: _Neighbours) -> Iterator[Lie]:
    yield from _swapped([base for base in bases if _numeric(base)], _pairs("periods"))


def _swapped_subjects(bases: Sequence[_Base], _: _Neighbours) -> Iterator[Lie]:
    yield from _swapped(bases, _pairs("subjects"))


def _wrong_entries(bases: Sequence[_Base], others: _Neighbours) -> Iterator[Lie]:
    for base in bases:
        near = others.near(base.node)
        if near is not None:
            yield DraftClaim(base.text, (near.node_id,)), (near.node_id, base.node.node_id), ""


_NEGATIONS = re.compile(r"\b(?:nicht|nur|mindestens|höchstens|ausschließlich)\s+", re.IGNORECASE)


def _dropped(bases: Sequence[_Base], _: _Neighbours) -> Iterator[Lie]:
    for base in bases:
        if base.written:
            continue
        if _NEGATIONS.search(base.text) and not re.search(r"nicht nur|nicht mehr als|höchstens bis|nur bis", base.text):
            yield _draft(base, _NEGATIONS.sub("", base.text, count=1)), (base.node.node_id,), ""
        elif re.search(r"\b[Kk]eine?\b", base.text):
            text = re.sub(
                r"\b([Kk])ein(e?)\b", lambda match: ("E" if match[1] == "K" else "e") + "in" + match[2], base.text, count=1
            )
            yield _draft(base, text), (base.node.node_id,), ""


def _added(bases: Sequence[_Base], _: _Neighbours) -> Iterator[Lie]:
    verbs = re.compile(r"\b(gilt|gelten|beträgt|zahlt|besteht|zählt|zählen|ist|sind|wird|werden|fällt|gebühren|muss|darf)\b")
    for base in bases:
        denied = re.search(
            r"\b(?:nicht|kein\w*|nur|ohne|nie|unzulässig|\w+frei|entfällt|unwirksam|unverändert|ausgeschlossen)\b", base.text
        )
        match = verbs.search(base.text)
        if match and not denied:
            yield _draft(base, base.text[: match.end()] + " nicht" + base.text[match.end() :]), (base.node.node_id,), ""


def _merged(bases: Sequence[_Base], others: _Neighbours) -> Iterator[Lie]:
    sentences = [base for base in bases if base.unit is not None and base.unit.kind == "sentence"]
    for base, other in zip(sentences, sentences[37:], strict=False):
        if base.node.entry_id == other.node.entry_id:
            continue
        mine, theirs = base.text.rstrip(".").split(), other.text.split()
        if len(mine) >= 8 and len(theirs) >= 8:
            text = " ".join([*mine[: len(mine) // 2], *theirs[len(theirs) // 2 :]])
            yield DraftClaim(text, (base.node.node_id, other.node.node_id)), (base.node.node_id, other.node.node_id), ""


def _wrong_sums(bases: Sequence[_Base], _: _Neighbours) -> Iterator[Lie]:
    for base in bases:
        amounts = [value for value in _numeric(base) if value.kind == "amount" and value.number]
        if len(amounts) != 1 or amounts[0].number is None:
            continue
        wrong = amounts[0].number * 12 + 1
        text = f"Für zwölf Monate sind das {str(wrong).replace('.', ',')} €."
        formula = DraftFormula(f"12 * {amounts[0].number}", str(wrong).replace(".", ","))
        yield (
            DraftClaim(text, (base.node.node_id,), derived=True, formula=formula),
            (base.node.node_id,),
            "Wie viel in 12 Monaten?",
        )


_LIES = {
    "value_in_no_quote": _altered_values,
    "value_only_in_question": _question_values,
    "unknown_id": _unknown_ids,
    "invented_norm": _invented_norms,
    "other_row": _other_rows,
    "other_year": _other_years,
    "other_side": _other_sides,
    "other_period": _other_periods,
    "wrong_entry": _wrong_entries,
    "dropped_negation": _dropped,
    "added_negation": _added,
    "swapped_subject": _swapped_subjects,
    "merged_halves": _merged,
    "wrong_arithmetic": _wrong_sums,
}
