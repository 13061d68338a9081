"""A run on disk: what it is of, the contexts that all models got, and a record of every question, so that it can go on.

reports/<run>/run.json         what is measured; a run goes on only under exactly this
reports/<run>/contexts.jsonl   question id, block ids and hash of the frozen context
reports/<run>/answers.jsonl    one record per model and question, appended and flushed to disk one by one
reports/<run>/memory.jsonl     what each model took in memory
reports/<run>/report.json …    made at the end from the above
"""

import fcntl
import json
import os
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import IO, Annotated, Literal, TypeVar

from pydantic import BaseModel, Field, ValidationError

from custom_postprocessors.evidence import Frozen
from evaluation.records import QuestionRecord
from pipelines.errors import BadInput, NotFound, StoreError

REPORTS = "reports"
RUN_FILE, CONTEXTS_FILE, ANSWERS_FILE, MEMORY_FILE = "run.json", "contexts.jsonl", "answers.jsonl", "memory.jsonl"
REPORT_FILE, CANCEL_FILE, LOCK_FILE = "report.json", "cancel", "lock"
RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
_RECORD_HEAD = re.compile(rb'\{"model":("(?:[^"\\]|\\.)*")')
LOCK_TRIES, LOCK_PAUSE_SECONDS = 10, 0.05
_FREE_FIELDS = {"run_id", "created_at"}
_Line = TypeVar("_Line", bound=BaseModel)


class Contestant(Frozen):
    """A model that takes part: its name, and its digest on Ollama (None for `extractive`)."""

    name: str
    digest: str | None = None


class ModelMemory(Frozen):
    """What a loaded model takes according to `/api/ps`; `context_length` is the real one, None where the server is silent."""

    model: str
    size_vram_bytes: int
    context_length: int | None = None


class FrozenContext(Frozen):
    """What every model was given for a question: block ids, best first, and the hash of all of it."""

    question_id: str
    block_ids: tuple[str, ...]
    sha256: str


class RunManifest(Frozen):
    """What a run measures. Two runs are comparable question by question when their goldsets overlap."""

    run_id: Annotated[str, Field(pattern=rf"^{RUN_ID.pattern}$")]
    created_at: datetime
    kind: Literal["bakeoff", "answers"]
    models: tuple[Contestant, ...]
    goldset_version: str
    goldset_files: tuple[str, ...]
    questions: int
    index_version: str
    knowledge_base_hash: str
    embedding_model: str
    prompt_version: str
    as_of: str
    options: dict[str, str | int | float | bool]
    versions: dict[str, str] = Field(default_factory=dict)

    def differences(self, other: "RunManifest") -> tuple[str, ...]:
        """The fields that differ and keep one run from going on as the other, each with both values."""
        return tuple(
            f"{name}: {getattr(self, name)!r} ≠ {getattr(other, name)!r}"
            for name in type(self).model_fields
            if name not in _FREE_FIELDS and getattr(self, name) != getattr(other, name)
        )


