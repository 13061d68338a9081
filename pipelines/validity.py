"""When a value holds: the column „Gültig“, as far as a program reads it."""

import re
from dataclasses import dataclass
from datetime import date, timedelta

from custom_postprocessors.evidence import Validity

_MONTHS = {
    "jänner": 1,
    "januar": 1,
    "jän": 1,
    "jan": 1,
    "feber": 2,
    "februar": 2,
    "feb": 2,
    "märz": 3,
    "april": 4,
    "mai": 5,
    "juni": 6,
    "juli": 7,
    "august": 8,
    "september": 9,
    "oktober": 10,
    "november": 11,
    "dezember": 12,
}
_YEAR = r"(?:19|20)[0-9]{2}"
_MONTH = "|".join(_MONTHS)
_DATE = (
    rf"(?:(?P<day>[0-9]{{1,2}})\.\s?(?P<month>[0-9]{{1,2}})\.\s?(?P<year>{_YEAR})"
    rf"|(?P<day2>[0-9]{{1,2}})\.\s?(?P<name2>{_MONTH})\s(?P<year2>{_YEAR})"
    rf"|(?P<name>{_MONTH})\s(?P<month_year>{_YEAR})"
    rf"|(?P<only_year>{_YEAR}))"
)
_DAY_OR_MONTH = rf"(?:(?P<day>[0-9]{{1,2}})\.\s?(?:(?P<month>[0-9]{{1,2}})\.|(?P<name>{_MONTH}))|(?P<only>{_MONTH}))"
_UNNAMED_DATE = re.sub(r"\?P<\w+>", "?:", _DATE)
_UNNAMED_SHORT = re.sub(r"\?P<\w+>", "?:", _DAY_OR_MONTH)
_ONE = re.compile(_DATE, re.IGNORECASE)
_SHORT = re.compile(_DAY_OR_MONTH, re.IGNORECASE)
_RANGE = re.compile(
    rf"(?:von\s|vom\s)?(?P<first>{_UNNAMED_DATE}|{_UNNAMED_SHORT})\s?(?:–|—|-|bis(?:\szum)?)\s?(?P<last>{_UNNAMED_DATE})",
    re.IGNORECASE,
)
_YEARS = re.compile(rf"{_YEAR}(?:(?:\s?,\s?|\s?/\s?|\sund\s){_YEAR})+")
_BOUND = re.compile(
    rf"(?P<word>ab|seit|bis)(?:\s(?:dem|zum|einschließlich|inklusive))?\s(?P<date>{_UNNAMED_DATE})", re.IGNORECASE
)
_CONDITION = re.compile(
    rf"(?!(?:Rechts)?[Ss]tand\b)[A-ZÄÖÜ][\w-]*(?:\s\w[\w-]*){{0,3}}?\s(?:(?:ab|seit|bis|vor|nach|von)(?:\s(?:dem|der|zum))?\s)?"
    rf"(?:{_UNNAMED_DATE}|{_YEAR}(?:\s?(?:,|/|–|-|und|bis)\s?{_YEAR})*)(?:\s(?:und|bis)\s{_YEAR})?"
)
_REMARK = re.compile(r"\(([^()]*)\)")
_REMARK_PART = re.compile(
    rf"(?P<when>davor|zuvor|bisher|vorher|danach|(?:ab|seit|bis)\s{_UNNAMED_DATE}|(?:{_UNNAMED_DATE}|{_UNNAMED_SHORT})"
    rf"(?:\s?(?:–|-|bis|und|/)\s?{_UNNAMED_DATE})?)\s?:?\s+(?P<value>\S.*)",
    re.IGNORECASE,
)
_HAS_VALUE = re.compile(r"[0-9]")
_PART_SEPARATOR = re.compile(r"\s*;\s*|,\s+(?=(?:davor|zuvor|bisher|vorher|danach|ab|seit|bis|[0-9]{1,2}\.|(?:19|20)[0-9]{2})\b)")
_BEFORE = {"davor", "zuvor", "bisher", "vorher"}
_AFTER = "danach"


@dataclass(frozen=True, slots=True)
class RemarkedValue:
    """A value that stands in a remark of „Gültig“. `valid` says when it holds, readable without the rest of the cell."""

    value: str
    valid: str
    validity: Validity


