"""How often each section has each piece in each of its fields: texts are cut once, and all that is learned is counted from it."""

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from pipelines.nodes import SectionNode
from pipelines.pieces import Piece, count_pieces
from pipelines.postings import Matrix, csr_rows

FIELDS = ("title", "tags", "legal_bases", "section", "body", "topic")


@dataclass(frozen=True, slots=True)
class SectionPieces:
    """`counts[field]` has the shape (sections, pieces), its columns in the order of `pieces`, which has each piece once."""

    pieces: tuple[Piece, ...]
    counts: Mapping[str, Matrix]

    @classmethod
    def read(cls, nodes: Iterable[SectionNode]) -> Self:
        """Cuts all fields of the sections; no section gives counts of nothing."""
        numbers: dict[Piece, int] = {}
        rows = {field: _Rows() for field in FIELDS}
        kept: dict[str, tuple[str, dict[Piece, int]]] = {}
        for node in nodes:
            for field, text in _texts(node).items():
                known, found = kept.get(field, ("", {}))
                if text != known:  # title and tags are those of the section before as long as it is the same entry
                    found = count_pieces(text)
                    kept[field] = (text, found)
                rows[field].add([numbers.setdefault(piece, len(numbers)) for piece in found], found.values())
        return cls(tuple(numbers), {field: row.matrix(len(numbers)) for field, row in rows.items()})

    @property
    def sections(self) -> int:
        """Number of sections."""
        return int(self.counts["body"].shape[0])

    def summed(self, shares: Mapping[str, float]) -> Matrix:
        """The counts of several fields together, each times its share; shape (sections, pieces)."""
        total = csr_rows([], [], np.zeros(self.sections + 1), len(self.pieces))
        for field, share in shares.items():
            total = total + self.counts[field] * np.float32(share)
        return total

    def parts(self, parts_of: Callable[[Piece], Iterable[str]]) -> tuple[list[str], Matrix]:
        """The different parts of all pieces, sorted, and how often each piece has each; shape (pieces, parts)."""
        found = [tuple(parts_of(piece)) for piece in self.pieces]
        terms = sorted({part for parts in found for part in parts})
        numbers = {term: number for number, term in enumerate(terms)}
        rows = _Rows()
        for parts in found:
            rows.add([numbers[part] for part in parts], [1] * len(parts))
        matrix = rows.matrix(len(terms))
        matrix.sum_duplicates()
        return terms, matrix


class _Rows:
    """A sparse matrix, growing row by row."""

    def __init__(self) -> None:
        self._offsets = array("q", [0])
        self._columns = array("i")
        self._counts = array("i")

    def add(self, columns: Sequence[int], counts: Iterable[int]) -> None:
        self._columns.extend(columns)
        self._counts.extend(counts)
        self._offsets.append(len(self._columns))

    def matrix(self, width: int) -> Matrix:
        return csr_rows(np.array(self._counts), np.array(self._columns), np.array(self._offsets), width)


def _texts(node: SectionNode) -> dict[str, str]:
    return {
        "title": node.title,
        "tags": "; ".join(node.tags),
        "legal_bases": "; ".join(node.legal_bases),
        "section": node.section,
        "body": node.evidence_text,
        "topic": node.topic.replace("-", " "),
    }
