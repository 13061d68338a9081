"""Dates, months, years, times of day and days of a month („15. des Folgemonats“) in German text."""

import re
from decimal import Decimal

from custom_postprocessors.found import Canvas

_MONTHS = {
    "jänner": 1,
    "januar": 1,
    "jän": 1,
    "jan": 1,
    "feber": 2,
    "februar": 2,
    "feb": 2,
    "märz": 3,
    "mär": 3,
    "april": 4,
    "apr": 4,
    "mai": 5,
    "juni": 6,
    "jun": 6,
    "juli": 7,
    "jul": 7,
    "august": 8,
    "aug": 8,
    "september": 9,
    "sept": 9,
    "sep": 9,
    "oktober": 10,
    "okt": 10,
    "november": 11,
    "nov": 11,
    "dezember": 12,
    "dez": 12,
}
_MONTH = r"(?P<name>" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")s?\b\.?"
_YEAR = r"(?P<year>(?:19[5-9]|20[0-6])\d)"
_EDGE = r"(?<![\w.,/-])"
_NOT_MORE = r"(?![\w/]|[.,]\d)"
_RELATIVE = (
    r"(?P<relative>(?:zweit|dritt)?(?:folgenden\s+|nächsten\s+|übernächsten\s+|laufenden\s+|jeweiligen\s+|selben\s+)?"
    r"(?:[A-ZÄÖÜ][a-zäöü]*)?(?:monats|Monats|jahres|Jahres|Quartals))"
)
_FLAGS = re.IGNORECASE

_ISO = re.compile(r"(?<![\w-])(?P<year>\d{4})-(?P<month>\d{2})(?:-(?P<day>\d{2}))?(?![\w-])")
_NUMERIC = re.compile(r"(?<![\w.,/])(?P<day>\d{1,2})\.\s?(?P<month>\d{1,2})\.(?:\s?(?P<year>\d{4}|\d{2}(?!\d)))?(?![\w]|[.,]\d)")
_SHORT_RANGE = re.compile(_EDGE + r"(?P<day>\d{1,2})\.(?=\s?(?:-|bis)\s?\d{1,2}\.\s?" + _MONTH + r")", _FLAGS)
_NAMED = re.compile(rf"{_EDGE}(?P<day>\d{{1,2}})\.?\s+{_MONTH}(?:\s+{_YEAR}{_NOT_MORE})?", _FLAGS)
_END_OF = re.compile(rf"\b(?P<edge>Ende|Anfang|Mitte)\s+(?:des\s+Monats\s+)?{_MONTH}(?:\s+{_YEAR}{_NOT_MORE})?", _FLAGS)
_MONTH_YEAR = re.compile(rf"\b{_MONTH}\s+{_YEAR}{_NOT_MORE}", _FLAGS)
_SLASH_MONTH = re.compile(_EDGE + r"(?P<month>0?[1-9]|1[0-2])/(?P<year>(?:19[5-9]|20[0-6])\d)(?![\w/])")
_MONTH_ALONE = re.compile(
    r"\b(?P<name>Jänner|Januar|Feber|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember)s?\b"
)
_DAY_OF = re.compile(rf"{_EDGE}(?P<day>\d{{1,2}})\.\s*(?:Tag\s+)?(?:des|der|im)\s+(?:jeweils\s+)?{_RELATIVE}")
_EDGE_OF = re.compile(rf"\b(?P<edge>Ende|Anfang|Mitte|Monatsletzten?|letzten Tag)\s+(?:des|der)\s+{_RELATIVE}")
_TIME_LIST = re.compile(
    _EDGE + r"(?P<times>\d{1,2}(?:[.:]\d{2})?(?:\s*(?:Uhr)?\s*(?:bis|und|-)\s*\d{1,2}(?:[.:]\d{2})?)*)\s*Uhr\b"
)
_YEAR_RANGE = re.compile(rf"{_EDGE}{_YEAR}\s*(?:bis|-)\s*(?P<last>(?:19[5-9]|20[0-6])\d){_NOT_MORE}")
_YEAR_PAIR = re.compile(rf"{_EDGE}{_YEAR}/(?P<second>(?:19|20)?\d{{2}})(?![\w/])")
_YEAR_ALONE = re.compile(rf"(?<![\w.,/]){_YEAR}(?![\w/]|[.,]\d|\s*(?:€|EUR|Euro|%|Prozent))(?:er\b)?")
_YEAR_ADJECTIVE = re.compile(rf"(?<![\w.,/]){_YEAR}er\b")


