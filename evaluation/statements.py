"""What a section states, one statement at a time, and the sections that retrieval would put beside it."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from custom_postprocessors.sentences import TextUnit, plain_markdown, row_text, split_units
from custom_postprocessors.values import FoundValue, find_values
from pipelines.nodes import SectionNode

_SKIPPED = ("Rechtsgrundlagen", "Payroll-Relevanz (Odoo)", "Verweise")


@dataclass(frozen=True, slots=True)
class Base:
    """A statement that its section proves: a paraphrase, a sentence, or a row as a sentence."""

    text: str
    node: SectionNode
    unit: TextUnit | None = None
    written: bool = False
    seen: bool = False


def statements(nodes: Sequence[SectionNode]) -> Iterator[Base]:
    """The sentences and key figures of the sections, in order, without examples and source texts."""
    for node in nodes:
        if node.section in _SKIPPED or node.source_text:
            continue
        for unit in split_units(node.text):
            text = node.text[unit.start : unit.end]
            if unit.kind == "sentence" and 45 <= len(text) <= 260 and "eispiel" not in text and "[" not in text:
                yield Base(plain_markdown(text), node, unit)
            elif unit.kind == "row" and unit.columns[:2] == ("Kennzahl", "Wert"):
                yield Base(row_text(node.text, unit), node, unit)


@lru_cache(maxsize=4096)
def values_of(text: str) -> tuple[FoundValue, ...]:
    """The values of a whole section, read once for all of its statements."""
    return find_values(text)


class Neighbours:
    """Other sections that retrieval would put beside one: same topic, most words in common."""

    def __init__(self, nodes: Sequence[SectionNode]) -> None:
        self._by_topic: dict[str, list[SectionNode]] = defaultdict(list)
        self._words: dict[str, frozenset[str]] = {}
        for node in nodes:
            if node.section not in _SKIPPED:
                self._by_topic[node.topic].append(node)
                self._words[node.node_id] = frozenset(re.findall(r"[a-zäöüß]{5,}", node.text.lower()))

    def near(self, node: SectionNode) -> SectionNode | None:
        """The most similar section of another entry of the topic; None when the topic has one entry only."""
        mine = self._words.get(node.node_id, frozenset())
        others = [item for item in self._by_topic[node.topic] if item.entry_id != node.entry_id]
        return max(others, key=lambda item: (len(mine & self._words[item.node_id]), item.node_id), default=None)
