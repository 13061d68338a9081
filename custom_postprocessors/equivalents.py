"""Other wordings of a claim that say exactly the same, for a source that happens to use them."""

import re
from collections.abc import Iterator, Sequence

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


def equivalents(text: str, sources: Sequence[str]) -> Iterator[str]:
    """The claim in other words that say the same, each only where a source has that wording; nothing when none has.

    „vor 2025“ and „bis 2024“, „nicht wirksam“ and „unwirksam“, „noch keine zwölf“ and „unter zwölf“, „Ende des Jahres“ and
    „Jahresende“, „18. Geburtstag“ and „18. Lebensjahr“. All that apply are made at once.
    """
    said = " ".join(sources)
    other = text
    other = _BEFORE_YEAR.sub(lambda match: _until(match, said), other)
    if other == text:
        other = _UNTIL_YEAR.sub(lambda match: _before(match, said), other)
    lowered = said.lower()
    denied = _DENIED.sub(lambda match: f"un{match['word']}" if _has_form(lowered, f"un{match['word']}") else match.group(), other)
    other = denied if denied != other else _UN_WORD.sub(lambda match: _unfolded(match, lowered), other)
    other = _NOT_BECAUSE.sub("nicht dadurch, dass", other)
    other = _NOT_YET.sub("unter ", other)
    other = _YEAR_END.sub(lambda match: _end(match, lowered), other)
    other = _BIRTHDAY.sub(lambda match: _completed(match, said), other)
    other = _YEAR_OF_LIFE.sub(lambda match: _birthday(match, said), other)
    if other != text:
        yield other


def _until(match: re.Match[str], said: str) -> str:
    before = str(int(match["year"]) - 1)
    named = re.search(rf"\bbis\s+(?:Ende\s+)?(?:31\.\s?12\.\s?|31\.\s+Dezember\s+|einschließlich\s+)?{before}\b", said)
    return f"{'B' if match['word'] == 'Vor' else 'b'}is {before}" if named else match.group()


def _before(match: re.Match[str], said: str) -> str:
    after = str(int(match["year"]) + 1)
    named = re.search(rf"\bvor\s+(?:dem\s+)?(?:1\.\s?1\.\s?|1\.\s+(?:Jänner|Januar)\s+)?{after}\b", said)
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
