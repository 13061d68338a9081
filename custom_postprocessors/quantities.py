"""Amounts, rates, periods and counts in German text."""

import re
from collections.abc import Callable, Iterator
from decimal import Decimal

from custom_postprocessors.evidence import ValueKind
from custom_postprocessors.found import Canvas
from custom_postprocessors.numbers import ARTICLE, DIGITS, FRACTION_NOUNS, canonical, parse_fraction, parse_number

_EDGE = r"(?<![\w.,/§])"
_NUMBER = rf"(?:{DIGITS})"
_JOIN = r"\s*(?:bis(?:\s+zu)?|und|oder|bzw\.?|beziehungsweise|sowie|auf|statt|,|-|/|;)\s*"
_LIST = rf"(?P<list>{_EDGE}{_NUMBER}(?:{_JOIN}{_NUMBER})*)"
_SCALES = {"mio": 6, "million": 6, "millionen": 6, "mrd": 9, "milliarde": 9, "milliarden": 9, "tsd": 3, "tausend": 3}
_SCALE = r"(?:\s?(?P<scale>Mio\.?|Millionen|Million|Mrd\.?|Milliarden|Milliarde|Tsd\.?|Tausend))"
_CURRENCY = r"(?:€|EUR\b|Euros?\b)"
_GROUPED = r"\d{1,3}(?:\s\d{3})+(?:,\d{1,2})?"

_AMOUNT_SPACED = re.compile(rf"{_EDGE}(?P<list>{_GROUPED})(?:,?\s?-+)?\s?{_CURRENCY}")
_AMOUNT_AFTER = re.compile(rf"{_LIST}(?:,?-+|,--)?{_SCALE}?\s{{0,3}}(?P<unit>{_CURRENCY}|Cent\b|ct\b)", re.IGNORECASE)
_AMOUNT_WORD = re.compile(rf"\b(?P<list>{ARTICLE})\s(?P<scale>Million|Milliarde)\s(?P<unit>{_CURRENCY})", re.IGNORECASE)
_AMOUNT_BEFORE = re.compile(
    rf"(?P<unit>{_CURRENCY})\s{{0,3}}(?P<list>(?:{_GROUPED}|{DIGITS})(?:{_JOIN}(?:{DIGITS}))*)(?:,-+)?{_SCALE}?", re.IGNORECASE
)
_RATE = re.compile(
    rf"{_LIST}\s{{0,3}}-?(?P<unit>Prozentpunkte?n?\b|PP\b|%-Punkte?n?\b|%(?:ig\w*)?|Prozent\b|prozentig\w*|v\.?\s?H\.|‰|Promille\b)",
    re.IGNORECASE,
)
_RATE_ONE = re.compile(rf"\b(?P<list>{ARTICLE})\s(?P<unit>Prozent|Promille)\b", re.IGNORECASE)
_FRACTION = re.compile(rf"\b(?P<count>{ARTICLE}|\d+)[\s-]?(?P<noun>{FRACTION_NOUNS})(?:n|s)?\b", re.IGNORECASE)
_HALF = re.compile(r"\b(?:die|der|zur|zur|eine|einer)\s+Hälfte\b|\bHälfte\b", re.IGNORECASE)
_SLASH = re.compile(r"(?<![\w.,/])(?P<count>\d{1,2})/(?P<below>\d{1,3})(?![\w/]|[.,]\d)")
_FOLD = re.compile(rf"{_EDGE}(?P<number>{DIGITS})\s?-?fach(?:e[nrsm]?)?\b", re.IGNORECASE)
_DOUBLE = re.compile(r"\b(?:das\s+)?doppelte?[nrsm]?\b", re.IGNORECASE)

