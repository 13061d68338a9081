"""`kb.json` and `INDEX.md`: generated from the entries, and a gate in front of every take-over."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelines.entry_schema import Entry
from pipelines.errors import KnowledgeBaseError
from pipelines.normalisation import printable

REGISTRY_FILE = "kb.json"
INDEX_FILE = "INDEX.md"
ENTRIES_FOLDER = "dokumente"
_HINT = "`python -m app docs registry DIR` writes it anew from the files; nothing was changed."


@dataclass(frozen=True, slots=True)
class RegistryRow:
    """What the registry says about one entry. `path` is relative to the knowledge base's folder."""

    id: str
    title: str
    stand: str
    work: str
    topic: str
    tags: tuple[str, ...]
    legal_bases: tuple[str, ...]
    cross_refs: tuple[str, ...]
    path: str

    @classmethod
    def of(cls, entry: Entry) -> "RegistryRow":
        """The row of an entry; its references as the entry has them."""
        return cls(
            entry.id,
            entry.title,
            entry.stand,
            entry.work,
            entry.topic,
            entry.tags,
            entry.legal_bases,
            entry.cross_refs,
            f"{ENTRIES_FOLDER}/{entry.id}.md",
        )


def registry_json(rows: Iterable[RegistryRow]) -> str:
    """The content of `kb.json`, in order of ids; the same entries give the same bytes."""
    ordered = sorted(rows, key=lambda row: row.id)
    entries = [{name: _plain(getattr(row, name)) for name in RegistryRow.__slots__} for row in ordered]
    return json.dumps({"entries": entries, "count": len(entries)}, ensure_ascii=False, indent=1) + "\n"


def index_markdown(rows: Iterable[RegistryRow]) -> str:
    """The content of `INDEX.md`: the entries by topic, each with its link and Stand."""
    topics: defaultdict[str, list[RegistryRow]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: row.id):
        topics[row.topic].append(row)
    parts = ["# Wissensbasis: Index\n"]
    for topic in sorted(topics):
        parts.append(f"\n## {topic} ({len(topics[topic])})\n\n")
        parts.extend(f"- [{row.id}]({row.path}) {row.title} · Stand {row.stand}\n" for row in topics[topic])
    return "".join(parts)


def check_registry(folder: Path, ids: Sequence[str]) -> bool:
    """Compares `kb.json` with the ids of the files found; False when the folder has none.

    Raises:
        KnowledgeBaseError: it cannot be read, or its count or ids are not those of the files.
    """
    path = folder / REGISTRY_FILE
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return False
    except OSError as exc:
        raise KnowledgeBaseError(f"{REGISTRY_FILE} cannot be read: {exc.strerror}.", hint=_HINT) from exc
    count, registered = _parsed(data)
    found = set(ids)
    repeated = sorted(name for name, times in Counter(registered).items() if times > 1)
    only_registry, only_files = sorted(set(registered) - found), sorted(found - set(registered))
    if repeated or only_registry or only_files or not count == len(registered) == len(ids):
        raise KnowledgeBaseError(
            f"{REGISTRY_FILE} names {count} entries ({len(registered)} listed), the folder has {len(ids)} files."
            + _named(" Only in kb.json: ", only_registry)
            + _named(" Only as files: ", only_files)
            + _named(" Listed twice: ", repeated),
            hint=_HINT,
        )
    return True


def _parsed(data: bytes) -> tuple[int, list[str]]:
    try:
        content: Any = json.loads(data.decode("utf-8-sig"))
        count, ids = content["count"], [row["id"] for row in content["entries"]]
    except (ValueError, KeyError, TypeError, RecursionError) as exc:
        raise KnowledgeBaseError(f"{REGISTRY_FILE} is not a registry: {printable(str(exc))}.", hint=_HINT) from exc
    if isinstance(count, bool) or not isinstance(count, int) or not all(isinstance(name, str) for name in ids):
        raise KnowledgeBaseError(f"{REGISTRY_FILE} is not a registry: count or an id has the wrong type.", hint=_HINT)
    return count, ids


def _named(label: str, ids: list[str]) -> str:
    return f"{label}{', '.join(printable(name) for name in ids)}." if ids else ""


def _plain(value: str | tuple[str, ...]) -> str | list[str]:
    return list(value) if isinstance(value, tuple) else value
