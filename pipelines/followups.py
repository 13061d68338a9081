"""A follow-up question completed with the subject of the question before, by rule."""

import re
from collections.abc import Sequence

from pipelines.rule_text import fold, rule
from pipelines.subject import SubjectFinder

_LEAD = re.compile(
    r"^\s*(?:(?:und|u|aber|also|ok|okay|danke|gut|ah|aha|na gut)[\s,.!:…]+)*"
    r"(?:(?:was|wie)\s+(?:ist|is|wäre|wär|schaut'?s?|sieht es|gilt|war)\s+(?:es\s+|das\s+|des\s+|denn\s+|da\s+|dann\s+)*"
    r"(?:mit|bei|beim|für|fuer|im|in|ab|seit|um|aus)\b|wie\s+(?:ist|is)\s+das\s+)?",
    re.IGNORECASE,
)
_AND = re.compile(r"^(?:und|u|aber|also)\s+", re.IGNORECASE)
_STARTS = rule(
    r"^(?:und|u|aber|also|ok|okay|danke|auch|nur|bei|beim|für|mit|ohne|in|im|ab|seit|"
    r"was ist mit|was is mit|wie ist das|wie is des|gilt das|gilt des)\b"
)
_POINTS_BACK = rule(
    r"\b(?:er|sie|es|ihn|ihm|ihr|das|des|die|der|dies\w*|davon|dafür|dabei|dazu|damit|darauf|dort|denen|dann|dasselbe|selbe|auch)\b"
)
_ASKS = rule(r"\b(?:wie|was|wann|welche[rsnm]?|wer|wo|wie ?viel\w*|gilt|muss|darf|kann|bekommt|kriegt|zahlt|ist|sind|fällt)\b")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_RELATIVE = rule(r"\b(?:heuer|(?:nächst|vorig|letzt|kommend|vergangen)\w* jahr\w*)\b")
_PHRASE = re.compile(
    r"\b(in|im|für|fuer|bei|beim|ab|nach|mit|ohne)\s+(?:(?:der|dem|den|die|das|einer?|einem|einen)\s+)?([^\s,?.]+)", re.IGNORECASE
)
_SHORT_WORDS = 9
_SUBJECT_WORDS = 4


def standalone(question: str, earlier: Sequence[str], subjects: SubjectFinder) -> str | None:
    """The question as it would have been asked without the chat before it; None when it stands alone already.

    `earlier` are the questions before it, oldest first; follow-ups among them are completed first. Only questions are used,
    never an answer or a source.
    """
    if not earlier or not _is_follow_up(question, subjects):
        return None
    before = standalone(earlier[-1], earlier[:-1], subjects) or earlier[-1]
    rest = _rest(question)
    completed = None
    if _is_fragment(rest):
        if not (subjects.words(rest) or _YEAR.search(rest) or _RELATIVE.search(fold(rest)) or _PHRASE.search(rest)):
            return None
        completed = _replaced(before, rest)
    if completed is None:
        about = [word for word in subjects.rarest(before, _SUBJECT_WORDS) if fold(word) not in fold(rest)]
        years = [year for year in _YEAR.findall(before) if not _YEAR.search(rest) and not _RELATIVE.search(fold(rest))]
        if not about:
            return None
        completed = f"{_AND.sub('', rest)} ({', '.join([*about, *years])})"
    return completed[0].upper() + completed[1:] + "?"


def _is_follow_up(question: str, subjects: SubjectFinder) -> bool:
    folded = fold(question)
    words = folded.split()
    own = subjects.words(question)
    if len(words) > 2 * _SHORT_WORDS:
        return False
    if not own:
        return True
    if _STARTS.search(folded):
        return len(own) < 3 and not (len(own) == 2 and _names_itself(folded))
    return len(own) < 2 and len(words) <= _SHORT_WORDS and _POINTS_BACK.search(folded) is not None and not _names_itself(folded)


def _names_itself(folded: str) -> bool:
    """Whether the question asks about something that it names („wie hoch ist der Pendlereuro“), not about „das“ alone."""
    return re.search(r"\b(?:ist|is|sind|war|betragt|gilt) (?:der|die|das|ein|eine) \w{4,}", folded) is not None


def _rest(question: str) -> str:
    return question.strip().rstrip("?!. ").strip()


def _is_fragment(rest: str) -> bool:
    """„und 2025“, „und in Wien“, „was ist mit Lehrlingen“: no question of its own, only what is different now."""
    core = _LEAD.sub("", rest)
    return bool(core) and (core != rest or len(core.split()) <= 4) and _ASKS.search(fold(core)) is None


def _replaced(before: str, rest: str) -> str:
    """The question before, with what the fragment changes."""
    base = _rest(before)
    core = _LEAD.sub("", rest).strip()
    years = _YEAR.findall(rest)
    if years and not re.sub(r"\W|\b(?:im|in|für|ab|jahr|das|und|von)\b", "", _YEAR.sub("", core), flags=re.IGNORECASE):
        return _YEAR.sub(years[-1], base) if _YEAR.search(base) else f"{base} im Jahr {years[-1]}"
    if _RELATIVE.search(fold(core)) and len(core.split()) <= 3:
        return f"{_YEAR.sub('', base).replace('  ', ' ').strip()} {core}"
    phrase = _PHRASE.search(rest)
    if phrase is not None:
        for old in _PHRASE.finditer(base):
            if old[1].lower() == phrase[1].lower() and not _YEAR.search(old[0]):
                return base[: old.start()] + phrase[0] + base[old.end() :]
        return f"{base} {rest[phrase.start() :]}"
    return f"{base} – {core}"
