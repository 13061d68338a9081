"""How likely a sentence or table row answers the question: a linear score over features that a reader would name."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from custom_postprocessors.evidence import Passage
from pipelines.case_ranges import range_fits
from pipelines.extractive_units import Quotable
from pipelines.german import QueryAnalysis
from pipelines.question_shape import QuestionShape
from pipelines.rule_text import fold, rule

WEIGHTS: Mapping[str, float] = {
    "words": 3.04,
    "words_beyond_title": 5.50,
    "words_around": 5.59,
    "label_asked": 1.64,
    "title": 3.64,
    "entry_words": 2.18,
    "entry_first": 0.68,
    "entry_bm25": 3.00,
    "entry_ngram": 1.02,
    "entry_similarity": 1.55,
    "fact_row": 0.58,
    "norm_list": -0.67,
    "payroll_list": -0.93,
    "example": -0.49,
    "asked_kind": 0.15,
    "asked_kind_missing": -0.10,
    "any_value": 0.88,
    "year_named": 1.48,
    "other_year": -0.24,
    "case_values": 0.58,
    "asked_values": 1.18,
    "row_of_case": 2.13,
    "weighs": 1.57,
    "open_end": -1.12,
    "fragment": -0.14,
}
"""Points per unit of each feature, learned from goldset questions by `evaluation.quote_weights` (see there for the method).

Learned on one random half of the questions and checked on the other (two splits, both ways), `values_correct` of the quotes
was 0.77 on the textbook sets and 0.80 on hard.yaml; these weights are learned on all of them.
"""

_EXAMPLES = ("beispiel", "variante", "rechenbeispiel")
_FRAGMENT_CHARACTERS = 40
_WEIGHING = rule(
    r"\b(?:günstiger|billiger|teurer|besser|höher|niedriger|mehr|weniger|vorteil\w*|nachteil\w*|lohnt|spart|ersparnis|statt|"
    r"dagegen|hingegen|unterschied\w*|differenz)\b"
)


class QueryAnalyzer(Protocol):
    """The part of the German analysis that ranking needs."""

    def tokens(self, text: str) -> list[str]:
        """Folded stems with the parts of compounds, without stop words."""
        ...

    def rarity(self, token: str) -> float:
        """Inverse document frequency over sections, ≥ 0."""
        ...

    def query_tokens(self, text: str) -> QueryAnalysis:
        """What a question says, in groups of equivalent tokens."""
        ...


class AskedWords:
    """The words of one question: each a group of tokens that mean it, with its share of the question's rarity."""

    def __init__(self, question: str, analyzer: QueryAnalyzer) -> None:
        self._groups_of: dict[str, list[tuple[int, float]]] = defaultdict(list)
        importance: list[float] = []
        for number, group in enumerate(analyzer.query_tokens(question).groups):
            importance.append(max(term.weight * analyzer.rarity(term.token) for term in group))
            for term in group:
                self._groups_of[term.token].append((number, term.weight))
        total = sum(importance) or 1.0
        self._share = [value / total for value in importance]

    def found(self, tokens: Iterable[str]) -> dict[int, float]:
        """The groups that these tokens speak of, each with how well, in (0, 1]."""
        best: dict[int, float] = {}
        for token in tokens:
            for group, weight in self._groups_of.get(token, ()):
                if weight > best.get(group, 0.0):
                    best[group] = weight
        return best

    def coverage(self, groups: Mapping[int, float], without: Iterable[int] = ()) -> float:
        """Share of the question that the groups cover, in [0, 1], those in `without` not counted."""
        left_out = frozenset(without)
        return sum(self._share[group] * weight for group, weight in groups.items() if group not in left_out)

    def knows(self, token: str) -> bool:
        """Whether the question speaks of this token."""
        return token in self._groups_of


@dataclass(frozen=True, slots=True)
class Candidate:
    """A quotable piece in its place: which passage, which piece of it, and its score (higher is better, unbounded).

    `answers` are the numbers of the asked words that it speaks of, `coverage` their share of the question in [0, 1].
    """

    passage: Passage
    index: int
    quotable: Quotable
    score: float
    answers: frozenset[int] = frozenset()
    coverage: float = 0.0

    @property
    def place(self) -> tuple[str, str]:
        """Entry and section."""
        return self.passage.entry_id, self.passage.section


@dataclass(frozen=True, slots=True)
class _Entry:
    """What is known of an entry before its pieces are looked at; evidence is relative to the best entry's."""

    rank: int
    title: dict[int, float]
    coverage: float
    bm25: float
    ngram: float
    similarity: float


def ranked(
    question: str,
    shape: QuestionShape,
    passages: Sequence[Passage],
    pieces: Sequence[Sequence[Quotable]],
    analyzer: QueryAnalyzer,
    weights: Mapping[str, float] | None = None,
) -> list[Candidate]:
    """Every piece of the passages with its score, best first; ties in the order of passages and pieces.

    `pieces[i]` are those of `passages[i]`. Empty for no piece.
    """
    chosen = WEIGHTS if weights is None else weights
    words = AskedWords(question, analyzer)
    candidates = []
    for passage, index, piece, features in featured(question, shape, passages, pieces, analyzer):
        score = sum(chosen.get(name, 0.0) * value for name, value in features.items())
        said = words.found(piece.tokens)
        candidates.append(Candidate(passage, index, piece, score, frozenset(said), words.coverage(said)))
    return sorted(candidates, key=lambda candidate: -candidate.score)


