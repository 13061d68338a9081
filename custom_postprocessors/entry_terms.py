"""The tokens of an entry, kept so that a question does not analyse the same sections again."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock

from llama_index.core.schema import NodeWithScore

from custom_postprocessors.evidence import TextAnalyzer
from custom_postprocessors.sections import NodeSource, content_of, entry_of, is_source_text, members, text_of

_KEPT_SECTIONS = 4_096


@dataclass(frozen=True, slots=True)
class EntryTerms:
    """Tokens of an entry's title, tags and norms, and of each of its sections; `everything` is their union."""

    entry_id: str
    heading: frozenset[str]
    sections: tuple[frozenset[str], ...]
    everything: frozenset[str]


class TermReader:
    """Analyses sections once; safe for many threads. Of a source text only the sections that were found are read."""

    def __init__(self, analyzer: TextAnalyzer, source: NodeSource) -> None:
        self._analyzer = analyzer
        self._source = source
        self._kept: OrderedDict[str, frozenset[str]] = OrderedDict()
        self._lock = Lock()

    def entry(self, hits: Sequence[NodeWithScore]) -> EntryTerms:
        """The terms of the entry that these hits (at least one) belong to."""
        first = hits[0]
        heading_text = " \n ".join([text_of(first, "title"), *members(first, "tags"), *members(first, "legal_bases")])
        heading = self.tokens(f"{entry_of(first)}#", heading_text)
        if is_source_text(first):
            texts = [(hit.node.node_id, f"{text_of(hit, 'section')}\n{content_of(hit)}") for hit in hits]
        else:
            records = self._source.sections_of(entry_of(first))
            texts = [(record.node_id, f"{record.section}\n{record.text}") for record in records]
        sections = tuple(self.tokens(node_id, text) for node_id, text in texts)
        return EntryTerms(entry_of(first), heading, sections, heading.union(*sections))

    def tokens(self, key: str, text: str) -> frozenset[str]:
        """The tokens of a text that is always the same for this key."""
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
                return found
        tokens = frozenset(self._analyzer.tokens(text))
        with self._lock:
            self._kept[key] = tokens
            if len(self._kept) > _KEPT_SECTIONS:
                self._kept.popitem(last=False)
        return tokens
