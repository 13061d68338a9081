"""The tag index: managed tags and topics with their vectors, and which of them a question is about. A mild boost, never a filter.

tags/<n>/tags.ndjson    one tag a line, with the entries that have it
tags/<n>/vectors.npy    one vector a tag, in the same order, float32, each of length one
tags/<n>/meta.json      which embedding model, and which state of the tags; written last
tags/CURRENT            the served number, replaced atomically; the previous one is kept
"""

import json
import logging
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Self

import numpy as np
from pydantic import ValidationError

from custom_postprocessors.evidence import Frozen, TextAnalyzer
from pipelines.embedding_cache import EmbeddingCache
from pipelines.embeddings import SectionEncoder, Vectors, text_key
from pipelines.errors import IndexFault, ModelError
from pipelines.index_build import Progress
from pipelines.index_layout import IndexLayout

TAGS_DIR = "tags"
TAGS_FILE, VECTORS_FILE, META_FILE = "tags.ndjson", "vectors.npy", "meta.json"
MOST_TAGS = 3
LEAST_SIMILARITY = 0.6
"""Cosine of question and tag name from which a tag that the question does not name is meant. With the embedded encoder and all
1031 tags of the bundled frontmatter managed, 197 of 227 goldset questions name one; of the others 6 are as near as 0.5 to a
tag and none as near as 0.6, so that it takes a question that all but names it."""
_log = logging.getLogger(__name__)


class TagLine(Frozen):
    """One tag or topic with its entries, by ascending id."""

    kind: str
    name: str
    entries: tuple[str, ...]


class TagMeta(Frozen):
    """What a version of the tag index was built from."""

    version: str
    created_at: datetime
    embedding_model: str
    embedding_digest: str
    tags: int
    state: str
    """Hash of the names and assignments."""


@dataclass(frozen=True, slots=True)
class TagIndex:
    """One version, immutable. `vectors` has a row for every line."""

    meta: TagMeta
    lines: tuple[TagLine, ...]
    vectors: Vectors

    @classmethod
    def open(cls, directory: Path) -> Self:
        """Reads a version.

        Raises:
            IndexFault: it is damaged.
        """
        try:
            meta = TagMeta.model_validate_json((directory / META_FILE).read_bytes())
            text = (directory / TAGS_FILE).read_text(encoding="utf-8")
            lines = tuple(TagLine.model_validate_json(line) for line in text.splitlines())
            vectors = np.load(directory / VECTORS_FILE, allow_pickle=False)
        except (OSError, ValueError, ValidationError) as exc:
            raise IndexFault(f"The tag index {str(directory)!r} is damaged.", hint="Run `python -m app tags rebuild`.") from exc
        if not len(lines) == len(vectors) == meta.tags:
            raise IndexFault(
                f"The tag index {str(directory)!r} has {len(lines)} tags, {len(vectors)} vectors, and {meta.tags} were written.",
                hint="Run `python -m app tags rebuild`.",
            )
        return cls(meta, lines, vectors)

    def named(self, text: str, analyzer: TextAnalyzer) -> tuple[str, ...]:
        """The tags all of whose words the question has, longest names first; at most three."""
        words = set(analyzer.tokens(text))
        found = []
        for line in self.lines:
            tokens = set(analyzer.tokens(line.name))
            if line.entries and tokens and tokens <= words:
                found.append((-len(tokens), line.name))
        return tuple(dict.fromkeys(name for _, name in sorted(found)))[:MOST_TAGS]

    def similar(self, query: Vectors) -> tuple[str, ...]:
        """The tags whose names are most like the question, best first; at most three, each at least `LEAST_SIMILARITY`."""
        if not self.lines or self.vectors.shape[1] != len(query):
            return ()
        similarities = self.vectors @ query
        ranked = sorted(range(len(self.lines)), key=lambda row: (-float(similarities[row]), self.lines[row].name))
        meant = [row for row in ranked[:MOST_TAGS] if similarities[row] >= LEAST_SIMILARITY and self.lines[row].entries]
        return tuple(dict.fromkeys(self.lines[row].name for row in meant))

    def entries_of(self, names: Sequence[str]) -> frozenset[str]:
        """The entries that have at least one of these tags."""
        wanted = set(names)
        return frozenset(entry_id for line in self.lines if line.name in wanted for entry_id in line.entries)


class TagRouter:
    """Routes the questions of one engine by the tag index that is served now. Safe for many threads.

    Args:
        served: the tag index to use now; None when there is none.
        analyzer: the German analysis of the engine.
        encoder: the engine's encoder, or None.
    """

    def __init__(self, served: Callable[[], TagIndex | None], analyzer: TextAnalyzer, encoder: SectionEncoder | None) -> None:
        self._served = served
        self._analyzer = analyzer
        self._encoder = encoder

    def route(self, text: str) -> tuple[str, ...]:
        """The managed tags that a question is about: those it names, else those it is alike. Never fails."""
        index = self._served()
        if index is None or not index.lines:
            return ()
        named = index.named(text, self._analyzer)
        if named or self._encoder is None:
            return named
        if (index.meta.embedding_model, index.meta.embedding_digest) != (self._encoder.model_name, self._encoder.digest):
            return ()
        try:
            return index.similar(self._encoder.encode_query(text))
        except ModelError as exc:
            _log.warning("Tags are routed by their words alone: %s", exc)
            return ()

    def entries_of(self, names: Sequence[str]) -> frozenset[str]:
        """The entries that have at least one of these tags; empty without names."""
        index = self._served() if names else None
        return frozenset() if index is None else index.entries_of(names)


