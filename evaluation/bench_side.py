"""One step of one side of the benchmark, in a process of its own.

`python -m evaluation.bench_side SIDE STEP KB FOLDER K GOLDSET…` prints one JSON line.
SIDE is ours or stock; STEP is build (what a user does), rebuild (index anew, vectors cached) or serve.
"""

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import chromadb
import Stemmer
from chromadb.config import Settings as ChromaSettings
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.ingestion import IngestionCache, IngestionPipeline
from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.retrievers.fusion_retriever import FUSION_MODES
from llama_index.core.schema import TextNode
from llama_index.retrievers.bm25 import BM25Retriever
from llama_index.vector_stores.chroma import ChromaVectorStore

from evaluation.bench import Built, Served
from evaluation.goldset import GoldItem, entry_texts, load_goldsets
from evaluation.retrieval import Found, RetrievalReport, Retrieve, evaluate_retrieval
from pipelines.channels import DenseRetriever, LexicalRetriever, SectionStubs, TypoRetriever
from pipelines.contracts import Plan
from pipelines.embedding_cache import EmbeddingCache
from pipelines.embeddings import EmbeddedEncoder
from pipelines.fusion import FusionOptions
from pipelines.index import IndexOptions, IndexRecipe, build_index, differences, open_index, read_current_meta
from pipelines.index_channels import RetrievalSuite, fingerprint_of, open_channels
from pipelines.knowledge_base import read_folder
from pipelines.node_file import NodeFile, write_nodes
from pipelines.nodes import SectionNode, split_entry
from pipelines.retrieval import HybridRetriever

AS_OF = "2026-06"
STOCK_CANDIDATES = (10, 20, 50, 100)
TITLES_ASKED = 100
_COLLECTION, _BM25, _CACHE, _NODES = "stock", "bm25", "cache.json", "nodes.ndjson"


class Ready(NamedTuple):
    """A retrieval that can be asked, and how many hits each of its channels gives."""

    retrieve: Retrieve
    candidates: int


def main(arguments: Sequence[str]) -> None:
    """Runs one step and prints its result."""
    side, step, kb_dir, folder, k, *goldsets = arguments
    if step == "serve":
        opened = _open_ours(Path(folder)) if side == "ours" else _open_stock(Path(folder))
        result: Built | Served = _serve(opened, Path(folder), int(k), [Path(path) for path in goldsets])
    else:
        build = _build_ours if side == "ours" else _build_stock
        started = time.perf_counter()
        sections = build(Path(kb_dir), Path(folder), step == "rebuild")
        seconds = time.perf_counter() - started
        result = Built(seconds=seconds, entries=len({node.entry_id for node in sections}), sections=len(sections))
    print(result.model_dump_json())  # noqa: T201 - the result is what this process is for


def _sections(kb_dir: Path) -> list[SectionNode]:
    return [node for entry in read_folder(kb_dir).entries for node in split_entry(entry)]


def _build_ours(kb_dir: Path, folder: Path, anew: bool) -> list[SectionNode]:
    folder.mkdir(parents=True, exist_ok=True)
    sections = _sections(kb_dir)
    state = write_nodes(sections, folder / _NODES).nodes_hash
    served, encoder = read_current_meta(folder), EmbeddedEncoder()
    fits = served is not None and served.knowledge_base_hash == state and not differences(served, fingerprint_of(encoder))
    if anew or not fits:
        suite = RetrievalSuite(encoder, EmbeddingCache(folder / "embeddings"))
        recipe = IndexRecipe(IndexOptions(fingerprint_of(encoder)), suite)
        build_index(sections, folder, recipe, knowledge_base_hash=state)
    return sections


def _open_ours(folder: Path) -> list[Ready]:
    encoder = EmbeddedEncoder()
    index = open_index(folder, fingerprint_of(encoder), open_channels)
    found, options = index.channels, FusionOptions()
    stubs = SectionStubs(index.nodes.node_ids, [info.entry_id for info in index.entries.values() for _ in range(info.rows)])
    channels = (
        LexicalRetriever(found.lexical, found.analyzer, stubs, options.candidates),
        DenseRetriever(found.dense, encoder, found.analyzer, stubs, options.candidates),
        TypoRetriever(found.typo, found.analyzer, stubs, options.candidates),
    )
    retriever = HybridRetriever(index.nodes, found.analyzer, channels, options)

    def retrieve(question: str) -> list[Found]:
        nodes = retriever.retrieve_plan(Plan(type="fact", queries=(question,), as_of=AS_OF)).nodes
        return [Found(hit.node.metadata["entry_id"], hit.node.metadata["section"]) for hit in nodes]

    return [Ready(retrieve, options.candidates)]


