"""What the user interface needs of the product, and the values it shows.

This module imports no Gradio, so that the service behind the interface does not pay for it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Literal, Protocol

from custom_postprocessors.evidence import ChannelScores, Scope
from pipelines.contracts import Cancelled, Channel, Event, GenerationMode, Plan, Question


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic's name as shown, and how many entries it has."""

    name: str
    entries: int


@dataclass(frozen=True, slots=True)
class Overview:
    """What is served right now: the first screen and the status line."""

    entries: int
    sections: int
    topics: tuple[Topic, ...]
    newest_stand: str
    index_version: str
    embedding_model: str
    mode: GenerationMode
    """What answers a question that names no model."""
    model: str
    """Its name as shown, e.g. `qwen3.8:27b` or `Zitatmodus`."""
    model_reason: str
    """Why this one answers; German, one sentence."""
    degraded: tuple[Channel, ...] = ()
    model_unavailable: str | None = None
    """German sentence when the configured model does not answer right now, else None."""
    notices: tuple[str, ...] = ()
    """German remarks for every reader, e.g. that the folder differs from what is served."""


@dataclass(frozen=True, slots=True)
class EntrySection:
    """One H2 section; `text` is the Markdown below the heading line, as stored."""

    section: str
    text: str


@dataclass(frozen=True, slots=True)
class EntrySource:
    """Where the facts of an entry were read; `as_of` is text as the entry has it."""

    publisher: str
    title: str
    url: str
    as_of: str


@dataclass(frozen=True, slots=True)
class CrossRef:
    """An entry to read next; `title` is empty when the entry is not served."""

    entry_id: str
    title: str
    stand: str


@dataclass(frozen=True, slots=True)
class EntryView:
    """A whole entry as served."""

    entry_id: str
    title: str
    stand: str
    work: str
    topic: str
    tags: tuple[str, ...] = ()
    legal_bases: tuple[str, ...] = ()
    sections: tuple[EntrySection, ...] = ()
    sources: tuple[EntrySource, ...] = ()
    cross_refs: tuple[CrossRef, ...] = ()

    def section(self, name: str) -> EntrySection | None:
        """The section with this heading, or None."""
        return next((s for s in self.sections if s.section == name), None)


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What the search tab asks for; `k` counts sections."""

    question: str
    k: int = 20
    as_of: str | None = None
    scopes: tuple[Scope, ...] = ()


@dataclass(frozen=True, slots=True)
class AnalysedWord:
    """One word of the query as the lexical index sees it."""

    word: str
    tokens: tuple[str, ...]
    """Stems and parts of a compound; empty for a word that is not looked up."""
    note: str = ""
    """German: „Stoppwort“, „Synonym für …“, „Schreibfehler, gelesen als …“; empty when there is nothing to say."""


@dataclass(frozen=True, slots=True)
class ChannelRanks:
    """Rank of a section in each channel, from 1; None: not found there."""

    bm25: int | None = None
    similarity: int | None = None
    ngram: int | None = None


@dataclass(frozen=True, slots=True)
class SearchRow:
    """One section that was found, or that joined the context without being found."""

    rank: int
    entry_id: str
    section: str
    title: str
    stand: str
    work: str
    topic: str
    scores: ChannelScores
    ranks: ChannelRanks
    in_context: bool
    reason: str
    """German: why it is in the context, or why it is not."""
    role: Literal["hit", "cross_ref", "conflict"] = "hit"
    text: str = ""


@dataclass(frozen=True, slots=True)
class SearchView:
    """What retrieval did with a question, on the path that the chat takes."""

    question: str
    plan: Plan
    words: tuple[AnalysedWord, ...]
    rows: tuple[SearchRow, ...]
    degraded: tuple[Channel, ...] = ()
    refusal: str | None = None
    """German: why nothing would be answered from this; None when there is a context."""
    milliseconds: float = 0.0
    added_terms: tuple[str, ...] = field(default=())
    """Search terms that a synonym list or a recipe added."""


@dataclass(frozen=True, slots=True)
class EvidenceSheet:
    """A Beweisblatt as a file."""

    file_name: str
    media_type: str
    content: str


class UiService(Protocol):
    """The product as the user interface sees it; every method may be called from any thread."""

    def ask_events(self, question: Question, cancelled: Cancelled) -> Iterator[Event]:
        """The path of a question; the last event is a `FinalEvent` unless `cancelled` became true.

        Raises:
            PvAgentError: no index, or a defect; an unreachable model is an outcome, not an error.
        """
        ...

    def today(self) -> date:
        """The clock's day, as the settings have it."""
        ...

    def models(self) -> Sequence[str] | None:
        """Models on Ollama that a question may name; does not wait for long. Empty: there is none; None: not known yet."""
        ...

    def waiting(self) -> int:
        """How many questions wait for the model right now."""
        ...

    def overview(self) -> Overview:
        """What is served right now; does not wait for a model.

        Raises:
            IndexFault: nothing is served.
        """
        ...

    def entry(self, entry_id: str) -> EntryView:
        """An entry as served.

        Raises:
            NotFound: no such entry.
        """
        ...

    def titles(self, entry_ids: Sequence[str]) -> Mapping[str, str]:
        """Title by entry id; ids that are not served are left out."""
        ...

    def search(self, request: SearchRequest) -> SearchView:
        """Retrieval alone, explained."""
        ...

    def rate(self, request_id: str, *, up: bool, author: str) -> None:
        """Keeps a thumb for an answer.

        Raises:
            NotFound: no such answer.
            BadInput: it was rated before.
        """
        ...

    def comment(self, request_id: str, text: str, *, author: str) -> None:
        """Adds a dated comment to an answer.

        Raises:
            NotFound: no such answer.
            BadInput: the text is empty or too long.
        """
        ...

    def report_gap(self, request_id: str, note: str, *, author: str) -> None:
        """Puts the question of an answer or refusal on the editors' list of gaps.

        Raises:
            NotFound: no such answer.
            BadInput: it was reported before.
        """
        ...

    def evidence(self, request_id: str) -> EvidenceSheet:
        """The printable Beweisblatt of an answer.

        Raises:
            NotFound: no such answer.
        """
        ...
