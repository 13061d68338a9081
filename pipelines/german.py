"""German analysis, one for index and query: words, compounds, numbers, norms; for queries also splits, joins, synonyms, typos."""

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, Self

from pipelines.errors import IndexFault
from pipelines.lexicon import Lexicon, Meaning
from pipelines.nodes import SectionNode
from pipelines.vocabulary import Vocabulary, fold

Origin = Literal["word", "part", "joined", "abbreviation", "synonym", "typo", "number", "norm"]

_WORD = r"[^\W\d_]+(?:[-–‑][^\W\d_]+)*"
_TOKEN = re.compile(
    r"(?P<norm>(?:§{1,2}|\bparagra(?:ph|f))\s*\d+[a-z]?\b(?:\s*abs\.?\s*\d+[a-z]?\b)?(?:\s*z\.?\s*\d+[a-z]?\b)?)"
    r"|(?P<case>\b[a-z]{1,3}[-/ ]?\d{1,7}/\d{2,4}(?:/\d+)?\b|\b\d{1,2}\s?ob[a-z]?\s?\d+/\d+[a-z]\b)"
    r"|(?P<date>\b\d{1,2}\.\d{1,2}\.(?:\d{4}|\d{2})\b)"
    r"|(?P<number>\d{1,3}(?:[.\u00a0\u202f ]\d{3})+(?:,\d+)?(?!\d)|\d+(?:,\d+)?)(?P<percent>\s?(?:%|prozent\b))?"
    rf"|(?P<word>{_WORD})",
    re.IGNORECASE,
)
_HYPHEN = re.compile(r"[-–‑]")
_GENDER = re.compile(r"(?<=[^\W\d_])(?:[:*_/]-?innen|Innen|[:*_/]-?in)\b")
_NORM_NUMBER = re.compile(r"\d+[a-z]?")
_SPACES = re.compile(r"\s+")
_LONGEST_PHRASE = 3
_MIN_JOINED_LETTERS = 3

PART_WEIGHT = 0.7
SYNONYM_WEIGHT = 0.7
TYPO_WEIGHT = 0.7
FILE_NAME = "vocabulary.json"


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
class _Piece:
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class _Unit:
    """One folded word, number or norm of a query; `capitals`: it was typed in capitals only."""

    word: str
    origin: Origin
    stopped: bool = False
    capitals: bool = False


