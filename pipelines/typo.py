"""The typo-tolerant channel: TF-IDF over character n-grams of folded words, so that half-right words still find their section."""

import math
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pipelines.errors import IndexFault
from pipelines.german import GermanAnalyzer, QueryAnalysis
from pipelines.postings import Matrix, Postings, best_rows, csr_rows, read_array
from pipelines.section_pieces import SectionPieces

SHORTEST, LONGEST = 3, 5
MOST_GRAMS = 600
"""Grams kept per section, the weightiest: bounds memory and time where sections are long."""
HEAD_REPEATS = 2
"""How often title and tags count."""
_WORD_SHARES = {"title": HEAD_REPEATS, "tags": HEAD_REPEATS, "section": 1, "body": 1}
_CHUNK_ROWS = 2000
_RARITY = "rarity.npy"


def grams(word: str) -> list[str]:
    """The character n-grams of a word between spaces, 3 to 5 long; a shorter word is one gram."""
    padded = f" {word} "
    found: list[str] = []
    for size in range(SHORTEST, LONGEST + 1):
        if len(padded) <= size:
            found.append(padded)
            break
        found.extend(padded[start : start + size] for start in range(len(padded) - size + 1))
    return found


class TypoIndex:
    """Cosine of character n-gram vectors: sublinear frequency, inverse document frequency, the weightiest grams per section."""

    def __init__(self, postings: Postings, rarity: NDArray[np.float32]) -> None:
        self._postings = postings
        self._rarity = rarity

    @classmethod
    def build(cls, pieces: SectionPieces, directory: Path, analyzer: GermanAnalyzer) -> Self:
        """Indexes the sections and writes the index into `directory`. No sections give an index that finds nothing."""
        words, content = pieces.parts(analyzer.piece_content)
        word_counts = Matrix(pieces.summed(_WORD_SHARES) @ content)
        used = np.unique(word_counts.indices)
        word_counts = Matrix(word_counts[:, used])
        terms, gram_counts = _count_grams([words[number] for number in used])
        sections = np.zeros(len(terms), dtype=np.int64)
        for counts in _chunks(word_counts, gram_counts):
            sections += np.bincount(counts.indices, minlength=len(terms))
        rarity = (np.log((1 + pieces.sections) / (1 + sections)) + 1).astype(np.float32)
        # Counted a second time: all counts at once would take a gigabyte where there are millions of words.
        rows = [_weighted(counts, rarity) for counts in _chunks(word_counts, gram_counts)]
        matrix = Matrix(sparse.vstack(rows, format="csr")) if rows else Matrix((0, len(terms)), dtype=np.float32)
        rows.clear()
        postings = Postings.from_matrix(terms, cast(Matrix, matrix))
        postings.save(directory)
        np.save(directory / _RARITY, rarity)
        return cls(postings, rarity)

    @classmethod
    def open(cls, directory: Path) -> Self:
        """Reads what `build` wrote.

        Raises:
            IndexFault: it cannot be read.
        """
        postings = Postings.open(directory)
        rarity = read_array(directory / _RARITY)
        if len(rarity) != len(postings.numbers):
            raise IndexFault(f"The typo index in {str(directory)!r} does not fit together.", hint="Build the index anew.")
        return cls(postings, rarity)

    @property
    def rows(self) -> int:
        """Number of sections."""
        return self._postings.rows

    def scores(self, analysis: QueryAnalysis) -> NDArray[np.float32]:
        """The cosine of every row with the query's content words, in [0, 1]."""
        rows_of, weights_of, squares = [], [], 0.0
        for gram, count in Counter(gram for word in analysis.content.split() for gram in grams(word)).items():
            number = self._postings.numbers.get(gram)
            if number is None:
                continue
            weight = (1 + math.log(count)) * float(self._rarity[number])
            rows, weights = self._postings.of(gram)
            rows_of.append(rows)
            weights_of.append(np.float32(weight) * weights)
            squares += weight * weight
        if not squares:
            return np.zeros(self.rows, dtype=np.float32)
        total = np.bincount(np.concatenate(rows_of), np.concatenate(weights_of), minlength=self.rows)
        return (total / math.sqrt(squares)).astype(np.float32)

    def search(self, analysis: QueryAnalysis, limit: int, allowed: NDArray[np.bool_] | None = None) -> list[tuple[int, float]]:
        """The best rows with a score above zero, best first, ties by row number; `allowed` says which rows may come."""
        return best_rows(self.scores(analysis), limit, allowed)


def _count_grams(words: Sequence[str]) -> tuple[list[str], Matrix]:
    """The distinct grams, sorted, and how often each word has each (rows: words)."""
    first_seen: dict[str, int] = {}
    offsets, columns = [0], array("i")
    for word in words:
        columns.extend(first_seen.setdefault(gram, len(first_seen)) for gram in grams(word))
        offsets.append(len(columns))
    terms = sorted(first_seen)
    place = np.empty(len(terms), dtype=np.int32)
    place[[first_seen[term] for term in terms]] = np.arange(len(terms), dtype=np.int32)
    sorted_columns = place[np.frombuffer(columns, dtype=np.int32)] if len(columns) else np.zeros(0, dtype=np.int32)
    matrix = csr_rows(np.ones(len(sorted_columns), dtype=np.float32), sorted_columns, offsets, len(terms))
    matrix.sum_duplicates()
    return terms, matrix


def _chunks(word_counts: Matrix, gram_counts: Matrix) -> Iterator[Matrix]:
    """How often each section has each gram, a few sections at a time."""
    for start in range(0, word_counts.shape[0], _CHUNK_ROWS):
        yield Matrix(word_counts[start : start + _CHUNK_ROWS] @ gram_counts)


def _weighted(counts: Matrix, rarity: NDArray[np.float32]) -> Matrix:
    """TF-IDF with unit rows, then only each row's weightiest grams (ties: the first in the alphabet)."""
    counts.sort_indices()
    weights = (1 + np.log(counts.data)) * rarity[counts.indices]
    offsets, columns, values = [0], [], []
    for start, end in zip(counts.indptr[:-1], counts.indptr[1:], strict=True):
        row, numbers = weights[start:end], counts.indices[start:end]
        norm = float(np.sqrt(np.dot(row, row))) or 1.0
        if len(row) > MOST_GRAMS:
            kept = np.sort(np.argsort(-row, kind="stable")[:MOST_GRAMS])
            row, numbers = row[kept], numbers[kept]
        columns.append(numbers)
        values.append(row / norm)
        offsets.append(offsets[-1] + len(row))
    return sparse.csr_array(
        (
            np.concatenate(values).astype(np.float32),
            np.concatenate(columns).astype(np.int32),
            np.array(offsets, dtype=np.int64),
        ),
        shape=counts.shape,
    )
