"""What the user interface stores for its readers: thumbs, comments, gaps; and the Beweisblatt it hands out."""

from app.evidence_sheet import sheet_html
from app.store.audit import AuditLog
from app.store.feedback import Feedback
from app.ui.service import EvidenceSheet

LOCAL_USER = "local"


class ReaderFeedback:
    """The feedback of one user of the interface.

    Args:
        feedback: where it is kept.
        audit: the outcomes it belongs to.
        author: name of the user; `local` where nobody logs in.
    """

    def __init__(self, feedback: Feedback, audit: AuditLog, author: str = LOCAL_USER) -> None:
        self._feedback = feedback
        self._audit = audit
        self._author = author

    def rate(self, request_id: str, *, up: bool) -> None:
        """See `Feedback.rate`."""
        self._feedback.rate(request_id, up=up, author=self._author)

    def comment(self, request_id: str, text: str) -> None:
        """See `Feedback.comment`."""
        self._feedback.comment(request_id, text, author=self._author)

    def report_gap(self, request_id: str, note: str) -> None:
        """See `Feedback.report_gap`; the question comes from the audit log, never from the page."""
        outcome = self._audit.get(request_id).outcome
        self._feedback.report_gap(request_id, outcome.question if outcome else "", note, author=self._author)

    def evidence(self, request_id: str) -> EvidenceSheet:
        """The printable sheet of an outcome."""
        content = sheet_html(self._audit.get(request_id))
        return EvidenceSheet(f"beweisblatt-{request_id}.html", "text/html", content)
