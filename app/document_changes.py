"""What differs between two versions of a document, line by line, and which values."""

import difflib
from dataclasses import dataclass
from typing import Literal

from custom_postprocessors.values import find_values


@dataclass(frozen=True, slots=True)
class LineChange:
    """A line of either version. `number` counts from 1 in the version the line stands in (the newer one for `same`).

    `values` are the half-open parts of `text` that are values and do not stand in the lines it is compared with.
    """

    kind: Literal["same", "removed", "added"]
    number: int
    text: str
    values: tuple[tuple[int, int], ...] = ()


def changed_lines(old: str, new: str, *, context: int = 2) -> tuple[LineChange, ...]:
    """The lines that differ with `context` equal lines around them, in reading order; empty when the texts are equal."""
    before, after = old.split("\n"), new.split("\n")
    matcher = difflib.SequenceMatcher(a=before, b=after, autojunk=False)
    changes: list[LineChange] = []
    for group in matcher.get_grouped_opcodes(context):
        for tag, start, end, new_start, new_end in group:
            if tag == "equal":
                changes.extend(LineChange("same", n + 1, after[n]) for n in range(new_start, new_end))
                continue
            removed, added = before[start:end], after[new_start:new_end]
            changes.extend(_marked("removed", start, removed, added))
            changes.extend(_marked("added", new_start, added, removed))
    return tuple(changes)


def _marked(kind: Literal["removed", "added"], first: int, lines: list[str], others: list[str]) -> list[LineChange]:
    known = {(value.kind, value.normalized) for line in others for value in find_values(line)}
    return [
        LineChange(
            kind,
            first + offset + 1,
            line,
            tuple((v.start, v.end) for v in find_values(line) if (v.kind, v.normalized) not in known),
        )
        for offset, line in enumerate(lines)
    ]
