"""Which month a question speaks for: dates, years and words like „heuer“ against a given month."""

import re
from dataclasses import dataclass

from pipelines.rule_text import fold, rule

MONTH_NAMES = (
    ("jänner", "januar", "jan"),
    ("februar", "feber", "feb"),
    ("märz", "mrz"),
    ("april", "apr"),
    ("mai",),
    ("juni", "jun"),
    ("juli", "jul"),
    ("august", "aug"),
    ("september", "sept", "sep"),
    ("oktober", "okt"),
    ("november", "nov"),
    ("dezember", "dez"),
)
_MONTHS = {fold(name): number for number, names in enumerate(MONTH_NAMES, start=1) for name in names}
_NAMES = "|".join(sorted(_MONTHS, key=len, reverse=True))
_YEAR = r"(?:19[5-9]\d|20\d\d)"

_DATE = re.compile(rf"\b\d{{1,2}}\.\s?(\d{{1,2}})\.\s?({_YEAR}|[23]\d)\b(?!\s?%|\d)")
_MONTH_YEAR = re.compile(
    rf"\b({_NAMES})\.?,? (?:(?:im )?jahr )?(?:({_YEAR})|"
    r"'?([23]\d)\b(?! ?(?:[%€:]|[.,]\d|tag|uhr|std|stund|euro|woch|jahr|leut|ma\b|dn\b)))"
)
_MONTH = re.compile(rf"\b(?:im|ab|bis|seit|anfang|mitte|ende|per|fur|vom|in) (?:monat )?({_NAMES})\b")
_YEAR_ALONE = re.compile(rf"(?<![\d.,/§-])\b({_YEAR})\b(?!\s?(?:€|euro|eur|brutto|netto|std|stunden|km)\b|[.,]?\d|/\d)")
_YEAR_SLASH = re.compile(rf"\b({_YEAR})/({_YEAR}|\d\d)\b")

# A year after one of these is a fact of the case (when someone began, when a car was registered), not the time asked about.
_EVENT = rule(
    r"(?:dienst ?beginn|dienst ?antritt|beginn|beginnt|eintritt|eingetreten|eingestellt|angestellt seit|erst ?zulas+ung|"
    r"zugelassen|geboren|geb|jahrgang|baujahr|gekauft|angefangen|unterschrieben|vertrag (?:von|aus|vom)|seit|"
    r"urteil (?:von|vom|aus)|bgbl|stand|fassung|aus dem jahr|vor|nach)"
    r"(?: (?:dem|der|im|am|ende|anfang|mitte|jahr|jahre|i|nr|in|vom|ab|"
    r"jänner|märz|april|mai|juni|juli|august|oktober|[0-9.]+))*[ .:]*$"
)
_THIS = rule(
    r"\bheuer\b|\bheurig\w*|\bdieses jahr\b|\bdiesem jahr\b|\bderzeit\w*|\baktuell\w*|\bmomentan\b|\bzurzeit\b|\bzur zeit\b"
)
_NEXT = rule(r"\b(?:nachst|kommend|folgend)\w* jahr\w*|\bubers jahr\b|\bnachsten jahrs\b")
_LAST = rule(r"\b(?:vorig|letzt|vergangen)\w* jahr\w*|\bvorjahr\w*|\bim jahr davor\b|\bjahr zuvor\b|\bvorjährig\w*")
_NEXT_MONTH = rule(r"\b(?:nachst|kommend)\w* monat\w*")
_LAST_MONTH = rule(r"\b(?:vorig|letzt|vergangen)\w* monat\b(?!\w)")


@dataclass(frozen=True, slots=True)
class TimeReading:
    """The month a question speaks for (`YYYY-MM`), whether it named the time, and every year it names as a time."""

    as_of: str
    named: bool
    years: tuple[int, ...] = ()


def read_time(text: str, base: str) -> TimeReading:
    """Resolves the times of a question against `base` (`YYYY-MM`).

    A year alone means its last month when it is past, its first when it lies ahead, and `base` when it is the same year. Where
    several times are named, the one in the year of `base` wins, else the latest, because the question then compares with it.
    A year that belongs to the case („Eintritt 2002“) names no time.
    """
    folded = fold(text)
    base_year = int(base[:4])
    months = _dated(folded, base_year)
    months |= {month for month in _relative(folded, base) if month == base or month[:4] not in {m[:4] for m in months}}
    taken = {int(m[:4]) for m in months}
    months |= {_month_of_year(year, base) for year in _years(folded) if year not in taken}
    if not months:
        return TimeReading(as_of=base, named=False)
    in_base_year = sorted(m for m in months if m[:4] == base[:4])
    chosen = in_base_year[-1] if in_base_year else max(months)
    return TimeReading(as_of=chosen, named=True, years=tuple(sorted({int(m[:4]) for m in months})))


def _dated(folded: str, base_year: int) -> set[str]:
    months: set[str] = set()
    for hit in _DATE.finditer(folded):
        number, year = int(hit[1]), _full_year(hit[2])
        if 1 <= number <= 12 and not _is_event(folded, hit.start()):
            months.add(f"{year}-{number:02d}")
    for hit in _MONTH_YEAR.finditer(folded):
        if not _is_event(folded, hit.start()):
            months.add(f"{_full_year(hit[2] or hit[3])}-{_MONTHS[hit[1]]:02d}")
    if months:
        return months
    lone = next(iter(_years(folded)), base_year)
    if _LAST.search(folded) and not _years(folded):
        lone = base_year - 1
    elif _NEXT.search(folded) and not _years(folded):
        lone = base_year + 1
    return {f"{lone}-{_MONTHS[hit[1]]:02d}" for hit in _MONTH.finditer(folded)} if _month_is_time(folded) else set()


def _month_is_time(folded: str) -> bool:
    """A month without a year is the time asked about only where the question names just one month."""
    return len({hit[1] for hit in _MONTH.finditer(folded)}) == 1


def _relative(folded: str, base: str) -> set[str]:
    year = int(base[:4])
    months: set[str] = set()
    if _THIS.search(folded):
        months.add(base)
    if _NEXT.search(folded):
        months.add(f"{year + 1}-01")
    if _LAST.search(folded) and "im jahr davor" not in folded:
        months.add(f"{year - 1}-12")
    if _NEXT_MONTH.search(folded):
        months.add(shift_month(base, 1))
    if _LAST_MONTH.search(folded):
        months.add(shift_month(base, -1))
    return months


def _years(folded: str) -> tuple[int, ...]:
    spans = [(hit.start(), int(hit[1])) for hit in _YEAR_ALONE.finditer(folded)]
    for hit in _YEAR_SLASH.finditer(folded):
        if "bgbl" not in folded[: hit.start()]:
            spans += [(hit.start(), int(hit[1])), (hit.start(), _full_year(hit[2]))]
    return tuple(year for start, year in spans if not _is_event(folded, start))


def _is_event(folded: str, start: int) -> bool:
    return _EVENT.search(folded[:start]) is not None


def _month_of_year(year: int, base: str) -> str:
    base_year = int(base[:4])
    if year == base_year:
        return base
    return f"{year}-12" if year < base_year else f"{year}-01"


def _full_year(digits: str) -> int:
    return int(digits) if len(digits) == 4 else 2000 + int(digits)


def shift_month(month: str, by: int) -> str:
    """The month `by` months after `month` (`YYYY-MM`); negative goes back."""
    index = int(month[:4]) * 12 + int(month[5:]) - 1 + by
    return f"{index // 12:04d}-{index % 12 + 1:02d}"