def featured(
    question: str,
    shape: QuestionShape,
    passages: Sequence[Passage],
    pieces: Sequence[Sequence[Quotable]],
    analyzer: QueryAnalyzer,
) -> list[tuple[Passage, int, Quotable, dict[str, float]]]:
    """Every piece with its features, in the order of passages and pieces."""
    words = AskedWords(question, analyzer)
    entries = _entries(words, passages, pieces, analyzer)
    return [
        (passage, index, piece, _features(words, shape, entries[passage.entry_id], passage, cut, index, fit, analyzer))
        for passage, cut in zip(passages, pieces, strict=True)
        for index, (piece, fit) in enumerate(zip(cut, range_fits([p.case_range for p in cut], shape.case_values), strict=True))
    ]


def _entries(
    words: AskedWords, passages: Sequence[Passage], pieces: Sequence[Sequence[Quotable]], analyzer: QueryAnalyzer
) -> dict[str, _Entry]:
    tokens: dict[str, set[str]] = {}
    titles: dict[str, dict[int, float]] = {}
    evidence: dict[str, list[float]] = {}
    for passage, cut in zip(passages, pieces, strict=True):
        own = tokens.setdefault(passage.entry_id, set())
        if passage.entry_id not in titles:
            title = analyzer.tokens(passage.title)
            titles[passage.entry_id] = words.found(title)
            own.update(title)
        for piece in cut:
            own.update(piece.tokens)
        scores = (passage.scores.bm25 or 0.0, passage.scores.ngram or 0.0, passage.scores.similarity or 0.0)
        best = evidence.setdefault(passage.entry_id, [0.0, 0.0, 0.0])
        evidence[passage.entry_id] = [max(pair) for pair in zip(best, scores, strict=True)]
    top = [max((scores[channel] for scores in evidence.values()), default=0.0) or 1.0 for channel in range(3)]
    return {
        entry_id: _Entry(
            rank,
            titles[entry_id],
            words.coverage(words.found(tokens[entry_id])),
            *(score / most for score, most in zip(evidence[entry_id], top, strict=True)),
        )
        for rank, entry_id in enumerate(tokens)
    }


def _features(
    words: AskedWords,
    shape: QuestionShape,
    entry: _Entry,
    passage: Passage,
    cut: Sequence[Quotable],
    index: int,
    fit: float,
    analyzer: QueryAnalyzer,
) -> dict[str, float]:
    piece = cut[index]
    case = {value.normalized for value in shape.case_values}
    said = words.found(piece.tokens)
    before = cut[index - 1].tokens if index else frozenset()
    return {
        "words": words.coverage(said),
        "words_beyond_title": words.coverage(said, entry.title),
        "words_around": 0.0 if piece.is_row else words.coverage(words.found(piece.intro | before), said),
        "label_asked": _label_asked(words, piece, analyzer),
        "title": words.coverage(entry.title),
        "entry_words": entry.coverage,
        "entry_first": float(entry.rank == 0),
        "entry_bm25": entry.bm25,
        "entry_ngram": entry.ngram,
        "entry_similarity": entry.similarity,
        "fact_row": float(piece.is_fact),
        "norm_list": float(passage.section == "Rechtsgrundlagen"),
        "payroll_list": float(passage.section.startswith("Payroll")),
        "example": float(fold(piece.heading).startswith(_EXAMPLES) or fold(piece.text).startswith(_EXAMPLES)),
        "asked_kind": float(bool(shape.kinds & piece.kinds)),
        "asked_kind_missing": float(bool(shape.kinds) and not shape.kinds & piece.kinds),
        "any_value": float(bool(piece.kinds - {"norm", "case"})),
        "year_named": float(bool(shape.named_years & piece.years)),
        "other_year": float(bool(piece.years) and not shape.years & piece.years),
        "case_values": float(len(case & {normalized for _, normalized in piece.values})),
        "asked_values": math.log1p(sum(kind in shape.kinds for kind, _ in piece.values)),
        "row_of_case": fit,
        "weighs": float(shape.weighs and bool(_WEIGHING.search(fold(piece.text)))),
        "open_end": float(piece.text.endswith((":", "?"))),
        "fragment": float(not piece.is_row and len(piece.text) < _FRAGMENT_CHARACTERS),
    }


def _label_asked(words: AskedWords, piece: Quotable, analyzer: QueryAnalyzer) -> float:
    """Share of a row's label, by rarity, that the question speaks of; 0 for a sentence."""
    rarities = {token: analyzer.rarity(token) for token in piece.label_tokens}
    total = sum(rarities.values())
    return sum(rarity for token, rarity in rarities.items() if words.knows(token)) / total if total else 0.0
