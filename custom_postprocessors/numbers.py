"""Numbers in German text: digits with Austrian grouping, number words, fractions, multiples."""

import re
from decimal import Decimal
from fractions import Fraction

_ONES = ("ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun")
_TEENS = ("zehn", "elf", "zwölf", "dreizehn", "vierzehn", "fünfzehn", "sechzehn", "siebzehn", "achtzehn", "neunzehn")
_TENS = ("zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig")
_ARTICLES = ("ein", "eine", "einen", "einem", "einer", "eines")
_DENOMINATORS = {
    "drittel": 3,
    "viertel": 4,
    "fünftel": 5,
    "sechstel": 6,
    "siebtel": 7,
    "siebentel": 7,
    "achtel": 8,
    "neuntel": 9,
    "zehntel": 10,
    "zwölftel": 12,
    "dreizehntel": 13,
    "vierzehntel": 14,
    "zwanzigstel": 20,
    "dreißigstel": 30,
    "hundertstel": 100,
}


def _number_words() -> dict[str, Decimal]:
    words: dict[str, int] = {word: value for value, word in enumerate(_ONES[1:], start=2)}
    words |= {word: value for value, word in enumerate(_TEENS, start=10)}
    for tens, word in enumerate(_TENS, start=2):
        words[word] = tens * 10
        words |= {f"{one}und{word}": tens * 10 + value for value, one in enumerate(_ONES, start=1)}
    words["hundert"] = words["einhundert"] = 100
    words |= {f"{word}hundert": value * 100 for value, word in enumerate(_ONES[1:], start=2)}
    words["tausend"] = words["eintausend"] = 1000
    words |= {f"{word}tausend": value * 1000 for value, word in enumerate((*_ONES[1:], *_TEENS), start=2)}
    result = {word: Decimal(value) for word, value in words.items()}
    halves = {"eineinhalb": "1.5", "anderthalb": "1.5", "zweieinhalb": "2.5", "dreieinhalb": "3.5", "viereinhalb": "4.5"}
    result |= {word: Decimal(value) for word, value in halves.items()}
    result |= {word.replace("ß", "ss"): value for word, value in result.items()}
    return result


NUMBER_WORDS = _number_words()
"""Number words from zwei to neunzehntausend, lower case; „ein“ is not among them, because it is also the article."""

DIGITS = r"\d{1,3}(?:['’]\d{3})+\.\d+|\d{1,3}(?:[.'’]\d{3})+(?:,\d+)?|\d{1,3}(?:,\d{3})+\.\d+|\d+[.,]\d+|\d+"
"""A number in digits: 6.930,00 · 6930 · 1.234,5 · 551.10 · 6’930 · 1,234.50."""

ARTICLE = "|".join(sorted(_ARTICLES, key=len, reverse=True))
FRACTION_NOUNS = "|".join(sorted(_DENOMINATORS, key=len, reverse=True))

_SMALL = {"": Decimal(0), "ein": Decimal(1), "eins": Decimal(1)}
_LETTERS = re.compile(r"[A-Za-zÄÖÜäöüß]{3,}")
_COMPOUND = re.compile(
    r"(?P<number>[a-zäöüß]{3,}?)(?P<tail>wöch\w*|tägig\w*|monatig\w*|monatlich\w*|jährig\w*|stündig\w*|minütig\w*|fach\w*|prozentig\w*"
    r"|(?P<noun>wochen|monats|tages|jahres|stunden|minuten)\w*)"
)
_SPACES = dict.fromkeys(
    map(ord, "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"), " "
)
_DASHES = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe63\uff0d"), "-")
_EMPHASIS = dict.fromkeys(map(ord, "*_`"), " ")
_PLAIN = {**_SPACES, **_DASHES}


def plain(text: str) -> str:
    """The text with one kind of space and one kind of dash; as long as `text`, so that offsets stay valid."""
    return text.translate(_PLAIN)


