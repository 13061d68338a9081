"""A value found in text, before it means anything."""

import re
from dataclasses import dataclass
from decimal import Decimal

from custom_postprocessors.evidence import ValueKind
from custom_postprocessors.numbers import digits_for_words, without_emphasis

_MARK_IN_NUMBER = re.compile(r"(?<=\d)[*_]+(?=[.,]\d)|(?<=\d[.,])[*_]+(?=\d)")


@dataclass(frozen=True, slots=True)
class FoundValue:
    """One value: `text` is exactly the slice `[start, end)`, `normalized` is equal for equal values of one kind.

    `number` and `unit` are the parts of a numeric value (unit: EUR, %, x, 1/1 for fractions, or a stemmed German noun).
    `range_end` is the last year of a range of years whose first is `number`. A shared unit („40 bis 60 %“) is inherited.
    """

    start: int
    end: int
    text: str
    kind: ValueKind
    normalized: str
    number: Decimal | None = None
    unit: str = ""
    range_end: int | None = None


def _without_marks_in_numbers(text: str, plain: str, offsets: list[int]) -> tuple[str, list[int]]:
    """Closes the gaps that emphasis inside of a number („**551**,10 €“) leaves."""
    inside = {place for match in _MARK_IN_NUMBER.finditer(text) for place in range(*match.span())}
    if not inside:
        return plain, offsets
    kept = [place for place in range(len(plain)) if offsets[place] not in inside]
    return "".join(plain[place] for place in kept), [*(offsets[place] for place in kept), offsets[-1]]


class Canvas:
    """Text from which finders take values in turn; what one has taken the next does not see.

    `plain` is what finders read: one kind of space and dash, no emphasis, number words in digits. Its offsets are turned
    back into those of `text` when a value is taken.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.plain, self._offsets = _without_marks_in_numbers(text, *digits_for_words(without_emphasis(text)))
        self.found: list[FoundValue] = []

    def take(
        self,
        start: int,
        end: int,
        kind: ValueKind,
        normalized: str,
        number: Decimal | None = None,
        unit: str = "",
        range_end: int | None = None,
    ) -> None:
        """Records the value at `[start, end)` of `plain`; the finder hides what it took with `blank`."""
        begin, finish = self._offsets[start], self._offsets[end]
        if finish <= begin:
            finish = next(offset for offset in self._offsets[end:] if offset > begin)
        self.found.append(FoundValue(begin, finish, self.text[begin:finish], kind, normalized, number, unit, range_end))

    def offset(self, position: int) -> int:
        """The offset in `text` of a position in `plain`."""
        return self._offsets[position]

    def blank(self, start: int, end: int) -> None:
        """Hides `[start, end)` of `plain` from later finders."""
        self.plain = self.plain[:start] + "\x00" * (end - start) + self.plain[end:]