_TIME_NOUN = (
    r"(?P<noun>(?:[A-ZÄÖÜ][\wäöüß]*-?|[A-ZÄÖÜ]+-)?(?:[Ss]ekunde|[Mm]inute|[Ss]tunde|[Tt]ag|[Ww]oche|[Mm]onat|[Qq]uartal|[Ss]emester|[Jj]ahr)"
    r"(?:en|es|e|n|s)?|Std\.?|Min\.?|h)(?![\wäöü-])"
)
_ADJECTIVE = r"(?:\s+(?!und|oder|bis)[a-zäöüß]{3,}(?:e|en|er|es|em)(?=\s+[A-ZÄÖÜ]))"
_PERIOD_HYPHEN = re.compile(rf"{_LIST}-(?P<noun>Stunden?|Tages?|Wochen?|Monats?|Jahres?|Minuten?)(?=-)")
_PERIOD = re.compile(rf"{_LIST}(?:\s{{0,3}}-?|{_ADJECTIVE}{{1,2}}\s+){_TIME_NOUN}")
_PERIOD_ONE = re.compile(
    rf"\b(?P<list>{ARTICLE})(?:{_ADJECTIVE}{{0,2}})\s+(?P<noun>(?:Kalender)?(?:Minute|Stunde|Tag|Woche|Monat|Quartal|Jahr)(?:en|es|s|e)?)"
    r"(?![\wäöüß-])",
    re.IGNORECASE,
)
_SPAN_BEFORE = re.compile(r"\b(?:binnen|innerhalb|innert|während|von|nach|vor|ab|Ablauf|Dauer|Frist|Zeitraum)\s+$", re.IGNORECASE)
_HALF_UNIT = re.compile(rf"\b(?:{ARTICLE})?\s?(?P<list>halbe[nrsm]?)\s+{_TIME_NOUN}", re.IGNORECASE)
_PERIOD_ADJECTIVE = re.compile(
    rf"{_EDGE}(?P<number>{DIGITS})\s?-?"
    r"(?P<unit>sekünd|minüt|stünd|tägig|täg|wöch|monat|jähr)(?:ig|ige[nrsm]?|e[nrsm]?)?\b",
    re.IGNORECASE,
)
_ADJECTIVE_UNIT = {
    "sekünd": "sekund",
    "minüt": "minut",
    "stünd": "stund",
    "tägig": "tag",
    "täg": "tag",
    "wöch": "woch",
    "monat": "monat",
    "jähr": "jahr",
}
_ORDINAL_WORDS = {
    "erst": 1,
    "zweit": 2,
    "dritt": 3,
    "viert": 4,
    "fünft": 5,
    "sechst": 6,
    "siebent": 7,
    "siebt": 7,
    "acht": 8,
    "neunt": 9,
    "zehnt": 10,
    "elft": 11,
    "zwölft": 12,
}
_ORDINAL_NOUN = (
    r"(?P<noun>(?:[A-ZÄÖÜ][\wäöüß]*)?(?:[Tt]ag|[Ww]oche|[Mm]onat|[Jj]ahr|[Qq]uartal|[Ss]tunde|[Ss]chicht"
    r"|[Kk]ind|[Bb]ezug|[Ll]ebens\w+)(?:en|es|e|n|s)?)(?![\wäöü])"
)
_ORDINAL = re.compile(
    rf"{_EDGE}(?P<list>\d{{1,3}}\.(?:\s?(?:bis(?:\s+zum)?|und|oder|,|-|/)\s?\d{{1,3}}\.)*)\s*(?:[a-zäöü]+en\s+)?{_ORDINAL_NOUN}"
)
_ORDINAL_BARE = re.compile(r"\b(?:nach|ab|seit|vor|mit|bis zu)\s?(?:dem|m)\s(?P<number>\d{1,2})\.(?=\s\d|\s?[,;:])")
_ORDINAL_REACH = 60
_ORDINAL_WORD = re.compile(
    rf"\b(?P<word>{'|'.join(sorted(_ORDINAL_WORDS, key=len, reverse=True))})e[nrsm]?\s+{_ORDINAL_NOUN}", re.IGNORECASE
)
_COUNT = re.compile(rf"{_LIST}(?:{_ADJECTIVE}{{1,2}})?\s+(?P<noun>[A-ZÄÖÜ][\wäöüß-]*[a-zäöüß])(?![\w])")
_BARE = re.compile(rf"(?<![\w.,/])(?P<list>(?:{DIGITS}))(?![\w]|[.,]\d)")
_MARKER = re.compile(r"(?m)^[ \t]*\d{1,2}[.)](?=\s)")
_ELEMENT = re.compile(rf"{_NUMBER}", re.IGNORECASE)
_DIGIT_FOLLOWS = re.compile(r"\s?\d")
_YEARLIKE = re.compile(r"(?:19[5-9]|20[0-6])\d")

_WORK_DONE = {"uberstund", "mehrstund", "mehrarbeitsstund", "nachtarbeitsstund", "feiertagsstund"}
"""Hours that are counted, not a length of time."""

_FOLD_UMLAUTS = str.maketrans({"ä": "a", "ö": "o", "ü": "u", "ß": "ss"})
_SHORT_UNITS = {"std": "stunde", "min": "minute", "h": "stunde"}
_NOUN_ENDINGS = ("innen", "ern", "en", "em", "er", "es", "in", "e", "n", "s")


