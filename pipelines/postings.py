"""An inverted index in three arrays: for every term the rows that have it, each with a weight; small, and quick to open."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from pipelines.errors import IndexFault

_TERMS = "terms.json"
_ARRAYS = ("offsets", "row_ids", "weights")


Matrix = sparse.csr_array[np.float32, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Postings:
    """`row_ids[offsets[i]:offsets[i + 1]]` are the rows of term i, ascending; `weights` lies beside them. Never written to."""

    numbers: dict[str, int]
    offsets: NDArray[np.int64]
    row_ids: NDArray[np.int32]
    weights: NDArray[np.float32]
    rows: int

    @classmethod
    def from_matrix(cls, terms: Sequence[str], matrix: Matrix) -> Self:
        """From a matrix of shape (rows, terms)."""
        columns = matrix.tocsc()
        columns.sort_indices()
        return cls(
            numbers={term: number for number, term in enumerate(terms)},
            offsets=columns.indptr.astype(np.int64),
            row_ids=columns.indices.astype(np.int32),
            weights=columns.data.astype(np.float32),
            rows=matrix.shape[0],
        )

    def save(self, directory: Path) -> None:
        """Writes the arrays and the terms into `directory` (made when missing)."""
        directory.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"rows": self.rows, "terms": list(self.numbers)}, ensure_ascii=False, separators=(",", ":"))
        (directory / _TERMS).write_text(text, encoding="utf-8")
        for name in _ARRAYS:
            np.save(directory / f"{name}.npy", getattr(self, name))

    @classmethod
    def open(cls, directory: Path) -> Self:
        """Reads what `save` wrote.

        Raises:
            IndexFault: the files are missing, unreadable or do not fit together.
        """
        try:
            head = json.loads((directory / _TERMS).read_text(encoding="utf-8"))
            rows, terms = int(head["rows"]), list(head["terms"])
        except (OSError, ValueError, KeyError, TypeError) as exc:
            raise IndexFault(f"The postings in {str(directory)!r} cannot be read: {exc}.", hint="Build the index anew.") from exc
        offsets, row_ids, weights = (read_array(directory / f"{name}.npy") for name in _ARRAYS)
        if len(offsets) != len(terms) + 1 or not len(row_ids) == len(weights) == offsets[-1]:
            raise IndexFault(f"The postings in {str(directory)!r} do not fit together.", hint="Build the index anew.")
        return cls({term: number for number, term in enumerate(terms)}, offsets, row_ids, weights, rows)

    def of(self, term: str) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """The rows that have the term, each once, and its weights there; two empty arrays for an unknown term."""
        number = self.numbers.get(term)
        if number is None:
            return self.row_ids[:0], self.weights[:0]
        start, end = self.offsets[number], self.offsets[number + 1]
        return self.row_ids[start:end], self.weights[start:end]


def best_rows(
    scores: NDArray[np.float32],
    limit: int,
    allowed: NDArray[np.bool_] | None = None,
    tie_ranks: NDArray[np.int64] | None = None,
) -> list[tuple[int, float]]:
    """The `limit` best rows with a score above zero, best first.

    Args:
        scores: one score a row.
        limit: most rows to return, ≥ 1.
        allowed: which rows may be returned; None allows all.
        tie_ranks: orders rows of equal score, ascending; None: by row number.
    """
    found = np.flatnonzero(scores > 0 if allowed is None else (scores > 0) & allowed)
    if len(found) > limit:
        # A threshold first: sorting every hit of a large index costs more than the search itself.
        threshold = np.partition(scores[found], len(found) - limit)[len(found) - limit]
        found = found[scores[found] >= threshold]
    ties = found if tie_ranks is None else tie_ranks[found]
    order = found[np.lexsort((ties, -scores[found]))][:limit]
    return [(int(row), float(scores[row])) for row in order]


def read_array(path: Path) -> NDArray[Any]:
    """An array that was saved without pickle.

    Raises:
        IndexFault: the file is missing or damaged.
    """
    try:
        with path.open("rb") as handle:
            array: NDArray[Any] = np.load(handle, allow_pickle=False)
    except (OSError, ValueError, EOFError) as exc:
        raise IndexFault(f"{str(path)!r} cannot be read: {exc}.", hint="Build the index anew.") from exc
    return array


def csr_rows(values: ArrayLike, columns: ArrayLike, offsets: ArrayLike, width: int) -> Matrix:
    """A sparse matrix from its rows: row i has `values[offsets[i]:offsets[i + 1]]` in the columns beside them."""
    starts = np.asarray(offsets, dtype=np.int64)
    return sparse.csr_array(
        (np.asarray(values, dtype=np.float32), np.asarray(columns, dtype=np.int32), starts), shape=(len(starts) - 1, width)
    )
