"""Every value in German text, with a normal form in which equal things are equal and different things differ."""

import calendar
import re
from collections.abc import Callable

from custom_postprocessors.dates import find_dates
from custom_postprocessors.found import Canvas, FoundValue
from custom_postprocessors.norms import find_norms, same_norm
from custom_postprocessors.numbers import plain
from custom_postprocessors.quantities import find_amounts, find_counts, find_ordinals, find_periods, find_rates

__all__ = ["FoundValue", "find_values", "plain", "proves"]

_ENTRY_ID = re.compile(r"(?<![\w-])[a-z]{2,4}(?:-[a-z0-9]+){2,}(?:#[a-z0-9-]+)?(?![\w-])")
_FINDERS: tuple[tuple[re.Pattern[str], Callable[[Canvas], None]], ...] = (
    (re.compile(r"[§/]|Para|\bArt|\d [A-Z]|Abs|\b[ZCTl](?:it)?\.?[ -]?\d|BGBl"), find_norms),
    (re.compile(r"€|EUR|[Ee]uro|[Cc]ent\b|\bct\b"), find_amounts),
    (re.compile(r"%|PP|‰|/|[Pp]ro[zm]|tel|älfte|fach|doppel|Doppel|[vV]\.\s?[hH]\."), find_rates),
    (re.compile(r"\d|onats|ahres|Jänner|Januar|Feb|März|April|Mai|Juni|Juli|August|ember|Oktober"), find_dates),
    (re.compile(r"\d|[a-z]te[nrsm]?\s"), find_ordinals),
    (re.compile(r"\d|\b[Ee]in|halbe"), find_periods),
    (re.compile(r"\d"), find_counts),
)
"""What each finder cannot do without: most sentences have few kinds of values, and the hints are cheap."""
_LOOSE_UNITS = ("jahr", "monat", "stund", "woch")
_STAFF = {"dienstnehm", "arbeitnehm", "mitarbeit", "beschaftigt", "beschaftigte"}
_PERSONS = _STAFF | {"angestellt", "angestellte", "lehrling"}
"""„Bankangestellte“ are Angestellte; the bank is checked as a word."""
_DAY_UNITS = {"tag", "kalendertag", "sv-tag"}


def find_values(text: str) -> tuple[FoundValue, ...]:
    """The values of `text` in order, none overlapping another except norms of one enumeration.

    Understands amounts (6.930,00 €, EUR 6930, 2,5 Mio €), rates (1,53 %, ein Sechstel, 1,5-fach), periods (sechs Wochen,
    14-tägig), dates (1. Jänner 2026, Juli 2026, 15. des Folgemonats), counts (15 Überstunden, 3. Dienstjahr, every bare
    number), norms and case numbers; Markdown emphasis and kinds of spaces and dashes do not matter. Numbers that are part
    of a name written as one word (L16, pv-sv-05) and list markers are no values. Does not resolve pronouns or formulas.
    """
    canvas = Canvas(text)
    for match in _ENTRY_ID.finditer(canvas.plain):
        canvas.blank(match.start(), match.end())
    for hint, finder in _FINDERS:
        if hint.search(canvas.plain):
            finder(canvas)
    return tuple(sorted(canvas.found, key=lambda value: (value.start, value.end)))


def proves(found: FoundValue, claimed: FoundValue) -> bool:
    """Whether `found` in a source is the value `claimed` by a statement.

    Equal kinds and normal forms prove each other. A source may be more exact than the claim: a longer norm, a day in the
    claimed month (of any year when the claim names none) or year,
    a range of years around the claimed year, „Dienstjahre“ for „Jahre“; never the other way round.
    A bare number („40 bis 60 %“ cut apart) is proven by the same number with any unit but money and rates.
    """
    if found.kind == claimed.kind and found.normalized == claimed.normalized:
        return True
    if claimed.kind == "norm":
        return found.kind == "norm" and same_norm(claimed.normalized, found.normalized)
    if claimed.kind == "date":
        return found.kind == "date" and _same_time(found, claimed)
    if claimed.number is None or found.number != claimed.number:
        return False
    if claimed.kind in ("period", "count") and found.kind in ("period", "count"):
        return _same_unit(found.unit, claimed.unit)
    return False


def _same_time(found: FoundValue, claimed: FoundValue) -> bool:
    if found.range_end is not None and found.number is not None and claimed.number is not None:
        return found.number <= claimed.number <= found.range_end
    parts = claimed.normalized
    if _is_month_end(parts, found.normalized) or _is_month_end(found.normalized, parts):
        return True
    if len(parts) == 4 and parts.startswith("--"):
        return re.fullmatch(rf"\d{{4}}{parts[1:]}(?:-\d\d)?", found.normalized) is not None
    return len(parts) in (4, 7) and parts[0].isdigit() and found.normalized.startswith(parts + "-")


def _is_month_end(edge: str, day: str) -> bool:
    """Whether a day is the last one of the month of „Ende Juni 2020“; of February without a year both are."""
    month = edge.removeprefix("ende ")
    if month == edge or not day.startswith(f"{month}-"):
        return False
    year, number = month[:-3], int(month[-2:])
    last = calendar.monthrange(int(year) if year.isdigit() else 2024, number)[1]
    return day == f"{month}-{last:02d}" or day == "--02-28" == f"{month}-28"


def _same_unit(found: str, claimed: str) -> bool:
    if not claimed or not found or found == claimed:
        return not found.startswith(".") and (not claimed or not claimed.startswith(".")) if found != claimed else True
    if {found, claimed} <= _DAY_UNITS:
        return True
    if found.startswith(".") != claimed.startswith("."):
        return False
    if claimed == "person" or {found, claimed} <= _STAFF or (claimed != found and claimed.endswith(found) and found in _PERSONS):
        return True
    short = claimed.removeprefix(".")
    return short in _LOOSE_UNITS and found.endswith(short)