def without_emphasis(text: str) -> str:
    """`plain` text whose Markdown emphasis and code marks became spaces; as long as `text`."""
    return plain(text).translate(_EMPHASIS)


def digits_for_words(text: str) -> tuple[str, list[int]]:
    """The text with number words in digits, and for each of its characters the offset in `text` (one more at the end).

    „sechs Wochen“ → `6 Wochen`, „sechswöchige“ → `6-wöchige`, „Zweiwochenfrist“ → `2 wochen frist`. „ein“ stays.
    """
    pieces: list[str] = []
    offsets: list[int] = []
    position = 0
    for match in _LETTERS.finditer(text):
        written = _in_digits(match.group().lower())
        if written is None:
            continue
        before = text[position : match.start()]
        pieces.extend((before, written))
        offsets.extend(range(position, match.start()))
        offsets.extend([match.start()] * len(written))
        position = match.end()
    pieces.append(text[position:])
    offsets.extend(range(position, len(text) + 1))
    return "".join(pieces), offsets


def _number_of(word: str) -> Decimal | None:
    """The number of a word, also of a long one (dreihundertfünfzig, zweitausendfünfhundert)."""
    known = NUMBER_WORDS.get(word)
    if known is not None or ("hundert" not in word and "tausend" not in word):
        return known
    thousands, mark, rest = word.rpartition("tausend")
    above, below = _below_thousand(thousands), _below_thousand(rest.removeprefix("und"))
    if above is None or below is None:
        return None
    return (above or 1) * 1000 + below if mark else below


def _below_thousand(word: str) -> Decimal | None:
    hundreds, mark, rest = word.rpartition("hundert")
    rest = rest.removeprefix("und") if mark else rest
    count, below = (_SMALL.get(part, NUMBER_WORDS.get(part)) for part in (hundreds, rest))
    if count is None or below is None or below >= 100 or count >= 10:
        return None
    return (count or 1) * 100 + below if mark else below


def _in_digits(word: str) -> str | None:
    number = _number_of(word)
    if number is not None:
        return canonical(number).replace(".", ",")
    match = _COMPOUND.fullmatch(word)
    if match is None:
        return None
    number = Decimal(1) if match["number"] == "ein" else _number_of(match["number"])
    if number is None:
        return None
    digits = canonical(number).replace(".", ",")
    if match["noun"]:
        return f"{digits} {match['noun']} {match['tail'].removeprefix(match['noun'])}".rstrip()
    return f"{digits}-{match['tail']}"


def parse_number(text: str) -> Decimal | None:
    """The number that `text` writes in digits or as a word; None when it is none.

    A comma is the decimal mark. A point groups thousands when exactly three digits follow each, else it is the decimal mark.
    """
    word = text.strip().lower()
    if word in NUMBER_WORDS:
        return NUMBER_WORDS[word]
    if word in _ARTICLES:
        return Decimal(1)
    digits = word.replace("'", ".").replace("’", ".").replace(" ", "")
    if re.fullmatch(r"\d{1,3}(?:['’]\d{3})+\.\d+", word):
        return Decimal(word.replace("'", "").replace("’", ""))
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+\.\d+", digits):
        return Decimal(digits.replace(",", ""))
    if re.fullmatch(r"[1-9]\d{0,2}(?:\.\d{3})+(?:,\d+)?|\d+,\d+", digits):
        return Decimal(digits.replace(".", "").replace(",", "."))
    if re.fullmatch(r"\d+(?:\.\d+)?", digits):
        return Decimal(digits)
    return None


def parse_fraction(count: str, noun: str) -> Fraction | None:
    """„zwei“ and „Drittel“ as 2/3; None when either is unknown."""
    number = parse_number(count)
    denominator = _DENOMINATORS.get(noun.lower().removesuffix("s").removesuffix("n"))
    if number is None or denominator is None or number != int(number):
        return None
    return Fraction(int(number), denominator)


def canonical(number: Decimal) -> str:
    """One way to write a number: no grouping, decimal point, no trailing zeros (551.1, 6930, 0.32806)."""
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
