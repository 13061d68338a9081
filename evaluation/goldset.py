"""Goldsets: questions with what a right answer rests on, read strictly; every fault has its file and line."""

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import Field, ValidationError

from custom_postprocessors.evidence import Frozen
from pipelines.errors import BadInput
from pipelines.nodes import SectionNode

Kind = Literal["value", "fact", "multi", "survey", "decision", "conflict", "false_premise", "out_of_kb"]
GOLDSET_DIRECTORY = Path(__file__).resolve().parent / "goldsets"
_MARKS = re.compile(r"[*_`]+")
_SPACES = re.compile(r"\s+")


class GoldItem(Frozen):
    """One question. `expected_ids` is empty exactly for `out_of_kb`; `expected_sections` are `ENTRY#HEADING PREFIX`."""

    id: Annotated[str, Field(pattern=r"^q(-[a-z0-9]+){2,}$")]
    question: Annotated[str, Field(min_length=1, max_length=2000)]
    kind: Kind
    expected_ids: tuple[str, ...]
    must_contain: tuple[str, ...] = ()
    expected_sections: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Goldset:
    """Questions in the order of their files, and the hash of their content."""

    items: tuple[GoldItem, ...]
    version: str

    @property
    def answerable(self) -> tuple[GoldItem, ...]:
        """The questions that the knowledge base answers."""
        return tuple(item for item in self.items if item.kind != "out_of_kb")


def entry_texts(nodes: Iterable[SectionNode]) -> dict[str, str]:
    """Entry id → everything its sections say, headings included; what `load_goldset` checks against."""
    texts: dict[str, list[str]] = {}
    for node in nodes:
        texts.setdefault(node.entry_id, [node.title]).extend((node.section, node.text))
    return {entry_id: "\n".join(parts) for entry_id, parts in texts.items()}


def load_goldset(path: Path, known_entries: Mapping[str, str]) -> Goldset:
    """Reads one file.

    Args:
        path: a YAML list of questions.
        known_entries: entry id → text of the entry.

    Raises:
        BadInput: with every fault of the file, each with its line: not YAML, unknown or missing fields, bad values, repeated
            ids, ids that the knowledge base does not have, `must_contain` that no expected entry contains.
    """
    try:
        root = yaml.compose(path.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as exc:
        raise BadInput(f"The goldset {str(path)!r} cannot be read: {exc}.") from exc
    if not isinstance(root, yaml.SequenceNode) or not root.value:
        raise BadInput(f"The goldset {str(path)!r} has no list of questions.")
    items: list[GoldItem] = []
    faults: list[str] = []
    for node in root.value:
        line = node.start_mark.line + 1
        item, found = _item(node, known_entries)
        if item is not None and any(item.id == other.id for other in items):
            found = [*found, f"id {item.id!r} occurs twice"]
        faults.extend(f"{path.name}:{line}: {fault}" for fault in found)
        if item is not None:
            items.append(item)
    if faults:
        raise BadInput(f"The goldset {str(path)!r} has {len(faults)} faults:\n" + "\n".join(faults))
    return Goldset(tuple(items), _version(items))


def load_goldsets(paths: Sequence[Path], known_entries: Mapping[str, str]) -> Goldset:
    """Reads several files as one set.

    Raises:
        BadInput: a file is faulty, or two files use the same id.
    """
    items = tuple(item for path in paths for item in load_goldset(path, known_entries).items)
    seen: set[str] = set()
    for item in items:
        if item.id in seen:
            raise BadInput(f"Two goldsets have the question id {item.id!r}.", hint="Give one of them another id.")
        seen.add(item.id)
    return Goldset(items, _version(items))


def comparable(text: str) -> str:
    """Text as goldset strings are compared: NFC, lower case, one kind of space, without Markdown marks."""
    return _SPACES.sub(" ", _MARKS.sub("", unicodedata.normalize("NFC", text))).strip().lower()


def _item(node: yaml.Node, known_entries: Mapping[str, str]) -> tuple[GoldItem | None, list[str]]:
    repeated = _repeated_keys(node)
    try:
        item = GoldItem.model_validate(yaml.SafeLoader("").construct_document(node))
    except ValidationError as exc:
        return None, [f"{'.'.join(map(str, error['loc'])) or 'item'}: {error['msg']}" for error in exc.errors()]
    except yaml.YAMLError as exc:
        return None, [str(exc)]
    return item, [*(f"field {key!r} occurs twice" for key in repeated), *_faults(item, known_entries)]


def _repeated_keys(node: yaml.Node) -> list[str]:
    keys = [str(key.value) for key, _ in node.value] if isinstance(node, yaml.MappingNode) else []
    return sorted({key for key in keys if keys.count(key) > 1})


def _faults(item: GoldItem, known_entries: Mapping[str, str]) -> Iterator[str]:
    if bool(item.expected_ids) == (item.kind == "out_of_kb"):
        yield f"kind {item.kind!r} with {len(item.expected_ids)} expected_ids"
    if len(set(item.expected_ids)) != len(item.expected_ids):
        yield "an expected id occurs twice"
    unknown = [entry_id for entry_id in item.expected_ids if entry_id not in known_entries]
    yield from (f"expected id {entry_id!r} is not in the knowledge base" for entry_id in unknown)
    texts = [comparable(known_entries[entry_id]) for entry_id in item.expected_ids if entry_id in known_entries]
    for wanted in item.must_contain:
        if not any(comparable(wanted) in text for text in texts):
            yield f"no expected entry contains {wanted!r}"
    for wanted in item.expected_sections:
        entry_id, mark, prefix = wanted.partition("#")
        if not mark or not prefix or entry_id not in item.expected_ids:
            yield f"expected section {wanted!r} is not `ENTRY#HEADING PREFIX` of an expected entry"
        elif comparable(prefix) not in comparable(known_entries.get(entry_id, "")):
            yield f"entry {entry_id!r} has no heading that begins with {prefix!r}"


def _version(items: Iterable[GoldItem]) -> str:
    """SHA-256 of the questions as canonical JSON, the first 16 hex digits."""
    rows = [item.model_dump(mode="json") for item in items]
    text = json.dumps(rows, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]
