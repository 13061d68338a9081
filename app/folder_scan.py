"""Reading a folder for the catalogue: hash of every file first, then every entry once, texts spooled to disk."""

import hashlib
import tempfile
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Self

import pipelines
from pipelines.errors import KnowledgeBaseError
from pipelines.knowledge_base import Fault, check_folder, folder_faults, iter_files
from pipelines.registry import ENTRIES_FOLDER, REGISTRY_FILE


def folder_hash(folder: Path) -> str:
    """SHA-256 over names and contents of all files that a take-over looks at, and over the code that reads them.

    Another version of the program may find other faults, so it reads an unchanged folder again.

    Raises:
        KnowledgeBaseError: there is no folder of entries, or it cannot be listed.
    """
    digest = hashlib.sha256()
    for path in sorted(Path(pipelines.__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    try:
        names = sorted((folder / ENTRIES_FOLDER).iterdir())
    except OSError as exc:
        raise KnowledgeBaseError(
            f"The folder {str(folder / ENTRIES_FOLDER)!r} cannot be read: {exc.strerror}.",
            hint="Name the folder that contains `dokumente/`.",
        ) from exc
    for path in (folder / REGISTRY_FILE, *names):
        digest.update(f"\n{path.name!r} {_file_hash(path)}".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _file_hash(path: Path) -> str:
    """Hash of a file's content; of what cannot be read as a file, its kind of failure."""
    if not path.is_file():
        return "directory" if path.is_dir() else "none"
    try:
        with path.open("rb") as handle:
            return hashlib.file_digest(handle, "sha256").hexdigest()
    except OSError as exc:
        return f"unreadable {exc.errno}"


@dataclass(slots=True)
class FolderScan:
    """A folder, read completely: hashes and faults in memory, texts in an unnamed temporary file."""

    spool: IO[bytes]
    faults: list[Fault] = field(default_factory=list)
    hashes: dict[str, str] = field(default_factory=dict)
    rejected: list[str] = field(default_factory=list)
    protected: set[str] = field(default_factory=set)
    """Ids that a rejected file is about; what is served of them stays."""
    notices: tuple[str, ...] = ()
    _places: dict[str, tuple[int, int]] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path, known_ids: Collection[str], scratch: Path) -> Self:
        """Reads every file once.

        Raises:
            KnowledgeBaseError: there is no folder of entries, or `kb.json` does not fit the files.
        """
        has_registry = check_folder(folder)
        scan = cls(tempfile.TemporaryFile(dir=scratch))
        if not has_registry:
            scan.notices = (f"Der Ordner hat keine {REGISTRY_FILE}; er wird ohne Abgleich übernommen.",)
        scan.faults.extend(folder_faults(folder))
        for reading in iter_files(folder, known_ids):
            scan.faults.extend(reading.faults)
            if reading.entry is None:
                scan.rejected.append(reading.entry_id)
                scan.protected.update({reading.entry_id, reading.claimed_id or reading.entry_id})
            else:
                scan._keep(reading.entry.id, reading.entry.text, reading.entry.content_hash)
        return scan

    def text(self, entry_id: str) -> str:
        """The text of a valid entry, read from disk.

        Raises:
            KeyError: the folder has no such valid entry.
        """
        start, size = self._places[entry_id]
        self.spool.seek(start)
        return self.spool.read(size).decode("utf-8")

    def close(self) -> None:
        """Gives the temporary file back."""
        self.spool.close()

    def _keep(self, entry_id: str, text: str, content_hash: str) -> None:
        data = text.encode("utf-8")
        self._places[entry_id] = (self.spool.seek(0, 2), len(data))
        self.spool.write(data)
        self.hashes[entry_id] = content_hash
