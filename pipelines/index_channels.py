"""The product's three retrieval channels and their analysis, as one suite that an index version is built with and opened by."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

import chromadb
import numpy as np
from chromadb.api.client import Client
from chromadb.api.collection_configuration import CreateCollectionConfiguration
from chromadb.api.models.Collection import Collection
from chromadb.config import Settings as ChromaSettings
from chromadb.errors import ChromaError

from pipelines.dense import DenseIndex, load_vectors, store_vectors
from pipelines.embedding_cache import EmbeddingCache
from pipelines.embeddings import SectionEncoder, SectionVectors, embed_sections
from pipelines.errors import IndexFault
from pipelines.german import GermanAnalyzer
from pipelines.index_build import Progress
from pipelines.index_meta import Fingerprint
from pipelines.lexical import FIELD_WEIGHTS, SATURATION, LexicalIndex
from pipelines.lexicon import Lexicon
from pipelines.node_file import NodeFile
from pipelines.section_pieces import SectionPieces
from pipelines.typo import HEAD_REPEATS, LONGEST, MOST_GRAMS, SHORTEST, TypoIndex
from pipelines.windows import MOST_VECTORS, WINDOW_CHARACTERS, WINDOWING_VERSION

CHROMA_DIR, BM25_DIR, TYPO_DIR = "chroma", "bm25", "typo"
COLLECTION = "nodes"
SPLITTING_VERSION = "h2-1"
_GRAPH: CreateCollectionConfiguration = {"hnsw": {"space": "cosine", "ef_construction": 10, "max_neighbors": 4}}
"""The least graph that Chroma builds: vectors are read back and searched exactly, and a good graph takes four times as long."""
_SAME = 0.999
_PAGE = 5000


@dataclass(frozen=True, slots=True)
class Channels:
    """The channels of one version, in memory; rows are those of the node file. Safe for many threads."""

    analyzer: GermanAnalyzer
    lexical: LexicalIndex
    typo: TypoIndex
    dense: DenseIndex

    def close(self) -> None:
        """Nothing is held open; the memory goes with the last reference."""


def fingerprint_of(encoder: SectionEncoder) -> Fingerprint:
    """The fingerprint of an index that this program builds with this encoder.

    Weights that are baked into what the index stores are part of it, so that none can be changed without a rebuild.
    """
    baked = (sorted(FIELD_WEIGHTS.items()), SATURATION, SHORTEST, LONGEST, MOST_GRAMS, HEAD_REPEATS)
    return Fingerprint(
        embedding_model=encoder.model_name,
        embedding_digest=encoder.digest,
        embedding_dimension=encoder.dimension,
        analyzer_version=GermanAnalyzer.VERSION,
        chunking_version=f"{SPLITTING_VERSION}+{WINDOWING_VERSION}+{MOST_VECTORS}",
        scoring_version=f"bm25f-ngram-{hashlib.sha256(repr(baked).encode('utf-8')).hexdigest()[:8]}",
        chunk_size=WINDOW_CHARACTERS,
        overlap=0,
    )


def open_channels(directory: Path, nodes: NodeFile) -> Channels:
    """Opens the channels of a version.

    Raises:
        IndexFault: a channel cannot be read or does not have a row for every section.
    """
    row_of = {node_id: row for row, node_id in enumerate(nodes.node_ids)}
    with _collection(directory) as collection:
        vectors = load_vectors(collection, row_of)
    return _open(directory, nodes, vectors)


class RetrievalSuite:
    """Builds and checks the channels. Vectors come from the cache where it has them."""

    def __init__(self, encoder: SectionEncoder, cache: EmbeddingCache, lexicon: Lexicon | None = None) -> None:
        self._encoder = encoder
        self._cache = cache
        self._lexicon = lexicon

    def build(self, nodes: NodeFile, directory: Path, progress: Progress) -> GermanAnalyzer:
        """Writes `vocabulary.json`, `bm25/`, `typo/` and `chroma/`; returns the analysis."""
        total = len(nodes)
        progress("analysis", 0, total)
        analyzer = self._build_words(nodes, directory, progress)
        vectors = embed_sections(nodes, self._encoder, self._cache, progress)
        progress("vectors", 0, total)
        with _collection(directory, create=True) as collection:
            store_vectors(collection, vectors, nodes.node_ids, [node.text_hash for node in nodes])
        return analyzer

    def _build_words(self, nodes: NodeFile, directory: Path, progress: Progress) -> GermanAnalyzer:
        pieces = SectionPieces.read(nodes)
        progress("vocabulary", 0, len(nodes))
        analyzer = GermanAnalyzer.learn(pieces, self._lexicon)
        analyzer.save(directory)
        progress("lexical", 0, len(nodes))
        LexicalIndex.build(pieces, directory / BM25_DIR, analyzer)
        progress("typo", 0, len(nodes))
        TypoIndex.build(pieces, directory / TYPO_DIR, analyzer)
        return analyzer

    def check(self, nodes: NodeFile, directory: Path) -> None:
        """Every section is in Chroma with the hash of its text, and each channel finds a section by what it is made of."""
        row_of = {node_id: row for row, node_id in enumerate(nodes.node_ids)}
        with _collection(directory) as collection:
            _require_hashes(nodes, _stored_hashes(collection))
            vectors = load_vectors(collection, row_of)
        channels = _open(directory, nodes, vectors)
        _probe(channels, nodes, vectors)


def _open(directory: Path, nodes: NodeFile, vectors: SectionVectors) -> Channels:
    analyzer = GermanAnalyzer.open(directory)
    lexical, typo = LexicalIndex.open(directory / BM25_DIR), TypoIndex.open(directory / TYPO_DIR)
    dense = DenseIndex(vectors, nodes.node_ids)
    rows = {"nodes.ndjson": len(nodes), "vocabulary": analyzer.sections, BM25_DIR: lexical.rows, TYPO_DIR: typo.rows}
    if len({*rows.values(), dense.rows}) != 1:
        raise IndexFault(f"The channels do not fit together: {rows}, {CHROMA_DIR}: {dense.rows}.", hint="Build the index anew.")
    return Channels(analyzer, lexical, typo, dense)


def _probe(channels: Channels, nodes: NodeFile, vectors: SectionVectors) -> None:
    row = len(nodes) // 2
    node = nodes.at(row)
    analysis = channels.analyzer.query_tokens(f"{node.title} {node.section}")
    found = {
        "lexical": bool(channels.lexical.scores(analysis)[row] > 0),
        "typo": bool(channels.typo.scores(analysis)[row] > 0),
        "dense": bool(channels.dense.similarities(vectors.matrix[[np.searchsorted(vectors.owners, row)]])[0, row] > _SAME),
    }
    silent = [name for name, finds in found.items() if not finds]
    if silent:
        raise IndexFault(f"The channels {', '.join(silent)} do not find {node.node_id!r} by its own title.")


def _require_hashes(nodes: NodeFile, stored: dict[str, set[str]]) -> None:
    for node in nodes:
        if stored.get(node.node_id) != {node.text_hash}:
            raise IndexFault(f"Chroma does not hold {node.node_id!r} with the hash of its text.", hint="Build the index anew.")


def _stored_hashes(collection: Collection) -> dict[str, set[str]]:
    hashes: dict[str, set[str]] = {}
    for start in range(0, collection.count(), _PAGE):
        for metadata in collection.get(include=["metadatas"], limit=_PAGE, offset=start)["metadatas"] or []:
            hashes.setdefault(str(metadata["node_id"]), set()).add(str(metadata["text_hash"]))
    return hashes


_CHROMA_REGISTRY = Lock()
"""Chroma keeps one system per folder for the whole process and counts its clients without a lock around making and stopping it:
a thread that closes the last client while another one opens the same folder leaves that one with a stopped system."""


@contextmanager
def _collection(directory: Path, *, create: bool = False) -> Iterator[Collection]:
    """The version's collection; the client is closed at the end, because the directory is renamed and removed as a whole.

    Raises:
        IndexFault: Chroma cannot use its folder; it writes there even when it is only read.
    """
    path = str((directory / CHROMA_DIR).resolve())
    try:
        with _CHROMA_REGISTRY:
            client = chromadb.PersistentClient(path, settings=ChromaSettings(anonymized_telemetry=False))
        try:
            if create:
                yield client.create_collection(COLLECTION, embedding_function=None, configuration=_GRAPH)
            else:
                yield client.get_collection(COLLECTION, embedding_function=None)
        finally:
            if isinstance(client, Client):
                with _CHROMA_REGISTRY:
                    client.close()
    except ChromaError as exc:
        raise IndexFault(
            f"The vectors in {path!r} cannot be used: {exc}.", hint="Check the free space and the permissions of PV_DATA_DIR."
        ) from exc