class RunFolder:
    """One run's folder; nothing is made until the run begins."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def of(cls, data_dir: Path, run_id: str) -> "RunFolder":
        """The folder of a run by its id.

        Raises:
            BadInput: the id is not one (letters, digits, `.`, `_`, `-`; at most 80).
        """
        if not RUN_ID.fullmatch(run_id):
            raise BadInput(f"{run_id!r} is no name for a run.", hint="Use letters, digits, `.`, `_` and `-`, at most 80.")
        return cls(data_dir / REPORTS / run_id)

    @property
    def exists(self) -> bool:
        """Whether the run has begun."""
        return (self.path / RUN_FILE).exists()

    @property
    def finished(self) -> bool:
        """Whether its report was written."""
        return (self.path / REPORT_FILE).exists()

    def manifest(self) -> RunManifest:
        """What the run measures.

        Raises:
            NotFound: there is no such run.
            StoreError: it cannot be read.
        """
        try:
            return RunManifest.model_validate_json((self.path / RUN_FILE).read_bytes())
        except FileNotFoundError as exc:
            raise NotFound(f"There is no run {self.path.name!r}.", hint=f"See the folders in {self.path.parent}.") from exc
        except (OSError, ValidationError) as exc:
            raise StoreError(f"Run {self.path.name!r} cannot be read: {exc}.", hint="Begin a new run.") from exc

    def begin(self, manifest: RunManifest, contexts: Sequence[FrozenContext]) -> None:
        """Makes the folder, or checks that what it holds is of the same run.

        Raises:
            BadInput: the run measures something else, or its contexts differ; each difference is named.
            StoreError: the folder cannot be written.
        """
        if self.exists:
            differing = self.manifest().differences(manifest)
            if differing:
                raise BadInput(
                    f"Run {self.path.name!r} cannot go on, because it measures something else: {'; '.join(differing)}.",
                    hint="Restore what differs, or begin a new run.",
                )
            self._check_contexts(contexts)
            return
        self.path.mkdir(parents=True, exist_ok=True)
        self.write(CONTEXTS_FILE, "".join(f"{line.model_dump_json()}\n" for line in contexts))
        self.write(RUN_FILE, manifest.model_dump_json(indent=2))

    def records(self) -> tuple[QuestionRecord, ...]:
        """What was answered, in order; a last line that a kill cut short is not there."""
        return tuple(self._lines(ANSWERS_FILE, QuestionRecord))

    def memory(self) -> dict[str, ModelMemory]:
        """What each model took, by its name; the newest measurement."""
        return {line.model: line for line in self._lines(MEMORY_FILE, ModelMemory)}

    def progress(self) -> dict[str, int]:
        """How many questions each model has answered so far, without reading the answers."""
        path = self.path / ANSWERS_FILE
        lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
        heads = (_RECORD_HEAD.match(line) for line in lines)
        return dict(Counter(str(json.loads(head[1])) for head in heads if head))

    def append(self, record: QuestionRecord) -> None:
        """Keeps a record; it is on disk when this returns."""
        self._append(ANSWERS_FILE, record)

    def append_memory(self, memory: ModelMemory) -> None:
        """Keeps what a model took."""
        self._append(MEMORY_FILE, memory)

    def write(self, name: str, text: str) -> Path:
        """Writes a whole file: the old one or the new one, never half of it.

        Raises:
            StoreError: it cannot be written.
        """
        target, aside = self.path / name, self.path / f".{name}.new"
        try:
            with aside.open("w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            aside.replace(target)
        except OSError as exc:
            raise StoreError(f"{str(target)!r} cannot be written: {exc.strerror}.", hint="Check the free space.") from exc
        return target

    def request_cancel(self) -> None:
        """Asks whoever runs it, now or when its turn comes, to stop after what it is doing; the run can go on later.

        The wish holds until `forget_cancel`, also when the run has not begun. Does nothing when the run is finished.

        Raises:
            StoreError: the wish cannot be written.
        """
        if self.finished:
            return
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            (self.path / CANCEL_FILE).touch()
        except OSError as exc:
            raise StoreError(f"{str(self.path)!r} cannot be written: {exc.strerror}.", hint="Check the free space.") from exc

    def forget_cancel(self) -> None:
        """Takes an older wish to stop back: for whoever requests the run, before anybody can wish that this one stops."""
        (self.path / CANCEL_FILE).unlink(missing_ok=True)

    @property
    def cancel_requested(self) -> bool:
        """Whether somebody asked for it to stop."""
        return (self.path / CANCEL_FILE).exists()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keeps every other process from writing into the run.

        Raises:
            BadInput: another process is at it.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        with (self.path / LOCK_FILE).open("w") as lock:
            if not _locks(lock):
                raise BadInput(f"Run {self.path.name!r} is being written by another process.", hint="Wait for it.")
            self._drop_torn_lines()
            yield

    @property
    def running(self) -> bool:
        """Whether a process is writing into it right now."""
        try:
            with (self.path / LOCK_FILE).open("r") as lock:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except BlockingIOError:
            return True
        return False

    def _check_contexts(self, contexts: Sequence[FrozenContext]) -> None:
        before = {line.question_id: line for line in self._lines(CONTEXTS_FILE, FrozenContext)}
        changed = [line.question_id for line in contexts if before.get(line.question_id) != line]
        if changed:
            raise BadInput(
                f"Run {self.path.name!r} cannot go on: retrieval now gives another context for {len(changed)} questions, "
                f"the first is {changed[0]!r}.",
                hint="The program or its settings have changed; begin a new run.",
            )

    def _append(self, name: str, line: BaseModel) -> None:
        path = self.path / name
        try:
            with path.open("ab") as file:
                file.write(line.model_dump_json().encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as exc:
            raise StoreError(f"{str(path)!r} cannot be written: {exc.strerror}.", hint="Check the free space.") from exc

    def _lines(self, name: str, kind: type[_Line]) -> Iterator[_Line]:
        path = self.path / name
        if not path.exists():
            return
        *lines, _ = path.read_bytes().split(b"\n")
        for number, line in enumerate(lines, start=1):
            try:
                yield kind.model_validate_json(line)
            except ValidationError as exc:
                raise StoreError(f"{path}:{number} is damaged: {exc.errors()[0]['msg']}.", hint="Begin a new run.") from exc

    def _drop_torn_lines(self) -> None:
        """Cuts what a kill left half-written at the end of a file, before anything is appended to it."""
        for name in (ANSWERS_FILE, MEMORY_FILE):
            path = self.path / name
            if path.exists():
                whole = path.read_bytes().rfind(b"\n") + 1
                if whole != path.stat().st_size:
                    os.truncate(path, whole)


def _locks(file: IO[str]) -> bool:
    """Takes the lock; whoever only looks whether it is taken holds it for a moment, hence several tries."""
    for _ in range(LOCK_TRIES):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(LOCK_PAUSE_SECONDS)
        else:
            return True
    return False


def list_runs(data_dir: Path) -> tuple[RunFolder, ...]:
    """The runs of a data folder, newest first."""
    folders = [RunFolder(path.parent) for path in (data_dir / REPORTS).glob(f"*/{RUN_FILE}")]
    return tuple(sorted(folders, key=lambda folder: folder.manifest().created_at, reverse=True))
