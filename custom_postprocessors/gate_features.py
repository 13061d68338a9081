"""What the raw evidence says about whether an entry can answer a question at all; independent of the size of the corpus."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from custom_postprocessors.data_files import read_yaml
from custom_postprocessors.entry_terms import EntryTerms
from custom_postprocessors.folding import fold
from custom_postprocessors.words import neutral_nowhere_subjects

_EVERYDAY_WORDS = Path(__file__).parent / "data" / "everyday_words.yaml"
_EVERYDAY_SHARE = 0.25
_GENERIC_LETTERS = 3
_SPECIFIC_LETTERS = 12
_LEAST_SPECIFICITY = 0.2
_NOT_A_NOUN = 0.3
_LEAST_CAPITALS = 0.12
_KEPT_QUESTIONS = 256
_NO_TOKEN = "\0"
_WORD = re.compile(r"[^\W\d_][\w-]*")
_SENTENCE_START = re.compile(r"(?:^|[.?!:])\s*$")


class QueryTerm(Protocol):
    """One way to find a thing that the question says."""

    @property
    def token(self) -> str:
        """As the index has it."""
        ...

    @property
    def weight(self) -> float:
        """In (0, 1]: how surely it means what was typed."""
        ...

    @property
    def origin(self) -> str:
        """One of `word`, `number`, `part`, `joined`, `abbreviation`, `synonym`, `typo`."""
        ...

    @property
    def source(self) -> str:
        """The typed word, folded."""
        ...


class QueryAnalysis(Protocol):
    """A question as groups of terms; every group is one thing it says."""

    @property
    def groups(self) -> Sequence[Sequence[QueryTerm]]:
        """Terms of a group: best first, at least one."""
        ...


class QuestionAnalyzer(Protocol):
    """German analysis that also knows what a question's words may mean."""

    def tokens(self, text: str) -> list[str]:
        """Folded stems with the parts of compounds."""
        ...

    def rarity(self, token: str) -> float:
        """Inverse document frequency over sections."""
        ...

    def query_tokens(self, text: str) -> QueryAnalysis:
        """The question's groups."""
        ...


@dataclass(frozen=True, slots=True)
class Said:
    """One thing a question says: its terms with what each is worth when found, and how much it counts."""

    source: str
    weight: float
    terms: tuple[tuple[str, float], ...]
    is_number: bool = False

    def found_in(self, tokens: frozenset[str]) -> float:
        """In [0, 1]: how much of it the tokens say."""
        return max((worth for token, worth in self.terms if token in tokens), default=0.0)


@dataclass(frozen=True, slots=True)
class EvidenceFeatures:
    """Evidence of the best entry for a question, every value in [0, 1].

    `support`: the share of what the question says, weighted by rarity, that its best section says, averaged with the share
    that its title, tags and norms say. `missing`: weight of the most specific thing that the entry says nowhere. `outside`: 1
    when the question names a subject beside the knowledge base that it does not speak of. `similarity`: the highest cosine,
    None without the dense channel.
    """

    support: float = 0.0
    missing: float = 1.0
    outside: float = 0.0
    similarity: float | None = None


def everyday_words() -> frozenset[str]:
    """The folded words that name no subject: everyday German and the neutral words of statements."""
    lines = read_yaml(_EVERYDAY_WORDS)
    return frozenset(fold(word) for word in (*neutral_nowhere_subjects(), *(str(word) for line in lines for word in line)))


def said_in(question: str, analyzer: QuestionAnalyzer, everyday: frozenset[str] = frozenset()) -> tuple[Said, ...]:
    """What the question says, weighted by rarity in [0, 1], everyday words a quarter; without words made up by joining."""
    highest = analyzer.rarity(_NO_TOKEN)
    said: list[Said] = []
    for group in analyzer.query_tokens(question).groups:
        typed = group[0]
        rarity = analyzer.rarity(typed.token)
        if typed.origin != "joined" and rarity > 0:
            terms = tuple((term.token, _worth(term, rarity, analyzer)) for term in group)
            share = _EVERYDAY_SHARE if everyday.issuperset(typed.source.split()) else 1.0
            said.append(Said(typed.source, share * rarity / highest, terms, is_number=typed.origin == "number"))
    return tuple(said)


class SaidReader:
    """What questions say, analysed once each; safe for many threads."""

    def __init__(self, analyzer: QuestionAnalyzer, everyday: frozenset[str] = frozenset()) -> None:
        self._read = lru_cache(maxsize=_KEPT_QUESTIONS)(lambda question: said_in(question, analyzer, everyday))

    def said(self, question: str) -> tuple[Said, ...]:
        """As `said_in`."""
        return self._read(question)


def names_of(question: str) -> frozenset[str] | None:
    """The folded nouns of a question that writes nouns with capitals; None when it does not, so that nothing can be told."""
    words = list(_WORD.finditer(question))
    capital = [hit for hit in words if hit[0][0].isupper()]
    if not words or len(capital) < _LEAST_CAPITALS * len(words):
        return None
    inner = [hit[0] for hit in capital if not _SENTENCE_START.search(question[: hit.start()])]
    return frozenset(fold(part) for word in inner for part in (word, *word.split("-")))


def specificity(word: str) -> float:
    """In [0.2, 1], growing with the length of the word."""
    return min(1.0, max(_LEAST_SPECIFICITY, (len(word) - _GENERIC_LETTERS) / (_SPECIFIC_LETTERS - _GENERIC_LETTERS)))


def _worth(term: QueryTerm, rarity: float, analyzer: QuestionAnalyzer) -> float:
    """A part of a compound is worth what it narrows down, everything else how sure its meaning is."""
    if term.origin == "part":
        return min(1.0, term.weight * analyzer.rarity(term.token) / rarity) if rarity > 0 else 0.0
    return min(1.0, term.weight)


def coverage_of(said: Sequence[Said], tokens: frozenset[str]) -> float:
    """Share of what was said that the tokens say, in [0, 1]; 0 when nothing was said."""
    whole = sum(one.weight for one in said)
    return sum(one.weight * one.found_in(tokens) for one in said) / whole if whole > 0 else 0.0


def support_of(said: Sequence[Said], entry: EntryTerms) -> float:
    """In [0, 1]: what the entry's best section says, averaged with what its heading says; 0 for an entry without sections."""
    section = max((coverage_of(said, tokens) for tokens in entry.sections), default=0.0)
    return (coverage_of(said, entry.heading) + section) / 2


def missing_in(said: Sequence[Said], names: frozenset[str] | None, entry: EntryTerms) -> float:
    """In [0, 1]: the weight of the most specific thing that was said and that the entry says nowhere; numbers do not count.

    Where nouns are known, other words count little; where they are not, long words count more than short ones, which are chatter.
    """
    worst = 0.0
    for one in said:
        if not one.is_number:
            specific = specificity(one.source)
            if names is not None:
                specific = 1.0 if fold(one.source) in names else _NOT_A_NOUN * specific
            worst = max(worst, one.weight * specific * (1.0 - one.found_in(entry.everything)))
    return worst
