"""What an index version was built from and under which settings, and how that is compared with the running settings."""

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from custom_postprocessors.evidence import Frozen
from pipelines.errors import IndexFault, IndexMismatch

INDEX_FORMAT = 1
META_FILE = "index_meta.json"
FINGERPRINT_FIELDS = (
    "embedding_model",
    "embedding_digest",
    "embedding_dimension",
    "analyzer_version",
    "chunking_version",
    "scoring_version",
    "chunk_size",
    "overlap",
    "index_format",
)


class Fingerprint(Frozen):
    """Everything that decides what an index looks like besides the knowledge base itself."""

    embedding_model: str
    embedding_digest: str
    embedding_dimension: Annotated[int, Field(ge=1)]
    analyzer_version: str
    chunking_version: str
    scoring_version: str
    chunk_size: Annotated[int, Field(ge=1, description="Characters of a window of a long section.")]
    overlap: Annotated[int, Field(ge=0, description="Characters two neighbouring windows share.")]
    index_format: int = INDEX_FORMAT

    def digest(self) -> str:
        """SHA-256 over the fields' canonical JSON, hex."""
        canonical = json.dumps({name: getattr(self, name) for name in FINGERPRINT_FIELDS}, sort_keys=True)
        return hashlib.sha256(canonical.encode("utf-8")).hexdigest()


class IndexMeta(Fingerprint):
    """`index_meta.json` of one version. `nodes_hash` is the SHA-256 of the bytes of `nodes.ndjson`."""

    index_version: str
    created_at: datetime
    entries: Annotated[int, Field(ge=0)]
    nodes: Annotated[int, Field(ge=1)]
    facts: Annotated[int, Field(ge=0)] = 0
    conflicts: Annotated[int, Field(ge=0)] = 0
    knowledge_base_hash: str
    nodes_hash: str


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """How an index is built. `max_nodes` stops a build, `warn_nodes` only warns; neither is part of the fingerprint."""

    fingerprint: Fingerprint
    max_nodes: int = 120_000
    warn_nodes: int = 100_000


@dataclass(frozen=True, slots=True)
class FieldDifference:
    """A fingerprint field whose value in the index is not the one that is wanted."""

    field: str
    built: object
    wanted: object

    def __str__(self) -> str:
        return f"{self.field}: built with {self.built!r}, wanted {self.wanted!r}"


def differences(built: Fingerprint, wanted: Fingerprint) -> tuple[FieldDifference, ...]:
    """The fingerprint fields that differ, in the order of `FINGERPRINT_FIELDS`; empty when the index fits."""
    pairs = ((name, getattr(built, name), getattr(wanted, name)) for name in FINGERPRINT_FIELDS)
    return tuple(FieldDifference(name, old, new) for name, old, new in pairs if old != new)


def require_fit(built: Fingerprint, wanted: Fingerprint, *, version: str) -> None:
    """Does nothing when an index of fingerprint `built` may be opened under `wanted`.

    Raises:
        IndexMismatch: with every field that differs.
    """
    found = differences(built, wanted)
    if found:
        raise IndexMismatch(
            f"Index {version!r} does not fit the running settings: {'; '.join(map(str, found))}.",
            hint="Set the old values again, or rebuild with `python -m app ingest --full`.",
        )


def version_name(nodes_hash: str, fingerprint: Fingerprint) -> str:
    """The name that the same content under the same settings always gets (a repeated build adds `-2`, `-3` …)."""
    return f"{nodes_hash[:12]}-{fingerprint.digest()[:6]}"


def write_meta(meta: IndexMeta, directory: Path) -> None:
    """Writes `index_meta.json` into the directory of a version."""
    (directory / META_FILE).write_text(meta.model_dump_json(indent=1) + "\n", encoding="utf-8")


def read_meta_file(directory: Path) -> IndexMeta:
    """Reads `index_meta.json` of a version.

    Raises:
        IndexFault: the file is missing, unreadable or not of this format.
    """
    path = directory / META_FILE
    try:
        return IndexMeta.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as exc:
        raise IndexFault(
            f"Index version {directory.name!r} has no usable {META_FILE}.", hint="Rebuild with `python -m app ingest --full`."
        ) from exc
