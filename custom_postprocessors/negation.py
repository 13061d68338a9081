"""Whether a statement denies, restricts and excepts what its source does: turning words compared by what stands around them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from custom_postprocessors.polarity import CLAUSE_BEGIN, CLAUSE_END, Turn, found_turns, says_not, says_only
from custom_postprocessors.words import Word, coverage

_NEIGHBOURS = 2
_REACH = 70
_LEAST_MATCHED = 0.7
_INFINITIVE = re.compile(r"\bzu [a-zäöüß]+n$|\b(?:ab|an|auf|aus|ein|mit|nach|vor|weg|zurück)zu[a-zäöüß]+n$")
"""„… zu verzichten, hält nicht“: the clause is the subject of what follows."""


@dataclass(frozen=True, slots=True)
class Wording:
    """A text with all of its content words (neutral ones too)."""

    text: str
    words: tuple[Word, ...]

    @property
    def stems(self) -> frozenset[str]:
        """All stems and parts."""
        return frozenset(stem for word in self.words for stem in word.stems)


def dropped_turns(claim: Wording, source: Wording) -> Iterator[Turn]:
    """Turning words of the source that the claim leaves out although it says again what stands around them."""
    for turn, region in _counterparts(source, claim):
        if not _turned(turn, region):
            yield turn


def added_turns(claim: Wording, source: Wording) -> Iterator[Turn]:
    """Turning words of the claim where the source says the same without any."""
    for turn, region in _counterparts(claim, source):
        if not _turned(turn, region):
            yield turn


def _counterparts(one: Wording, other: Wording) -> Iterator[tuple[Turn, str]]:
    """For each turning word in `one`: the stretch of `other` that says what stands around it, where most of that is said."""
    stems = other.stems
    for turn, start, end in found_turns(one.text):
        near = _around(one.words, start, end)
        matched = [word for word in near if coverage(word, stems) == 1.0]
        if near and len(matched) / len(near) >= _LEAST_MATCHED:
            yield turn, _stretch(other, matched)


def _around(words: Sequence[Word], start: int, end: int) -> list[Word]:
    before = [word for word in words if word.end <= start and start - word.end <= _REACH][-_NEIGHBOURS:]
    after = [word for word in words if word.start >= end and word.start - end <= _REACH][:_NEIGHBOURS]
    return [word for word in (*before, *after) if not found_turns(word.text)]


def _stretch(other: Wording, matched: Sequence[Word]) -> str:
    """The clauses from the first to the last of the matched words, whole; a matched word close to others wins."""
    places = [
        [word for word in other.words if word.whole == item.whole or coverage(item, frozenset(word.stems)) == 1.0]
        for item in matched
    ]
    anchor = min(
        (place for options in places for place in options),
        key=lambda word: sum(min((abs(word.start - option.start) for option in options), default=0) for options in places),
        default=None,
    )
    if anchor is None:
        return other.text
    near = [min(options, key=lambda word: abs(word.start - anchor.start)) for options in places if options]
    begin, finish = min(word.start for word in near), max(word.end for word in near)
    left, right = CLAUSE_BEGIN.search(other.text[:begin]), CLAUSE_END.match(other.text[finish:])
    stretch = (left.group() if left else "") + other.text[begin:finish] + (right.group() if right else "")
    rest = other.text[finish + (right.end() if right else 0) :]
    if _INFINITIVE.search(stretch) and rest.startswith(",") and (verb := CLAUSE_END.match(rest[1:])):
        return f"{stretch},{verb.group()}"
    return stretch


def _turned(turn: Turn, text: str) -> bool:
    if turn == "not":
        return says_not(text) or any(found == "except" for found, _, _ in found_turns(text))
    if turn == "only":
        return says_only(text)
    return any(found == "except" for found, _, _ in found_turns(text)) or says_only(text) or says_not(text)
