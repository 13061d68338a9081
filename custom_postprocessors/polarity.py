"""Words that turn or narrow a statement: negation, exclusiveness, exception, bounds of values."""

import re
from typing import Literal

Turn = Literal["not", "only", "except"]
Bound = Literal["least", "most"]

_NUMBER = r"(?:\d|null|ein|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf)"
_TURNS: dict[Turn, re.Pattern[str]] = {
    "not": re.compile(
        r"\b(?:nicht|nichts|kein|keine|keinen|keinem|keiner|keines|nie|niemals|weder|ohne|keinesfalls|keinerlei)"
        rf"\b(?!\s+(?:nur|(?:mehr|weniger|länger|kürzer|später|früher) als|(?:unter|über)\s+{_NUMBER}))(?:\s+mehr\b)?",
        re.IGNORECASE,
    ),
    "only": re.compile(
        r"\b(?:nur|ausschließlich|lediglich|einzig|bloß|allein(?:e|ige|iger)?)\b(?!\s*(?:(?:mehr|noch)\b(?!\s+als)|nicht\b))",
        re.IGNORECASE,
    ),
    "except": re.compile(
        r"\b(?:außer|ausgenommen|(?:mit|bis auf)\s+(?:\w+\s+)?Ausnahmen?|ausnahmsweise|nur nicht|es sei denn|abgesehen von)\b",
        re.IGNORECASE,
    ),
}
_SOFT_NOT = re.compile(
    r"\b(?:un(?:zul|wirk|zum|be|gült|selb|ver|unter|ent(?!erl)|mögl|ab|erheb|schäd)\w+(?!\s+(?-i:[A-ZÄÖÜ]))|gehemmt|hemmt"
    r"|entf(?:ällt|allen|iel)\w*|verbot\w*"
    r"|untersagt|ausgeschlossen|weggefallen|fällt weg|fallen weg|verfällt|verfallen|verliert|verlieren|verloren|scheidet aus"
    r"|schließ(?:t|en)\s[^.;,]{0,40}\baus"
    r"|\w{3,}frei(?:e[nrsm]?)?|frei|\w*befreit\w*|statt|unterbleibt|schadet|bleibt? außer)\b",
    re.IGNORECASE,
)
_SOFT_ONLY = re.compile(
    r"\b(?:erst|höchstens|maximal|längstens|nur (?:mehr|noch)|nicht (?:unter|über|mehr|weniger|länger|kürzer)"
    r"|begrenzt|beschränkt|(?:zur Gänze|allein) vom|abschließend)\b",
    re.IGNORECASE,
)
_EDGE = r"[;:()–](?=\s|$)|\s\(|(?<!\d)\.(?=\s|$)"
_INSERTED = re.compile(r"\s–\s([^–.;:]{2,60})\s–(?=\s)")
"""What two dashes insert into a clause, which goes on after it."""
_ELLIPTIC = re.compile(r"(?:aber|jedoch|doch)(?:\s+\w+){1,3}|(?:er|sie|es)\s+muss\s+(?:aber\s+|jedoch\s+)?nicht")
"""„…, aber nie gezwungen“: what it denies stands in the clause before."""
_COUNTED_TWICE = re.compile(_SOFT_NOT.pattern + r"|\bausgenommen\b|\bohne\b", re.IGNORECASE)
_ALIKE = 6
_CLAUSES = re.compile(
    rf"{_EDGE}|,\s+(?=(?:weil|wenn|dass|die|der|das|den|dem|deren|wobei|aber|sondern|sodass|soweit|sofern|auch wenn|nicht|sonst"
    r"|ohne|so)\b)"
    r"|\s(?:und|aber|jedoch|während|wobei)\s(?=(?:darf|dürfen|kann|können|wird|werden|ist|sind|muss|müssen|gilt|gelten|hat|haben|soll|"
    r"bleibt|richtet|zählt)\b)"
)
CLAUSE_BEGIN = re.compile(r"(?:(?![;:()–]\s|,\s|(?<!\d)\.\s).)*$")
CLAUSE_END = re.compile(r"(?:(?![;:()–](?:\s|$)|,\s|(?<!\d)\.(?:\s|$)).)*")
"""What of a text before, or after, a place is still its clause; a table row is one clause."""
_LEAST = re.compile(
    r"\b(?:mindestens|wenigstens|zumindest|mind\.|frühestens|nicht (?:weniger|kürzer|früher) als|nicht unter)\b[^.;|\d]{0,30}$",
    re.IGNORECASE,
)
_MOST = re.compile(
    r"\b(?:höchstens|maximal\w*|max\.|längstens|spätestens|nicht (?:mehr|länger|später) als|nicht über"
    r"|insgesamt höchstens)[^.;|\d]{0,30}$",
    re.IGNORECASE,
)
_SOFT_LEAST = re.compile(
    r"\b(?:ab|mehr als|länger als|später als|über|nach|Mindest\w*|mindest\w*|untere|Untergrenze|erst)\b[^.;|\d]{0,30}$",
    re.IGNORECASE,
)
_SOFT_MOST = re.compile(
    r"\b(?:bis(?: zu)?|unter|weniger als|kürzer als|früher als|Höchst\w*|Obergrenze\w*|Maximal\w*|Deckel\w*|gedeckelt|begrenzt"
    r"|\w*[Gg]renzen?)\b"
    r"[^.;|\d]{0,30}$",
    re.IGNORECASE,
)


