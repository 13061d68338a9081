"""Entries that the top hits refer to, as a controlled widening of the context."""

from collections.abc import Callable
from typing import Any

from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle

from custom_postprocessors.best_sections import Worth, best_section
from custom_postprocessors.sections import NodeSource, added, entry_of, members

TOP_HITS = 3
MOST_ENTRIES = 6


class CrossReferences(BaseNodePostprocessor):
    """Adds the best section of entries that the three top entries refer to, at most six, after all hits.

    A reference is followed only when its section says something of the question (its worth reaches `least_share` of the top
    hit's), the worthiest first. Entries that are there already are not added again.
    """

    least_share: float = 0.35
    _source: NodeSource = PrivateAttr()
    _worth_of: Callable[[str], Worth] = PrivateAttr()

    def __init__(self, source: NodeSource, worth_of: Callable[[str], Worth], **data: Any) -> None:
        super().__init__(**data)
        self._source = source
        self._worth_of = worth_of

    @classmethod
    def class_name(cls) -> str:
        """Name in LlamaIndex's serialisation."""
        return "CrossReferences"

    def _postprocess_nodes(self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None) -> list[NodeWithScore]:
        if not nodes:
            return nodes
        worth = self._worth_of(query_bundle.query_str if query_bundle is not None else "")
        least = self.least_share * worth(_with_heading(nodes[0]))
        ranked = sorted(self._candidates(nodes, worth), key=lambda pair: (-pair[0], pair[1].node.node_id))
        return [*nodes, *(hit for value, hit in ranked[:MOST_ENTRIES] if value > 0 and value >= least)]

    def _candidates(self, nodes: list[NodeWithScore], worth: Worth) -> list[tuple[float, NodeWithScore]]:
        present = {entry_of(hit) for hit in nodes}
        found: dict[str, tuple[float, NodeWithScore]] = {}
        tops: dict[str, NodeWithScore] = {}
        for hit in nodes:
            tops.setdefault(entry_of(hit), hit)
        for top in list(tops.values())[:TOP_HITS]:
            for entry_id in members(top, "cross_refs"):
                if entry_id in present or entry_id in found:
                    continue
                best = best_section(self._source.sections_of(entry_id), worth, self._source)
                if best is not None:
                    hit = added(best, "cross_ref")
                    found[entry_id] = (worth(_with_heading(hit)), hit)
        return list(found.values())


def _with_heading(hit: NodeWithScore) -> str:
    return f"{hit.node.metadata.get('section', '')}\n{hit.node.get_content()}"