class ServedTags:
    """The served version of the tag index, opened again when another one was switched to. Safe for many threads."""

    def __init__(self, data_dir: Path) -> None:
        self._layout = tag_layout(data_dir)
        self._lock = Lock()
        self._open: tuple[str, TagIndex] | None = None

    def __call__(self) -> TagIndex | None:
        """The version to use now; None when none was built. A damaged one is as none, and said in the log once."""
        name = self._layout.current()
        with self._lock:
            if name is None:
                return None
            if self._open is None or self._open[0] != name:
                try:
                    self._open = (name, TagIndex.open(self._layout.directory(name)))
                except IndexFault as exc:
                    _log.warning("Questions are not routed by tags: %s", exc)
                    self._open = (name, TagIndex(_empty_meta(name), (), np.zeros((0, 0), dtype=np.float32)))
            return self._open[1]


def tag_layout(data_dir: Path) -> IndexLayout:
    """Where the versions of the tag index lie."""
    return IndexLayout(data_dir, TAGS_DIR)


def read_tag_meta(data_dir: Path) -> TagMeta | None:
    """What the served version was built from; None when there is none or it is damaged."""
    name = tag_layout(data_dir).current()
    if name is None:
        return None
    try:
        return TagMeta.model_validate_json((tag_layout(data_dir).directory(name) / META_FILE).read_bytes())
    except (OSError, ValidationError):
        return None


def build_tag_index(
    lines: Sequence[TagLine],
    data_dir: Path,
    encoder: SectionEncoder,
    cache: EmbeddingCache,
    *,
    state: str,
    progress: Progress,
    created_at: datetime | None = None,
) -> TagMeta:
    """Builds a version aside and switches to it; whatever happens before the switch changes nothing.

    Raises:
        IndexBusy: another process builds the tag index.
        IndexFault: it cannot be written.
        ModelError: the encoder fails.
    """
    ordered = sorted(lines, key=lambda line: (line.kind, line.name))
    layout = tag_layout(data_dir)
    with layout.lock():
        try:
            layout.clean()
            version = layout.free_name(str(int(layout.current() or 0) + 1))
            built = layout.new_directory()
            try:
                vectors = _vectors([line.name for line in ordered], encoder, cache, progress)
                text = "".join(json.dumps(line.model_dump(mode="json"), ensure_ascii=False) + "\n" for line in ordered)
                (built / TAGS_FILE).write_text(text, encoding="utf-8")
                np.save(built / VECTORS_FILE, vectors, allow_pickle=False)
                meta = TagMeta(
                    version=version,
                    created_at=created_at or datetime.now(UTC),
                    embedding_model=encoder.model_name,
                    embedding_digest=encoder.digest,
                    tags=len(ordered),
                    state=state,
                )
                (built / META_FILE).write_text(meta.model_dump_json(indent=1) + "\n", encoding="utf-8")
                TagIndex.open(built)
                layout.publish(built, version)
            finally:
                shutil.rmtree(built, ignore_errors=True)
        except OSError as exc:
            raise IndexFault(
                f"The tag index could not be built: {exc}.", hint="Check the free space and the permissions of PV_DATA_DIR."
            ) from exc
        layout.clean()
    progress("switch", 1, 1)
    return meta


def _vectors(names: Sequence[str], encoder: SectionEncoder, cache: EmbeddingCache, progress: Progress) -> Vectors:
    model = f"{encoder.model_name}@{encoder.digest}"
    keys = [text_key(name) for name in names]
    known = cache.get_many(model, keys)
    missing = {key: name for key, name in zip(keys, names, strict=True) if key not in known}
    progress("embed", 0, len(missing))
    new_keys = list(missing)
    for start, vectors in encoder.encode_batches(list(missing.values())):
        batch = dict(zip(new_keys[start : start + len(vectors)], vectors, strict=True))
        cache.put_many(model, batch)
        known.update(batch)
        progress("embed", start + len(vectors), len(missing))
    if not keys:
        return np.zeros((0, 0), dtype=np.float32)
    matrix: Vectors = np.vstack([known[key] for key in keys]).astype(np.float32)
    return matrix


def _empty_meta(version: str) -> TagMeta:
    at = datetime.fromtimestamp(0, UTC)
    return TagMeta(version=version, created_at=at, embedding_model="", embedding_digest="", tags=0, state="")
