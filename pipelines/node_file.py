"""`nodes.ndjson`: one section a line, the single source of truth of an index version, written and read as a stream."""

import hashlib
import os
import weakref
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self, overload

from pipelines.errors import IndexFault
from pipelines.nodes import SectionNode

NODES_FILE = "nodes.ndjson"


@dataclass(frozen=True, slots=True)
class EntryInfo:
    """What is known of an entry without its texts; `first_row` and `rows` are where its sections lie in the node file."""

    entry_id: str
    title: str
    stand: str
    work: str
    topic: str
    tags: tuple[str, ...]
    legal_bases: tuple[str, ...]
    cross_refs: tuple[str, ...]
    publishers: tuple[str, ...]
    source_text: bool
    first_row: int
    rows: int


@dataclass(frozen=True, slots=True)
class WrittenNodes:
    """What a node file holds, told by its writer: SHA-256 of its bytes, and how many entries and sections."""

    nodes_hash: str
    entries: int
    nodes: int


def write_nodes(nodes: Iterable[SectionNode], path: Path) -> WrittenNodes:
    """Streams nodes to `path` (through `.tmp` and a rename), one canonical JSON line each.

    The nodes of an entry have to follow each other and entries have to come in ascending order of their ids, so that
    the same knowledge base always gives the same bytes.

    Raises:
        IndexFault: no node at all, a repeated id, or entries out of order.
    """
    digest, seen, last_entry, entries = hashlib.sha256(), set[str](), "", 0
    tmp = path.with_name(path.name + ".tmp")
    with tmp.open("wb") as handle:
        for node in nodes:
            if node.node_id in seen:
                raise IndexFault(f"Section id {node.node_id!r} occurs twice.", hint="Give the two sections different headings.")
            if node.entry_id < last_entry:
                raise IndexFault(f"Entry {node.entry_id!r} comes after {last_entry!r}; entries have to be sorted by id.")
            seen.add(node.node_id)
            entries += node.entry_id != last_entry
            last_entry = node.entry_id
            line = node.to_json().rstrip("\n").encode("utf-8") + b"\n"
            digest.update(line)
            handle.write(line)
        handle.flush()
        os.fsync(handle.fileno())
    if not seen:
        raise IndexFault("The knowledge base has no section.", hint="Check PV_KB_DIR and the faults of the ingest.")
    os.replace(tmp, path)
    return WrittenNodes(digest.hexdigest(), entries, len(seen))


class SectionView:
    """What is short of a section; its text is read from the file whenever it is asked for."""

    __slots__ = ("_file", "_row", "cross_refs", "entry_id", "node_id", "section", "stand", "title", "topic", "work")

    def __init__(self, node: SectionNode, file: "NodeFile", row: int) -> None:
        self.node_id, self.entry_id, self.section, self.title = node.node_id, node.entry_id, node.section, node.title
        self.stand, self.topic, self.work, self.cross_refs = node.stand, node.topic, node.work, node.cross_refs
        self._file, self._row = file, row

    @property
    def text(self) -> str:
        """The section's text."""
        return self._file.at(self._row).text


class NodeFile(Sequence[SectionNode]):
    """Sections of one version by row or id, read when asked for; only ids and offsets stay in memory.

    Safe for many threads (positioned reads on one descriptor), and usable after its directory was removed.
    """

    def __init__(
        self, path: Path, nodes_hash: str, offsets: tuple[int, ...], node_ids: tuple[str, ...], entries: dict[str, EntryInfo]
    ) -> None:
        self.path = path
        self.nodes_hash = nodes_hash
        """SHA-256 of the file's bytes."""
        self.node_ids = node_ids
        self.entries = entries
        self._offsets = offsets
        self._row = {node_id: row for row, node_id in enumerate(node_ids)}
        self._descriptor = os.open(path, os.O_RDONLY)
        # A version that requests in flight still read is closed by nobody; its descriptor goes with the last of them.
        self._close = weakref.finalize(self, os.close, self._descriptor)

    @classmethod
    def open(cls, path: Path) -> Self:
        """Scans the file once and checks every text against its hash.

        Raises:
            FileNotFoundError: there is no such file.
            IndexFault: a line is not a section or its text was changed (the file was damaged).
        """
        offsets, node_ids, entries = [0], list[str](), dict[str, EntryInfo]()
        counts, digest = Counter[str](), hashlib.sha256()
        with path.open("rb") as handle:
            for line in handle:
                node = _parse(line, path)
                _require_intact(node, path)
                if node.entry_id not in entries:
                    entries[node.entry_id] = _entry_info(node, len(node_ids))
                counts[node.entry_id] += 1
                node_ids.append(node.node_id)
                offsets.append(offsets[-1] + len(line))
                digest.update(line)
        sized = {entry_id: replace(info, rows=counts[entry_id]) for entry_id, info in entries.items()}
        return cls(path, digest.hexdigest(), tuple(offsets), tuple(node_ids), sized)

    def __len__(self) -> int:
        return len(self.node_ids)

    def __iter__(self) -> Iterator[SectionNode]:
        """All sections in file order, one at a time; may be iterated as often as wanted."""
        return (self.at(row) for row in range(len(self.node_ids)))

    def __contains__(self, node_id: object) -> bool:
        return node_id in self._row

    @overload
    def __getitem__(self, row: int) -> SectionNode: ...
    @overload
    def __getitem__(self, row: slice) -> list[SectionNode]: ...
    def __getitem__(self, row: int | slice) -> SectionNode | list[SectionNode]:
        if isinstance(row, slice):
            return [self.at(number) for number in range(len(self))[row]]
        return self.at(range(len(self))[row])

    def at(self, row: int) -> SectionNode:
        """The section in a row (0-based).

        Raises:
            IndexError: there is no such row.
        """
        if not 0 <= row < len(self.node_ids):
            raise IndexError(f"row {row} of {len(self.node_ids)}")
        start, end = self._offsets[row], self._offsets[row + 1]
        return _parse(os.pread(self._descriptor, end - start, start), self.path)

    def views(self) -> Iterator[SectionView]:
        """All sections in file order without their texts, for what needs many of them at once."""
        return (SectionView(node, self, row) for row, node in enumerate(self))

    def row(self, node_id: str) -> int | None:
        """The row of a section; None when there is no such section."""
        return self._row.get(node_id)

    def close(self) -> None:
        """Closes the descriptor; reading afterwards fails."""
        self._close()
        self._descriptor = -1


def _parse(line: bytes, path: Path) -> SectionNode:
    try:
        return SectionNode.from_json(line.decode("utf-8"))
    except (ValueError, KeyError, TypeError) as exc:
        raise IndexFault(
            f"{str(path)!r} is damaged: {line[:60]!r} is not a section.", hint="Rebuild with `python -m app ingest --full`."
        ) from exc


def _require_intact(node: SectionNode, path: Path) -> None:
    if hashlib.sha256(node.text.encode("utf-8")).hexdigest() != node.text_hash:
        raise IndexFault(
            f"{str(path)!r} is damaged: the text of {node.node_id!r} does not have the hash written with it.",
            hint="Rebuild with `python -m app ingest --full`.",
        )


def _entry_info(node: SectionNode, first_row: int) -> EntryInfo:
    return EntryInfo(
        entry_id=node.entry_id,
        title=node.title,
        stand=node.stand,
        work=node.work,
        topic=node.topic,
        tags=node.tags,
        legal_bases=node.legal_bases,
        cross_refs=node.cross_refs,
        publishers=node.publishers,
        source_text=node.source_text,
        first_row=first_row,
        rows=0,
    )
