"""Votes of people who compared models' answers to one question; each is given once and never changed."""

from datetime import UTC, datetime

from sqlalchemy import JSON, select, update
from sqlalchemy.orm import Mapped, mapped_column

from app.store.database import Base, Database, UtcTime
from custom_postprocessors.evidence import Frozen
from evaluation.ballots import CRITERIA, Ballot
from pipelines.errors import BadInput

FEWEST_MODELS, MOST_MODELS = 2, 4


class VoteRow(Base):
    """One criterion of one comparison."""

    __tablename__ = "votes"

    id: Mapped[int] = mapped_column(primary_key=True)
    comparison_id: Mapped[str]
    criterion: Mapped[str]
    models: Mapped[list[str]] = mapped_column(JSON)
    outcome: Mapped[str]
    best: Mapped[str | None]
    blind: Mapped[bool]
    question: Mapped[str | None]
    index_version: Mapped[str]
    author: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(UtcTime)


class Vote(Frozen):
    """A ballot, of which comparison it is, and whose. `question` is None where no content is kept."""

    id: int
    comparison_id: str
    ballot: Ballot
    blind: bool
    question: str | None
    index_version: str
    author: str
    created_at: datetime


class Votes:
    """The votes. `keep_content` False keeps no question."""

    def __init__(self, database: Database, *, keep_content: bool = True) -> None:
        self._database = database
        self._keep_content = keep_content

    def delete_questions(self, before: datetime) -> int:
        """Deletes the questions of votes older than `before` and returns of how many; the ballots stay."""
        old = update(VoteRow).where(VoteRow.created_at < before, VoteRow.question.is_not(None)).values(question=None)
        with self._database.write() as session:
            return len(session.execute(old.returning(VoteRow.id)).all())

    def give(
        self, comparison_id: str, ballots: tuple[Ballot, ...], *, blind: bool, question: str, index_version: str, author: str
    ) -> None:
        """Keeps a comparison's ballots, all or none.

        Raises:
            BadInput: a criterion is missing or there twice, the best is none of the models, the numbers of models differ or
                are out of range, or the comparison has its votes already.
        """
        _check(ballots)
        now = datetime.now(UTC)
        rows = [
            VoteRow(
                comparison_id=comparison_id,
                criterion=ballot.criterion,
                models=list(ballot.models),
                outcome=ballot.outcome,
                best=ballot.best,
                blind=blind,
                question=question if self._keep_content else None,
                index_version=index_version,
                author=author,
                created_at=now,
            )
            for ballot in ballots
        ]
        with self._database.write() as session:
            if session.scalar(select(VoteRow.id).where(VoteRow.comparison_id == comparison_id).limit(1)) is not None:
                raise BadInput("Für diesen Vergleich wurde schon abgestimmt.", hint="Bitte eine neue Frage stellen.")
            session.add_all(rows)

    def list(self) -> tuple[Vote, ...]:
        """All votes, oldest first."""
        with self._database.read() as session:
            return tuple(_vote(row) for row in session.scalars(select(VoteRow).order_by(VoteRow.id)))

    def ballots(self) -> tuple[Ballot, ...]:
        """The ballots of all votes, oldest first."""
        return tuple(vote.ballot for vote in self.list())


def _check(ballots: tuple[Ballot, ...]) -> None:
    if sorted(ballot.criterion for ballot in ballots) != sorted(CRITERIA):
        raise BadInput("Es fehlt ein Kriterium.", hint="Bitte in jedem Kriterium abstimmen.")
    for ballot in ballots:
        if ballot.models != ballots[0].models or len(set(ballot.models)) != len(ballot.models):
            raise BadInput(f"The models of a comparison are {ballot.models!r}.", hint="Compare different models, each once.")
        if not FEWEST_MODELS <= len(ballot.models) <= MOST_MODELS:
            raise BadInput(f"A comparison has {len(ballot.models)} models.", hint="Compare two to four.")
        if (ballot.outcome == "best") != (ballot.best is not None) or (ballot.best and ballot.best not in ballot.models):
            raise BadInput(f"The best model is {ballot.best!r} with outcome {ballot.outcome!r}.", hint="Name one that took part.")


def _vote(row: VoteRow) -> Vote:
    ballot = {"models": row.models, "criterion": row.criterion, "outcome": row.outcome, "best": row.best}
    return Vote.model_validate(
        {
            "id": row.id,
            "comparison_id": row.comparison_id,
            "ballot": ballot,
            "blind": row.blind,
            "question": row.question,
            "index_version": row.index_version,
            "author": row.author,
            "created_at": row.created_at,
        }
    )
