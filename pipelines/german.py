"""German analysis, one for index and query: words, parts of compounds, numbers and norms as tokens, and how rare each is."""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import ClassVar, Self

import numpy as np

from pipelines.errors import IndexFault
from pipelines.lexicon import Lexicon
from pipelines.nodes import SectionNode
from pipelines.pieces import HYPHEN, Piece, fixed_tokens, pieces
from pipelines.query_terms import QueryAnalysis, QueryReader, QueryTerm, Unit
from pipelines.section_pieces import FIELDS, SectionPieces
from pipelines.vocabulary import Vocabulary, fold

FILE_NAME = "vocabulary.json"

__all__ = ["GermanAnalyzer", "QueryAnalysis", "QueryTerm"]


class GermanAnalyzer:
    """Turns text into tokens the same way at index and at query time. Safe to use from several threads.

    `VERSION` enters the index fingerprint: an index is only opened with the analysis it was built with. Abbreviations and
    synonyms work at query time only and may change without a new index.
    """

    VERSION: ClassVar[str] = "german-3"

    def __init__(self, vocabulary: Vocabulary, token_sections: dict[str, int], sections: int, lexicon: Lexicon) -> None:
        self._vocabulary = vocabulary
        self._token_sections = token_sections
        self._sections = sections
        self._stop_words = lexicon.stop_words
        self._word_tokens: dict[str, tuple[str, ...]] = {}
        self._word_contents: dict[str, tuple[str, ...]] = {}
        self._reader = QueryReader(vocabulary, lexicon, self._units)

    @classmethod
    def build(cls, nodes: Iterable[SectionNode], lexicon: Lexicon | None = None) -> Self:
        """Learns the vocabulary of these sections; no section is a vocabulary of nothing, which is valid."""
        return cls.learn(SectionPieces.read(nodes), lexicon)

    @classmethod
    def learn(cls, pieces: SectionPieces, lexicon: Lexicon | None = None) -> Self:
        """As `build`, from sections that were cut already."""
        lexicon = lexicon or Lexicon.bundled()
        words = _sections_of_parts(pieces, _simple_words)
        analyzer = cls(Vocabulary(words, lexicon.stop_words), {}, pieces.sections, lexicon)
        analyzer._token_sections = _sections_of_parts(pieces, analyzer.piece_tokens)
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
        except (OSError, ValueError, KeyError, TypeError) as exc:
            raise IndexFault(f"The vocabulary {str(path)!r} cannot be read: {exc}.", hint="Build the index anew.") from exc
        if version != cls.VERSION:
            raise IndexFault(
                f"The vocabulary has version {version!r}, this program {cls.VERSION!r}.", hint="Build the index anew."
            )
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
        for piece in pieces(text):
            found.extend(self.piece_tokens(piece))
        return found

    def piece_tokens(self, piece: Piece) -> Sequence[str]:
        """The tokens of one piece."""
        return self._tokens_of_word(piece.text) if piece.kind == "word" else fixed_tokens(piece)

    def content_words(self, text: str) -> list[str]:
        """The folded words, numbers and norms of `text` in order, without stop words, neither stemmed nor split."""
        found: list[str] = []
        for piece in pieces(text):
            found.extend(self.piece_content(piece))
        return found

    def piece_content(self, piece: Piece) -> Sequence[str]:
        """The content words of one piece."""
        return self._content_of_word(piece.text) if piece.kind == "word" else fixed_tokens(piece)

    def query_tokens(self, text: str) -> QueryAnalysis:
        """Analyses a question: compounds are split, split words joined, abbreviations, synonyms and typos resolved."""
        return self._reader.read(text)

    def rarity(self, token: str) -> float:
        """Inverse document frequency over sections, ≥ 0; a token no section has gets the highest value."""
        count = self._token_sections.get(token, 0)
        return math.log1p((self._sections - count + 0.5) / (count + 0.5))

    def knows(self, token: str) -> bool:
        """Whether some section has the token."""
        return token in self._token_sections

    def _tokens_of_word(self, word: str) -> tuple[str, ...]:
        found = self._word_tokens.get(word)
        if found is None:
            parts = [fold(part) for part in HYPHEN.split(word)]
            tokens = [self._vocabulary.stem("".join(parts))] if len(parts) > 1 else []
            for part in parts:
                if part not in self._stop_words:
                    tokens.append(self._vocabulary.stem(part))
                    tokens.extend(self._vocabulary.stem(known) for known in self._vocabulary.split(part))
            found = self._word_tokens[word] = tuple(tokens)
        return found

    def _content_of_word(self, word: str) -> tuple[str, ...]:
        found = self._word_contents.get(word)
        if found is None:
            parts = (fold(part) for part in HYPHEN.split(word))
            found = self._word_contents[word] = tuple(part for part in parts if part not in self._stop_words)
        return found

    def _units(self, text: str) -> Iterator[Unit]:
        """The folded words (parts of hyphened words apart), numbers and norms of a text in order."""
        for piece in pieces(text):
            if piece.kind == "word":
                for part in HYPHEN.split(piece.text):
                    word = fold(part)
                    yield Unit(word, "word", word in self._stop_words, part.isupper())
            else:
                for token in fixed_tokens(piece):
                    yield Unit(token, "norm" if piece.kind in {"norm", "case"} else "number")


def _simple_words(piece: Piece) -> frozenset[str]:
    """The folded words of a piece: parts of a hyphened word apart and together; none of what is no word."""
    if piece.kind != "word":
        return frozenset()
    together = (fold(HYPHEN.sub("", piece.text)),) if HYPHEN.search(piece.text) else ()
    return frozenset((*map(fold, HYPHEN.split(piece.text)), *together))


def _sections_of_parts(pieces: SectionPieces, parts_of: Callable[[Piece], Iterable[str]]) -> dict[str, int]:
    """How many sections have each part of the pieces, in the order of the parts."""
    terms, parts = pieces.parts(parts_of)
    having = pieces.summed(dict.fromkeys(FIELDS, 1.0)) @ parts
    counts = np.bincount(having.indices, minlength=len(terms))
    return dict(zip(terms, counts.tolist(), strict=True))
