"""What was found the last time a folder was taken over, so that an unchanged folder need not be read again."""

from sqlalchemy.orm import Mapped, Session, mapped_column

from app.store.database import Base


class FolderRunRow(Base):
    """The last complete run over one folder: hash of its files, hash of the catalogue after it, and its report as JSON."""

    __tablename__ = "folder_runs"

    folder: Mapped[str] = mapped_column(primary_key=True)
    folder_hash: Mapped[str]
    state_hash: Mapped[str]
    report: Mapped[str]


def remember(session: Session, run: FolderRunRow) -> None:
    """Keeps a run in place of the one before it."""
    session.merge(run)


def last_run(session: Session, folder: str) -> FolderRunRow | None:
    """The last run over a folder; None when there was none."""
    return session.get(FolderRunRow, folder)
