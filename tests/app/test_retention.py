from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from app.retention import Pruned, Retention
from app.store.audit import AuditLog
from app.store.database import Database
from app.store.feedback import Feedback
from app.store.votes import Votes
from pipelines.review_context import ReviewContext, ReviewFact
from tests.app.api.port import wait_for
from tests.app.store.test_audit import PROOF, START, outcome

NOW = START + timedelta(days=33)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """Answers of the days 1 to 5, each with a rating, a comment and a gap."""
    opened = Database(tmp_path)
    audit, feedback = AuditLog(opened), Feedback(opened)
    for number in range(1, 6):
        review = ReviewContext(facts=(ReviewFact(key="brutto", value="Geheim-17"),))
        audit.append(outcome(number), [PROOF], review)
        feedback.rate(f"r-{number}", up=True, text="Geheim-18", author="anna")
        feedback.comment(f"r-{number}", "Geheim-19", author="anna")
        feedback.report_gap(f"r-{number}", "Geheim-20", "Geheim-21", author="anna")
    yield opened
    opened.close()


def retention(database: Database, days: int = 30) -> Retention:
    return Retention(AuditLog(database), Feedback(database), Votes(database), days, now=lambda: NOW)


def test_what_is_older_than_its_days_loses_its_content_and_the_chain_stays_whole(database: Database) -> None:
    assert retention(database).prune() == Pruned(outcomes=2, texts=6)
    audit, feedback = AuditLog(database), Feedback(database)
    assert [record.outcome is None for record in audit.list()] == [False, False, False, True, True]
    assert audit.verify() == ()
    old = audit.get("r-1")
    assert (old.context_json, old.sections, old.metadata["grounding"]["cited_ids"]) == (None, (PROOF,), ["pv-sv-05"])
    assert [(rating.up, rating.text, rating.author) for rating in [feedback.rating("r-1")]] == [(True, None, "anna")]
    assert [comment.text for comment in feedback.comments("r-1")] == [None]
    assert [comment.text for comment in feedback.comments("r-5")] == ["Geheim-19"]
    assert [(gap.question, gap.note) for gap in feedback.gaps()][-1] == (None, None)
    assert retention(database).prune() == Pruned(0, 0)


def test_deleted_content_cannot_be_read_from_the_files(database: Database, tmp_path: Path) -> None:
    retention(database, days=1).prune()
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    assert b"pv-sv-05" in kept
    assert not any(secret in kept for secret in (b"Frau Muster", b"Geheim-", b"551,10"))


def test_zero_days_keep_everything(database: Database) -> None:
    assert retention(database, days=0).prune() == Pruned(0, 0)
    assert retention(database, days=0).prune(days=30) == Pruned(outcomes=2, texts=6)


def test_it_runs_at_the_start_and_again(database: Database) -> None:
    running = retention(database)
    running.start(between_seconds=0.05)
    try:
        wait_for(lambda: AuditLog(database).get("r-1").outcome is None)
        AuditLog(database).append(outcome(0), [PROOF])
        wait_for(lambda: AuditLog(database).get("r-0").outcome is None)
    finally:
        running.stop()
    assert AuditLog(database).verify() == ()
