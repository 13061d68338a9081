"""What a lying model makes of true statements, one kind of lie at a time, in a fixed order; nothing is random."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from custom_postprocessors.data_files import read_yaml
from custom_postprocessors.evidence import DraftClaim, DraftFormula
from custom_postprocessors.sentences import plain_markdown
from custom_postprocessors.values import FoundValue, find_values, proves
from evaluation.statements import Base, Neighbours, values_of

SWAPS = Path(__file__).parent / "data" / "swaps.yaml"

_NUMERIC = ("amount", "rate", "period", "count")

Lie = tuple[DraftClaim, tuple[str, ...], str]


def _draft(base: Base, text: str | None = None) -> DraftClaim:
    return DraftClaim(text or base.text, (base.node.node_id,))


def _replaced(base: Base, value: FoundValue, new: str) -> str:
    return base.text[: value.start] + new + base.text[value.end :]


def _numeric(base: Base) -> list[FoundValue]:
    return [
        value
        for value in find_values(base.text)
        if value.kind in _NUMERIC and value.number is not None and not value.unit.startswith(".")
    ]


def _altered_values(bases: Sequence[Base], _: Neighbours) -> Iterator[Lie]:
    for base in bases:
        known = values_of(base.node.text)
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


def _invented_norms(bases: Sequence[Base], _: Neighbours) -> Iterator[Lie]:
    for number, base in enumerate(bases):
        norm = ("§ 917 ABGB", "§ 68 Abs 17 EStG", "Art 999 AEUV", "§ 49 Abs 3 Z 98 ASVG")[number % 4]
        yield _draft(base, f"Nach {norm} gilt: {base.text}"), (base.node.node_id,), ""


def _unknown_ids(bases: Sequence[Base], _: Neighbours) -> Iterator[Lie]:
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


def _question_values(bases: Sequence[Base], others: Neighbours) -> Iterator[Lie]:
    for draft, ids, _ in _altered_values(bases, others):
        yield draft, ids, f"Stimmt das: {draft.text}"


def _other_rows(bases: Sequence[Base], _: Neighbours) -> Iterator[Lie]:
    rows: dict[str, list[Base]] = defaultdict(list)
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


def _label(base: Base) -> str:
    return plain_markdown(base.node.text[slice(*base.unit.cells[0])]) if base.unit else ""


def _words(label: str) -> set[str]:
    return set(re.findall(r"\w+", label.partition("(")[0].lower()))


def _numeric_of_cell(base: Base) -> FoundValue | None:
    if base.unit is None or len(base.unit.cells) < 2:
        return None
    cell = plain_markdown(base.node.text[slice(*base.unit.cells[1])])
    values = [value for value in find_values(cell) if value.kind in _NUMERIC]
    return values[0] if len(values) == 1 else None


def _other_years(bases: Sequence[Base], _: Neighbours) -> Iterator[Lie]:
    for base in bases:
        values = find_values(base.text)
        years = [
            value
            for value in values
            if value.kind == "date" and re.fullmatch(r"\d{4}", value.normalized) and value.range_end is None
        ]
        if len(years) != 1 or not _numeric(base) or "Stand" in base.text:
            continue  # a Stand in the text is stripped and written anew by the program
        known = {value.normalized for value in values_of(base.node.text) if value.kind == "date" and len(value.normalized) == 4}
        other = next((year for year in sorted(known) if year not in (years[0].normalized,)), str(int(years[0].normalized) - 1))
        if base.unit is not None and other in base.node.text[base.unit.start : base.unit.end]:
            continue
        if not base.written or other not in known:
            yield _draft(base, _replaced(base, years[0], other)), (base.node.node_id,), ""


def _pairs(name: str) -> list[tuple[str, str]]:
    """The swaps of one group of `data/swaps.yaml`."""
    swaps: dict[str, list[list[str]]] = read_yaml(SWAPS)
    return [(one, other) for one, other in swaps[name]]


def _swapped(bases: Sequence[Base], pairs: Iterable[tuple[str, str]]) -> Iterator[Lie]:
    for base in bases:
        for one, other in pairs:
            pattern = re.compile(rf"(?<![\wäöüÄÖÜß-]){re.escape(one)}(?![\wäöüß-])")
            if pattern.search(base.text) and other.lower() not in base.text.lower():
                yield _draft(base, pattern.sub(other, base.text)), (base.node.node_id,), ""
                break


def _other_sides(bases: Sequence[Base], _: Neighbours) -> Iterator[Lie]:
    both = [*_pairs("sides"), *((b, a) for a, b in _pairs("sides"))]
    yield from _swapped([base for base in bases if _numeric(base)], both)


def _other_periods(bases: Sequence[Base], _: Neighbours) -> Iterator[Lie]:
    yield from _swapped([base for base in bases if _numeric(base)], _pairs("periods"))


_YEAR_BOUND = re.compile(
    r"(?<!\d )\b(?P<word>vor|bis|ab|seit)\s+(?:zum\s+|Ende\s+)?(?P<date>(?:\d{1,2}\.\s?\d{1,2}\.\s?)?20\d\d)\b(?!-)",
    re.IGNORECASE,
)
_OTHER_END = {"vor": "bis", "bis": "vor", "ab": "bis", "seit": "bis"}


def _other_ends(bases: Sequence[Base], _: Neighbours) -> Iterator[Lie]:
    """„bis 2024“ becomes „vor 2024“, „seit 2025“ becomes „bis 2025“; ranges and a Stand are left as they are."""
    for base in bases:
        match = _YEAR_BOUND.search(base.text)
        if match is not None and "Stand" not in base.text:
            text = f"{base.text[: match.start()]}{_OTHER_END[match['word'].lower()]} {match['date']}{base.text[match.end() :]}"
            yield _draft(base, text), (base.node.node_id,), ""


def _other_months(bases: Sequence[Base], _: Neighbours) -> Iterator[Lie]:
    yield from _swapped([base for base in bases if "Stand" not in base.text], _pairs("months"))


def _swapped_subjects(bases: Sequence[Base], _: Neighbours) -> Iterator[Lie]:
    yield from _swapped(bases, _pairs("subjects"))


def _wrong_entries(bases: Sequence[Base], others: Neighbours) -> Iterator[Lie]:
    for base in bases:
        near = others.near(base.node)
        if near is not None:
            yield DraftClaim(base.text, (near.node_id,)), (near.node_id, base.node.node_id), ""


_NEGATIONS = re.compile(r"\b(?:nicht|nur|mindestens|höchstens|ausschließlich)\s+", re.IGNORECASE)


def _dropped(bases: Sequence[Base], _: Neighbours) -> Iterator[Lie]:
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


def _added(bases: Sequence[Base], _: Neighbours) -> Iterator[Lie]:
    verbs = re.compile(r"\b(gilt|gelten|beträgt|zahlt|besteht|zählt|zählen|ist|sind|wird|werden|fällt|gebühren|muss|darf)\b")
    for base in bases:
        denied = re.search(
            r"\b(?:nicht|kein\w*|nur|ohne|nie|unzulässig|\w+frei|entfällt|unwirksam|unverändert|ausgeschlossen)\b", base.text
        )
        match = verbs.search(base.text)
        if match and not denied:
            yield _draft(base, base.text[: match.end()] + " nicht" + base.text[match.end() :]), (base.node.node_id,), ""


def _merged(bases: Sequence[Base], others: Neighbours) -> Iterator[Lie]:
    sentences = [base for base in bases if base.unit is not None and base.unit.kind == "sentence"]
    for base, other in zip(sentences, sentences[37:], strict=False):
        if base.node.entry_id == other.node.entry_id:
            continue
        mine, theirs = base.text.rstrip(".").split(), other.text.split()
        if len(mine) >= 8 and len(theirs) >= 8:
            text = " ".join([*mine[: len(mine) // 2], *theirs[len(theirs) // 2 :]])
            yield DraftClaim(text, (base.node.node_id, other.node.node_id)), (base.node.node_id, other.node.node_id), ""


def _wrong_sums(bases: Sequence[Base], _: Neighbours) -> Iterator[Lie]:
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


LIES = {
    "value_in_no_quote": _altered_values,
    "value_only_in_question": _question_values,
    "unknown_id": _unknown_ids,
    "invented_norm": _invented_norms,
    "other_row": _other_rows,
    "other_year": _other_years,
    "other_month": _other_months,
    "other_end": _other_ends,
    "other_side": _other_sides,
    "other_period": _other_periods,
    "wrong_entry": _wrong_entries,
    "dropped_negation": _dropped,
    "added_negation": _added,
    "swapped_subject": _swapped_subjects,
    "merged_halves": _merged,
    "wrong_arithmetic": _wrong_sums,
}
