"""What a claim that repeats its source word by word changed in it: a turning word, a noun, or where the source goes on."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

_TOKEN = re.compile(r"[^\W_]+(?:[-.,/][^\W_]+)*|[.;:!?|()–]")
_EDGE = "|"
_ARTICLES = frozenset(("ein", "eine", "einen", "einem", "einer", "eines"))
_NONE = frozenset(("kein", "keine", "keinen", "keinem", "keiner", "keines"))
_KINDS = (
    _NONE | {"nicht", "nie", "niemals"},
    frozenset(("nur", "ausschließlich", "lediglich")),
    frozenset(("mindestens", "wenigstens", "zumindest")),
    frozenset(("höchstens", "maximal", "längstens", "spätestens")),
    frozenset(("frühestens",)),
)
_KIND_OF = {word: kind for kind in _KINDS for word in kind}
_NEAR = 3
_REDUNDANT_BEFORE = frozenset(("bis", "ab", "nur", "mehr", "weniger"))
"""„höchstens bis“, „nicht nur“, „nicht mehr als“: without the first word the bound or the emphasis is still there."""
_JOINS = frozenset(("und", "sowie", "oder", "wobei", "aber", "während", "bzw", "jedoch", "dagegen", "denn"))
_LEAST_RUN = 3
_CACHED_TEXTS = 4096


@dataclass(frozen=True, slots=True)
class Token:
    """A word or number in lower case, or „|“ for the edge of a clause or cell; `opens`: it follows a comma."""

    text: str
    written: str
    opens: bool = False

    @property
    def is_edge(self) -> bool:
        """Whether it only parts clauses."""
        return self.text == _EDGE


@lru_cache(maxsize=_CACHED_TEXTS)
def read_tokens(text: str) -> tuple[Token, ...]:
    """The tokens of a text without emphasis and commas, an edge at both ends, never two edges in a row."""
    found, end = [Token(_EDGE, "")], 0
    for match in _TOKEN.finditer(text):
        word = match.group()
        edge = not word[0].isalnum()
        opens = "," in text[end : match.start()]
        end = match.end()
        if not (edge and found[-1].is_edge):
            found.append(Token(_EDGE if edge else word.lower(), word, opens))
    if not found[-1].is_edge:
        found.append(Token(_EDGE, ""))
    return tuple(found)


def turned_words(one: str, other: str) -> Iterator[str]:
    """Turning words of `one` (nicht, nur, höchstens …) where `other` repeats the words on both sides of it without the turn."""
    mine, theirs = read_tokens(one), read_tokens(other)
    runs = _Runs(theirs)
    words = [token.text for token in mine]
    for place, word in enumerate(words):
        if word not in _KIND_OF or words[place + 1] in _REDUNDANT_BEFORE:
            continue
        fillers = sorted(_ARTICLES) if word in _NONE else [""]
        before, after = words[max(place - 2, 0) : place], words[place + 1 : place + 3]
        if runs.turned(_KIND_OF[word], before[-1], after[0]):
            continue
        if any(runs.has(run) for filler in fillers for run in _around(before, after, (filler,) if filler else ())):
            yield mine[place].written


def _around(before: Sequence[str], after: Sequence[str], middle: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Three words around a place, two of one side and one of the other; an edge is no word, an article counts as one."""
    for left, right in ((before[-1:], after[:2]), (before[-2:], after[:1])):
        run = (*left, *middle, *right)
        if len(left) + len(right) == 3 and sum(word != _EDGE for word in run) >= 2:
            yield run


