"""From an entry to its nodes: one per H2 section, with an id that does not depend on the order of sections."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Self

from llama_index.core.node_parser import MarkdownNodeParser
from llama_index.core.schema import BaseNode, Document, MetadataMode, NodeRelationship, TextNode

from custom_postprocessors.evidence import Work
from pipelines.entry_schema import REFERENCES, Entry
from pipelines.headings import read_outline, slugs, without_outer_blank_lines
from pipelines.instructions import blanked

EMBEDDED_METADATA = ("title", "section")
_BAR = "|"


@dataclass(frozen=True, slots=True)
class SectionNode:
    """One section as it is indexed and cited: one row of `nodes.ndjson`.

    `text` is the Markdown below the heading line, NFC, LF, without outer blank lines; every offset into a section counts
    its code points. `position` is the section's place among the entry's H2 sections, from 0. `instruction_spans` are the
    half-open parts of `text` that address a model instead of the reader: they stay readable, and are never evidence.
    """

    node_id: str
    entry_id: str
    section: str
    title: str
    stand: str
    work: Work
    topic: str
    tags: tuple[str, ...]
    legal_bases: tuple[str, ...]
    cross_refs: tuple[str, ...]
    publishers: tuple[str, ...]
    source_text: bool
    position: int
    text: str
    text_hash: str
    instruction_spans: tuple[tuple[int, int], ...] = ()

    @property
    def evidence_text(self) -> str:
        """`text` with everything in `instruction_spans` blanked: same length, same offsets, same lines."""
        return blanked(self.text, self.instruction_spans)

    @property
    def embedding_text(self) -> str:
        """What is embedded: title, heading and the text that may be evidence."""
        return f"{self.title}\n{self.section}\n\n{self.evidence_text}"

    def to_text_node(self) -> TextNode:
        """The section as LlamaIndex node: its id, its text, and scalar metadata (tuples as `|a|b|`).

        Only title and heading are part of the text that LlamaIndex would embed. No relationships.
        """
        return TextNode(
            id_=self.node_id,
            text=self.text,
            metadata={name: _scalar(getattr(self, name)) for name in METADATA_FIELDS},
            excluded_embed_metadata_keys=list(_NOT_EMBEDDED),
            excluded_llm_metadata_keys=list(_NOT_EMBEDDED),
        )

    def to_json(self) -> str:
        """One line of JSON without line end; the same node gives the same bytes."""
        return json.dumps(asdict(self), ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, line: str | bytes) -> Self:
        """The node that `to_json` wrote.

        Raises:
            ValueError: the line is not JSON.
            TypeError: it is not a node of this format.
        """
        row: dict[str, Any] = json.loads(line)
        for name in ("tags", "legal_bases", "cross_refs", "publishers"):
            row[name] = tuple(row[name])
        row["instruction_spans"] = tuple((start, end) for start, end in row["instruction_spans"])
        return cls(**row)


METADATA_FIELDS = tuple(field.name for field in fields(SectionNode) if field.name not in ("node_id", "text"))
_NOT_EMBEDDED = tuple(name for name in METADATA_FIELDS if name not in EMBEDDED_METADATA)


def joined(values: Sequence[str]) -> str:
    """A tuple as one scalar, `|a|b|`, so that `|a|` finds a whole member; empty for none. A bar in a member becomes `¦`."""
    return _BAR + _BAR.join(value.replace(_BAR, "¦") for value in values) + _BAR if values else ""


def unjoined(value: str) -> tuple[str, ...]:
    """The members of a scalar that `joined` made."""
    return tuple(value.strip(_BAR).split(_BAR)) if value else ()


def joined_spans(spans: Sequence[tuple[int, int]]) -> str:
    """Half-open spans as one scalar, `|12:80|`; empty for none."""
    return joined([f"{start}:{end}" for start, end in spans])


def unjoined_spans(value: str) -> tuple[tuple[int, int], ...]:
    """The spans of a scalar that `joined_spans` made."""
    pairs = (member.split(":") for member in unjoined(value))
    return tuple((int(start), int(end)) for start, end in pairs)


class H2NodeParser(MarkdownNodeParser):
    """Splits a Markdown document at its H2 headings only.

    The stock parser splits at every level, does not know all fences, and counts ids. Here H3 and deeper stay inside their
    section, a node's text begins below its heading line, its id is `<document id>#<slug>`, and its metadata has `section`
    and `position` beside those of the document. A heading without text gives no node; neither does text before the first
    H2 or below a second H1.
    """

    def get_nodes_from_node(self, node: BaseNode) -> list[TextNode]:
        """The sections of one document in order, „Verweise“ included."""
        text = node.get_content(metadata_mode=MetadataMode.NONE)
        lines = text.split("\n")
        sections = read_outline(text).sections(text)
        # The stock helper hashes the whole document once per section, which is quadratic for source texts.
        source = node.as_related_node_info()
        nodes = []
        for position, ((heading, end), slug) in enumerate(
            zip(sections, slugs([heading.text for heading, _ in sections]), strict=True)
        ):
            _, content = without_outer_blank_lines(lines[heading.line + 1 : end])
            if content:
                nodes.append(
                    TextNode(
                        id_=f"{node.node_id}#{slug}",
                        text=content,
                        metadata={**node.metadata, "section": heading.text, "position": position},
                        relationships={NodeRelationship.SOURCE: source},
                    )
                )
        return nodes


def split_entry(entry: Entry) -> list[SectionNode]:
    """The nodes of an entry in order of its sections; „Verweise“ is no node, a section without text is none either."""
    document = Document(id_=entry.id, text=entry.body)
    parser = H2NodeParser(include_metadata=False, include_prev_next_rel=False)
    publishers = tuple(dict.fromkeys(source.publisher for source in entry.sources))
    return [
        SectionNode(
            node_id=node.node_id,
            entry_id=entry.id,
            section=node.metadata["section"],
            title=entry.title,
            stand=entry.stand,
            work=entry.work,
            topic=entry.topic,
            tags=entry.tags,
            legal_bases=entry.legal_bases,
            cross_refs=entry.cross_refs,
            publishers=publishers,
            source_text=entry.source_text,
            position=node.metadata["position"],
            text=node.text,
            text_hash=hashlib.sha256(node.text.encode("utf-8")).hexdigest(),
            instruction_spans=entry.sections[node.metadata["position"]].instruction_spans,
        )
        for node in parser.get_nodes_from_node(document)
        if node.metadata["section"] != REFERENCES
    ]


def with_cross_refs(node: SectionNode, known_ids: frozenset[str]) -> SectionNode:
    """The node with only those references that lead to a known entry."""
    kept = tuple(target for target in node.cross_refs if target in known_ids)
    return node if kept == node.cross_refs else replace(node, cross_refs=kept)


def _scalar(value: Any) -> str | int | bool:
    if isinstance(value, tuple):
        return joined_spans(value) if value and isinstance(value[0], tuple) else joined(value)
    return value if isinstance(value, bool | int) else str(value)
