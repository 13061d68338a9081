"""Single documents from people: checked by the same code as a folder, stored as a new version."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath, PureWindowsPath

from app.store.documents import Catalogue, Change, Origin
from pipelines.entry_schema import MAX_FILE_BYTES, Fault
from pipelines.errors import BadInput
from pipelines.knowledge_base import parse_entry


class RejectedDocument(BadInput):
    """The document is not valid; `faults` says where and what to do."""

    def __init__(self, file_name: str, faults: Sequence[Fault]) -> None:
        errors = [fault for fault in faults if fault.severity == "error"]
        listed = "; ".join(f"line {fault.line}: {fault.message}" for fault in errors[:5])
        super().__init__(f"{file_name!r} was rejected. {listed}", hint="Correct the file and send it again.")
        self.faults = tuple(faults)


@dataclass(frozen=True, slots=True)
class Uploaded:
    """What became of an upload. `version` is the new one, or the active one when the content was the same."""

    entry_id: str
    version: int
    is_new: bool
    faults: tuple[Fault, ...]


def upload(catalogue: Catalogue, file_name: str, data: bytes, change: Change, *, activate: bool = True) -> Uploaded:
    """Stores a document as a new version; content that is active already gives none.

    Raises:
        BadInput: the name is a path, or the file is too large.
        RejectedDocument: the content is not valid.
    """
    if file_name != PurePosixPath(file_name).name or file_name != PureWindowsPath(file_name).name:
        raise BadInput(f"{file_name!r} is a path.", hint="Give the file's name alone, e.g. pv-sv-05.md.")
    if len(data) > MAX_FILE_BYTES:
        raise BadInput(
            f"{file_name!r} has {len(data)} bytes, allowed are {MAX_FILE_BYTES}.", hint="Split it into several entries."
        )
    reading = parse_entry(file_name, data)
    if reading.entry is None:
        raise RejectedDocument(file_name, reading.faults)
    entry = reading.entry
    known = {document.entry_id: document for document in catalogue.documents()}.get(entry.id)
    if known is not None and known.active_version is not None and known.content_hash == entry.content_hash:
        return Uploaded(entry.id, known.active_version, False, reading.faults)
    origin: Origin = "upload" if known is None else "edit"
    number = catalogue.add_version(entry.id, entry.text, change, origin=origin, activate=activate)
    return Uploaded(entry.id, number, True, reading.faults)
