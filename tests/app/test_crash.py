"""Processes are killed and disks are full at any moment; what is served stays whole, and the next run works."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest

from app.assembly import Assembly
from app.indexing import Indexer
from app.job_work import JobWork, ingest_arguments, run_logged
from app.settings import ROOT, Settings
from app.store.database import Database
from app.store.documents import Catalogue, Change
from app.store.jobs import Jobs
from app.store.tags import Tags
from app.tagging import TagIndexer
from pipelines.embeddings import EmbeddedEncoder
from pipelines.errors import IndexFault, PvAgentError, StoreError
from pipelines.index import IndexLayout, IndexMeta, OpenIndex, open_index, read_current_meta
from pipelines.index_channels import Channels, fingerprint_of, open_channels
from pipelines.intake import read_question
from pipelines.ollama_client import OllamaGateway
from pipelines.process_identity import this_process
from tests.app.test_ingest import Folder, entry

pytestmark = pytest.mark.crash

IDS = tuple(f"pv-a-{number:02d}" for number in range(1, 9))
VALUES = ("551,10 €", "560,00 €")
KILLS = 30


def settings_for(root: Path) -> Settings:
    return Settings(kb_dir=root / "kb", data_dir=root / "data", embed_model="embedded", llm_model="extractive")


def write(root: Path, value: str) -> None:
    for entry_id in IDS:
        (root / "kb" / "dokumente" / f"{entry_id}.md").write_text(entry(entry_id, value), encoding="utf-8")


def ingest(root: Path) -> str:
    """One whole run as the command line does it; returns the served version."""
    settings = settings_for(root)
    with (
        closing(Database(settings.data_dir)) as database,
        closing(OllamaGateway(settings.ollama_url, timeout_seconds=1)) as ollama,
    ):
        jobs = Jobs(database)
        work = JobWork(
            settings,
            Indexer(settings, database, ollama),
            TagIndexer(settings, Tags(database), ollama),
            lambda job, progress: {},
        )
        arguments = ingest_arguments(settings.kb_dir, full=False, decision="report", allow_removals=False)
        job = jobs.claim("ingest", this_process(), requested_by="test", arguments=arguments)
        run_logged(job, settings, jobs, work)
        meta = read_current_meta(settings.data_dir)
        assert meta is not None
        return meta.index_version


def rebuild_for_ever(root: Path, first: int) -> None:
    for turn in range(first, first + 10_000):
        write(root, VALUES[turn % 2])
        ingest(root)


def serve() -> None:
    """Forks a child that rebuilds for ever, for every line on stdin; imports are paid once."""
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            try:
                first, _, root = line.strip().partition(" ")
                rebuild_for_ever(Path(root), int(first))
            finally:
                os._exit(1)
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()
        os.waitpid(pid, 0)
        sys.stdout.write("ended\n")
        sys.stdout.flush()


def opened(root: Path) -> OpenIndex[Channels]:
    return open_index(root / "data", fingerprint_of(EmbeddedEncoder()), open_channels)


def served_value(index: OpenIndex[Channels]) -> str:
    """The one value that all sections, and the channels' words, speak of; fails on a mixed state."""
    texts = [node.text for node in index.nodes]
    values = {value for value in VALUES for text in texts if value in text}
    assert len(texts) == len(IDS)
    assert len(values) == 1
    assert index.meta.entries == len(IDS)
    assert index.channels.lexical.rows == index.channels.dense.rows == index.channels.typo.rows == len(IDS)
    (value,) = values
    number = value.split(" ")[0]
    assert (index.channels.lexical.scores(index.channels.analyzer.query_tokens(number)) > 0).all()
    return value


@pytest.fixture
def root(tmp_path: Path) -> Path:
    Folder(tmp_path / "kb")
    for value in VALUES:
        write(tmp_path, value)
        ingest(tmp_path)
    return tmp_path


@pytest.fixture
def builder() -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", "from tests.app.test_crash import serve; serve()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        yield process
        process.kill()


class Readers:
    """Threads that ask one service all the time; `answered` has (index version, the value or values in the answer)."""

    QUESTION = "Wie hoch ist die Grenze pv-a-01?"
    THREADS = 2

    def __init__(self, settings: Settings) -> None:
        self.answered: list[tuple[str, str]] = []
        self.faults: list[str] = []
        self._settings = settings
        self._stopped = Event()

    def __enter__(self) -> "Readers":
        self._assembly = Assembly(self._settings, audited=False)
        self._threads = [Thread(target=self._ask_on) for _ in range(self.THREADS)]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        for thread in self._threads:
            thread.join()
        self._assembly.close()

    def _ask_on(self) -> None:
        while not self._stopped.is_set():
            try:
                outcome = self._assembly.service.ask(read_question(self.QUESTION))
            except PvAgentError as exc:
                self.faults.append(repr(exc))
                continue
            answer = outcome.answer.replace("\N{NO-BREAK SPACE}", " ")
            found = [value for value in VALUES if value in answer]
            self.answered.append((outcome.index.version, " und ".join(found) or answer))
            self._stopped.wait(0.05)

    @property
    def asked(self) -> int:
        return len(self.answered)


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


