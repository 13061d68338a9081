"""One spelling for ä/ae/a, ß/ss, upper and lower case, so that a rule or a list entry is written once."""

import re
import unicodedata
from functools import lru_cache

_TABLE = str.maketrans({"ß": "ss", "ä": "a", "ö": "o", "ü": "u", "’": "'", "\u00a0": " "})
_DIGRAPHS = re.compile(r"([aou])e")
_SPACE = re.compile(r"\s+")


@lru_cache(maxsize=4096)
def fold(text: str) -> str:
    """The text in lower case with umlauts and their two-letter spellings folded alike; runs of space become one.

    „Überstunden“, „ueberstunden“ and „uberstunden“ become the same. „heuer“ loses its e as well, which does no harm as long as
    whatever it is compared with is folded by this very function.
    """
    lowered = unicodedata.normalize("NFC", text).lower().translate(_TABLE)
    return _SPACE.sub(" ", fold_digraphs(lowered)).strip()


def fold_digraphs(text: str) -> str:
    """ae, oe and ue as a, o and u; for patterns that are compared with folded text."""
    return _DIGRAPHS.sub(r"\1", text)


def fold_letters(text: str) -> str:
    """Lower case without umlauts and ß, everything else unchanged, spaces included."""
    return unicodedata.normalize("NFC", text).lower().translate(_TABLE)