class _Runs:
    """The runs of words of a text, to look up whether it has one."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._words = tuple(token.text for token in tokens)
        self._places: dict[str, list[int]] = {}
        for place, word in enumerate(self._words):
            self._places.setdefault(word, []).append(place)

    def has(self, run: tuple[str, ...]) -> bool:
        """Whether the words stand there one after the other."""
        return any(self._words[place : place + len(run)] == run for place in self._places.get(run[0], ()))

    def turned(self, kind: frozenset[str], before: str, after: str) -> bool:
        """Whether a word of the kind follows `before`, or goes before `after`, by at most three words of the same clause."""
        follows = (range(place + 1, place + 1 + _NEAR) for place in self._of(before))
        precedes = (range(place - 1, place - 1 - _NEAR, -1) for place in self._of(after))
        return any(self._meets(kind, steps) for steps in follows) or any(self._meets(kind, steps) for steps in precedes)

    def _of(self, word: str) -> Sequence[int]:
        return self._places.get(word, ()) if word != _EDGE else ()

    def _meets(self, kind: frozenset[str], steps: range) -> bool:
        for place in steps:
            if not 0 <= place < len(self._words) or self._words[place] == _EDGE or (steps.step > 0 and self._tokens[place].opens):
                return False
            if self._words[place] in kind:
                return True
            if steps.step < 0 and self._tokens[place].opens:
                return False
        return False


def exchanged_words(claim: str, source: str) -> Iterator[tuple[str, str]]:
    """Words of the claim in the place of another one of the source, as both write them, the words around them being the same."""
    mine, theirs = read_tokens(claim), read_tokens(source)
    known = {token.text for token in theirs}
    for place, other in _same_surroundings(mine, theirs, known):
        written, said = mine[place], theirs[other]
        if written.text != said.text and written.text[0].isalpha() and said.text[0].isalpha():
            yield written.written, said.written


def _same_surroundings(mine: Sequence[Token], theirs: Sequence[Token], known: Collection[str]) -> Iterator[tuple[int, int]]:
    """Places of both with the same word before and after and one further; of a word in `known`, on both sides further."""
    places: dict[tuple[str, str], list[int]] = {}
    for other in range(1, len(theirs) - 1):
        places.setdefault((theirs[other - 1].text, theirs[other + 1].text), []).append(other)
    for place in range(1, len(mine) - 1):
        if mine[place].is_edge:
            continue
        around = mine[place - 1].text, mine[place + 1].text
        for other in places.get(around, ()):
            further = [_same(mine, theirs, place + step, other + step) for step in (-2, 2)]
            if around == (_EDGE, _EDGE):
                further = [place + 2 < len(mine) and further[1]]
            same = all(further) if mine[place].text in known else any(further)
            if same and not theirs[other].is_edge:
                yield place, other


def _same(mine: Sequence[Token], theirs: Sequence[Token], place: int, other: int) -> bool:
    """Whether both say the same there, an edge or the outside counting as said."""
    outside = not 0 <= place < len(mine), not 0 <= other < len(theirs)
    return all(outside) or (not any(outside) and mine[place].text == theirs[other].text)


def is_patchwork(claim: str, sources: Sequence[tuple[str, str]]) -> bool:
    """Whether a claim is put together from the wording of two entries, one of them broken off or entered inside a clause.

    Args:
        claim: the statement.
        sources: (entry id, text) of every unit that was cited.
    """
    if len({entry for entry, _ in sources}) < 2:
        return False
    mine = read_tokens(claim)
    return any(
        run.entry != before.entry and (run.inside or (before.broken and not _parted(mine, before.end, run.start)))
        for before, run in pairwise(_copied_runs(mine, sources))
        if all(token.is_edge for token in mine[before.end : run.start])
    )


def _parted(mine: Sequence[Token], end: int, start: int) -> bool:
    """Whether a comma or the edge of a clause stands between two runs."""
    return mine[start].opens or mine[end - 1].is_edge or start > end or mine[start].is_edge


@dataclass(frozen=True, slots=True)
class _Run:
    """The claim's tokens `[start, end)`, copied from an entry.

    `inside`: they begin in the middle of a clause there; `broken`: they end in the middle of one.
    """

    start: int
    end: int
    entry: str = ""
    inside: bool = False
    broken: bool = False


def _copied_runs(mine: Sequence[Token], sources: Sequence[tuple[str, str]]) -> Iterator[_Run]:
    """The longest copied runs from left to right."""
    place = 0
    while place < len(mine):
        best = _Run(place, place)
        for entry, text in sources:
            run = _longest(mine, place, read_tokens(text), entry)
            if run is not None and run.end > best.end:
                best = run
        if best.entry:
            yield best
        place = max(best.end, place + 1)


def _longest(mine: Sequence[Token], place: int, theirs: Sequence[Token], entry: str) -> _Run | None:
    """The longest run of at least three words from `place` on that a text has too."""
    longest: _Run | None = None
    for other, token in enumerate(theirs):
        if token.is_edge or token.text != mine[place].text:
            continue
        length = _common(mine, place, theirs, other)
        words = sum(not item.is_edge for item in theirs[other : other + length])
        if words >= _LEAST_RUN and (longest is None or place + length > longest.end):
            before, after = theirs[other - 1], theirs[min(other + length, len(theirs) - 1)]
            inside = not (token.opens or before.is_edge or before.text in _JOINS or token.text in _JOINS)
            broken = not (after.opens or after.is_edge or after.text in _JOINS)
            longest = _Run(place, place + length, entry, inside, broken)
    return longest


def _common(mine: Sequence[Token], place: int, theirs: Sequence[Token], other: int) -> int:
    most = min(len(mine) - place, len(theirs) - other)
    return next((step for step in range(most) if mine[place + step].text != theirs[other + step].text), most)
