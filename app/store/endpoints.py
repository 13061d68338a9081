"""Ollama endpoints and the model asked there: versions that never change, and which one is active."""

from datetime import datetime
from urllib.parse import urlsplit

from sqlalchemy import func, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from app.store.database import Base, Database, UtcTime
from app.store.documents import Change
from custom_postprocessors.evidence import Frozen
from pipelines.errors import BadInput, NotFound
from pipelines.installed_models import is_cloud_name

DEFAULT_ENDPOINT = "standard"
"""The name that stands for PV_OLLAMA_URL and PV_LLM_MODEL."""
MAX_NAME_CHARACTERS, MAX_URL_CHARACTERS, MAX_MODEL_CHARACTERS = 40, 300, 100


class EndpointVersionRow(Base):
    """One version of an endpoint. Append-only."""

    __tablename__ = "endpoint_versions"

    name: Mapped[str] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    url: Mapped[str]
    model: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(UtcTime)
    author: Mapped[str]
    note: Mapped[str]


class EndpointActivationRow(Base):
    """Who made which version of which endpoint the active one. Append-only; the last one counts."""

    __tablename__ = "endpoint_activations"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    number: Mapped[int]
    created_at: Mapped[datetime] = mapped_column(UtcTime)
    author: Mapped[str]
    note: Mapped[str]


class Endpoint(Frozen):
    """One version of an endpoint. An empty `model` leaves the choice to PV_LLM_MODEL."""

    name: str
    number: int
    url: str
    model: str = ""
    created_at: datetime | None = None
    author: str = ""
    note: str = ""
    active: bool = False

    @property
    def label(self) -> str:
        """What answers record: the name, and the version where it has one; never the address."""
        return self.name if self.number == 0 else f"{self.name}@{self.number}"


class Endpoints:
    """The endpoints of one database. Exactly one is active: a version of one of them, or the one of the settings."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def active(self) -> Endpoint | None:
        """The active version; None when the settings decide."""
        with self._database.read() as session:
            found = _active(session)
            row = None if found is None else session.get(EndpointVersionRow, found)
            return None if row is None else _of(row, found)

    def list(self) -> tuple[Endpoint, ...]:
        """Every version of every endpoint, by name, newest first; the settings' own is not among them."""
        with self._database.read() as session:
            active = _active(session)
            statement = select(EndpointVersionRow).order_by(EndpointVersionRow.name, EndpointVersionRow.number.desc())
            return tuple(_of(row, active) for row in session.scalars(statement))

    def get(self, name: str, number: int | None = None) -> Endpoint:
        """One version, or the newest one.

        Raises:
            NotFound: there is no such endpoint or version.
        """
        with self._database.read() as session:
            return _of(_require(session, name, number), _active(session))

    def add(self, name: str, url: str, change: Change, *, model: str = "", activate: bool = False) -> Endpoint:
        """Adds an endpoint, or a new version of one.

        Raises:
            BadInput: name, URL or model is not usable.
        """
        clean, address, wanted = _name(name), checked_url(url), _model(model)
        with self._database.write() as session:
            last = session.scalar(select(func.max(EndpointVersionRow.number)).where(EndpointVersionRow.name == clean)) or 0
            row = EndpointVersionRow(
                name=clean,
                number=last + 1,
                url=address,
                model=wanted,
                created_at=change.moment(),
                author=change.author,
                note=change.note,
            )
            session.add(row)
            if activate:
                _activate(session, clean, last + 1, change)
            session.flush()
            return _of(row, _active(session))

    def activate(self, name: str, change: Change, number: int | None = None) -> None:
        """Makes a version (default: the newest) the active one; the name `standard` gives the choice back to the settings.

        Raises:
            NotFound: there is no such endpoint or version.
        """
        with self._database.write() as session:
            wanted = (DEFAULT_ENDPOINT, 0)
            if name != DEFAULT_ENDPOINT:
                row = _require(session, name, number)
                wanted = (row.name, row.number)
            if (_active(session) or (DEFAULT_ENDPOINT, 0)) != wanted:
                _activate(session, *wanted, change)

    def history(self) -> tuple[Endpoint, ...]:
        """Every activation, newest first, as the version that was made active with who, when and why."""
        with self._database.read() as session:
            rows = session.scalars(select(EndpointActivationRow).order_by(EndpointActivationRow.id.desc())).all()
            return tuple(_activation(session, row) for row in rows)