@contextmanager
def building(builder: subprocess.Popen[str], root: Path, first: int) -> Iterator[None]:
    """A process that rebuilds for ever, beginning with the value of this number; killed at the end."""
    assert builder.stdin is not None
    builder.stdin.write(f"{first} {root}\n")
    builder.stdin.flush()
    pid = int(line_of(builder))
    try:
        yield
    finally:
        os.kill(pid, signal.SIGKILL)
        assert line_of(builder) == "ended"


def test_killed_at_random_moments_every_question_is_answered_from_one_version(root: Path, builder: subprocess.Popen[str]) -> None:
    chance = random.Random(20260301)
    with Readers(settings_for(root)) as readers:
        write(root, VALUES[0])
        began_seconds = time.monotonic()
        ingest(root)
        run_seconds = time.monotonic() - began_seconds  # measured under load, so that kills fall into runs on any host
        for number in range(KILLS):
            before = readers.asked
            with building(builder, root, number):
                time.sleep(chance.uniform(0.05, 1.5) * run_seconds)
            with opened(root) as index:
                assert served_value(index) in VALUES
            wait_until(lambda asked=before: readers.asked > asked)
        with building(builder, root, 0):  # without a kill both values come to be served, however slow the host
            before = readers.asked
            wait_until(lambda: {value for _, value in readers.answered[before:]} >= set(VALUES))
    assert readers.faults == []
    by_version: dict[str, set[str]] = {}
    for version, value in readers.answered:
        by_version.setdefault(version, set()).add(value)
    assert {len(values) for values in by_version.values()} == {1}
    assert set.union(*by_version.values()) == set(VALUES), "each answer has one value of the two, never both and never none"
    with closing(Database(root / "data")) as database:
        ended = Jobs(database).list(limit=10_000)
    assert {job.state for job in ended} == {"COMPLETED", "FAILED"}
    killed = [job for job in ended if job.state == "FAILED"]
    assert len(killed) >= KILLS // 2, "the kills fell into running jobs"
    assert all("process that ran it ended" in (job.error or "") for job in killed)
    (root / "kb" / "dokumente" / "pv-a-01.md").write_text(entry("pv-a-01", VALUES[0]) + "\nNeu.\n", encoding="utf-8")
    for entry_id in IDS[1:]:
        (root / "kb" / "dokumente" / f"{entry_id}.md").write_text(entry(entry_id, VALUES[0]), encoding="utf-8")
    version = ingest(root)
    folders = {path.name for path in (root / "data" / "index").iterdir() if path.is_dir()}
    assert folders == {version, IndexLayout(root / "data").previous()}
    with opened(root) as index:
        assert served_value(index) == VALUES[0]


def wait_until(reached: Callable[[], bool], *, seconds: float = 120) -> None:
    until = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < until
        time.sleep(0.02)


def needs_root() -> None:
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("mounting needs root")


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    needs_root()
    place = tmp_path / "disk"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "none", str(place)], check=False).returncode:
        pytest.skip("mounting is not allowed here")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def served(root: Path) -> IndexMeta | None:
    return read_current_meta(root / "data")


@pytest.mark.parametrize("left_kib", [0, 8, 64, 256])
def test_a_full_disk_is_a_clear_error_and_nothing_is_lost(tiny_disk: Path, left_kib: int) -> None:
    Folder(tiny_disk / "kb")
    write(tiny_disk, VALUES[0])
    ingest(tiny_disk)
    before = served(tiny_disk)
    write(tiny_disk, VALUES[1])
    filler = tiny_disk / "filler"
    free = shutil.disk_usage(tiny_disk).free
    filler.write_bytes(b"\0" * max(free - left_kib * 1024, 0))
    with pytest.raises((IndexFault, StoreError)) as error:
        ingest(tiny_disk)
    assert str(error.value).endswith(("processes.", "PV_DATA_DIR.", "file.", "free space."))
    assert served(tiny_disk) == before
    filler.unlink()
    with opened(tiny_disk) as index:
        assert served_value(index) == VALUES[0]
    ingest(tiny_disk)
    with opened(tiny_disk) as index:
        assert served_value(index) == VALUES[1]


def test_a_read_only_folder_is_a_clear_error(tiny_disk: Path) -> None:
    Folder(tiny_disk / "kb")
    write(tiny_disk, VALUES[0])
    ingest(tiny_disk)
    write(tiny_disk, VALUES[1])
    subprocess.run(["mount", "-o", "remount,ro", str(tiny_disk)], check=True)
    with pytest.raises(PvAgentError, match="PV_DATA_DIR"):
        ingest(tiny_disk)
    subprocess.run(["mount", "-o", "remount,rw", str(tiny_disk)], check=True)
    with opened(tiny_disk) as index:
        assert served_value(index) == VALUES[0]


def test_the_catalogue_without_its_build_is_served_by_the_next_run(root: Path) -> None:
    settings = settings_for(root)
    with (
        closing(Database(settings.data_dir)) as database,
        closing(OllamaGateway(settings.ollama_url, timeout_seconds=1)) as ollama,
    ):
        Catalogue(database).remove("pv-a-01", Change("editor"))
        indexer = Indexer(settings, database, ollama)
        assert not indexer.is_current()
        indexer.rebuild(full=False, progress=lambda stage, done, total: None)
        assert indexer.is_current()
    with opened(root) as index:
        assert "pv-a-01" not in index.entries
