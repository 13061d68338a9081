"""Which few of the ranked pieces are quoted: best first, nothing twice, readable, within the budget."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from custom_postprocessors.evidence import Conflict, ConflictSide
from pipelines.extractive_ranking import Candidate
from pipelines.extractive_units import Quotable

_REPEATED_SHARE = 0.15
_LARGEST_GAP = 2
"""Characters between two sentences that may be quoted as one; a larger gap is text that is left out."""
_DEPENDENT = re.compile(
    r"(?:(?:Sie|Er|Es|Das|Dies\w*|Jene\w*|Dabei|Davon|Davor|Dafür|Dazu|Dann|Danach|Daraus|Daher|Damit|Darüber|Darunter|Daneben|"
    r"Dort|Hier|Beide\w*|Ebenso|Deshalb|Sonst|Andernfalls|Umgekehrt|Zusätzlich|Solche\w*|Ihr\w*|Sein\w*|Auch|Nur|Erst|Wer das)\b"
    r"|Für (?:sie|ihn|diese)\b|In (?:diesem|beiden|diesen)\b|Bei (?:beiden|diesen)\b)"
)


@dataclass(frozen=True, slots=True)
class Budget:
    """What an answer may cost: quotes, characters of quotes, and how far below the best a quote may score."""

    quotes: int
    characters: int
    score_range: float
    longest_quote: int = 330
    repetition: float = 1.5
    """Points that a piece loses when all its words were already quoted."""
    same_value: float = 1.0
    """Points that a piece loses when another one already gave its values for the same words of the question."""
    same_entry: float = 0.0
    """Points that a piece loses for every quote that its entry already has."""
    per_part: int = 1
    """Quotes that each further part of the question is given before the rest goes by score."""


ANSWER_BUDGET = Budget(quotes=8, characters=1200, score_range=6.0)
VALUE_BUDGET = Budget(quotes=8, characters=1200, score_range=4.0)
"""Of a question for one value: what scores well below the best is a neighbour, not the answer."""
SURVEY_BUDGET = Budget(quotes=16, characters=3000, score_range=8.0, same_entry=0.4)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What is quoted as one: a table row, or one or more sentences of a paragraph that follow each other."""

    candidates: tuple[Candidate, ...]

    @property
    def start(self) -> int:
        """Where the quote begins in its section."""
        return self.candidates[0].quotable.start

    @property
    def end(self) -> int:
        """Where the quote ends in its section."""
        return self.candidates[-1].quotable.end

    @property
    def score(self) -> float:
        """The score of its best piece."""
        return max(candidate.score for candidate in self.candidates)

    @property
    def length(self) -> int:
        """Characters that quoting it costs."""
        header = self.candidates[0].quotable.header
        return self.end - self.start + (header[1] - header[0] if header else 0)

    @property
    def quotes(self) -> int:
        """Quotes that it takes: a row whose columns name values is quoted with the header row."""
        return 2 if self.candidates[0].quotable.header else 1

    @property
    def text(self) -> str:
        """What the reader sees."""
        return " ".join(candidate.quotable.text for candidate in self.candidates)

    def follows(self, other: "Excerpt") -> bool:
        """Whether it is the next sentence after `other` in the same paragraph."""
        last, first = other.candidates[-1], self.candidates[0]
        return (
            last.passage.node_id == first.passage.node_id
            and first.index == last.index + 1
            and not (last.quotable.is_row or first.quotable.is_row)
            and last.quotable.block == first.quotable.block
            and first.quotable.start - last.quotable.end <= _LARGEST_GAP
        )

    def joined(self, following: "Excerpt") -> "Excerpt":
        """Both as one."""
        return Excerpt((*self.candidates, *following.candidates))


