"""The lexical channel: BM25F over the German analysis of a section's fields."""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from pipelines.german import GermanAnalyzer, QueryAnalysis
from pipelines.nodes import SectionNode
from pipelines.postings import Postings, best_rows, csr_rows


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
    def build(cls, nodes: Sequence[SectionNode], directory: Path, analyzer: GermanAnalyzer) -> Self:
        """Indexes the sections and writes the index into `directory`. No sections give an index that finds nothing."""
        lengths: dict[str, list[int]] = defaultdict(list)
        counts: list[dict[str, Counter[str]]] = []
        for node in nodes:
            fields = {name: Counter(analyzer.tokens(text)) for name, text in _fields(node).items()}
            for name, found in fields.items():
                lengths[name].append(found.total())
            counts.append({name: found for name, found in fields.items() if found})
        averages = {name: max(sum(found) / len(found), 1.0) for name, found in lengths.items()}
        postings = _weighted(counts, averages)
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


def _fields(node: SectionNode) -> dict[str, str]:
    return {
        "title": node.title,
        "tags": "; ".join(node.tags),
        "legal_bases": "; ".join(node.legal_bases),
        "section": node.section,
        "body": node.evidence_text,
        "topic": node.topic.replace("-", " "),
    }


def _weighted(counts: list[dict[str, Counter[str]]], averages: Mapping[str, float]) -> Postings:
    terms = sorted({term for fields in counts for found in fields.values() for term in found})
    numbers = {term: number for number, term in enumerate(terms)}
    offsets, columns, values = [0], list[int](), list[float]()
    for fields in counts:
        frequency: dict[str, float] = defaultdict(float)
        for name, found in fields.items():
            field = FIELD_WEIGHTS[name]
            length_norm = 1 - field.length_share + field.length_share * found.total() / averages[name]
            for term, count in found.items():
                frequency[term] += field.weight * count / length_norm
        columns.extend(numbers[term] for term in frequency)
        values.extend(value / (SATURATION + value) for value in frequency.values())
        offsets.append(len(columns))
    matrix = csr_rows(values, columns, offsets, len(terms))
    sections = np.bincount(matrix.indices, minlength=len(terms))
    rarity = np.array([math.log1p((len(counts) - n + 0.5) / (n + 0.5)) for n in sections.tolist()], dtype=np.float32)
    matrix.data = matrix.data * rarity[matrix.indices]
    return Postings.from_matrix(terms, matrix)
