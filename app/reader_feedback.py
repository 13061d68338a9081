"""What the user interface stores for its readers: thumbs, comments, gaps; and the Beweisblatt it hands out."""

from app.evidence_sheet import sheet_html
from app.store.audit import AuditLog
from app.store.feedback import Feedback
from app.ui.service import EvidenceSheet


class ReaderFeedback:
    """The feedback of the interface's users.

    Args:
        feedback: where it is kept.
        audit: the outcomes it belongs to.
    """

    def __init__(self, feedback: Feedback, audit: AuditLog) -> None:
        self._feedback = feedback
        self._audit = audit

    def rate(self, request_id: str, *, up: bool, author: str) -> None:
        """See `Feedback.rate`."""
        self._feedback.rate(request_id, up=up, author=author)

    def comment(self, request_id: str, text: str, *, author: str) -> None:
        """See `Feedback.comment`."""
        self._feedback.comment(request_id, text, author=author)

    def report_gap(self, request_id: str, note: str, *, author: str) -> None:
        """See `Feedback.report_gap`; the question comes from the audit log, never from the page."""
        outcome = self._audit.get(request_id).outcome
        self._feedback.report_gap(request_id, outcome.question if outcome else "", note, author=author)

    def evidence(self, request_id: str) -> EvidenceSheet:
        """The printable sheet of an outcome."""
        content = sheet_html(self._audit.get(request_id))
        return EvidenceSheet(f"beweisblatt-{request_id}.html", "text/html", content)
