from collections.abc import Iterator
from pathlib import Path

import pytest

from app.store.audit import AuditLog
from app.store.database import Database
from app.store.feedback import Feedback
from pipelines.errors import BadInput, NotFound
from tests.app.store.test_audit import PROOF, outcome


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(tmp_path)
    AuditLog(database).append(outcome(1), [PROOF])
    yield database
    database.close()


def test_a_rating_belongs_to_an_answer_that_exists_and_is_given_once(database: Database) -> None:
    feedback = Feedback(database)
    kept = feedback.rate("r-1", up=False, text=" zu kurz ", author="anna")
    assert (kept.up, kept.text, kept.author) == (False, "zu kurz", "anna")
    assert feedback.rating("r-1") == kept
    with pytest.raises(BadInput, match="schon bewertet"):
        feedback.rate("r-1", up=True, author="bert")
    with pytest.raises(NotFound, match="'r-2'"):
        feedback.rate("r-2", up=True, author="anna")
    assert feedback.rating("r-1") == kept


def test_comments_add_up_in_order_but_not_the_same_twice_in_a_row(database: Database) -> None:
    feedback = Feedback(database)
    feedback.comment("r-1", "Erster", author="anna")
    with pytest.raises(BadInput, match="schon gespeichert"):
        feedback.comment("r-1", " Erster ", author="anna")
    feedback.comment("r-1", "Erster", author="bert")
    assert [(c.author, c.text) for c in feedback.comments("r-1")] == [("anna", "Erster"), ("bert", "Erster")]


@pytest.mark.parametrize("text", ["", "  \n", "x" * 2001])
def test_a_comment_needs_a_text_of_bearable_length(text: str, database: Database) -> None:
    with pytest.raises(BadInput):
        Feedback(database).comment("r-1", text, author="anna")
    assert Feedback(database).comments("r-1") == ()


def test_a_gap_is_reported_once_and_has_owner_and_status(database: Database) -> None:
    feedback = Feedback(database)
    gap = feedback.report_gap("r-1", "Was gilt?", "fehlt", author="anna")
    assert (gap.status, gap.owner, gap.question, gap.note) == ("open", "", "Was gilt?", "fehlt")
    with pytest.raises(BadInput, match="schon gemeldet"):
        feedback.report_gap("r-1", "Was gilt?", "", author="bert")
    changed = feedback.set_gap(gap.id, status="done", owner="redaktion")
    assert (changed.status, changed.owner, changed.question) == ("done", "redaktion", "Was gilt?")
    assert feedback.gaps() == (changed,)
    assert feedback.gaps(status="open") == ()
    with pytest.raises(NotFound):
        feedback.set_gap(99, status="done")


def test_without_content_no_text_is_kept(database: Database) -> None:
    feedback = Feedback(database, keep_content=False)
    feedback.rate("r-1", up=True, text="Frau Muster", author="anna")
    feedback.comment("r-1", "Frau Muster", author="anna")
    feedback.report_gap("r-1", "Frau Muster?", "Muster", author="anna")
    assert b"Muster" not in database.path.read_bytes()
    assert [c.text for c in feedback.comments("r-1")] == [None]
