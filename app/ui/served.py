"""The product behind the interface: the served index, the catalogue, the model in use, and what readers say of answers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from typing import Protocol

from app.service import Service
from app.store.documents import Catalogue
from app.ui.model_status import ModelStatus
from app.ui.search_explained import explained
from app.ui.service import (
    CrossRef,
    EntrySection,
    EntrySource,
    EntryView,
    EvidenceSheet,
    Overview,
    SearchRequest,
    SearchView,
    Topic,
)
from pipelines.contracts import Cancelled, Event, Question
from pipelines.entry_file import SUFFIX, parse_entry
from pipelines.errors import NotFound, StoreError
from pipelines.intake import read_question


class Feedback(Protocol):
    """Where ratings, comments and gaps are kept, and where a Beweisblatt comes from; see `UiService`."""

    def rate(self, request_id: str, *, up: bool, author: str) -> None:
        """Keeps a thumb."""
        ...

    def comment(self, request_id: str, text: str, *, author: str) -> None:
        """Keeps a comment."""
        ...

    def report_gap(self, request_id: str, note: str, *, author: str) -> None:
        """Keeps a gap."""
        ...

    def evidence(self, request_id: str) -> EvidenceSheet:
        """The Beweisblatt of an answer."""
        ...


class NoFeedback:
    """Keeps nothing and says so with an error; for a process without a store for feedback."""

    def rate(self, request_id: str, *, up: bool, author: str) -> None:
        """Raises StoreError."""
        raise _not_kept()

    def comment(self, request_id: str, text: str, *, author: str) -> None:
        """Raises StoreError."""
        raise _not_kept()

    def report_gap(self, request_id: str, note: str, *, author: str) -> None:
        """Raises StoreError."""
        raise _not_kept()

    def evidence(self, request_id: str) -> EvidenceSheet:
        """Raises StoreError."""
        raise _not_kept()


def _not_kept() -> StoreError:
    return StoreError("Ratings, comments and evidence sheets are not available in this process.")


class ServedUi:
    """`UiService` over the running product; safe for many threads."""

    def __init__(
        self,
        service: Service,
        catalogue: Catalogue,
        models: ModelStatus,
        *,
        today: Callable[[], date],
        feedback: Feedback | None = None,
        waiting: Callable[[], int] = lambda: 0,
        notices: Callable[[], tuple[str, ...]] = tuple,
    ) -> None:
        self._notices = notices
        self._service = service
        self._catalogue = catalogue
        self._models = models
        self._today = today
        self._feedback: Feedback = feedback or NoFeedback()
        self._waiting = waiting

    def today(self) -> date:
        """The settings' day."""
        return self._today()

    def ask_events(self, question: Question, cancelled: Cancelled) -> Iterator[Event]:
        """See `Service.ask_events`."""
        return self._service.ask_events(question, cancelled)

    def models(self) -> tuple[str, ...] | None:
        """See `ModelStatus.names`."""
        return self._models.names()

    def waiting(self) -> int:
        """Length of the queue in front of the model."""
        return self._waiting()

    def overview(self) -> Overview:
        """What the open index version holds, and which model answers."""
        index = self._service.engine.index
        infos = index.entries.values()
        counts: dict[str, int] = {}
        for info in infos:
            counts[info.topic] = counts.get(info.topic, 0) + 1
        name, reason, unavailable = self._models.current()
        extractive = name == "extractive"
        return Overview(
            entries=index.meta.entries,
            sections=index.meta.nodes,
            topics=tuple(Topic(topic, count) for topic, count in sorted(counts.items())),
            newest_stand=max((info.stand for info in infos), default="–"),
            index_version=index.version,
            embedding_model=index.meta.embedding_model,
            mode="extractive" if extractive else "structured",
            model="Zitatmodus" if extractive else name,
            model_reason=reason,
            model_unavailable=unavailable,
            notices=self._notices(),
        )

    def entry(self, entry_id: str) -> EntryView:
        """The entry of the open index version; its sources are those of the active document."""
        index = self._service.engine.index
        info = index.entries.get(entry_id)
        if info is None:
            raise NotFound(f"The served index has no entry {entry_id!r}.", hint="It may have been removed since.")
        return EntryView(
            entry_id=entry_id,
            title=info.title,
            stand=info.stand,
            work=info.work,
            topic=info.topic,
            tags=info.tags,
            legal_bases=info.legal_bases,
            sections=tuple(EntrySection(node.section, node.text) for node in index.sections_of(entry_id)),
            sources=self._sources(entry_id),
            cross_refs=tuple(self._cross_ref(other) for other in info.cross_refs),
        )

    def _cross_ref(self, entry_id: str) -> CrossRef:
        info = self._service.engine.index.entries.get(entry_id)
        return CrossRef(entry_id, info.title, info.stand) if info else CrossRef(entry_id, "", "")

    def _sources(self, entry_id: str) -> tuple[EntrySource, ...]:
        try:
            content = self._catalogue.content(entry_id)
        except NotFound:
            return ()
        entry = parse_entry(entry_id + SUFFIX, content.encode("utf-8")).entry
        sources = entry.sources if entry else ()
        return tuple(EntrySource(s.publisher, s.title, s.url, s.as_of) for s in sources)

    def titles(self, entry_ids: Sequence[str]) -> Mapping[str, str]:
        """Titles in the open index version."""
        entries = self._service.engine.index.entries
        return {entry_id: entries[entry_id].title for entry_id in entry_ids if entry_id in entries}

    def search(self, request: SearchRequest) -> SearchView:
        """The chat's plan, retrieval and grounding for the text, explained."""
        question = read_question(request.question, as_of=request.as_of, scopes=request.scopes)
        return explained(question, self._service.engine, request.k)

    def rate(self, request_id: str, *, up: bool, author: str) -> None:
        """Keeps a thumb for an answer."""
        self._feedback.rate(request_id, up=up, author=author)

    def comment(self, request_id: str, text: str, *, author: str) -> None:
        """Adds a comment to an answer."""
        self._feedback.comment(request_id, text, author=author)

    def report_gap(self, request_id: str, note: str, *, author: str) -> None:
        """Puts the question of an answer on the list of gaps."""
        self._feedback.report_gap(request_id, note, author=author)

    def evidence(self, request_id: str) -> EvidenceSheet:
        """The Beweisblatt of an answer."""
        return self._feedback.evidence(request_id)
