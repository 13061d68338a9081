"""How a question is understood: compounds split and joined, abbreviations, synonyms and typos resolved, each with a weight."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from pipelines.lexicon import Lexicon, Meaning
from pipelines.vocabulary import Vocabulary

Origin = Literal["word", "part", "joined", "abbreviation", "synonym", "typo", "number", "norm"]

# Measured in docs/retrieval.md.
PART_WEIGHT = 0.7
PARTIAL_WEIGHT = 0.5
SYNONYM_WEIGHT = 0.7
TYPO_WEIGHT = 0.7
_LONGEST_PHRASE = 3
_MIN_JOINED_LETTERS = 3


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """One token to look up: its weight in (0, 1], where it comes from, and the typed words (folded) that led to it."""

    token: str
    weight: float
    origin: Origin
    source: str


@dataclass(frozen=True, slots=True)
class QueryAnalysis:
    """How a query is understood. Every group is one thing the query says, its terms are ways to find it, best first.

    `content` is the folded query without stop words. `expanded` is the query as typed, followed by what its
    abbreviations and synonyms mean.
    """

    text: str
    groups: tuple[tuple[QueryTerm, ...], ...]
    content: str
    expanded: str

    @property
    def tokens(self) -> tuple[str, ...]:
        """Every token that is looked up, once each, in the order of the query."""
        return tuple(dict.fromkeys(term.token for group in self.groups for term in group))

    def of_origin(self, *origins: Origin) -> tuple[QueryTerm, ...]:
        """The terms that came about in one of these ways, e.g. the synonyms used."""
        return tuple(term for group in self.groups for term in group if term.origin in origins)


@dataclass(frozen=True, slots=True)
class Unit:
    """One folded word, number or norm of a query; `capitals`: it was typed in capitals only."""

    word: str
    origin: Origin
    stopped: bool = False
    capitals: bool = False


class QueryReader:
    """Reads questions with a knowledge base's vocabulary and the lexicon. Safe to use from several threads.

    Args:
        vocabulary: the words of the knowledge base.
        lexicon: abbreviations and synonyms.
        units: cuts a text into units.
    """

    def __init__(self, vocabulary: Vocabulary, lexicon: Lexicon, units: Callable[[str], Iterator[Unit]]) -> None:
        self._vocabulary = vocabulary
        self._units = units
        self._exact: dict[tuple[str, ...], Meaning] = {}
        self._stemmed: dict[tuple[str, ...], Meaning] = {}
        for phrase, meaning in lexicon.meanings.items():
            words = tuple(unit.word for unit in units(phrase))
            self._exact[words] = meaning
            if not meaning.abbreviation:
                self._stemmed.setdefault(tuple(vocabulary.stem(word) for word in words), meaning)
        self._single = {words[0]: meaning for words, meaning in self._exact.items() if len(words) == 1}

    def read(self, text: str) -> QueryAnalysis:
        """The analysis of a question; without groups when it says nothing but stop words."""
        units = list(self._units(text))
        groups: list[list[QueryTerm]] = [[] if unit.stopped else list(self._unit_terms(unit)) for unit in units]
        meanings: list[str] = []
        for start, length, meaning in self._phrases(units):
            source = " ".join(unit.word for unit in units[start : start + length])
            meanings.extend(meaning.means)
            groups[start].extend(self._meaning_terms(meaning, source))
        for group, unit in zip(groups, units, strict=True):
            if self._is_unknown(unit):
                for term, of_known in self._corrections(unit):
                    group.append(term)
                    meanings.extend(of_known.means if of_known is not None else ())
        groups.extend(self._joins(units))
        kept = tuple(strongest for group in groups if (strongest := _strongest(group)))
        content = " ".join(unit.word for unit in units if not unit.stopped)
        return QueryAnalysis(text=text, groups=kept, content=content, expanded=" ".join([text, *dict.fromkeys(meanings)]))

    def _unit_terms(self, unit: Unit) -> Iterator[QueryTerm]:
        word, stem = unit.word, self._vocabulary.stem
        if unit.origin != "word":
            yield QueryTerm(word, 1.0, unit.origin, word)
            return
        yield QueryTerm(stem(word), 1.0, "word", word)
        for part in self._vocabulary.split(word):
            yield QueryTerm(stem(part), PART_WEIGHT, "part", word)

    def _is_unknown(self, unit: Unit) -> bool:
        word, vocabulary = unit.word, self._vocabulary
        return (
            unit.origin == "word"
            and not unit.stopped
            and not vocabulary.knows(word)
            and not vocabulary.split(word)
            and (word,) not in self._exact
            and (vocabulary.stem(word),) not in self._stemmed
        )

    def _corrections(self, unit: Unit) -> Iterator[tuple[QueryTerm, Meaning | None]]:
        """What an unknown word may be a misspelling of; else the known words that it begins or ends with."""
        word, stem = unit.word, self._vocabulary.stem
        near = self._vocabulary.near(word, self._single)
        for known in near:
            yield QueryTerm(stem(known), TYPO_WEIGHT, "typo", word), None
            for part in self._vocabulary.split(known):
                yield QueryTerm(stem(part), TYPO_WEIGHT * PART_WEIGHT, "typo", word), None
            meaning = self._single.get(known)
            if meaning is not None:
                for term in self._meaning_terms(meaning, word):
                    yield replace(term, weight=term.weight * TYPO_WEIGHT), meaning
        if not near:
            for part in self._vocabulary.ends(word):
                yield QueryTerm(stem(part), PARTIAL_WEIGHT, "part", word), None

    def _meaning_terms(self, meaning: Meaning, source: str) -> Iterator[QueryTerm]:
        origin: Origin = "abbreviation" if meaning.abbreviation else "synonym"
        stem = self._vocabulary.stem
        for phrase in meaning.means:
            for unit in self._units(phrase):
                if not unit.stopped:
                    yield QueryTerm(stem(unit.word), SYNONYM_WEIGHT, origin, source)
                    for part in self._vocabulary.split(unit.word):
                        yield QueryTerm(stem(part), SYNONYM_WEIGHT * PART_WEIGHT, origin, source)

    def _phrases(self, units: list[Unit]) -> Iterator[tuple[int, int, Meaning]]:
        """The phrases of the lexicon in the query, longest first; a word is used once.

        An abbreviation that is spelled like a stop word counts only in capitals (AN, but not „an“).
        """
        words = tuple(unit.word for unit in units)
        stems = tuple(self._vocabulary.stem(word) for word in words)
        start = 0
        while start < len(units):
            length, meaning = self._longest_phrase(words, stems, start)
            if meaning is not None and (length > 1 or not units[start].stopped or units[start].capitals):
                yield start, length, meaning
            start += length

    def _longest_phrase(self, words: tuple[str, ...], stems: tuple[str, ...], start: int) -> tuple[int, Meaning | None]:
        for length in range(min(_LONGEST_PHRASE, len(words) - start), 0, -1):
            window = slice(start, start + length)
            meaning = self._exact.get(words[window]) or self._stemmed.get(stems[window])
            if meaning is not None:
                return length, meaning
        return 1, None

    def _joins(self, units: list[Unit]) -> Iterator[list[QueryTerm]]:
        for start in range(len(units)):
            for length in (2, 3):
                words = [unit.word for unit in units[start : start + length] if unit.origin == "word"]
                if len(words) < length or min(map(len, words)) < _MIN_JOINED_LETTERS:
                    continue
                joined = self._vocabulary.join(words)
                if joined is not None:
                    yield [QueryTerm(self._vocabulary.stem(joined), 1.0, "joined", " ".join(words))]


def _strongest(group: list[QueryTerm]) -> tuple[QueryTerm, ...]:
    """Each token once with its highest weight, in order of first appearance."""
    best: dict[str, QueryTerm] = {}
    for term in group:
        if term.token not in best or term.weight > best[term.token].weight:
            best[term.token] = term
    return tuple(best.values())
