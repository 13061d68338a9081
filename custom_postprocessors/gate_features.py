"""What the raw evidence says about whether an entry can answer a question at all; independent of the size of the corpus."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from custom_postprocessors.entry_terms import EntryTerms

_GENERIC_LETTERS = 3
_SPECIFIC_LETTERS = 12
_LEAST_SPECIFICITY = 0.2
_NO_TOKEN = "\0"


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

    def found_in(self, tokens: frozenset[str]) -> float:
        """In [0, 1]: how much of it the tokens say."""
        return max((worth for token, worth in self.terms if token in tokens), default=0.0)


@dataclass(frozen=True, slots=True)
class EvidenceFeatures:
    """Evidence of the best entry for a question, every value in [0, 1]; all 0 when nothing was found.

    `coverage`: share of the question's words, weighted by rarity and specificity, that the entry says anywhere.
    `heading_coverage`: the same for its title, tags and norms. `missing`: the weight of the most specific word that it lacks.
    `margin`: how far its coverage is ahead of the fifth entry's. `section_share`: what its best section says of what it says.
    """

    coverage: float = 0.0
    heading_coverage: float = 0.0
    missing: float = 1.0
    margin: float = 0.0
    section_share: float = 0.0


def said_in(question: str, analyzer: QuestionAnalyzer) -> tuple[Said, ...]:
    """What the question says, without numbers and without words that the analysis made up by joining.

    A word counts by its rarity and by its length: long German words are compounds and name the subject, short unknown ones are
    mostly chatter.
    """
    highest = analyzer.rarity(_NO_TOKEN)
    said: list[Said] = []
    for group in analyzer.query_tokens(question).groups:
        typed = group[0]
        if typed.origin in ("joined", "number"):
            continue
        rarity = analyzer.rarity(typed.token)
        weight = rarity / highest * specificity(typed.source) if highest > 0 else 0.0
        if weight > 0:
            said.append(Said(typed.source, weight, tuple((term.token, _worth(term, rarity, analyzer)) for term in group)))
    return tuple(said)


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


def features_of(said: Sequence[Said], entries: Sequence[EntryTerms]) -> EvidenceFeatures:
    """The features of the best of these entries, which are the best ranked ones."""
    if not said or not entries:
        return EvidenceFeatures()
    covered = [(coverage_of(said, entry.everything), coverage_of(said, entry.heading), entry) for entry in entries]
    covered.sort(key=lambda item: (-(item[0] + item[1]), item[2].entry_id))
    coverage, heading, best = covered[0]
    fifth = covered[min(4, len(covered) - 1)]
    whole = coverage * sum(one.weight for one in said)
    section = max((sum(one.weight * one.found_in(tokens) for one in said) for tokens in best.sections), default=0.0)
    return EvidenceFeatures(
        coverage=coverage,
        heading_coverage=heading,
        missing=min(1.0, max(one.weight * (1.0 - one.found_in(best.everything)) for one in said)),
        margin=min(1.0, max(0.0, (coverage + heading - fifth[0] - fifth[1]) / 2)),
        section_share=section / whole if whole > 0 else 0.0,
    )
