"""Vectors kept by (embedding model, content), so that a rebuild encodes only what changed."""

import hashlib
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pipelines.errors import IndexFault

_CHUNK = 500
_BUSY_SECONDS = 30.0
_SCHEMA = "CREATE TABLE IF NOT EXISTS vectors (key TEXT PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID"


class EmbeddingCache:
    """One SQLite file per model below `directory`. Safe for several processes; may be deleted at any time.

    Args:
        directory: made when first written to.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def get_many(self, model: str, keys: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """The vectors that are known, by key.

        Raises:
            IndexFault: the cache is damaged.
        """
        found: dict[str, NDArray[np.float32]] = {}
        if not self._path(model).exists():
            return found
        wanted = list(dict.fromkeys(keys))
        with self._connection(model) as connection:
            for start in range(0, len(wanted), _CHUNK):
                chunk = wanted[start : start + _CHUNK]
                marks = ",".join("?" * len(chunk))
                rows = connection.execute(f"SELECT key, vector FROM vectors WHERE key IN ({marks})", chunk)
                found.update({key: np.frombuffer(vector, dtype="<f4") for key, vector in rows})
        return found

    def put_many(self, model: str, vectors: Mapping[str, NDArray[np.float32]]) -> None:
        """Keeps vectors; a known key is overwritten.

        Raises:
            IndexFault: the cache is damaged or the disk is full.
        """
        rows = [(key, vector.astype("<f4").tobytes()) for key, vector in vectors.items()]
        with self._connection(model) as connection, connection:
            connection.executemany("INSERT OR REPLACE INTO vectors (key, vector) VALUES (?, ?)", rows)

    def _path(self, model: str) -> Path:
        return self._directory / f"{hashlib.sha256(model.encode('utf-8')).hexdigest()[:16]}.sqlite"

    @contextmanager
    def _connection(self, model: str) -> Iterator[sqlite3.Connection]:
        path = self._path(model)
        try:
            self._directory.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(path, timeout=_BUSY_SECONDS)) as connection:
                connection.execute("PRAGMA journal_mode=WAL")
                connection.execute("PRAGMA synchronous=NORMAL")
                connection.execute(_SCHEMA)
                yield connection
        except (sqlite3.Error, OSError) as exc:
            raise IndexFault(
                f"The embedding cache {str(path)!r} cannot be used: {exc}.", hint="Check the free space, or delete the file."
            ) from exc
