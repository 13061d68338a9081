"""The dense channel: exact cosine over every vector of a section, the best one counts; vectors live in Chroma."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from chromadb.api.models.Collection import Collection
from numpy.typing import NDArray

from pipelines.embeddings import SectionVectors
from pipelines.errors import IndexFault
from pipelines.postings import best_rows

_BATCH = 2000
_PAGE = 5000


class DenseIndex:
    """Exact search, because Chroma's HNSW orders the first fifty hits differently in every other build.

    Args:
        vectors: at least one vector for every section.
        node_ids: the sections' ids in row order; equal similarities are ordered by them.
    """

    def __init__(self, vectors: SectionVectors, node_ids: Sequence[str]) -> None:
        counts = np.bincount(vectors.owners, minlength=len(node_ids)) if len(node_ids) else np.zeros(0, dtype=np.int64)
        if len(counts) != len(node_ids) or not counts.all():
            raise IndexFault("The index lacks vectors of some sections.", hint="Build the index anew.")
        self._matrix = np.ascontiguousarray(vectors.matrix, dtype=np.float32)
        self._vectors = SectionVectors(owners=vectors.owners, matrix=self._matrix)
        self._starts = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts)[:-1]]) if len(counts) else counts
        self._tie_ranks = np.argsort(np.argsort(np.array(node_ids, dtype=object), kind="stable"), kind="stable")

    @property
    def vectors(self) -> SectionVectors:
        """Every vector and the row of the section it belongs to."""
        return self._vectors

    @property
    def rows(self) -> int:
        """Number of sections."""
        return len(self._starts)

    def similarities(self, queries: NDArray[np.float32]) -> NDArray[np.float32]:
        """The highest cosine of each section's vectors with each query.

        Args:
            queries: vectors of length one, of shape (queries, dimension).

        Returns:
            Values in [-1, 1], of shape (queries, sections).

        Raises:
            IndexFault: the vectors have another dimension than the index.
        """
        if not self.rows:
            return np.zeros((len(queries), 0), dtype=np.float32)
        if queries.ndim != 2 or queries.shape[1] != self._matrix.shape[1]:
            raise IndexFault(f"Query vectors of shape {queries.shape} do not fit an index of {self._matrix.shape[1]} dimensions.")
        products = np.ascontiguousarray((self._matrix @ queries.T).T)
        highest: NDArray[np.float32] = np.maximum.reduceat(products, self._starts, axis=1)
        return highest

    def search(self, query: NDArray[np.float32], limit: int, allowed: NDArray[np.bool_] | None = None) -> list[tuple[int, float]]:
        """The sections with the highest similarity above zero to one query vector, best first, ties by node id."""
        return best_rows(self.similarities(query[None])[0], limit, allowed, self._tie_ranks)


def store_vectors(collection: Collection, vectors: SectionVectors, node_ids: Sequence[str], text_hashes: Sequence[str]) -> None:
    """Adds every vector to an empty collection: id `<node id>~<number>`, metadata `node_id`, `part` and `text_hash`."""
    parts: list[int] = []
    for position, owner in enumerate(vectors.owners):
        same = position > 0 and vectors.owners[position - 1] == owner
        parts.append(parts[-1] + 1 if same else 0)
    for start in range(0, len(parts), _BATCH):
        owners = [int(owner) for owner in vectors.owners[start : start + _BATCH]]
        numbers = parts[start : start + _BATCH]
        metadatas: list[Any] = [
            {"node_id": node_ids[owner], "part": part, "text_hash": text_hashes[owner]}
            for owner, part in zip(owners, numbers, strict=True)
        ]
        collection.add(
            ids=[f"{node_ids[owner]}~{part}" for owner, part in zip(owners, numbers, strict=True)],
            embeddings=vectors.matrix[start : start + _BATCH],
            metadatas=metadatas,
        )


def load_vectors(collection: Collection, row_of: Mapping[str, int]) -> SectionVectors:
    """Reads every vector of the collection, in order of sections and their parts.

    Raises:
        IndexFault: a vector belongs to no section of `row_of`, or there is none at all.
    """
    total = collection.count()
    order: list[tuple[int, int]] = []
    pages: list[NDArray[np.float32]] = []
    for start in range(0, total, _PAGE):
        page = collection.get(include=["embeddings"], limit=_PAGE, offset=start)
        pages.append(np.asarray(page["embeddings"], dtype=np.float32))
        order.extend(_place(vector_id, row_of) for vector_id in page["ids"])
    if not pages:
        raise IndexFault("The collection has no vectors.", hint="Build the index anew.")
    matrix = np.concatenate(pages)
    positions = sorted(range(total), key=order.__getitem__)
    return SectionVectors(np.array([order[i][0] for i in positions], dtype=np.int32), matrix[positions])


def _place(vector_id: str, row_of: Mapping[str, int]) -> tuple[int, int]:
    node_id, _, part = vector_id.rpartition("~")
    if node_id not in row_of or not part.isdigit():
        raise IndexFault(f"The vector {vector_id!r} belongs to no section of this index.", hint="Build the index anew.")
    return row_of[node_id], int(part)
