"""Whether an answer says what a right one has to say."""

import re
from collections.abc import Iterable

from custom_postprocessors.values import find_values
from evaluation.goldset import comparable

_YEAR = re.compile(r"(?:19|20)\d\d")


def contains_all(answer: str, required: Iterable[str]) -> bool:
    """Whether the answer has every required string: its values in any spelling, its words as text after `comparable`."""
    text = comparable(answer)
    spelled = _with_normal_values(answer)
    return all(_contains(text, spelled, string) for string in required)


def _contains(text: str, spelled: str, required: str) -> bool:
    if _with_normal_values(required) in spelled:
        return True
    wanted = comparable(required)
    # The number that a required string begins or ends with must not be a part of a longer one.
    before = r"(?<!\d)" if _YEAR.fullmatch(wanted) else r"(?<!\d)(?<!\d[.,])" if wanted[:1].isdigit() else ""
    after = r"(?!\d)(?![.,]\d)" if wanted[-1:].isdigit() else ""
    return re.search(before + re.escape(wanted) + after, text) is not None


def _with_normal_values(text: str) -> str:
    """The comparable text with each value in its normal form between ‹ and ›."""
    pieces, position = [], 0
    for value in find_values(text):
        if value.start < position:
            continue
        pieces += [text[position : value.start], f"‹{value.normalized}›"]
        position = value.end
    return comparable("".join([*pieces, text[position:]]))