class GermanAnalyzer:
    """Turns text into tokens the same way at index and at query time. Safe to use from several threads.

    `VERSION` enters the index fingerprint: an index is only opened with the analysis it was built with. The lexicon
    (abbreviations, synonyms) works at query time only and may change without a new index.
    """

    VERSION: ClassVar[str] = "german-1"

    def __init__(self, vocabulary: Vocabulary, token_sections: dict[str, int], sections: int, lexicon: Lexicon) -> None:
        self._vocabulary = vocabulary
        self._token_sections = token_sections
        self._sections = sections
        self._lexicon = lexicon
        self._stop_words = lexicon.stop_words
        self._word_tokens: dict[str, tuple[str, ...]] = {}
        self._meanings = {
            tuple(vocabulary.stem(unit.word) for unit in self._units(phrase)): meaning
            for phrase, meaning in lexicon.meanings.items()
        }

    @classmethod
    def build(cls, nodes: Iterable[SectionNode], lexicon: Lexicon | None = None) -> Self:
        """Learns the vocabulary of these sections; no section is a vocabulary of nothing, which is valid."""
        lexicon = lexicon or Lexicon.bundled()
        words = Counter[str]()
        fixed = Counter[str]()
        section_words: list[frozenset[str]] = []
        for node in nodes:
            pieces = list(_pieces(searchable_text(node)))
            found = frozenset(piece.text for piece in pieces if piece.kind == "word")
            section_words.append(found)
            simple = {fold(part) for word in found for part in _HYPHEN.split(word)}
            simple |= {fold(_HYPHEN.sub("", word)) for word in found if _HYPHEN.search(word)}
            words.update(simple)
            fixed.update({token for piece in pieces if piece.kind != "word" for token in _fixed_tokens(piece)})
        analyzer = cls(Vocabulary(words, lexicon.stop_words), {}, len(section_words), lexicon)
        sections_of = Counter(fixed)
        for found in section_words:
            sections_of.update({token for word in found for token in analyzer._tokens_of_word(word)})
        analyzer._token_sections = dict(sorted(sections_of.items()))
        return analyzer

    def save(self, directory: Path) -> None:
        """Writes what was learned into `directory` (made when missing)."""
        directory.mkdir(parents=True, exist_ok=True)
        learned = {
            "version": self.VERSION,
            "sections": self._sections,
            "words": self._vocabulary.counts,
            "tokens": self._token_sections,
        }
        text = json.dumps(learned, ensure_ascii=False, separators=(",", ":"))
        (directory / FILE_NAME).write_text(text, encoding="utf-8")

    @classmethod
    def open(cls, directory: Path, lexicon: Lexicon | None = None) -> Self:
        """Reads what `save` wrote.

        Raises:
            IndexFault: the file is missing, unreadable, or from another version of the analysis.
        """
        path = directory / FILE_NAME
        try:
            learned = json.loads(path.read_text(encoding="utf-8"))
            version, words, tokens, sections = (learned[key] for key in ("version", "words", "tokens", "sections"))
        except (OSError, ValueError, KeyError) as exc:
            raise IndexFault(f"The vocabulary {str(path)!r} cannot be read: {exc}.", hint="Build the index anew.") from exc
        if version != cls.VERSION:
            raise IndexFault(f"The vocabulary has version {version!r}, this program {cls.VERSION!r}.", hint="Build the index anew.")
        lexicon = lexicon or Lexicon.bundled()
        return cls(Vocabulary(words, lexicon.stop_words), tokens, sections, lexicon)

    @property
    def sections(self) -> int:
        """Number of sections the vocabulary was learned from."""
        return self._sections

    def tokens(self, text: str) -> list[str]:
        """Folded stems with the parts of compounds, without stop words, in order; numbers and norms are tokens.

        `nicht`, `kein` and `ohne` are kept. Empty for text without letters and digits.
        """
        found: list[str] = []
        for piece in _pieces(text):
            found.extend(self._tokens_of_word(piece.text) if piece.kind == "word" else _fixed_tokens(piece))
        return found

    def content_words(self, text: str) -> list[str]:
        """The folded words, numbers and norms of `text` in order, without stop words, neither stemmed nor split."""
        return [unit.word for unit in self._units(text) if not unit.stopped]

    def rarity(self, token: str) -> float:
        """Inverse document frequency over sections, ≥ 0; a token no section has gets the highest value."""
        count = self._token_sections.get(token, 0)
        return math.log1p((self._sections - count + 0.5) / (count + 0.5))

    def knows(self, token: str) -> bool:
        """Whether some section has the token."""
        return token in self._token_sections

    def query_tokens(self, text: str) -> QueryAnalysis:
        """Analyses a question: compounds are split, split words joined, abbreviations, synonyms and typos resolved."""
        units = list(self._units(text))
        groups: list[list[QueryTerm]] = [[] if unit.stopped else self._unit_terms(unit) for unit in units]
        meanings: list[str] = []
        for start, length, meaning in self._phrases(units):
            source = " ".join(unit.word for unit in units[start : start + length])
            origin: Origin = "abbreviation" if meaning.abbreviation else "synonym"
            meanings.extend(meaning.means)
            for phrase in meaning.means:
                groups[start].extend(self._phrase_terms(phrase, origin, source))
        groups.extend(self._joins(units))
        kept = tuple(strongest for group in groups if (strongest := _strongest(group)))
        content = " ".join(unit.word for unit in units if not unit.stopped)
        return QueryAnalysis(text=text, groups=kept, content=content, expanded=" ".join([text, *meanings]))

    def _tokens_of_word(self, word: str) -> tuple[str, ...]:
        found = self._word_tokens.get(word)
        if found is None:
            parts = [fold(part) for part in _HYPHEN.split(word)]
            tokens = [self._vocabulary.stem("".join(parts))] if len(parts) > 1 else []
            for part in parts:
                if part not in self._stop_words:
                    tokens.append(self._vocabulary.stem(part))
                    tokens.extend(self._vocabulary.stem(known) for known in self._vocabulary.split(part))
            found = self._word_tokens[word] = tuple(tokens)
        return found

    def _units(self, text: str) -> Iterator[_Unit]:
        """The folded words (parts of hyphened words apart), numbers and norms of a text in order."""
        for piece in _pieces(text):
            if piece.kind == "word":
                for part in _HYPHEN.split(piece.text):
                    word = fold(part)
                    yield _Unit(word, "word", word in self._stop_words, part.isupper())
            else:
                for token in _fixed_tokens(piece):
                    yield _Unit(token, "norm" if piece.kind in {"norm", "case"} else "number")

    def _unit_terms(self, unit: _Unit) -> list[QueryTerm]:
        word, vocabulary = unit.word, self._vocabulary
        if unit.origin != "word":
            return [QueryTerm(word, 1.0, unit.origin, word)]
        terms = [QueryTerm(vocabulary.stem(word), 1.0, "word", word)]
        parts = vocabulary.split(word)
        terms.extend(QueryTerm(vocabulary.stem(part), PART_WEIGHT, "part", word) for part in parts)
        if parts or vocabulary.knows(word) or (vocabulary.stem(word),) in self._meanings:
            return terms
        for near in vocabulary.near(word):
            terms.append(QueryTerm(vocabulary.stem(near), TYPO_WEIGHT, "typo", word))
            near_parts = vocabulary.split(near)
            terms.extend(QueryTerm(vocabulary.stem(part), TYPO_WEIGHT * PART_WEIGHT, "typo", word) for part in near_parts)
        return terms

    def _phrase_terms(self, phrase: str, origin: Origin, source: str) -> Iterator[QueryTerm]:
        for unit in self._units(phrase):
            if not unit.stopped:
                yield QueryTerm(self._vocabulary.stem(unit.word), SYNONYM_WEIGHT, origin, source)
                for part in self._vocabulary.split(unit.word):
                    yield QueryTerm(self._vocabulary.stem(part), SYNONYM_WEIGHT * PART_WEIGHT, origin, source)

    def _phrases(self, units: list[_Unit]) -> Iterator[tuple[int, int, Meaning]]:
        """The phrases of the lexicon in the query, longest first; a word is used once.

        An abbreviation that is spelled like a stop word counts only in capitals (AN, but not „an“).
        """
        stems = tuple(self._vocabulary.stem(unit.word) for unit in units)
        start = 0
        while start < len(units):
            length, meaning = self._longest_phrase(stems, start)
            if meaning is not None and (length > 1 or not units[start].stopped or units[start].capitals):
                yield start, length, meaning
            start += length

    def _longest_phrase(self, stems: tuple[str, ...], start: int) -> tuple[int, Meaning | None]:
        for length in range(min(_LONGEST_PHRASE, len(stems) - start), 0, -1):
            meaning = self._meanings.get(stems[start : start + length])
            if meaning is not None:
                return length, meaning
        return 1, None

    def _joins(self, units: list[_Unit]) -> Iterator[list[QueryTerm]]:
        for start in range(len(units)):
            for length in (2, 3):
                words = [unit.word for unit in units[start : start + length] if unit.origin == "word"]
                if len(words) < length or min(map(len, words)) < _MIN_JOINED_LETTERS:
                    continue
                joined = self._vocabulary.join(words)
                if joined is not None:
                    yield [QueryTerm(self._vocabulary.stem(joined), 1.0, "joined", " ".join(words))]