def _build_stock(kb_dir: Path, folder: Path, anew: bool) -> list[SectionNode]:
    """Stock LlamaIndex as documented: vectors through a pipeline with its cache, Chroma, BM25 in German."""
    folder.mkdir(parents=True, exist_ok=True)
    sections = _sections(kb_dir)
    write_nodes(sections, folder / _NODES)
    path = folder / _CACHE
    cache = IngestionCache.from_persist_path(str(path)) if path.exists() else IngestionCache()
    encoder = EmbeddedEncoder()
    pipeline = IngestionPipeline(transformations=[encoder], cache=cache)
    embedded = pipeline.run(nodes=[node.to_text_node() for node in sections])
    cache.persist(str(path))
    client = _chroma(folder)
    if _COLLECTION in {collection.name for collection in client.list_collections()}:
        client.delete_collection(_COLLECTION)
    collection = client.create_collection(_COLLECTION, embedding_function=None, configuration={"hnsw": {"space": "cosine"}})
    storage = StorageContext.from_defaults(vector_store=ChromaVectorStore(chroma_collection=collection))
    VectorStoreIndex(list(embedded), storage_context=storage, embed_model=encoder)
    _bm25([node.to_text_node() for node in sections])
    return sections


def _open_stock(folder: Path) -> list[Ready]:
    encoder = EmbeddedEncoder()
    collection = _chroma(folder).get_collection(_COLLECTION, embedding_function=None)
    index = VectorStoreIndex.from_vector_store(ChromaVectorStore(chroma_collection=collection), embed_model=encoder)
    # Not from_persist_dir: a reloaded stock retriever loses stemmer and language and would score every question with zero.
    bm25 = _bm25([node.to_text_node() for node in NodeFile.open(folder / _NODES)])
    return [Ready(_stock_retrieve(index, bm25, count), count) for count in STOCK_CANDIDATES]


def _stock_retrieve(index: VectorStoreIndex, bm25: BM25Retriever, count: int) -> Retrieve:
    def retrieve(question: str) -> list[Found]:
        bm25.similarity_top_k = min(count, len(bm25.corpus or []) or count)
        fusion = QueryFusionRetriever(
            [index.as_retriever(similarity_top_k=count), bm25],
            llm=MockLLM(),
            mode=FUSION_MODES.RECIPROCAL_RANK,
            num_queries=1,
            use_async=False,
            similarity_top_k=2 * count,
        )
        return [Found(hit.node.metadata["entry_id"], hit.node.metadata["section"]) for hit in fusion.retrieve(question)]

    return retrieve


def _bm25(nodes: list[TextNode]) -> BM25Retriever:
    return BM25Retriever.from_defaults(nodes=list(nodes), similarity_top_k=10, stemmer=Stemmer.Stemmer("german"), language="de")


def _chroma(folder: Path) -> chromadb.api.ClientAPI:
    return chromadb.PersistentClient(str(folder / "chroma"), settings=ChromaSettings(anonymized_telemetry=False))


def _serve(ready: Sequence[Ready], folder: Path, k: int, goldsets: Sequence[Path]) -> Served:
    ready[0].retrieve("Entgelt")
    start_seconds = _process_seconds()
    nodes = NodeFile.open(folder / _NODES)
    items: Sequence[GoldItem] = load_goldsets(goldsets, entry_texts(nodes)).answerable if goldsets else _titles(nodes)
    reports: list[tuple[RetrievalReport, int]] = [(evaluate_retrieval(one.retrieve, items, k), one.candidates) for one in ready]
    best, candidates = max(reports, key=lambda pair: (pair[0].recall_at_k, pair[0].mrr))
    return Served(
        start_seconds=start_seconds,
        rss_mib=_resident_mib(),
        latency_ms=best.latency_ms,
        recall_at_k=best.recall_at_k,
        mrr=best.mrr,
        k=k,
        candidates=candidates,
        questions=best.questions,
    )


def _titles(nodes: NodeFile) -> list[GoldItem]:
    """The titles of entries spread over the knowledge base as questions, for one that has no goldset."""
    infos = list(nodes.entries.values())
    chosen = infos[:: max(1, len(infos) // TITLES_ASKED)][:TITLES_ASKED]
    return [
        GoldItem(id=f"q-title-{number}", question=info.title[:2000], kind="fact", expected_ids=(info.entry_id,))
        for number, info in enumerate(chosen, start=1)
    ]


def _process_seconds() -> float:
    """Seconds since this process was started."""
    ticks = int(Path("/proc/self/stat").read_text(encoding="ascii").rpartition(")")[2].split()[19])
    uptime = float(Path("/proc/uptime").read_text(encoding="ascii").split()[0])
    return uptime - ticks / os.sysconf("SC_CLK_TCK")


def _resident_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


if __name__ == "__main__":
    main(sys.argv[1:])
