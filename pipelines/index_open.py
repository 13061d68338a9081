"""An index version, open for reading: sections, facts, conflicts and the channels, all of one and the same build."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Generic, Protocol, Self, TypeVar

from pydantic import TypeAdapter, ValidationError

from custom_postprocessors.evidence import Conflict, Fact
from pipelines.errors import IndexFault
from pipelines.fact_file import FACTS_FILE, read_facts
from pipelines.index_build import CONFLICTS_FILE, require_nodes
from pipelines.index_layout import IndexLayout
from pipelines.index_meta import Fingerprint, IndexMeta, read_meta_file, require_fit
from pipelines.node_file import NODES_FILE, EntryInfo, NodeFile
from pipelines.nodes import SectionNode

_CONFLICTS = TypeAdapter(tuple[Conflict, ...])
_ATTEMPTS = 3


class Closable(Protocol):
    """Something that holds files open."""

    def close(self) -> None:
        """Releases them."""
        ...


ChannelsT = TypeVar("ChannelsT", bound=Closable)


class OpenIndex(Generic[ChannelsT]):
    """One version, immutable. It stays usable while a newer one is switched to, until it is closed; safe for many threads."""

    def __init__(
        self, meta: IndexMeta, nodes: NodeFile, facts: tuple[Fact, ...], conflicts: tuple[Conflict, ...], channels: ChannelsT
    ) -> None:
        self.meta = meta
        self.nodes = nodes
        self.facts = facts
        self.conflicts = conflicts
        self.channels = channels
        by_node: dict[str, list[Fact]] = defaultdict(list)
        for fact in facts:
            by_node[fact.node_id].append(fact)
        self._facts = {node_id: tuple(found) for node_id, found in by_node.items()}

    @property
    def version(self) -> str:
        """Name of the version."""
        return self.meta.index_version

    @property
    def entries(self) -> Mapping[str, EntryInfo]:
        """Every entry by id, in ascending order of ids, without texts."""
        return self.nodes.entries

    def node(self, node_id: str) -> SectionNode | None:
        """The section with this id, read from disk; None when this version has none."""
        row = self.nodes.row(node_id)
        return None if row is None else self.nodes.at(row)

    def row(self, row: int) -> SectionNode:
        """The section in a row of the node file (0-based), as the channels number them."""
        return self.nodes.at(row)

    def rows_of_entry(self, entry_id: str) -> range:
        """The rows of an entry's sections; empty for an unknown entry."""
        info = self.nodes.entries.get(entry_id)
        return range(0) if info is None else range(info.first_row, info.first_row + info.rows)

    def sections_of(self, entry_id: str) -> tuple[SectionNode, ...]:
        """The sections of an entry in their order, read from disk; empty for an unknown entry."""
        return tuple(self.nodes.at(row) for row in self.rows_of_entry(entry_id))

    def facts_of(self, node_id: str) -> tuple[Fact, ...]:
        """The facts of a section in the order of its rows; empty when it has none."""
        return self._facts.get(node_id, ())

    def close(self) -> None:
        """Releases files and memory of the channels; the index cannot be used afterwards."""
        self.channels.close()
        self.nodes.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def read_current_meta(data_dir: Path) -> IndexMeta | None:
    """`index_meta.json` of the served version; None when nothing was built yet.

    Raises:
        IndexFault: the version is damaged.
    """
    layout = IndexLayout(data_dir)
    for _ in range(_ATTEMPTS):
        name = layout.current()
        if name is None:
            return None
        if layout.directory(name).is_dir():
            return read_meta_file(layout.directory(name))
    raise _gone(layout)


def open_index(
    data_dir: Path, wanted: Fingerprint, open_channels: Callable[[Path, NodeFile], ChannelsT], *, version: str | None = None
) -> OpenIndex[ChannelsT]:
    """Opens the served version (or the named one) for reading.

    Raises:
        IndexMissing: nothing was built yet.
        IndexMismatch: it was built under other settings; the message names the fields that differ and what to do.
        IndexFault: it is damaged.
    """
    layout = IndexLayout(data_dir)
    for _ in range(_ATTEMPTS):
        name = version or layout.require_current()
        try:
            return _open_version(layout.directory(name), wanted, open_channels)
        except (FileNotFoundError, IndexFault):
            # Two switches in between remove the version that is being opened; CURRENT then names a newer one.
            if layout.directory(name).is_dir():
                raise
    raise _gone(layout)


def _open_version(
    directory: Path, wanted: Fingerprint, open_channels: Callable[[Path, NodeFile], ChannelsT]
) -> OpenIndex[ChannelsT]:
    if not directory.is_dir():
        raise FileNotFoundError(directory)
    meta = read_meta_file(directory)
    require_fit(meta, wanted, version=meta.index_version)
    facts = read_facts(directory / FACTS_FILE)
    conflicts = _read_conflicts(directory / CONFLICTS_FILE)
    nodes = NodeFile.open(directory / NODES_FILE)
    try:
        require_nodes(nodes, meta)
        channels = open_channels(directory, nodes)
    except BaseException:
        nodes.close()
        raise
    return OpenIndex(meta, nodes, facts, conflicts, channels)


def _read_conflicts(path: Path) -> tuple[Conflict, ...]:
    try:
        return _CONFLICTS.validate_json(path.read_bytes())
    except (OSError, ValidationError) as exc:
        raise IndexFault(f"{str(path)!r} is damaged.", hint="Rebuild with `python -m app ingest --full`.") from exc


def _gone(layout: IndexLayout) -> IndexFault:
    return IndexFault(
        f"The index version named by {str(layout.root / 'CURRENT')!r} does not exist.",
        hint="Go back with `python -m app index rollback` or rebuild with `python -m app ingest --full`.",
    )
