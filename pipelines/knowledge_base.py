"""Reading a folder of entries: every file looked at, every fault reported, only valid entries taken over."""

import os
import stat
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from pipelines.entry_file import SUFFIX, FileReading, in_order, parse_entry, rejected, shown_name, too_large
from pipelines.entry_schema import MAX_FILE_BYTES, Entry, EntryFrontmatter, Fault, NotText, Section, Severity, SourceRef
from pipelines.errors import KnowledgeBaseError
from pipelines.normalisation import printable
from pipelines.registry import (
    ENTRIES_FOLDER,
    INDEX_FILE,
    REGISTRY_FILE,
    RegistryRow,
    check_registry,
    index_markdown,
    registry_json,
)

__all__ = [
    "Entry",
    "EntryFrontmatter",
    "Fault",
    "FileReading",
    "FolderReading",
    "NotText",
    "Section",
    "Severity",
    "SourceRef",
    "check_folder",
    "folder_faults",
    "iter_entries",
    "iter_files",
    "parse_entry",
    "read_folder",
    "with_known_refs",
    "write_registry",
]


@dataclass(frozen=True, slots=True)
class FolderReading:
    """A folder, read completely. `files` names each `.md` file in order with whether it is taken over.

    `entries` are those taken over, in order of their ids, with only references that exist. `notices` are German remarks on
    the folder as a whole that are no fault.
    """

    entries: tuple[Entry, ...]
    faults: tuple[Fault, ...]
    files: tuple[tuple[str, bool], ...]
    notices: tuple[str, ...] = ()

    @property
    def rejected_ids(self) -> tuple[str, ...]:
        """The names, without `.md`, of the files that are not taken over."""
        return tuple(file.removesuffix(SUFFIX) for file, accepted in self.files if not accepted)

    @property
    def ok(self) -> bool:
        """Whether nothing was rejected."""
        return all(accepted for _, accepted in self.files)


def read_folder(folder: Path, known_ids: Collection[str] = ()) -> FolderReading:
    """Reads the knowledge base in `folder` completely into memory. For a large one see `iter_files`.

    `known_ids` are entries that exist beside the folder, such as an earlier version of a rejected file: references to them
    are right.

    Raises:
        KnowledgeBaseError: there is no folder of entries, or `kb.json` does not fit the files.
    """
    has_registry = check_folder(folder)
    readings = list(iter_files(folder, known_ids))
    taken = {reading.entry_id for reading in readings if reading.accepted} | set(known_ids)
    faults = [*folder_faults(folder), *(fault for reading in readings for fault in reading.faults)]
    entries = []
    for reading in readings:
        if reading.entry is not None:
            entries.append(with_known_refs(reading.entry, taken))
    return FolderReading(
        entries=tuple(entries),
        faults=tuple(faults),
        files=tuple((reading.file, reading.accepted) for reading in readings),
        notices=() if has_registry else (f"Der Ordner hat keine {REGISTRY_FILE}; er wird ohne Abgleich übernommen.",),
    )


def check_folder(folder: Path) -> bool:
    """The gate in front of a take-over: False when the folder has no `kb.json` to compare with.

    Raises:
        KnowledgeBaseError: there is no folder of entries, it has none, or `kb.json` does not fit the files.
    """
    names = _entry_files(folder)
    if not names:
        raise KnowledgeBaseError(
            f"{str(folder / ENTRIES_FOLDER)!r} has no .md files.", hint="Check the path of the knowledge base."
        )
    return check_registry(folder, [shown_name(name).removesuffix(SUFFIX) for name in names])


def iter_files(folder: Path, known_ids: Collection[str] = ()) -> Iterator[FileReading]:
    """Reads the files of a folder one after the other, in order of their names; holds one entry in memory at a time.

    References to entries whose file is rejected are kept: whether an earlier version is served, the caller knows.

    Raises:
        KnowledgeBaseError: there is no folder of entries.
    """
    names = _entry_files(folder)
    stems = {name.removesuffix(SUFFIX) for name in names}
    known = stems | set(known_ids)
    claimed: dict[str, str] = {}
    for name in names:
        reading = _read_file(folder / ENTRIES_FOLDER, name)
        reading = _with_reference_faults(reading, known)
        yield _with_duplicate_fault(reading, claimed, stems)


def iter_entries(folder: Path, known_ids: Collection[str] = ()) -> Iterator[Entry]:
    """The entries of a folder that are valid, one after the other, in order of their ids. Faults are not reported."""
    return (reading.entry for reading in iter_files(folder, known_ids) if reading.entry is not None)


def with_known_refs(entry: Entry, known_ids: Collection[str]) -> Entry:
    """The entry with only those references that lead to a known entry."""
    kept = tuple(target for target in entry.cross_refs if target in known_ids)
    return entry if kept == entry.cross_refs else replace(entry, cross_refs=kept)


