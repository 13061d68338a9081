"""A claim cut into the statements that are checked one by one."""

import re
from dataclasses import replace

from custom_postprocessors.sentences import split_units
from custom_postprocessors.value_roles import Statement
from custom_postprocessors.values import find_values
from custom_postprocessors.words import WordReader

_IN_RANGE = re.compile(r"\b(?:zwischen|von)\s+[\d.,]+$")
_VERB_FIRST = re.compile(
    r"[A-ZÄÖÜ][a-zäöüß]*t\s+(?:der|die|das|er|sie|es|wird|werden|man|ist|sind|jemand|dem|den|nach|nur|nicht|auch|ein\w*)\b"
)
"""„Beginnt die …“, „Ersetzt wird …“: the first word is written with a capital and is no noun."""
_NO_NOUN = re.compile(
    r"(?:Maßgeblich|Entscheidend|Zuletzt|Grundsätzlich|Durchschnittlich|(?:Ge|Ver|Be|Er|Zer)[a-zäöüß]+(?:t|en))\.?"
)
"""„Maßgeblich ist“, „Verglichen wird“: nor is an adjective or a participle at the beginning."""
_CLAUSE = re.compile(r";\s+|,\s+(?:(?:und|sowie|während|wobei|aber|jedoch|dagegen|dazu)\s+)?|\s+(?:und|sowie|während)\s+")


def split_statements(text: str, words: WordReader) -> tuple[Statement, ...]:
    """The statements of a claim: its sentences, and coordinated clauses that each have a noun and a value of their own."""
    pieces: list[str] = []
    for unit in split_units(text):
        sentence = text[unit.start : unit.end]
        begin = 0
        for match in _CLAUSE.finditer(sentence):
            left, right = sentence[begin : match.start()], sentence[match.end() :]
            if _IN_RANGE.search(left) and right[:1].isdigit():
                continue  # „zwischen 20 und 80 Prozent“
            if match.group()[0] == ";" or (_stands_alone(left, words) and _stands_alone(right, words)):
                pieces.append(left)
                begin = match.end()
        pieces.append(sentence[begin:])
    return tuple(_statement(piece, words) for piece in pieces if piece.strip())


def _statement(text: str, words: WordReader) -> Statement:
    values = find_values(text)
    outside = [word for word in words.words(text) if not any(value.start <= word.start < value.end for value in values)]
    if outside and outside[0].start == 0 and (_VERB_FIRST.match(text) or _NO_NOUN.fullmatch(outside[0].text)):
        outside[0] = replace(outside[0], text=outside[0].text.lower())
    return Statement(text, tuple(outside), values)


def _stands_alone(text: str, words: WordReader) -> bool:
    values = [value for value in find_values(text) if value.kind in ("amount", "rate", "period", "count")]
    nouns = [word for word in words.words(text) if word.is_noun and not any(v.start <= word.start < v.end for v in values)]
    return bool(values and nouns)