def stem_noun(noun: str) -> str:
    """One form for a noun's inflections (Überstunden, Überstunde → uberstund); lower case, umlauts folded."""
    word = noun.lower().rstrip(".").translate(_FOLD_UMLAUTS)
    word = _SHORT_UNITS.get(word, word)
    for ending in _NOUN_ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word


def find_amounts(canvas: Canvas) -> None:
    """Takes amounts of money (`551.1 EUR`); Cent become EUR, Mio and Mrd are multiplied out."""
    for pattern in (_AMOUNT_SPACED, _AMOUNT_WORD, _AMOUNT_AFTER, _AMOUNT_BEFORE):
        for match in pattern.finditer(canvas.plain):
            parts = match.groupdict()
            if (
                pattern is _AMOUNT_AFTER
                and _YEARLIKE.fullmatch(match["list"])
                and _DIGIT_FOLLOWS.match(canvas.plain, match.end())
            ):
                continue  # „2024 EUR 518,44“: the year belongs to what stands before
            factor = Decimal(10) ** _SCALES.get((parts.get("scale") or "").lower().rstrip("."), 0)
            if (parts.get("unit") or "").lower() in ("cent", "ct"):
                factor /= 100
            _take_list(canvas, match, "amount", "EUR", lambda n, f=factor: n * f)  # type: ignore[misc]


def find_rates(canvas: Canvas) -> None:
    """Takes rates: `1.53 %`, `0.5 PP`, `1/6`, `1.5 x`. A fraction that is a whole percent is that percent."""
    for match in _RATE.finditer(canvas.plain):
        unit = match["unit"].lower()
        if unit.startswith(("prozentpunkt", "pp", "%-")):
            _take_list(canvas, match, "rate", "PP")
        elif unit in ("‰", "promille"):
            _take_list(canvas, match, "rate", "%", lambda n: n / 10)
        else:
            _take_list(canvas, match, "rate", "%")
    for match in _RATE_ONE.finditer(canvas.plain):
        divisor = 10 if match["unit"].lower() == "promille" else 1
        _take_list(canvas, match, "rate", "%", Decimal(divisor).__rtruediv__)
    _take_fractions(canvas)
    _take_multiples(canvas)


def _take_fractions(canvas: Canvas) -> None:
    for match in _FRACTION.finditer(canvas.plain):
        fraction = parse_fraction(match["count"], match["noun"])
        if fraction is not None:
            _take_fraction(canvas, match, fraction.numerator, fraction.denominator)
    for match in _HALF.finditer(canvas.plain):
        _take_fraction(canvas, match, 1, 2)
    for match in _SLASH.finditer(canvas.plain):
        if int(match["count"]) < int(match["below"]):
            _take_fraction(canvas, match, int(match["count"]), int(match["below"]))


def _take_multiples(canvas: Canvas) -> None:
    for match in _FOLD.finditer(canvas.plain):
        number = parse_number(match["number"])
        if number is not None:
            canvas.take(match.start(), match.end(), "rate", f"{canonical(number)} x", number, "x")
            canvas.blank(match.start(), match.end())
    for match in _DOUBLE.finditer(canvas.plain):
        canvas.take(match.start(), match.end(), "rate", "2 x", Decimal(2), "x")
        canvas.blank(match.start(), match.end())


def find_ordinals(canvas: Canvas) -> None:
    """Takes ordinals of time (`15. dienstjahr`, kind count); of an enumeration each one."""
    for match in _ORDINAL.finditer(canvas.plain):
        noun = stem_noun(match["noun"])
        for digits in re.finditer(r"\d+", match["list"]):
            start = match.start() + digits.start()
            end = match.end() if digits.end() >= len(match["list"]) - 1 else start + len(digits.group())
            number = Decimal(digits.group())
            canvas.take(start, end, "count", f"{canonical(number)}. {noun}", number, "." + noun)
        canvas.blank(match.start(), match.end())
    _take_bare_ordinals(canvas)
    for match in _ORDINAL_WORD.finditer(canvas.plain):
        ordinal, noun = _ORDINAL_WORDS[match["word"].lower()], stem_noun(match["noun"])
        canvas.take(match.start(), match.end(), "count", f"{ordinal}. {noun}", Decimal(ordinal), "." + noun)
        canvas.blank(match.start(), match.end())


