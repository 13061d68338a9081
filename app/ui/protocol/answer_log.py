"""What the tab Protokoll reads: answers by filter, one answer with its proof, the chain, and what has drifted."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from app.drift import Drift, QuoteCheck, SectionsOf, check_quotes, drifted
from app.evidence_sheet import sheet_html
from app.store.answer_search import AnswerFilter, AnswerSearch, FoundPage
from app.store.audit import AuditLog, AuditRecord, ChainFault
from app.store.feedback import Comment, Feedback, Rating
from pipelines.errors import IndexFault

SHOWN_AT_ONCE = 50


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """One answer, what was said of it, and what became of its quotes; `quotes` is None when nothing is served."""

    record: AuditRecord
    rating: Rating | None
    comments: tuple[Comment, ...]
    quotes: tuple[QuoteCheck, ...] | None


@dataclass(frozen=True, slots=True)
class ChainState:
    """How many rows the log has and where its chain does not hold."""

    rows: int
    faults: tuple[ChainFault, ...]


class AnswerLog:
    """The log of answers for its readers; changes nothing, safe for many threads.

    Args:
        audit: the log.
        feedback: what readers said.
        sections_of: gives the served sections by entry; may raise IndexFault.
    """

    def __init__(self, audit: AuditLog, feedback: Feedback, sections_of: Callable[[], SectionsOf]) -> None:
        self._audit = audit
        self._feedback = feedback
        self._search = AnswerSearch(audit.database)
        self._sections_of = sections_of

    @property
    def keeps_content(self) -> bool:
        """Whether new answers keep their text."""
        return self._audit.keep_content

    def page(self, wanted: AnswerFilter, before: int | None) -> FoundPage:
        """The newest answers that fit, below row `before`."""
        return self._search.page(wanted, limit=SHOWN_AT_ONCE, before=before)

    def shown(self, request_id: str) -> ShownAnswer:
        """One answer.

        Raises:
            NotFound: no such answer.
        """
        record = self._audit.get(request_id)
        return ShownAnswer(record, self._feedback.rating(request_id), self._feedback.comments(request_id), self._quotes(record))

    def rows(self) -> int:
        """Length of the log."""
        return self._audit.count()

    def chain(self) -> ChainState:
        """Walks the whole chain."""
        return ChainState(self._audit.count(), self._audit.verify())

    def drift(self, wanted: AnswerFilter) -> tuple[Drift, ...]:
        """Answers that fit and cite something which changed, newest first.

        Raises:
            IndexFault: nothing is served.
        """
        return tuple(drifted(self._search.records(wanted), self._sections_of()))

    def records(self, wanted: AnswerFilter) -> Iterator[AuditRecord]:
        """Every answer that fits, newest first."""
        return self._search.records(wanted)

    def sheet(self, request_id: str) -> str:
        """The Beweisblatt as HTML.

        Raises:
            NotFound: no such answer, or its content is gone.
        """
        return sheet_html(self._audit.get(request_id))

    def _quotes(self, record: AuditRecord) -> tuple[QuoteCheck, ...] | None:
        if record.outcome is None:
            return ()
        try:
            return check_quotes(record.outcome, self._sections_of())
        except IndexFault:
            return None