def searchable_text(node: SectionNode) -> str:
    """Everything of a section that is searched: title, tags, legal bases, heading and text, one a line."""
    return "\n".join((node.title, "; ".join(node.tags), "; ".join(node.legal_bases), node.section, node.evidence_text))


def _pieces(text: str) -> Iterator[_Piece]:
    for match in _TOKEN.finditer(_GENDER.sub("", text)):
        kind = "number" if match["number"] else match.lastgroup or "word"
        yield _Piece(kind, match.group())


def _fixed_tokens(piece: _Piece) -> list[str]:
    if piece.kind == "norm":
        numbers = _NORM_NUMBER.findall(piece.text.lower())
        return [f"§{numbers[0]}"] + ([f"§{'/'.join(numbers)}"] if len(numbers) > 1 else [])
    if piece.kind == "case":
        return [_SPACES.sub("", fold(piece.text))]
    if piece.kind == "date":
        return [piece.text, piece.text.rpartition(".")[2]]
    digits = re.sub(r"[^\d,]", "", piece.text)
    if "," in digits:
        digits = digits.rstrip("0").rstrip(",")
    number = digits.lstrip("0") or "0"
    return [number, f"{number}%"] if not piece.text[-1].isdigit() else [number]


def _strongest(group: list[QueryTerm]) -> tuple[QueryTerm, ...]:
    """Each token once with its highest weight, in order of first appearance."""
    best: dict[str, QueryTerm] = {}
    for term in group:
        if term.token not in best or term.weight > best[term.token].weight:
            best[term.token] = term
    return tuple(best.values())