class Selection:
    """Grows an answer piece by piece; `excerpts` are in the order in which they were chosen."""

    def __init__(self, ranked: Sequence[Candidate], budget: Budget) -> None:
        self._budget = budget
        self._by_place: Mapping[tuple[str, int], Candidate] = {
            (candidate.passage.node_id, candidate.index): candidate for candidate in ranked
        }
        self._lost = dict.fromkeys(self._by_place, 0.0)
        self._quotes_of: Counter[str] = Counter()
        self.excerpts: list[Excerpt] = []

    @property
    def characters(self) -> int:
        """Characters of all quotes."""
        return sum(excerpt.length for excerpt in self.excerpts)

    @property
    def quotes(self) -> int:
        """How many quotes there are."""
        return sum(excerpt.quotes for excerpt in self.excerpts)

    @property
    def full(self) -> bool:
        """Whether no further quote may be begun."""
        return self.quotes >= self._budget.quotes

    def worth(self, candidate: Candidate) -> float:
        """The score less what the piece only repeats, and less what its entry already has."""
        lost = self._lost.get((candidate.passage.node_id, candidate.index), 0.0)
        return candidate.score - lost - self._budget.same_entry * self._quotes_of[candidate.passage.entry_id]

    def _note(self, quoted: Candidate) -> None:
        self._quotes_of[quoted.passage.entry_id] += 1
        for place, candidate in self._by_place.items():
            lost = self._budget.repetition * _repeated_words(candidate.quotable, quoted.quotable)
            if _same_value(candidate, quoted):
                lost += self._budget.same_value
            self._lost[place] = max(self._lost[place], lost)

    def has(self, candidate: Candidate) -> bool:
        """Whether the piece is part of the answer."""
        return any(candidate in excerpt.candidates for excerpt in self.excerpts)

    def add(self, candidate: Candidate) -> bool:
        """Takes the piece, with the sentence that it depends on, if both fit; joins neighbouring sentences."""
        piece = self._with_antecedent(Excerpt((candidate,)))
        for number, excerpt in enumerate(self.excerpts):
            joined = (
                excerpt.joined(piece) if piece.follows(excerpt) else piece.joined(excerpt) if excerpt.follows(piece) else None
            )
            if joined and joined.end - joined.start <= self._budget.longest_quote:
                if self.characters - excerpt.length + joined.length > self._budget.characters:
                    return False
                self.excerpts[number] = joined
                self._note(candidate)
                return True
        if self.quotes + piece.quotes > self._budget.quotes or self.characters + piece.length > self._budget.characters:
            return False
        self.excerpts.append(piece)
        self._note(candidate)
        return True

    def widen(self, worst: float) -> None:
        """Spends what is left of the characters on the sentences beside those quoted, if they score above `worst`."""
        for number, excerpt in enumerate(self.excerpts):
            for step in (1, -1):
                beside = self._beside(self.excerpts[number], step)
                if beside is None or self.worth(beside) < worst or self.has(beside):
                    continue
                piece = Excerpt((beside,))
                joined = excerpt.joined(piece) if step == 1 else piece.joined(excerpt)
                fits = self.characters - excerpt.length + joined.length <= self._budget.characters
                if fits and joined.end - joined.start <= self._budget.longest_quote:
                    self.excerpts[number] = excerpt = joined
                    self._note(beside)

    def _with_antecedent(self, piece: Excerpt) -> Excerpt:
        """The piece, after the sentence before it when it begins with a word that points there."""
        first = piece.candidates[0]
        if first.quotable.is_row or not _DEPENDENT.match(first.quotable.text):
            return piece
        before = self._beside(piece, -1)
        if before is None or self.has(before):
            return piece
        joined = Excerpt((before,)).joined(piece)
        return joined if joined.end - joined.start <= self._budget.longest_quote else piece

    def _beside(self, excerpt: Excerpt, step: int) -> Candidate | None:
        edge = excerpt.candidates[-1 if step == 1 else 0]
        found = self._by_place.get((edge.passage.node_id, edge.index + step))
        if found is None:
            return None
        piece = Excerpt((found,))
        return found if (piece.follows(excerpt) if step == 1 else excerpt.follows(piece)) else None


def select(
    ranked: Sequence[Candidate],
    budget: Budget,
    parts: Sequence[Sequence[Candidate]] = (),
    conflicts: Sequence[Conflict] = (),
) -> list[Excerpt]:
    """The excerpts of an answer, best first; empty when there is no piece.

    Greedy by score less repetition. The best piece comes first, then the best of every ranking in `parts` (for the parts of
    a question of several), then the rest; of a conflict that one quote has a side of, the other sides follow that quote.
    A piece whose score lies more than `budget.score_range` below the best is left out.
    """
    if not ranked:
        return []
    worst = ranked[0].score - budget.score_range
    selection = Selection(ranked, budget)
    sides = _Sides(ranked, conflicts)
    _fill(selection, ranked[:1], worst, 1, sides)
    for part in parts:
        _fill(selection, part, part[0].score - budget.score_range if part else 0.0, budget.per_part, sides)
    _fill(selection, ranked, worst, budget.quotes, sides)
    selection.widen(worst)
    return selection.excerpts


def _fill(selection: Selection, ranked: Sequence[Candidate], worst: float, most: int, sides: "_Sides") -> None:
    """Adds up to `most` quotes of a ranking, and what each of them brings along."""
    waiting = [candidate for candidate in ranked if candidate.score >= worst]
    before = len(selection.excerpts)
    while waiting and not selection.full and len(selection.excerpts) - before < most:
        best = max(waiting, key=selection.worth)
        waiting.remove(best)
        if selection.worth(best) < worst:
            break
        if not selection.has(best) and selection.add(best):
            for other in sides.others(best):
                if not selection.has(other):
                    selection.add(other)


class _Sides:
    """Which pieces are sides of which conflicts."""

    def __init__(self, ranked: Sequence[Candidate], conflicts: Sequence[Conflict]) -> None:
        self._of: dict[tuple[str, int], list[tuple[Conflict, str]]] = {}
        self._pieces: dict[tuple[str, str], Candidate] = {}
        for conflict in conflicts:
            for side in conflict.sides:
                for candidate in ranked:
                    if _is_side(candidate, side):
                        place = candidate.passage.node_id, candidate.index
                        self._of.setdefault(place, []).append((conflict, side.entry_id))
                        self._pieces.setdefault((conflict.id, side.entry_id), candidate)

    def others(self, quoted: Candidate) -> list[Candidate]:
        """The pieces that contradict a quoted one, in the order of the conflicts and their sides."""
        return [
            self._pieces[conflict.id, side.entry_id]
            for conflict, entry_id in self._of.get((quoted.passage.node_id, quoted.index), ())
            for side in conflict.sides
            if side.entry_id != entry_id and (conflict.id, side.entry_id) in self._pieces
        ]


def _is_side(candidate: Candidate, side: ConflictSide) -> bool:
    piece, passage = candidate.quotable, candidate.passage
    same_section = (passage.entry_id, passage.section) == (side.entry_id, side.section)
    return same_section and piece.start < side.end and side.start < piece.end


def _repeated_words(candidate: Quotable, quoted: Quotable) -> float:
    """How much of a piece was said already, in [0, 1]."""
    smaller = min(len(candidate.tokens), len(quoted.tokens))
    if not smaller:
        return 0.0
    shared = len(candidate.tokens & quoted.tokens) / smaller
    return max(0.0, shared - _REPEATED_SHARE)


def _same_value(candidate: Candidate, quoted: Candidate) -> bool:
    values = {value for value in candidate.quotable.values if value[0] not in ("date", "norm", "case")}
    return bool(values) and values <= quoted.quotable.values and candidate.answers <= quoted.answers
