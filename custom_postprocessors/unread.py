"""Numbers written so that no value is read from them: lookalike letters, fraction and roman characters."""

import re
import unicodedata
from collections.abc import Iterator, Sequence

from custom_postprocessors.evidence import Violation
from custom_postprocessors.support import EvidenceUnit
from custom_postprocessors.values import FoundValue

_WITH_UNIT = re.compile(r"[\w.,]*\d[\w.,]*\s?(?:€|EUR\b|Euro\b|%|‰|Prozent\b)")


def unread_numbers(text: str, values: Sequence[FoundValue], units: Sequence[EvidenceUnit]) -> Iterator[Violation]:
    """What looks like a number and is none of `values`, unless the units write exactly the same (m², ½)."""
    taken = [(value.start, value.end) for value in values if value.kind in ("amount", "rate")]
    places = [match for match in _WITH_UNIT.finditer(text) if not any(a < match.end() and match.start() < b for a, b in taken)]
    odd = dict.fromkeys(char for char in text if unicodedata.category(char) in ("No", "Nl"))
    for written in dict.fromkeys((*(match.group() for match in places), *odd)):
        if not any(written in unit.text for unit in units):
            message = f"„{written}“ ist als Zahl nicht lesbar und steht in keinem zitierten Abschnitt."
            yield Violation(kind="value_not_in_source", message=message, value=written)
