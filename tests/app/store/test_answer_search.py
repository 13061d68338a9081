from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from app.store.answer_search import AnswerFilter, AnswerSearch
from app.store.audit import AuditLog
from app.store.database import Database
from app.store.feedback import Feedback
from tests.app.store.test_audit import PROOF, START, outcome


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """Five answers, one a day; the third is a refusal, the second rated down, the fourth up and commented."""
    database = Database(tmp_path)
    log, feedback = AuditLog(database), Feedback(database)
    for number in range(1, 6):
        made = outcome(number, refused=number == 3)
        if number == 5:
            made = made.model_copy(update={"question": "Gebührt ein ÜBERSTUNDENZUSCHLAG?"})
        if number == 1:
            made = made.model_copy(update={"grounding": made.grounding.model_copy(update={"cited_ids": ("pv-sv-07", "pv-x")})})
        log.append(made, [PROOF])
    feedback.rate("r-2", up=False, author="anna")
    feedback.rate("r-4", up=True, author="anna")
    feedback.comment("r-4", "Stimmt so", author="anna")
    feedback.comment("r-4", "Und noch etwas", author="bert")
    yield database
    database.close()


def ids(database: Database, wanted: AnswerFilter) -> list[str]:
    return [found.record.request_id for found in AnswerSearch(database).page(wanted).answers]


def test_without_a_filter_everything_is_listed_newest_first(database: Database) -> None:
    page = AnswerSearch(database).page(AnswerFilter())
    assert [(found.record.request_id, found.up, found.comments) for found in page.answers] == [
        ("r-5", None, 0),
        ("r-4", True, 2),
        ("r-3", None, 0),
        ("r-2", False, 0),
        ("r-1", None, 0),
    ]
    assert not page.more


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (AnswerFilter(since=START + timedelta(days=4)), ["r-5", "r-4"]),
        (AnswerFilter(until=START + timedelta(days=2)), ["r-1"]),
        (AnswerFilter(statuses=("refused",)), ["r-3"]),
        (AnswerFilter(entry_id="pv-sv-07"), ["r-1"]),
        (AnswerFilter(entry_id="pv-sv-0"), []),
        (AnswerFilter(text="überstunden"), ["r-5"]),
        (AnswerFilter(text="FRAU MUSTER? 2"), ["r-2"]),
        (AnswerFilter(text="%"), []),
        (AnswerFilter(rated="down"), ["r-2"]),
        (AnswerFilter(rated="up"), ["r-4"]),
        (AnswerFilter(rated="any"), ["r-4", "r-2"]),
        (AnswerFilter(commented=True), ["r-4"]),
        (AnswerFilter(commented=True, rated="down"), []),
    ],
)
def test_each_filter_restricts(database: Database, wanted: AnswerFilter, expected: list[str]) -> None:
    assert ids(database, wanted) == expected
    assert [record.request_id for record in AnswerSearch(database).records(wanted)] == expected


def test_pages_continue_where_the_one_before_ended(database: Database) -> None:
    search = AnswerSearch(database)
    first = search.page(AnswerFilter(), limit=2)
    second = search.page(AnswerFilter(), limit=2, before=first.answers[-1].record.sequence)
    assert [found.record.request_id for found in first.answers + second.answers] == ["r-5", "r-4", "r-3", "r-2"]
    assert (first.more, second.more) == (True, True)


def test_an_answer_without_content_is_found_by_everything_but_its_text(database: Database) -> None:
    AuditLog(database).delete_content(START + timedelta(days=30))
    assert ids(database, AnswerFilter(text="muster")) == []
    assert ids(database, AnswerFilter(statuses=("refused",))) == ["r-3"]
    assert AnswerSearch(database).page(AnswerFilter()).answers[0].record.outcome is None