def checked_url(url: str) -> str:
    """The address of an Ollama server: http or https, a host, nothing secret in it.

    Raises:
        BadInput: it is anything else.
    """
    hint = "Use http://host:port or https://host:port, without user, password, query or fragment."
    clean = url.strip().rstrip("/")
    if not 1 <= len(clean) <= MAX_URL_CHARACTERS or not clean.isprintable() or any(c.isspace() or c == "\\" for c in clean):
        raise BadInput("The address of the endpoint is not usable.", hint=hint)
    try:
        parts = urlsplit(clean)
        usable = parts.scheme in ("http", "https") and parts.hostname and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    if not usable or "@" in parts.netloc or parts.query or parts.fragment or "?" in clean or "#" in clean:
        # The address itself is not repeated: a password may stand in it.
        raise BadInput("The address of the endpoint is not usable.", hint=hint)
    return clean


def _name(name: str) -> str:
    clean = " ".join(name.split())
    if not 1 <= len(clean) <= MAX_NAME_CHARACTERS or not clean.isprintable() or "@" in clean:
        raise BadInput(f"The name {name!r} is not usable.", hint=f"Use 1 to {MAX_NAME_CHARACTERS} printable characters, no @.")
    if clean.casefold() == DEFAULT_ENDPOINT:
        raise BadInput(f"The name {name!r} is reserved for the settings.", hint="Choose another name.")
    return clean


def _model(model: str) -> str:
    clean = model.strip()
    if len(clean) > MAX_MODEL_CHARACTERS or (not clean.isprintable() and clean):
        raise BadInput(f"The model {model!r} is not usable.", hint="Give the name that `ollama list` shows.")
    if is_cloud_name(clean):
        raise BadInput(f"{clean!r} runs in Ollama's cloud.", hint="Only models on your own server may answer.")
    return clean


def _active(session: Session) -> tuple[str, int] | None:
    row = session.scalar(select(EndpointActivationRow).order_by(EndpointActivationRow.id.desc()).limit(1))
    return None if row is None or row.name == DEFAULT_ENDPOINT else (row.name, row.number)


def _activate(session: Session, name: str, number: int, change: Change) -> None:
    session.add(
        EndpointActivationRow(name=name, number=number, created_at=change.moment(), author=change.author, note=change.note)
    )


def _require(session: Session, name: str, number: int | None) -> EndpointVersionRow:
    statement = select(EndpointVersionRow).where(EndpointVersionRow.name == name)
    if number is not None:
        statement = statement.where(EndpointVersionRow.number == number)
    row = session.scalar(statement.order_by(EndpointVersionRow.number.desc()).limit(1))
    if row is None:
        raise NotFound(
            f"There is no endpoint {name!r}" + (f" version {number}." if number is not None else "."),
            hint="See `python -m app endpoints list`.",
        )
    return row


def _activation(session: Session, row: EndpointActivationRow) -> Endpoint:
    version = session.get(EndpointVersionRow, (row.name, row.number))
    found = Endpoint(name=DEFAULT_ENDPOINT, number=0, url="") if version is None else _of(version, None)
    return found.model_copy(update={"created_at": row.created_at, "author": row.author, "note": row.note})


def _of(row: EndpointVersionRow, active: tuple[str, int] | None) -> Endpoint:
    return Endpoint(
        name=row.name,
        number=row.number,
        url=row.url,
        model=row.model,
        created_at=row.created_at,
        author=row.author,
        note=row.note,
        active=(row.name, row.number) == active,
    )
