"""The lexical channel: BM25F over the German analysis of a section's fields."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pipelines.german import GermanAnalyzer, QueryAnalysis
from pipelines.postings import Postings, best_rows, csr_rows
from pipelines.section_pieces import SectionPieces


@dataclass(frozen=True, slots=True)
class FieldWeight:
    """How much a term in this field counts, and how strongly a long field is discounted (0: not at all, 1: fully)."""

    weight: float
    length_share: float


# Measured in docs/retrieval.md; the plateau is wide.
FIELD_WEIGHTS: Mapping[str, FieldWeight] = {
    "title": FieldWeight(2.0, 0.4),
    "tags": FieldWeight(2.0, 0.4),
    "legal_bases": FieldWeight(0.5, 0.4),
    "section": FieldWeight(0.3, 0.4),
    "body": FieldWeight(1.0, 0.4),
    "topic": FieldWeight(1.0, 0.0),
}
SATURATION = 1.2
ALTERNATIVES_SHARE = 0.5
"""What the second and further ways to find one thing the query says add to the best way."""


class LexicalIndex:
    """BM25F (Robertson, Zaragoza, Taylor 2004) with query weights. Rows are sections in the order they were built in.

    bm25s scores one field with unweighted query terms, hence scores of our own over the same kind of index.
    """

    def __init__(self, postings: Postings) -> None:
        self._postings = postings

    @classmethod
    def build(cls, pieces: SectionPieces, directory: Path, analyzer: GermanAnalyzer) -> Self:
        """Indexes the sections and writes the index into `directory`. No sections give an index that finds nothing."""
        postings = _weighted(pieces, analyzer)
        postings.save(directory)
        return cls(postings)

    @classmethod
    def open(cls, directory: Path) -> Self:
        """Reads what `build` wrote.

        Raises:
            IndexFault: it cannot be read.
        """
        return cls(Postings.open(directory))

    @property
    def rows(self) -> int:
        """Number of sections."""
        return self._postings.rows

    def scores(self, analysis: QueryAnalysis) -> NDArray[np.float32]:
        """The BM25F score of every row, ≥ 0; 0 where no term occurs."""
        total = np.zeros(self.rows, dtype=np.float32)
        for group in analysis.groups:
            if len(group) == 1:
                rows, weights = self._postings.of(group[0].token)
                total[rows] += np.float32(group[0].weight) * weights
                continue
            best = np.zeros(self.rows, dtype=np.float32)
            every = np.zeros(self.rows, dtype=np.float32)
            for term in group:
                rows, weights = self._postings.of(term.token)
                weighted = np.float32(term.weight) * weights
                every[rows] += weighted
                best[rows] = np.maximum(best[rows], weighted)
            total += best + np.float32(ALTERNATIVES_SHARE) * (every - best)
        return total

    def search(self, analysis: QueryAnalysis, limit: int, allowed: NDArray[np.bool_] | None = None) -> list[tuple[int, float]]:
        """The best rows with a score above zero, best first, ties by row number; `allowed` says which rows may come."""
        return best_rows(self.scores(analysis), limit, allowed)


def _weighted(pieces: SectionPieces, analyzer: GermanAnalyzer) -> Postings:
    terms, tokens = pieces.parts(analyzer.piece_tokens)
    frequency = sparse.csr_array((pieces.sections, len(terms)), dtype=np.float64)
    for name, field in FIELD_WEIGHTS.items():
        found = (pieces.counts[name] @ tokens).astype(np.float64)
        lengths: NDArray[np.float64] = found.sum(axis=1)
        average = max(lengths.mean(), 1.0) if pieces.sections else 1.0
        length_norms = 1 - field.length_share + field.length_share * lengths / average
        found.data = field.weight * found.data / np.repeat(length_norms, np.diff(found.indptr))
        frequency = frequency + found
    sections = np.bincount(frequency.indices, minlength=len(terms))
    rarity = np.log1p((pieces.sections - sections + 0.5) / (sections + 0.5)).astype(np.float32)
    saturated = (frequency.data / (SATURATION + frequency.data)).astype(np.float32)
    weights = saturated * rarity[frequency.indices]
    return Postings.from_matrix(terms, csr_rows(weights, frequency.indices, frequency.indptr, len(terms)))
