"""Other wordings of a claim that say exactly the same, for a source that happens to use them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_YEAR = r"(?P<year>(?:19|20)\d\d)"
_BEFORE_YEAR = re.compile(
    rf"\b(?P<word>[Vv]or)(?:\s+(?:dem\s+)?(?:1\.\s?1\.\s?|1\.\s+(?:Jänner|Januar)\s+)?(?:dem\s+Jahr\s+)?){_YEAR}\b(?![.\d])"
)
_UNTIL_YEAR = re.compile(
    rf"\b(?P<word>[Bb]is)\s+(?:(?:zum\s+)?Ende\s+(?:des\s+Jahres\s+)?|(?:zum\s+)?31\.\s?12\.\s?|einschließlich\s+)?{_YEAR}\b(?![.\d])"
)
_DENIED = re.compile(r"\bnicht\s+(?P<word>[a-zäöüß]{4,}(?:lich|bar|sam|ig|ässig|igt|ht|ell|am)e?[nrsm]?)\b")
_UN_WORD = re.compile(r"\bun(?P<word>[a-zäöüß]{4,})\b")
_NOT_BECAUSE = re.compile(r"\bnicht(?:,)?\s+(?:nur|bloß|allein|schon)(?:\s+deshalb,)?\s+weil\b")
_NOT_YET = re.compile(
    r"\bnoch\s+(?:keine|nicht)\s+(?=(?:\d+|zehn|zwölf|vierzehn|fünfzehn|sechzehn|achtzehn|zwanzig|[a-zäöü]+zig)\b)"
)
_YEAR_END = re.compile(r"\b(?:am|zum|mit)\s+(?:Ende\s+des\s+(?P<of>Jahr|Monat)e?s|(?P<whole>Jahres|Monats)ende)\b")
_BIRTHDAY = re.compile(r"\b(?:(?P<the>dem|den|der|des|seinem|ihrem)\s+)?(?P<age>\d+)\.\s+Geburtstag(?:s|es)?\b")
_YEAR_OF_LIFE = re.compile(
    r"\bVollendung\s+des\s+(?P<a>\d+)\.\s+Lebensjahre?s\b|\b(?:vollendete[mns]?\s+)(?P<b>\d+)\.\s+Lebensjahre?s?\b"
)

_COURTS = (
    (re.compile(r"\bOberste[nrm]?\s+Gerichtshof(?:es|s)?\b"), "OGH"),
    (re.compile(r"\bEuropäische[nrm]?\s+Gerichtshof(?:es|s)?\b"), "EuGH"),
    (re.compile(r"\bUnabhängige[nrm]?\s+Finanzsenats?\b"), "UFS"),
)


@dataclass(frozen=True, slots=True)
class Equivalent:
    """A claim in other words; `denying` are the words („unwirksam“) in which its denials now lie, in lower case."""

    text: str
    denying: tuple[str, ...] = ()

    def is_carried(self, source: str) -> bool:
        """Whether the carrying sentences deny by the same words: that a section has them elsewhere proves nothing."""
        lowered = source.lower()
        return all(_has_form(lowered, word) for word in self.denying)


def equivalent(text: str, sources: Sequence[str]) -> Equivalent | None:
    """The claim in other words that say the same, each only where a source has that wording; None when none has.

    „vor 2025“ and „bis 2024“, „nicht wirksam“ and „unwirksam“, „noch keine zwölf“ and „unter zwölf“, „Ende des Jahres“ and
    „Jahresende“, „18. Geburtstag“ and „18. Lebensjahr“. All that apply are made at once.
    """
    said = " ".join(sources)
    lowered = said.lower()
    other = _BEFORE_YEAR.sub(lambda match: _until(match, said), text)
    if other == text:
        other = _BEFORE_YEAR.sub(lambda match: _earlier(match, sources), other)
    if other == text:
        other = _UNTIL_YEAR.sub(lambda match: _before(match, said), other)
    denied = tuple(f"un{match['word']}" for match in _DENIED.finditer(other) if _has_form(lowered, f"un{match['word']}"))
    for word in denied:
        other = other.replace(f"nicht {word[2:]}", word)
    if not denied:
        other = _UN_WORD.sub(lambda match: _unfolded(match, lowered), other)
    other = _NOT_BECAUSE.sub("nicht dadurch, dass", other)
    other = _NOT_YET.sub("unter ", other)
    other = _YEAR_END.sub(lambda match: _end(match, lowered), other)
    other = _BIRTHDAY.sub(lambda match: _completed(match, said), other)
    other = _YEAR_OF_LIFE.sub(lambda match: _birthday(match, said), other)
    for name, short in _COURTS:
        if short in said and name.search(other):
            other = name.sub(short, other)
    return Equivalent(other, denied) if other != text else None


def _until(match: re.Match[str], said: str) -> str:
    before = str(int(match["year"]) - 1)
    named = re.search(rf"\b[Bb]is\s+(?:Ende\s+)?(?:31\.\s?12\.\s?|31\.\s+Dezember\s+|einschließlich\s+)?{before}\b", said)
    return f"{'B' if match['word'] == 'Vor' else 'b'}is {before}" if named else match.group()


def _earlier(match: re.Match[str], sources: Sequence[str]) -> str:
    """„Davor“, where a source says so right after „seit 1.1.“ of the year."""
    since = re.compile(
        rf"\b(?:[Ss]eit|[Aa]b)\s+(?:1\.\s?1\.\s?|1\.\s+(?:Jänner|Januar)\s+)?{match['year']}\b"
        r".*\s(?:Davor|Zuvor|Vorher|Bis dahin)\b"
    )
    word = "Davor" if match["word"] == "Vor" else "davor"
    return word if any(since.search(source) for source in sources) else match.group()


def _before(match: re.Match[str], said: str) -> str:
    after = str(int(match["year"]) + 1)
    named = re.search(rf"\b[Vv]or\s+(?:dem\s+)?(?:1\.\s?1\.\s?|1\.\s+(?:Jänner|Januar)\s+)?{after}\b", said)
    return f"{'V' if match['word'] == 'Bis' else 'v'}or {after}" if named else match.group()


def _has_form(lowered: str, word: str) -> bool:
    """Whether the text has the adjective in any inflection."""
    base = re.sub(r"e[nrsm]?$", "", word)
    return re.search(rf"\b{re.escape(base)}(?:e[nrsm]?)?\b", lowered) is not None


def _unfolded(match: re.Match[str], lowered: str) -> str:
    base = re.sub(r"e[nrsm]?$", "", match["word"])
    denied = re.search(rf"\bnicht\s+(?:mehr\s+)?{re.escape(base)}(?:e[nrsm]?)?\b", lowered)
    return f"nicht {match['word']}" if denied and not _has_form(lowered, match.group()) else match.group()


def _end(match: re.Match[str], lowered: str) -> str:
    unit = (match["of"] or match["whole"].removesuffix("s").removesuffix("e")).lower()
    one, other = f"{unit}esende" if unit == "jahr" else f"{unit}sende", f"ende des {unit}"
    if match["of"] and one in lowered:
        return f"am {one.capitalize()}"
    if match["whole"] and other in lowered:
        return f"am Ende des {unit.capitalize()}{'es' if unit == 'jahr' else 's'}"
    return match.group()


def _completed(match: re.Match[str], said: str) -> str:
    named = re.search(rf"\b{match['age']}\.\s+Lebensjahr", said)
    return f"vollendeten {match['age']}. Lebensjahr" if named else match.group()


def _birthday(match: re.Match[str], said: str) -> str:
    age = match["a"] or match["b"]
    return f"{age}. Geburtstag" if re.search(rf"\b{age}\.\s+Geburtstag", said) else match.group()
