"""The other sections of the entries that were found: what the Zitatmodus needs beside the best section of each."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from custom_postprocessors.evidence import ChannelScores, Fact, GroundedContext, Passage
from pipelines.nodes import SectionNode

SectionsOf = Callable[[str], Sequence[SectionNode]]
"""From an entry id to all its sections, in the order of the entry; empty for an unknown id."""
FactsOf = Callable[[str], Sequence[Fact]]
"""From a node id to the facts of its table rows, in their order."""


def with_whole_entries(context: GroundedContext, sections_of: SectionsOf, facts_of: FactsOf) -> GroundedContext:
    """The context with every section of its ordinary entries, those of an entry side by side, its best section first.

    No entry is added and none moved. A source text (sections per § or article) keeps the sections it has. An added passage
    is cited by its node id, is shown whole, has the role of the entry's first passage and no scores of its own.
    """
    passages: list[Passage] = []
    seen: set[str] = set()
    for passage in context.passages:
        if passage.entry_id in seen:
            continue
        seen.add(passage.entry_id)
        own = context.of_entry(passage.entry_id)
        passages.extend(own)
        passages.extend(_others(own, sections_of(passage.entry_id)))
    known = {passage.node_id for passage in context.passages}
    facts = [fact for passage in passages if passage.node_id not in known for fact in facts_of(passage.node_id)]
    return replace(context, passages=tuple(passages), facts=(*context.facts, *facts))


def _others(own: Sequence[Passage], nodes: Sequence[SectionNode]) -> list[Passage]:
    given = {passage.node_id for passage in own}
    first = own[0]
    return [
        replace(
            first,
            block_id=node.node_id,
            node_id=node.node_id,
            section=node.section,
            text=node.text,
            shown=((0, len(node.text)),),
            scores=ChannelScores(),
        )
        for node in nodes
        if node.node_id not in given and not node.source_text
    ]
