"""How long free text is kept: deleted after its days, at the start of the service and once a day while it runs."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from threading import Event, Thread

from app.store.audit import AuditLog
from app.store.feedback import Feedback
from app.store.votes import Votes
from pipelines.errors import StoreError

BETWEEN_SECONDS = 24 * 60 * 60.0
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Pruned:
    """How many outcomes lost their content, and how many ratings, comments, gaps and votes their text."""

    outcomes: int
    texts: int


class Retention:
    """Deletes what may not be kept any longer; ids, times, cited entries, hashes and versions stay, and so does the chain.

    Args:
        audit: outcomes and what was transmitted for them.
        feedback: texts of ratings, comments and gaps.
        votes: questions of comparisons.
        days: how long content is kept; 0 keeps it for ever.
        now: the present moment.
    """

    def __init__(
        self,
        audit: AuditLog,
        feedback: Feedback,
        votes: Votes,
        days: int,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._audit = audit
        self._feedback = feedback
        self._votes = votes
        self._days = days
        self._now = now
        self._stopped = Event()
        self._thread: Thread | None = None

    def prune(self, days: int | None = None) -> Pruned:
        """Deletes once; `days` in place of the configured number. Nothing with 0 days.

        Raises:
            StoreError: the database cannot be written.
        """
        kept = self._days if days is None else days
        if kept == 0:
            return Pruned(0, 0)
        before = self._now() - timedelta(days=kept)
        # Texts first: they hang on outcomes, and whoever reads in between must not see a comment without its question.
        texts = self._feedback.delete_texts(before) + self._votes.delete_questions(before)
        pruned = Pruned(self._audit.delete_content(before), texts)
        if pruned != Pruned(0, 0):
            self._audit.database.checkpoint()
        return pruned

    def start(self, between_seconds: float = BETWEEN_SECONDS) -> None:
        """Prunes now and then again and again in a thread of its own, until `stop`; a failure is logged and tried again."""

        def work() -> None:
            while True:
                try:
                    pruned = self.prune()
                except StoreError as exc:
                    _log.error("Content that may not be kept was not deleted: %s", exc)
                else:
                    if pruned != Pruned(0, 0):
                        _log.info("Content of %d answers and %d texts was deleted.", pruned.outcomes, pruned.texts)
                if self._stopped.wait(between_seconds):
                    return

        self._thread = Thread(target=work, name="retention", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()
