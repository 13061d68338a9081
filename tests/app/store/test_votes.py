from pathlib import Path

import pytest

from app.store.database import Database
from app.store.votes import Votes
from evaluation.ballots import Ballot
from pipelines.errors import BadInput

MODELS = ("a:1b", "b:1b")


def ballots(best: str | None = "a:1b", outcome: str = "best", models: tuple[str, ...] = MODELS) -> tuple[Ballot, ...]:
    return (
        Ballot(models=models, criterion="correctness", outcome=outcome, best=best),
        Ballot(models=models, criterion="citations", outcome="tie"),
        Ballot(models=models, criterion="completeness", outcome="none"),
    )


@pytest.fixture
def database(tmp_path: Path):
    opened = Database(tmp_path)
    yield opened
    opened.close()


def give(votes: Votes, comparison: str = "c1", given: tuple[Ballot, ...] | None = None) -> None:
    given = ballots() if given is None else given
    votes.give(comparison, given, blind=True, question="Wie hoch?", index_version="v1", author="eva")


def test_votes_are_kept_in_order_with_all_that_was_said(database):
    votes = Votes(database)
    give(votes)
    give(votes, "c2", ballots("b:1b"))
    kept = votes.list()
    assert [(vote.comparison_id, vote.author, vote.blind, vote.question, vote.index_version) for vote in kept] == [
        *[("c1", "eva", True, "Wie hoch?", "v1")] * 3,
        *[("c2", "eva", True, "Wie hoch?", "v1")] * 3,
    ]
    assert votes.ballots() == (*ballots(), *ballots("b:1b"))


def test_question_is_not_kept_where_no_content_is(database):
    votes = Votes(database, keep_content=False)
    give(votes)
    assert {vote.question for vote in votes.list()} == {None}


def test_comparison_is_voted_on_once(database):
    votes = Votes(database)
    give(votes)
    with pytest.raises(BadInput, match="schon abgestimmt"):
        give(votes, given=ballots("b:1b"))
    assert votes.ballots() == ballots()


@pytest.mark.parametrize(
    "given",
    [
        (),
        ballots()[:2],
        (*ballots()[:2], ballots()[1]),
        ballots(best="c:1b"),
        ballots(best=None),
        ballots(best="a:1b", outcome="tie"),
        ballots(models=("a:1b",)),
        ballots(models=("a:1b", "a:1b")),
        ballots(models=("a:1b", "b:1b", "c:1b", "d:1b", "e:1b")),
        (*ballots()[:2], ballots(models=("a:1b", "c:1b"))[2]),
    ],
)
def test_unusable_ballots_are_refused_whole(database, given):
    votes = Votes(database)
    with pytest.raises(BadInput):
        give(votes, given=given)
    assert votes.list() == ()
