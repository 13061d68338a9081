"""From the catalogue to a served index: what the index job does, whoever asked for it."""

import logging
from collections.abc import Callable, Iterator
from pathlib import Path

from app.encoders import encoder_for_build
from app.ingest import IngestOptions, IngestReport, take_over
from app.settings import Settings
from app.store.database import Database
from app.store.documents import Catalogue
from app.verdicts import read_verdicts, with_verdicts
from pipelines.embedding_cache import EmbeddingCache
from pipelines.embeddings import SectionEncoder
from pipelines.errors import IndexFault
from pipelines.index import IndexMeta, IndexOptions, IndexRecipe, Progress, build_index, read_current_meta
from pipelines.index_channels import RetrievalSuite, fingerprint_of
from pipelines.index_meta import require_fit
from pipelines.knowledge_base import parse_entry
from pipelines.nodes import SectionNode, split_entry, with_cross_refs
from pipelines.ollama_client import OllamaGateway

EMBEDDINGS_DIR = "embeddings"
_log = logging.getLogger(__name__)


class Indexer:
    """Takes folders over and builds the index of what is active. Not for several threads; jobs keep it single.

    Args:
        settings: where things lie and which embedding model is wanted.
        database: the catalogue's.
        gateway: where an embedding model on Ollama is looked for.
    """

    def __init__(self, settings: Settings, database: Database, gateway: OllamaGateway) -> None:
        self._settings = settings
        self._database = database
        self._catalogue = Catalogue(database)
        self._gateway = gateway
        self.left_out: list[str] = []
        """Entries that the last build left out, because their active version is not valid."""

    def ingest(self, folder: Path, options: IngestOptions, *, full: bool, progress: Progress) -> IngestReport:
        """Takes a folder over, then builds an index where what is served is not what is active.

        Raises:
            IndexMismatch: the served index was built under other settings and `full` was not asked for; nothing was changed.
            KnowledgeBaseError: the folder as a whole cannot be taken over; nothing was changed.
            IndexFault: the build failed. The catalogue has changed, what is served has not; the next run builds again.
        """
        encoder = self._encoder(full=full)
        read_verdicts(folder)
        progress("folder", 0, 0)
        report = take_over(folder, self._database, options)
        meta = self._build_where_needed(encoder, folder, full=full, progress=progress)
        version = None if meta is None else meta.index_version
        return report.model_copy(update={"index_version": version, "left_out": tuple(self.left_out)})

    def rebuild(self, *, full: bool, progress: Progress) -> IndexMeta | None:
        """Builds the index of what is active where it is not the one served; returns the served version.

        `full` builds in any case, and with the model that the settings prefer. None: there is neither index nor document.

        Raises:
            IndexMismatch: as `ingest`.
            IndexFault: as `ingest`.
        """
        return self._build_where_needed(self._encoder(full=full), self._settings.kb_dir, full=full, progress=progress)

    def is_current(self) -> bool:
        """Whether the served index is one of exactly what is active in the catalogue, and of the verdicts in `PV_KB_DIR`."""
        served = _served(self._settings.data_dir)
        return served is not None and served.knowledge_base_hash == self._state(self._settings.kb_dir)

    def _state(self, folder: Path) -> str:
        return with_verdicts(self._catalogue.state_hash(), folder)

    def _encoder(self, *, full: bool) -> SectionEncoder:
        """The encoder of the next build, and the check that the served index may be followed by it."""
        served = _served(self._settings.data_dir)
        encoder = encoder_for_build(self._settings, self._gateway, None if full or served is None else served.embedding_model)
        if served is not None and not full:
            require_fit(served, fingerprint_of(encoder), version=served.index_version)
        return encoder

    def _build_where_needed(self, encoder: SectionEncoder, folder: Path, *, full: bool, progress: Progress) -> IndexMeta | None:
        served = _served(self._settings.data_dir)
        state = self._state(folder)
        if served is not None and served.knowledge_base_hash == state and not full:
            return served
        if served is None and not self._catalogue.active_hashes():
            return None
        options = IndexOptions(fingerprint_of(encoder), max_nodes=self._settings.max_nodes)
        suite = RetrievalSuite(encoder, EmbeddingCache(self._settings.data_dir / EMBEDDINGS_DIR))
        self.left_out.clear()
        return build_index(
            active_nodes(self._catalogue, self.left_out.append),
            self._settings.data_dir,
            IndexRecipe(options, suite, read_verdicts(folder)),
            knowledge_base_hash=state,
            progress=progress,
        )


def active_nodes(catalogue: Catalogue, leave_out: Callable[[str], None] = lambda entry_id: None) -> Iterator[SectionNode]:
    """The sections of everything active, entries by ascending id, with references to active entries only.

    A version that an earlier program accepted and this one does not is left out, with an error in the log and a call of
    `leave_out`: one document must not keep every other change from being served.
    """
    known = frozenset(catalogue.active_hashes())
    for entry_id, _, content in catalogue.active_contents():
        reading = parse_entry(f"{entry_id}.md", content.encode("utf-8"))
        if reading.entry is None:
            codes = ", ".join(fault.fault for fault in reading.faults if fault.severity == "error")
            _log.error("The active version of %r is not valid (%s) and was left out of the index.", entry_id, codes)
            leave_out(entry_id)
            continue
        for node in split_entry(reading.entry):
            yield with_cross_refs(node, known - {entry_id})


def invalid_active(catalogue: Catalogue) -> dict[str, str]:
    """The entries whose active version this program does not accept, with the codes of their faults; not in the index."""
    found = {}
    for entry_id, _, content in catalogue.active_contents():
        reading = parse_entry(f"{entry_id}.md", content.encode("utf-8"))
        if reading.entry is None:
            found[entry_id] = ", ".join(fault.fault for fault in reading.faults if fault.severity == "error")
    return found


def _served(data_dir: Path) -> IndexMeta | None:
    """The served version's meta; a damaged version counts as none, so that it is built anew."""
    try:
        return read_current_meta(data_dir)
    except IndexFault as exc:
        _log.warning("The served index is built anew: %s", exc)
        return None