def find_dates(canvas: Canvas) -> None:
    """Takes dates from the canvas.

    Normal forms: `2026-01-01`, `2026-07`, `2026`, `--02-15` (every year), `--02` (a month), `end --02`, `15. folgemonat`,
    `22:00`. A range of years is one value that proves each year in it.
    """
    for pattern in (_ISO, _NUMERIC, _SHORT_RANGE, _NAMED, _END_OF, _MONTH_YEAR, _SLASH_MONTH):
        for match in pattern.finditer(canvas.plain):
            _take_date(canvas, match)
    _take_days_of_month(canvas)
    _take_times(canvas)
    _take_years(canvas)
    for match in _MONTH_ALONE.finditer(canvas.plain):
        _take_date(canvas, match)


def _take_date(canvas: Canvas, match: re.Match[str]) -> None:
    parts = match.groupdict()
    month = int(parts["month"]) if parts.get("month") else _MONTHS.get((parts.get("name") or "").lower().rstrip("."), 0)
    day = int(parts["day"]) if parts.get("day") else 0
    year = parts.get("year") or ""
    if not 1 <= month <= 12 or (day and not 1 <= day <= 31):
        return
    if len(year) == 2:
        year = f"20{year}"
    text = f"{year or '-'}-{month:02d}" + (f"-{day:02d}" if day else "")
    if parts.get("edge"):
        text = f"{parts['edge'].lower()} {text}"
    canvas.take(match.start(), match.end(), "date", text)
    canvas.blank(match.start(), match.end())


def _take_days_of_month(canvas: Canvas) -> None:
    for match in _DAY_OF.finditer(canvas.plain):
        relative = _relative(match["relative"])
        canvas.take(match.start(), match.end(), "date", f"{int(match['day'])}. {relative}")
        canvas.blank(match.start(), match.end())

    for match in _EDGE_OF.finditer(canvas.plain):
        relative = _relative(match["relative"])
        edge = "anfang" if match["edge"] == "Anfang" else "mitte" if match["edge"] == "Mitte" else "ende"
        canvas.take(match.start(), match.end(), "date", f"{edge} {relative}")
        canvas.blank(match.start(), match.end())


def _relative(written: str) -> str:
    """„folgenden Monats“ and „nächsten Monats“ as „folgemonat“."""
    text = " ".join(word.removesuffix("es").removesuffix("s") for word in written.lower().split())
    return re.sub(r"^(?:folgenden|nächsten) (?=\w)", "folge", text)


def _take_times(canvas: Canvas) -> None:
    for match in _TIME_LIST.finditer(canvas.plain):
        for time in re.finditer(r"\d{1,2}(?:[.:]\d{2})?", match["times"]):
            hour, _, minute = time.group().replace(".", ":").partition(":")
            start = match.start() + time.start()
            canvas.take(start, start + len(time.group()), "date", f"{int(hour):02d}:{minute or '00'}")
        canvas.blank(match.start(), match.end())


def _take_years(canvas: Canvas) -> None:
    for match in _YEAR_RANGE.finditer(canvas.plain):
        first, last = int(match["year"]), int(match["last"])
        canvas.take(match.start("year"), match.end("year"), "date", str(first), Decimal(first), "", last)
        canvas.take(match.start("last"), match.end("last"), "date", str(last), Decimal(last))
        canvas.blank(match.start(), match.end())
    for match in _YEAR_PAIR.finditer(canvas.plain):
        second = match["second"] if len(match["second"]) == 4 else match["year"][:2] + match["second"]
        canvas.take(match.start("year"), match.end("year"), "date", match["year"], Decimal(match["year"]))
        canvas.take(match.start("second"), match.end("second"), "date", second, Decimal(second))
        canvas.blank(match.start(), match.end())
    for pattern in (_YEAR_ADJECTIVE, _YEAR_ALONE):
        for match in pattern.finditer(canvas.plain):
            end = match.end("year")
            canvas.take(match.start(), end, "date", match["year"], Decimal(match["year"]))
            canvas.blank(match.start(), match.end())
