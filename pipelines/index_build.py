"""Builds an index version aside, checks it, and switches to it; whatever happens before the switch changes nothing."""

import json
import logging
import shutil
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from chromadb.errors import ChromaError

from custom_postprocessors.conflicts import Verdict, detect_conflicts, judged
from custom_postprocessors.evidence import TextAnalyzer
from pipelines.errors import IndexFault, IndexMissing
from pipelines.fact_file import FACTS_FILE, write_facts
from pipelines.facts import facts_of
from pipelines.index_layout import IndexLayout
from pipelines.index_meta import IndexMeta, IndexOptions, read_meta_file, version_name, write_meta
from pipelines.node_file import NODES_FILE, NodeFile, WrittenNodes, write_nodes
from pipelines.nodes import SectionNode

CONFLICTS_FILE = "conflicts.json"
_TOLD_EVERY = 1000
_log = logging.getLogger(__name__)


class Progress(Protocol):
    """Hears how far a long step is; may raise to stop the build."""

    def __call__(self, stage: str, done: int, total: int) -> None:
        """`done` of `total` units of `stage`; `total` 0: not known."""
        ...


class ChannelSuite(Protocol):
    """The retrieval channels of an index version: how they are built from its node file, and how they are checked."""

    def build(self, nodes: NodeFile, directory: Path, progress: Progress) -> TextAnalyzer:
        """Writes the channels' own folders into the directory of a version; the same nodes give the same ranking.

        Returns the analysis that was learned from the sections.
        """
        ...

    def check(self, nodes: NodeFile, directory: Path) -> None:
        """Opens what was written and asks each channel a probe question.

        Raises:
            IndexFault: a section is missing, a text hash differs, or a channel does not find what it was built from.
        """
        ...


def silent(stage: str, done: int, total: int) -> None:
    """A `Progress` that nobody listens to."""


@dataclass(frozen=True, slots=True)
class IndexRecipe:
    """How sections become an index version."""

    options: IndexOptions
    suite: ChannelSuite
    verdicts: tuple[Verdict, ...] = ()
    """What editors decided about conflicts."""


def build_index(
    nodes: Iterable[SectionNode],
    data_dir: Path,
    recipe: IndexRecipe,
    *,
    knowledge_base_hash: str | None = None,
    created_at: datetime | None = None,
    progress: Progress = silent,
) -> IndexMeta:
    """Builds a new version from sections sorted by entry, serves it, and removes all but the previous one.

    `nodes` is read once; everything else is built from `nodes.ndjson`. `knowledge_base_hash` names the state of the
    knowledge base (default: the hash of the node file), `created_at` is the time to note (default: now).

    Raises:
        IndexBusy: another process builds.
        IndexFault: the build or its check failed, or the disk is full; the version served so far is still served.
    """
    layout = IndexLayout(data_dir)
    with layout.lock():
        try:
            layout.clean()
            built = layout.new_directory()
            try:
                written = write_nodes(_counted(nodes, recipe.options, progress), built / NODES_FILE)
                derived = _build_from(built, recipe, progress)
                meta = _meta(written, derived, recipe.options, layout, knowledge_base_hash, created_at or datetime.now(UTC))
                _check(built, meta, recipe, progress)
                write_meta(meta, built)
                layout.publish(built, meta.index_version)
            finally:
                shutil.rmtree(built, ignore_errors=True)
        except (OSError, ChromaError) as exc:
            raise IndexFault(
                f"The index could not be built: {exc}.", hint="Check the free space and the permissions of PV_DATA_DIR."
            ) from exc
        _clean_after_switch(layout)
    progress("switch", 1, 1)
    return meta


def go_back(data_dir: Path) -> IndexMeta:
    """Serves the previous version again; the one served so far becomes the previous one.

    Raises:
        IndexMissing: there is no previous version.
        IndexBusy: another process builds.
        IndexFault: the previous version is damaged.
    """
    layout = IndexLayout(data_dir)
    with layout.lock():
        name = layout.previous()
        if name is None:
            raise IndexMissing("There is no previous index version to go back to.", hint="Build one with `python -m app ingest`.")
        meta = read_meta_file(layout.directory(name))
        layout.switch(name)
    return meta


@dataclass(frozen=True, slots=True)
class _Derived:
    facts: int
    conflicts: int


def _counted(nodes: Iterable[SectionNode], options: IndexOptions, progress: Progress) -> Iterator[SectionNode]:
    """Passes the sections on, tells how many there were, and stops at the limit."""
    count = 0
    for count, node in enumerate(nodes, start=1):
        if count > options.max_nodes:
            raise IndexFault(
                f"The knowledge base has more than {options.max_nodes} sections.", hint="Raise PV_MAX_NODES or remove entries."
            )
        if count % _TOLD_EVERY == 0:
            progress("nodes", count, 0)
        yield node
    if count >= options.warn_nodes:
        _log.warning("The index has %d sections; the limit is %d (PV_MAX_NODES).", count, options.max_nodes)


def _build_from(built: Path, recipe: IndexRecipe, progress: Progress) -> _Derived:
    """Everything that is made from the node file: facts, channels, conflicts."""
    with closing(NodeFile.open(built / NODES_FILE)) as file:
        progress("facts", 0, len(file))
        facts = write_facts((fact for node in file for fact in facts_of(node)), built / FACTS_FILE)
        analyzer = recipe.suite.build(file, built, progress)
        progress("conflicts", 0, len(facts))
        conflicts = judged(detect_conflicts(facts, file.views(), analyzer), recipe.verdicts, file)
    rows = [conflict.model_dump(mode="json") for conflict in conflicts]
    (built / CONFLICTS_FILE).write_text(json.dumps(rows, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return _Derived(len(facts), len(conflicts))


def _meta(
    written: WrittenNodes,
    derived: _Derived,
    options: IndexOptions,
    layout: IndexLayout,
    knowledge_base_hash: str | None,
    created_at: datetime,
) -> IndexMeta:
    return IndexMeta(
        **options.fingerprint.model_dump(),
        index_version=layout.free_name(version_name(written.nodes_hash, options.fingerprint)),
        created_at=created_at,
        entries=written.entries,
        nodes=written.nodes,
        facts=derived.facts,
        conflicts=derived.conflicts,
        knowledge_base_hash=knowledge_base_hash or written.nodes_hash,
        nodes_hash=written.nodes_hash,
    )


def _check(built: Path, meta: IndexMeta, recipe: IndexRecipe, progress: Progress) -> None:
    """Everything as it was written; `index_meta.json` comes after it and so means „complete“."""
    progress("check", 0, meta.nodes)
    with closing(NodeFile.open(built / NODES_FILE)) as file:
        require_nodes(file, meta)
        recipe.suite.check(file, built)


def require_nodes(file: NodeFile, meta: IndexMeta) -> None:
    """Does nothing when the node file (whose texts were checked when it was opened) is the one that `meta` describes.

    Raises:
        IndexFault: otherwise.
    """
    if (len(file), file.nodes_hash) != (meta.nodes, meta.nodes_hash):
        raise IndexFault(
            f"{str(file.path)!r} has {len(file)} sections and hash {file.nodes_hash[:12]}, "
            f"but {meta.nodes} and {meta.nodes_hash[:12]} were written.",
            hint="Check the disk and rebuild with `python -m app ingest --full`.",
        )


def _clean_after_switch(layout: IndexLayout) -> None:
    """The new version is served whether the old ones can be removed or not; what stays is removed by the next build."""
    try:
        layout.clean()
    except OSError as exc:
        _log.warning("Old index versions could not be removed: %s", exc)
