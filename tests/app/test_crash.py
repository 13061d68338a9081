"""Processes are killed and disks are full at any moment; what is served stays whole, and the next run works."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

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
from pipelines.ollama_client import OllamaGateway
from pipelines.process_identity import this_process
from tests.app.test_ingest import Folder, entry

pytestmark = pytest.mark.crash

IDS = tuple(f"pv-a-{number:02d}" for number in range(1, 9))
VALUES = ("551,10 €", "560,00 €")
KILLS = 30


def settings_for(root: Path) -> Settings:
    return Settings(kb_dir=root / "kb", data_dir=root / "data", embed_model="embedded")


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


def rebuild_for_ever(root: Path) -> None:
    for turn in range(10_000):
        write(root, VALUES[turn % 2])
        ingest(root)


def serve() -> None:
    """Forks a child that rebuilds for ever, for every line on stdin; imports are paid once."""
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            try:
                rebuild_for_ever(Path(line.strip()))
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


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_killed_at_random_moments_the_served_version_stays_whole(root: Path, builder: subprocess.Popen[str]) -> None:
    chance = random.Random(20260301)
    assert builder.stdin is not None
    seen: set[str] = set()
    write(root, VALUES[0])
    began_seconds = time.monotonic()
    ingest(root)
    run_seconds = time.monotonic() - began_seconds
    for _ in range(KILLS):
        builder.stdin.write(f"{root}\n")
        builder.stdin.flush()
        pid = int(line_of(builder))
        end_seconds = time.monotonic() + chance.uniform(0.05, 2.5) * run_seconds
        while time.monotonic() < end_seconds:
            with opened(root) as index:
                seen.add(served_value(index))
            time.sleep(run_seconds / 10)
        os.kill(pid, signal.SIGKILL)
        assert line_of(builder) == "ended"
        with opened(root) as index:
            seen.add(served_value(index))
    with closing(Database(root / "data")) as database:
        ended = Jobs(database).list(limit=1000)
    assert {job.state for job in ended} == {"COMPLETED", "FAILED"}
    assert all(job.error for job in ended if job.state == "FAILED")
    assert seen == set(VALUES)
    write(root, VALUES[0])
    (root / "kb" / "dokumente" / "pv-a-01.md").write_text(entry("pv-a-01", VALUES[0]) + "\nNeu.\n", encoding="utf-8")
    version = ingest(root)
    folders = {path.name for path in (root / "data" / "index").iterdir() if path.is_dir()}
    assert folders == {version, IndexLayout(root / "data").previous()}
    with opened(root) as index:
        assert served_value(index) == VALUES[0]


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
