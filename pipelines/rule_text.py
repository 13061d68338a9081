"""Text as the planner's rules see it: one spelling for ä/ae/a, ß/ss, upper and lower case, so that a rule is written once."""

import re
import unicodedata
from functools import lru_cache

_TABLE = str.maketrans({"ß": "ss", "ä": "a", "ö": "o", "ü": "u", "’": "'", "\u00a0": " "})
_DIGRAPHS = re.compile(r"([aou])e")
_SPACE = re.compile(r"\s+")


@lru_cache(maxsize=4096)
def fold(text: str) -> str:
    """The text in lower case with umlauts and their two-letter spellings folded alike; runs of space become one.

    „Überstunden“, „ueberstunden“ and „uberstunden“ become the same. „heuer“ loses its e as well, which does no harm because
    every pattern goes through `rule` and is folded by this very function.
    """
    lowered = unicodedata.normalize("NFC", text).lower().translate(_TABLE)
    return _SPACE.sub(" ", _DIGRAPHS.sub(r"\1", lowered)).strip()


def rule(pattern: str) -> re.Pattern[str]:
    """A pattern written in ordinary German, to be searched in folded text.

    The pattern must not use the negated classes of regular expressions (those in upper case), because it is folded too.
    """
    return re.compile(_DIGRAPHS.sub(r"\1", pattern.lower().translate(_TABLE)))