_COORDINATED = re.compile(r"\b\d[\d.,]*\s?[^\W\d]+\s(?:und|oder|sowie)\s$")
"""„mindestens 4 Monate und 25 Wochenstunden“: the bound is that of both."""


def found_turns(text: str) -> list[tuple[Turn, int, int]]:
    """The turning words of a text with their places, in order."""
    found = [(turn, match.start(), match.end()) for turn, pattern in _TURNS.items() for match in pattern.finditer(text)]
    return sorted(found, key=lambda item: item[1])


def says_not(text: str) -> bool:
    """Whether the text denies something, also by a word (unzulässig, entfällt, beitragsfrei)."""
    return bool(_TURNS["not"].search(text) or _SOFT_NOT.search(text))


def denied_clauses(text: str) -> list[str]:
    """The clauses of a text that deny something by a word of their own (nicht, kein, ohne)."""
    return [clause for clause in _clauses(text) if _TURNS["not"].search(clause)]


def soft_denials(text: str) -> list[str]:
    """The clauses of a text that deny or except something, also by a word (unzulässig, entfällt, beitragsfrei)."""
    return [clause for clause in _clauses(text) if says_not(clause) or _TURNS["except"].search(clause)]


def denies_more(claim: str, source: str) -> bool:
    """Whether a clause that repeats a soft denial of its source („ausgenommen“) denies it once more („nicht ausgenommen“)."""
    words = [match.group().lower() for match in _COUNTED_TWICE.finditer(claim)]
    repeated = any(word[:_ALIKE] in source.lower() for word in words)
    return repeated and _count_denials(claim) > _count_denials(source)


def is_doubly_denied(clause: str) -> bool:
    """Whether a clause denies a denial: „wird nicht verloren“, „ist nicht ausgeschlossen“."""
    return bool(_TURNS["not"].search(clause) and _SOFT_NOT.search(clause))


def _count_denials(text: str) -> int:
    return sum(
        1
        for pattern in (_TURNS["not"], _COUNTED_TWICE)
        for match in pattern.finditer(text)
        if pattern is _COUNTED_TWICE or match.group().lower() != "ohne"
    )


def _clauses(text: str) -> list[str]:
    found: list[str] = []
    for clause in _CLAUSES.split(_INSERTED.sub(r" , \1 , ", text)):
        if found and _ELLIPTIC.fullmatch(clause.strip(" .*_")):
            found[-1] += f", {clause}"
        else:
            found.append(clause)
    return found


def says_only(text: str) -> bool:
    """Whether the text restricts something, also softly (erst, begrenzt)."""
    return bool(_TURNS["only"].search(text) or _SOFT_ONLY.search(text) or _TURNS["except"].search(text))


def bound(before: str) -> Bound | None:
    """The explicit bound (mindestens, höchstens) of a value that follows `before`."""
    before = _COORDINATED.sub("", before)
    if _LEAST.search(before):
        return "least"
    return "most" if _MOST.search(before) else None


def soft_bound(before: str) -> Bound | None:
    """The bound of a value that follows `before`, also by ab, über, bis, unter or a noun (Mindestlohn, Grenze)."""
    explicit = bound(before)
    if explicit is not None:
        return explicit
    if _SOFT_LEAST.search(before):
        return "least"
    return "most" if _SOFT_MOST.search(before) else None
