"""What chat, API and command line call: questions, searches, entries, the state of what is served.

One service per process, for all threads. Requests in flight finish on the index version they began with.
"""

from collections.abc import Callable, Iterator
from threading import Lock

from app.engine import Engine
from app.store.audit import AuditLog, SectionProof
from pipelines.answering import never
from pipelines.contracts import Cancelled, Event, FinalEvent, Outcome, Question
from pipelines.errors import GenerationCancelled
from pipelines.search import SearchResult, search


class EngineHolder:
    """The engine of what is served; opens a new one when `current_version` says another name, once for all threads."""

    def __init__(self, current_version: Callable[[], str | None], open_engine: Callable[[], Engine]) -> None:
        self._current_version = current_version
        self._open_engine = open_engine
        self._open: tuple[str | None, Engine] | None = None
        self._lock = Lock()

    def get(self) -> Engine:
        """The engine to answer with now.

        An engine that was handed out before stays usable: its version's files are kept until the switch after the next.

        Raises:
            IndexMissing, IndexMismatch, IndexFault: there is no index that can be opened.
        """
        opened, version = self._open, self._current_version()
        if opened is not None and opened[0] == version:
            return opened[1]
        with self._lock:
            # Asked for before the engine is opened: what is switched meanwhile is opened by the next question.
            version = self._current_version()
            if self._open is None or self._open[0] != version:
                self._open = (version, self._open_engine())
            return self._open[1]


class Service:
    """Questions and searches against the served index; every outcome is in the audit log before anybody sees it."""

    def __init__(
        self, engines: EngineHolder, audit: AuditLog | None, observe: Callable[[Outcome], None] = lambda outcome: None
    ) -> None:
        self._engines = engines
        self._audit = audit
        self._observe = observe

    @property
    def engine(self) -> Engine:
        """The engine of the served version (see `EngineHolder.get`)."""
        return self._engines.get()

    def ask_events(self, question: Question, cancelled: Cancelled = never) -> Iterator[Event]:
        """The path of a question; the last event is a `FinalEvent`, unless `cancelled` became true: then it just ends.

        Raises:
            IndexFault: there is no index that can be read.
            StoreError: the outcome could not be written to the audit log; it is not shown then.
        """
        engine = self._engines.get()
        try:
            for event in engine.pipeline.events(question, cancelled=cancelled):
                if isinstance(event, FinalEvent):
                    self._record(event.outcome, engine, question)
                    self._observe(event.outcome)
                yield event
        except GenerationCancelled:
            return

    def ask(self, question: Question) -> Outcome:
        """The outcome alone."""
        for event in self.ask_events(question):
            if isinstance(event, FinalEvent):
                return event.outcome
        raise AssertionError("a question that nobody cancels has an outcome")

    def find(self, question: Question, k: int) -> SearchResult:
        """Retrieval alone: the `k` best sections."""
        engine = self._engines.get()
        return search(question, engine.planner, engine.retriever, k)

    def _record(self, outcome: Outcome, engine: Engine, question: Question) -> None:
        if self._audit is None:
            return
        wanted = {(source.entry_id, source.section) for source in outcome.sources}
        nodes = [
            node
            for entry_id in dict.fromkeys(source.entry_id for source in outcome.sources)
            for node in engine.index.sections_of(entry_id)
            if (node.entry_id, node.section) in wanted
        ]
        self._audit.append(
            outcome, [SectionProof(node_id=node.node_id, text_hash=node.text_hash) for node in nodes], question.context
        )
