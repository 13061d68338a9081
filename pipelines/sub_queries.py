"""Two questions in one, taken apart so that each is looked up by itself."""

import re

from pipelines.rule_text import fold, rule
from pipelines.subject import SubjectFinder

MOST_QUERIES = 3
_SUBJECT_WORDS = 3
_OPENING_WORDS = 3
_QUESTION_WORD = (
    r"(?:wie ?vie?l\w*|wieviel\w*|wievü\w*|wie|was|wos|wann|welche[rsnm]?|wölche[rsnm]?|wer|wem|wo|ob|bis wann|ab wann|"
    r"(?:bis|ab|mit|in|von|zu|für|nach|auf) (?:zu )?welche[rnm]?|warum|wieso|"
    r"darf|dürfen|muss|müss|müssen|kann|können|bekommt|kriegt|fällt|gilt|zahlt)"
)
_SENTENCE = re.compile(r"(?<=[?!])\s+|(?<=[^\W\d_]{3}\.)\s+|\s+[–—]\s+|;\s+")
_JOINT = re.compile(rf"(?:,\s*|\s+)(?:und|u\.?|oder|sowie)\s+(?={_QUESTION_WORD}\b)", re.IGNORECASE)
_COMMA_JOINT = re.compile(rf",\s*(?={_QUESTION_WORD}\b)", re.IGNORECASE)
_ASKS = rule(rf"^(?:{_QUESTION_WORD})\b|\?\s*$|: (?:{_QUESTION_WORD})\b")
_LIST = re.compile(r"^(?P<items>[^:?]{8,160}):\s*(?P<ask>(?:was|welche|wie ?viel|wo|ist|sind)\b.{4,80})$", re.IGNORECASE)
_ITEM = re.compile(r",\s*(?:und\s+|u\s+)?|\s+(?:und|u|oder)\s+")


def split_question(question: str, subjects: SubjectFinder) -> tuple[str, ...]:
    """The parts of a question that ask for different things, each able to stand alone; empty when it asks for one.

    A part that names no subject of its own is no part („und wann ist er fällig“ asks about the same thing); one that names a
    single word gets the subject of the part before. At most three parts.
    """
    listed = _listed(question, subjects)
    if listed:
        return listed
    pieces = _with_subject([piece for piece in _pieces(question) if _ASKS.search(fold(piece))], subjects)
    if len(pieces) < 2:
        return ()
    parts: list[str] = []
    before = question.partition(pieces[0])[0] + pieces[0]
    for index, piece in enumerate(pieces):
        own = subjects.words(piece)
        if index and not own:
            continue
        missing = [word for word in subjects.rarest(before, _SUBJECT_WORDS) if word not in own] if len(own) < 2 else []
        parts.append(" ".join([piece.strip(" ,.?"), *missing]))
        before = piece if len(own) >= 2 else before
    return tuple(parts[:MOST_QUERIES]) if len(parts) > 1 else ()


def _pieces(question: str) -> list[str]:
    pieces: list[str] = []
    for sentence in _SENTENCE.split(question):
        for clause in _JOINT.split(sentence):
            halves = _COMMA_JOINT.split(clause)
            # „… welche Frist gilt, wenn …“: a comma before a question word joins two questions only after a first one.
            pieces += halves if len(halves) > 1 and _ASKS.search(fold(halves[0])) else [clause]
    return [piece for piece in pieces if piece.strip()]


def _with_subject(pieces: list[str], subjects: SubjectFinder) -> list[str]:
    """The pieces, with an opening one that names nothing („Ab wann …“) joined to the next."""
    if len(pieces) > 1 and (not subjects.words(pieces[0]) or len(pieces[0].split()) <= _OPENING_WORDS):
        return [f"{pieces[0].strip()} und {pieces[1].strip()}", *pieces[2:]]
    return pieces


def _listed(question: str, subjects: SubjectFinder) -> tuple[str, ...]:
    """„Weihnachtsfeier, Gutschein und Essensbons: was davon ist steuerfrei?“ as one query per thing listed."""
    hit = _LIST.match(question.strip())
    if hit is None:
        return ()
    items = [item.strip() for item in _ITEM.split(hit["items"]) if subjects.words(item)]
    if not 2 <= len(items) <= 5:
        return ()
    ask = " ".join(subjects.rarest(hit["ask"], 2))
    return tuple(f"{item} {ask}".strip() for item in items[:MOST_QUERIES])
