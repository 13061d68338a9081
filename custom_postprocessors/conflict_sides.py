"""Where the context holds one side of a conflict, the other sides come in as well."""

from collections.abc import Callable, Sequence
from typing import Any

from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle

from custom_postprocessors.best_sections import Worth
from custom_postprocessors.evidence import Conflict, ConflictRegister, ConflictSide
from custom_postprocessors.sections import NodeSource, SectionRecord, added, content_of, entry_of, text_of

CONFLICT = "conflict"
OTHER_CONFLICT = "other_conflict"


class ConflictSides(BaseNodePostprocessor):
    """Adds the sections with the other sides of every conflict that a hit holds a side of; none is left out silently.

    The sides of a conflict about something that the question says come right after the hit, those of the others at the
    end, where the budget may cut them.
    """

    _source: NodeSource = PrivateAttr()
    _register: ConflictRegister = PrivateAttr()
    _worth_of: Callable[[str], Worth] = PrivateAttr()

    def __init__(self, source: NodeSource, register: ConflictRegister, worth_of: Callable[[str], Worth], **data: Any) -> None:
        super().__init__(**data)
        self._source = source
        self._register = register
        self._worth_of = worth_of

    @classmethod
    def class_name(cls) -> str:
        """Name in LlamaIndex's serialisation."""
        return "ConflictSides"

    def _postprocess_nodes(self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None) -> list[NodeWithScore]:
        entry_ids = tuple(dict.fromkeys(entry_of(hit) for hit in nodes))
        conflicts = self._register.touching(entry_ids) if entry_ids else ()
        worth = self._worth_of(query_bundle.query_str if query_bundle is not None else "")
        asked = [conflict for conflict in conflicts if worth(conflict.quantity) > 0]
        others = [conflict for conflict in conflicts if conflict not in asked]
        present = {hit.node.node_id for hit in nodes}
        kept: list[NodeWithScore] = []
        for hit in nodes:
            kept.extend([hit, *self._missing_sides(hit, asked, present)])
        for hit in nodes:
            kept.extend(self._missing_sides(hit, others, present, OTHER_CONFLICT))
        return kept

    def _missing_sides(
        self, hit: NodeWithScore, conflicts: Sequence[Conflict], present: set[str], role: str = CONFLICT
    ) -> list[NodeWithScore]:
        """The sections of the other sides that are not there yet; they are noted in `present`."""
        sides = [side for conflict in conflicts if holds_a_side(hit, conflict) for side in conflict.sides]
        found = []
        for side in sides:
            record = self._section(side)
            if record is not None and record.node_id not in present:
                present.add(record.node_id)
                found.append(added(record, role))
        return found

    def _section(self, side: ConflictSide) -> SectionRecord | None:
        return next((record for record in self._source.sections_of(side.entry_id) if record.section == side.section), None)


def holds_a_side(hit: NodeWithScore, conflict: Conflict) -> bool:
    """Whether the section is a side of the conflict, or says a side's value elsewhere in the same entry."""
    return any(
        side.entry_id == entry_of(hit)
        and (side.section == text_of(hit, "section") or (bool(side.value) and side.value in content_of(hit)))
        for side in conflict.sides
    )
