"""Small knowledge bases and their channels for the tests of retrieval."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipelines.channels import DenseRetriever, LexicalRetriever, SectionStubs, TypoRetriever
from pipelines.dense import DenseIndex
from pipelines.embedding_cache import EmbeddingCache
from pipelines.embeddings import SectionEncoder, embed_sections
from pipelines.fusion import FusionOptions
from pipelines.german import GermanAnalyzer
from pipelines.lexical import LexicalIndex
from pipelines.node_file import NodeFile, write_nodes
from pipelines.nodes import SectionNode
from pipelines.retrieval import HybridRetriever
from pipelines.section_pieces import SectionPieces
from pipelines.typo import TypoIndex


def section(node_id: str, text: str, **fields: object) -> SectionNode:
    """A section; its entry is what stands before `#`."""
    values: dict[str, object] = {
        "node_id": node_id,
        "entry_id": node_id.partition("#")[0],
        "section": "Zusammenfassung",
        "title": "Eintrag",
        "stand": "2026-01",
        "work": "pv",
        "topic": "sozialversicherung",
        "tags": (),
        "legal_bases": (),
        "cross_refs": (),
        "publishers": (),
        "source_text": False,
        "position": 0,
        "text": text,
        "text_hash": hashlib.sha256(text.encode("utf-8")).hexdigest(),
    }
    return SectionNode(**{**values, **fields})  # type: ignore[arg-type]


@dataclass(frozen=True)
class Parts:
    """The channels over some sections."""

    nodes: NodeFile
    analyzer: GermanAnalyzer
    lexical: LexicalIndex
    typo: TypoIndex
    dense: DenseIndex
    stubs: SectionStubs

    def retriever(
        self,
        encoder: SectionEncoder,
        options: FusionOptions | None = None,
        entries_of_tags: Callable[[Sequence[str]], frozenset[str]] = lambda names: frozenset(),
    ) -> HybridRetriever:
        chosen = options or FusionOptions()
        channels = (
            LexicalRetriever(self.lexical, self.analyzer, self.stubs, chosen.candidates),
            DenseRetriever(self.dense, encoder, self.analyzer, self.stubs, chosen.candidates),
            TypoRetriever(self.typo, self.analyzer, self.stubs, chosen.candidates),
        )
        return HybridRetriever(self.nodes, self.analyzer, channels, chosen, entries_of_tags=entries_of_tags)


def build_parts(sections: Sequence[SectionNode], directory: Path, encoder: SectionEncoder) -> Parts:
    """Builds all channels in `directory`."""
    directory.mkdir(parents=True, exist_ok=True)
    write_nodes(sections, directory / "nodes.ndjson")
    nodes = NodeFile.open(directory / "nodes.ndjson")
    pieces = SectionPieces.read(nodes)
    analyzer = GermanAnalyzer.learn(pieces)
    vectors = embed_sections(nodes, encoder, EmbeddingCache(directory / "embeddings"), lambda stage, done, total: None)
    entry_ids = [info.entry_id for info in nodes.entries.values() for _ in range(info.rows)]
    return Parts(
        nodes=nodes,
        analyzer=analyzer,
        lexical=LexicalIndex.build(pieces, directory / "bm25", analyzer),
        typo=TypoIndex.build(pieces, directory / "typo", analyzer),
        dense=DenseIndex(vectors, nodes.node_ids),
        stubs=SectionStubs(nodes.node_ids, entry_ids),
    )