def write_registry(folder: Path) -> int:
    """Writes `kb.json` and `INDEX.md` from the entries of the folder, and returns how many there are.

    Raises:
        KnowledgeBaseError: a file is not valid (a registry of half a folder would let the gate pass), or writing failed.
    """
    rows = []
    for reading in iter_files(folder):
        if reading.entry is None:
            first = next(fault for fault in reading.faults if fault.severity == "error")
            raise KnowledgeBaseError(
                f"{reading.file}, line {first.line}: {first.message}", hint="Correct the file first; nothing was written."
            )
        rows.append(RegistryRow.of(reading.entry))
    for name, content in ((REGISTRY_FILE, registry_json(rows)), (INDEX_FILE, index_markdown(rows))):
        target = folder / name
        aside = target.with_name(f".{name}.tmp")
        try:
            aside.write_text(content, encoding="utf-8", newline="\n")
            os.replace(aside, target)
        except OSError as exc:
            raise KnowledgeBaseError(f"{str(target)!r} cannot be written: {exc.strerror}.") from exc
    return len(rows)


def _with_reference_faults(reading: FileReading, known: Collection[str]) -> FileReading:
    """Reports references that lead nowhere, also those of a rejected file, and takes them from the entry."""
    own_id = reading.claimed_id or reading.entry_id
    faults = []
    for target, line in reading.references:
        if target != own_id and target in known:
            continue
        shown = printable(target)
        if target == own_id:
            code, message = "self_cross_ref", "Der Eintrag verweist auf sich selbst; der Verweis wurde weggelassen. Entfernen."
        else:
            code = "dangling_cross_ref"
            message = f"Den Eintrag „{shown}“ gibt es nicht; der Verweis wurde weggelassen. Die id richtigstellen oder entfernen."
        faults.append(Fault(reading.file, line, code, "warning", message, field="cross_refs", value=shown, target=shown))
    if not faults:
        return reading
    entry = reading.entry and with_known_refs(reading.entry, set(known) - {own_id})
    return replace(reading, entry=entry, faults=in_order([*reading.faults, *faults]))


def _with_duplicate_fault(reading: FileReading, claimed: dict[str, str], stems: Collection[str]) -> FileReading:
    entry_id, stem = reading.claimed_id, reading.entry_id
    if entry_id is None:
        return reading
    owner = f"{entry_id}{SUFFIX}" if entry_id != stem and entry_id in stems else claimed.get(entry_id)
    claimed.setdefault(entry_id, reading.file)
    if owner is None or owner == reading.file or entry_id == stem:
        return reading
    message = f"Die id „{printable(entry_id)}“ hat schon {printable(owner)}. Eine neue id vergeben und die Datei so benennen."
    line = next((fault.line for fault in reading.faults if fault.field == "id"), 2)
    fault = Fault(
        reading.file,
        line,
        "duplicate_id",
        "error",
        message,
        field="id",
        value=printable(entry_id),
        id=printable(entry_id),
        other_file=shown_name(owner),
    )
    return replace(reading, entry=None, faults=in_order([*reading.faults, fault]))


def _entry_files(folder: Path) -> list[str]:
    """The names in `dokumente/` that end in `.md`, directories and hidden files left out, in order."""
    try:
        names = os.listdir(folder / ENTRIES_FOLDER)
    except OSError as exc:
        raise KnowledgeBaseError(
            f"The folder {str(folder / ENTRIES_FOLDER)!r} cannot be read: {exc.strerror}.",
            hint="Name the folder that contains `dokumente/`.",
        ) from exc
    entries = [name for name in names if name.endswith(SUFFIX) and not name.startswith(".")]
    return sorted(name for name in entries if not (folder / ENTRIES_FOLDER / name).is_dir())


def _read_file(documents: Path, name: str) -> FileReading:
    path, file = documents / name, shown_name(name)
    try:
        if not path.resolve().is_relative_to(documents.resolve()):
            message = "Die Datei ist ein Verweis, der aus dem Ordner hinausführt. Durch eine Kopie ersetzen."
            return rejected(file, Fault(file, 1, "outside_folder", "error", message))
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            message = "Das ist keine gewöhnliche Datei. Entfernen oder durch eine Textdatei ersetzen."
            return rejected(file, Fault(file, 1, "not_a_file", "error", message))
        if status.st_size > MAX_FILE_BYTES:
            return rejected(file, too_large(file, status.st_size))
        data = path.read_bytes()
    except (OSError, RuntimeError, ValueError) as exc:
        message = f"Die Datei ist nicht lesbar ({printable(str(exc), 200)}). Rechte und Datenträger prüfen."
        return rejected(file, Fault(file, 1, "unreadable", "error", message))
    return parse_entry(name, data)


def folder_faults(folder: Path) -> Iterator[Fault]:
    """What lies in `dokumente/` and is no entry."""
    for name in sorted(os.listdir(folder / ENTRIES_FOLDER)):
        file = shown_name(name)
        if (folder / ENTRIES_FOLDER / name).is_dir():
            message = "Unterordner werden nicht gelesen. Die Einträge direkt in dokumente/ ablegen."
            yield Fault(file, 1, "subfolder", "warning", message)
        elif name.startswith(".") and name.endswith(SUFFIX):
            message = "Dateien, deren Name mit einem Punkt beginnt, werden nicht gelesen. Umbenennen oder entfernen."
            yield Fault(file, 1, "hidden_file", "warning", message)
        elif not name.startswith(".") and not name.endswith(SUFFIX):
            message = "Nur Dateien mit der Endung .md werden gelesen. Umbenennen oder entfernen."
            yield Fault(file, 1, "not_markdown", "warning", message)