def _take_bare_ordinals(canvas: Canvas) -> None:
    """„nach dem 2. Dienstjahr zwei Monate, nach dem 5. drei Monate“: an ordinal without noun goes on with the one before."""
    ordinals = [value for value in canvas.found if value.unit.startswith(".")]
    if not ordinals:
        return
    for match in _ORDINAL_BARE.finditer(canvas.plain):
        start = canvas.offset(match.start("number"))
        known = [value for value in ordinals if value.end <= start and start - value.end <= _ORDINAL_REACH]
        if known:
            noun, number = max(known, key=lambda value: value.end).unit.removeprefix("."), Decimal(match["number"])
            canvas.take(match.start("number"), match.end(), "count", f"{canonical(number)}. {noun}", number, "." + noun)
            canvas.blank(match.start("number"), match.end())
            ordinals.append(canvas.found[-1])


def find_periods(canvas: Canvas) -> None:
    """Takes periods (`6 woch`, `14 tag`); hours that are counted (Überstunden) are counts."""
    for match in _HALF_UNIT.finditer(canvas.plain):
        noun = stem_noun(match["noun"])
        canvas.take(match.start(), match.end(), "period", f"0.5 {noun}", Decimal("0.5"), noun)
        canvas.blank(match.start(), match.end())
    for pattern in (_PERIOD_HYPHEN, _PERIOD, _PERIOD_ONE):
        for match in pattern.finditer(canvas.plain):
            if match["list"].lower() == "eines" and not _SPAN_BEFORE.search(canvas.plain, 0, match.start()):
                continue  # „Überstunden eines Kalendermonats“ names no length of time
            noun = stem_noun(match["noun"])
            _take_list(canvas, match, "count" if noun in _WORK_DONE else "period", noun)
    for match in _PERIOD_ADJECTIVE.finditer(canvas.plain):
        number = parse_number(match["number"])
        if number is not None:
            unit = _ADJECTIVE_UNIT[match["unit"].lower()]
            canvas.take(match.start(), match.end(), "period", f"{canonical(number)} {unit}", number, unit)
            canvas.blank(match.start(), match.end())


def find_counts(canvas: Canvas) -> None:
    """Takes every number that is left: with its noun (`15 uberstund`) or bare (`1.073`)."""
    for match in _MARKER.finditer(canvas.plain):
        canvas.blank(match.start(), match.end())
    for match in _COUNT.finditer(canvas.plain):
        _take_list(canvas, match, "count", stem_noun(match["noun"]))
    for match in _BARE.finditer(canvas.plain):
        number = parse_number(match.group())
        if number is not None:
            canvas.take(match.start(), match.end(), "count", canonical(number), number)
            canvas.blank(match.start(), match.end())


def _take_list(
    canvas: Canvas,
    match: re.Match[str],
    kind: ValueKind,
    unit: str,
    convert: Callable[[Decimal], Decimal] = lambda number: number,
) -> None:
    """Takes each number of an enumeration that shares its unit; the last one's text includes the unit."""
    begin, finish = match.span("list")
    elements = list(_elements(match["list"]))
    keep_years = all(_YEARLIKE.fullmatch(text) for _, text in elements)
    first = match.start() if match.start() < begin else None
    taken_from = finish
    for offset, text in reversed(elements):
        number = parse_number(text)
        if number is None or (_YEARLIKE.fullmatch(text) and not keep_years and text != elements[-1][1]):
            break
        start, end = begin + offset, begin + offset + len(text)
        last = (offset, text) == elements[-1]
        start = first if first is not None and (offset, text) == elements[0] else start
        end = match.end() if last and match.end() > finish else end
        value = convert(number)
        canvas.take(start, end, kind, f"{canonical(value)} {unit}", value, unit)
        taken_from = start
    canvas.blank(taken_from, match.end())


def _elements(text: str) -> Iterator[tuple[int, str]]:
    if re.fullmatch(_GROUPED, text):
        yield 0, text
        return
    for match in _ELEMENT.finditer(text):
        yield match.start(), match.group()
    if not _ELEMENT.search(text):
        yield 0, text


def _take_fraction(canvas: Canvas, match: re.Match[str], above: int, below: int) -> None:
    percent = Decimal(above * 100) / Decimal(below)
    if percent == percent.quantize(Decimal("0.1")):
        canvas.take(match.start(), match.end(), "rate", f"{canonical(percent)} %", percent, "%")
    else:
        canvas.take(match.start(), match.end(), "rate", f"{above}/{below}", percent, "1/1")
    canvas.blank(match.start(), match.end())