def read_validity(text: str) -> Validity:
    """Reads one „Gültig“ cell into half-open time.

    Read are a year, month or day, ranges and lists of them (end included), `ab`/`seit` (open end) and `bis` (open start,
    end included). A remark in parentheses does not change when the value holds. A noun before the date makes it a
    condition on the case, which is kept as text. Everything else is unknown; this never raises.
    """
    raw = text.strip()
    plain = " ".join(_REMARK.sub(" ", raw).split())
    span = _read_span(plain)
    if span is not None:
        return Validity(raw, span[0], span[1], known=True)
    condition = plain if _CONDITION.fullmatch(plain) else None
    return Validity(raw, condition=condition)


def read_remarks(text: str) -> tuple[RemarkedValue, ...]:
    """The values in the remarks of a „Gültig“ cell: `2026 (2025: 53,20 €)`, `ab 1.7.2025 (davor 0,50 €)`.

    `davor` ends where the value of the row begins, `danach` begins where it ends; when that is not known, the remark's
    validity is not either. A remark without a value gives nothing.
    """
    row = read_validity(text)
    found = []
    for remark in _REMARK.finditer(text):
        for part in _PART_SEPARATOR.split(remark[1].strip()):
            match = _REMARK_PART.fullmatch(part)
            if match and _HAS_VALUE.search(match["value"]):
                validity = _remark_validity(match["when"], row)
                found.append(RemarkedValue(match["value"].strip(), _readable(validity), validity))
    return tuple(found)


def _readable(validity: Validity) -> str:
    """„davor“ says nothing outside its cell; the day does."""
    if validity.raw.lower() in _BEFORE and validity.end is not None:
        last = validity.end - timedelta(days=1)
        return f"bis {last.day}.{last.month}.{last.year}"
    if validity.raw.lower() == _AFTER and validity.start is not None:
        return f"ab {validity.start.day}.{validity.start.month}.{validity.start.year}"
    return validity.raw


def _remark_validity(when: str, row: Validity) -> Validity:
    if when.lower() in _BEFORE:
        return Validity(when, end=row.start, known=row.known and row.start is not None)
    if when.lower() == _AFTER:
        return Validity(when, start=row.end, known=row.known and row.end is not None)
    return read_validity(when)


def _read_span(text: str) -> tuple[date | None, date | None] | None:
    """Half-open time, or None when the text is not one of the forms or names a day that does not exist."""
    if match := _ONE.fullmatch(text):
        return _period(match)
    if _YEARS.fullmatch(text):
        return _year_list([int(year) for year in re.findall(_YEAR, text)])
    if match := _BOUND.fullmatch(text):
        period = _period_of(match["date"])
        if period is None:
            return None
        return (None, period[1]) if match["word"].lower() == "bis" else (period[0], None)
    if match := _RANGE.fullmatch(text):
        last = _period_of(match["last"])
        first = _period_of(match["first"]) or (last and _completed(match["first"], last[1]))
        if first and last and first[0] < last[1]:
            return first[0], last[1]
    return None


def _year_list(years: list[int]) -> tuple[date, date] | None:
    """Consecutive years as one time; years with gaps are not one."""
    if years != list(range(years[0], years[0] + len(years))):
        return None
    return date(years[0], 1, 1), date(years[-1] + 1, 1, 1)


def _completed(short: str, end: date) -> tuple[date, date] | None:
    """A day or month without year at the beginning of a range gets the year of the range's end."""
    match = _SHORT.fullmatch(short)
    year = (end - timedelta(days=1)).year
    if match is None:
        return None
    if match["only"]:
        return _month_period(_MONTHS[match["only"].lower()], year)
    month = int(match["month"]) if match["month"] else _MONTHS[match["name"].lower()]
    return _day_period(int(match["day"]), month, year)


def _period_of(text: str) -> tuple[date, date] | None:
    match = _ONE.fullmatch(text)
    return _period(match) if match else None


def _period(match: re.Match[str]) -> tuple[date, date] | None:
    if match["only_year"]:
        year = int(match["only_year"])
        return date(year, 1, 1), date(year + 1, 1, 1)
    if match["name"]:
        return _month_period(_MONTHS[match["name"].lower()], int(match["month_year"]))
    if match["name2"]:
        return _day_period(int(match["day2"]), _MONTHS[match["name2"].lower()], int(match["year2"]))
    return _day_period(int(match["day"]), int(match["month"]), int(match["year"]))


def _month_period(month: int, year: int) -> tuple[date, date]:
    return date(year, month, 1), date(year + month // 12, month % 12 + 1, 1)


def _day_period(day: int, month: int, year: int) -> tuple[date, date] | None:
    try:
        begin = date(year, month, day)
    except ValueError:
        return None
    return begin, begin + timedelta(days=1)
