"""An encoder that ranks by shared words, is deterministic, counts what it encodes, and fails when told to."""

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from pydantic import PrivateAttr

from pipelines.embeddings import SectionEncoder, Vectors
from pipelines.errors import ModelUnavailable
from pipelines.vocabulary import fold

DIMENSION = 64


class FakeEncoder(SectionEncoder):
    """Each folded word adds one to one of 64 places."""

    _encoded: list[str] = PrivateAttr(default_factory=list)
    _fails: bool = PrivateAttr(default=False)

    def __init__(self, *, fails: bool = False, **data: Any) -> None:
        super().__init__(model_name="fake", **data)
        self._fails = fails

    @property
    def encoded(self) -> list[str]:
        """Every text that was encoded, in order."""
        return self._encoded

    @property
    def digest(self) -> str:
        return "fake-1"

    def encode(self, texts: Sequence[str]) -> Vectors:
        if self._fails:
            raise ModelUnavailable("Der Encoder ist nicht erreichbar.")
        self._encoded.extend(texts)
        vectors = np.full((len(texts), DIMENSION), 0.01, dtype=np.float32)
        for row, text in enumerate(texts):
            for word in fold(text).split():
                place = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big") % DIMENSION
                vectors[row, place] += 1
        unit: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit
