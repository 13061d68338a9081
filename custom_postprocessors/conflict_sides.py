"""Where the context holds one side of a conflict, the other sides come in as well."""

from typing import Any

from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle

from custom_postprocessors.evidence import Conflict, ConflictRegister, ConflictSide
from custom_postprocessors.sections import NodeSource, SectionRecord, added, content_of, entry_of, text_of

MOST_SECTIONS = 8


class ConflictSides(BaseNodePostprocessor):
    """Adds, right after the first section that holds a side, the sections with the other sides; none is left out silently.

    At most eight sections are added, for the conflicts of the best hits first.
    """

    _source: NodeSource = PrivateAttr()
    _register: ConflictRegister = PrivateAttr()

    def __init__(self, source: NodeSource, register: ConflictRegister, **data: Any) -> None:
        super().__init__(**data)
        self._source = source
        self._register = register

    @classmethod
    def class_name(cls) -> str:
        """Name in LlamaIndex's serialisation."""
        return "ConflictSides"

    def _postprocess_nodes(self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None) -> list[NodeWithScore]:
        entry_ids = tuple(dict.fromkeys(entry_of(hit) for hit in nodes))
        conflicts = self._register.touching(entry_ids) if entry_ids else ()
        kept: list[NodeWithScore] = []
        present = {hit.node.node_id for hit in nodes}
        room = MOST_SECTIONS
        for hit in nodes:
            kept.append(hit)
            for conflict in conflicts:
                if not holds_a_side(hit, conflict):
                    continue
                for side in conflict.sides:
                    record = self._section(side)
                    if record is not None and record.node_id not in present and room > 0:
                        kept.append(added(record, "conflict"))
                        present.add(record.node_id)
                        room -= 1
        return kept

    def _section(self, side: ConflictSide) -> SectionRecord | None:
        return next((record for record in self._source.sections_of(side.entry_id) if record.section == side.section), None)


def holds_a_side(hit: NodeWithScore, conflict: Conflict) -> bool:
    """Whether the section is a side of the conflict, or says a side's value elsewhere in the same entry."""
    return any(
        side.entry_id == entry_of(hit)
        and (side.section == text_of(hit, "section") or (bool(side.value) and side.value in content_of(hit)))
        for side in conflict.sides
    )
