"""A run is stopped whenever somebody wishes it after it was requested: while it waits, starts, looks up or asks."""

import secrets
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from app.assembly import Assembly
from app.bakeoff_desk import BakeoffDesk, RunState
from app.evaluation_job import run_evaluation
from app.store.database import Database
from app.store.jobs import Jobs
from evaluation.bakeoff import RETRIEVAL_STAGE
from evaluation.runs import RunFolder
from pipelines.errors import BadInput, NotFound
from pipelines.index import Progress, silent
from pipelines.jobs import Job, run_job
from pipelines.process_identity import this_process
from tests.app.bakeoff.conftest import QUESTIONS
from tests.fake_ollama import FakeOllama
from tests.small_product import PERFECT, write_goldset


@pytest.fixture
def jobs(assembly: Assembly) -> Iterator[Jobs]:
    with closing(Database(assembly.settings.data_dir)) as database:
        yield Jobs(database)


@pytest.fixture
def desk(assembly: Assembly, jobs: Jobs) -> BakeoffDesk:
    (assembly.settings.data_dir / "goldsets").mkdir(exist_ok=True)
    write_goldset(assembly.settings.data_dir / "goldsets" / "small.yaml")
    return BakeoffDesk(assembly, assembly.votes, jobs, lambda: None)


@pytest.fixture
def run_id(desk: BakeoffDesk, monkeypatch: pytest.MonkeyPatch) -> str:
    """A run that waits; its name is not the moment's, because several tests fit into one second."""
    name = f"run-{secrets.token_hex(4)}"
    monkeypatch.setattr("app.bakeoff_desk.new_run_id", lambda data_dir, kind: name)
    return desk.start([PERFECT], ["small"], author="eva")


def state(desk: BakeoffDesk, run_id: str) -> tuple[bool, bool, bool, bool]:
    """(waiting, running, stopping, finished)."""
    run = shown(desk, run_id)
    return run.waiting, run.running, run.stopping, run.finished


def shown(desk: BakeoffDesk, run_id: str) -> RunState:
    (run,) = [run for run in desk.runs() if run.run_id == run_id]
    return run


ENDED_PROCESS = "4194303:1"
STOPPED = (False, False, False, False)


def claimed(jobs: Jobs, process: str = "") -> Job:
    waiting = jobs.next_queued()
    assert waiting is not None
    job = jobs.start(waiting.id, process or this_process())
    assert job is not None
    return job


def done(assembly: Assembly, jobs: Jobs, job: Job, watch: Progress = silent) -> Job:
    """The job run to its end in this process; `watch` sees its progress."""

    def work(job: Job, progress: Progress) -> dict[str, object]:
        return run_evaluation(assembly, job.arguments, watch)

    return run_job(job, jobs, work)


def goes_on(assembly: Assembly, desk: BakeoffDesk, jobs: Jobs, run_id: str, server: FakeOllama) -> None:
    """The stopped run is gone on with, asks every question once, and ends."""
    assert state(desk, run_id) == STOPPED
    assert jobs.next_queued() is None
    desk.resume(run_id, author="eva")
    assert state(desk, run_id) == (True, False, False, False)
    ended = done(assembly, jobs, claimed(jobs))
    assert ended.result is not None
    assert (ended.result["run"], ended.result["finished"]) == (run_id, True)
    assert state(desk, run_id) == (False, False, False, True)
    assert len(RunFolder.of(assembly.settings.data_dir, run_id).records()) == QUESTIONS
    assert len(server.chats) == QUESTIONS - 1, "one question is refused without a model"


def test_run_that_waits_is_stopped_at_once(
    assembly: Assembly, desk: BakeoffDesk, jobs: Jobs, run_id: str, server: FakeOllama
) -> None:
    assert state(desk, run_id) == (True, False, False, False)
    desk.cancel(run_id)
    (job,) = [job for job in jobs.list() if job.arguments.get("run") == run_id]
    assert (job.state, job.result) == ("COMPLETED", {"run": run_id, "finished": False})
    assert (shown(desk, run_id).models, shown(desk, run_id).goldsets) == ((PERFECT,), ("small",))
    goes_on(assembly, desk, jobs, run_id, server)


def test_run_that_starts_is_stopped_before_it_asks(
    assembly: Assembly, desk: BakeoffDesk, jobs: Jobs, run_id: str, server: FakeOllama
) -> None:
    job = claimed(jobs)
    assert state(desk, run_id) == (False, True, False, False)
    desk.cancel(run_id)
    assert state(desk, run_id) == (False, True, True, False)
    assert done(assembly, jobs, job).result == {"run": run_id, "finished": False}
    assert server.chats == []
    goes_on(assembly, desk, jobs, run_id, server)


def stop_at(desk: BakeoffDesk, run_id: str, stage: str, number: int) -> tuple[Progress, list[tuple[str, int]]]:
    """A progress that cancels at one point, and what was reported after that."""
    after: list[tuple[str, int]] = []

    def watch(at: str, done: int, total: int) -> None:
        if (at, done) == (stage, number):
            desk.cancel(run_id)
            assert state(desk, run_id)[2], "it is said that it stops"
        elif after or shown(desk, run_id).stopping:
            after.append((at, done))

    return watch, after


@pytest.mark.parametrize(("stage", "number", "asked"), [(RETRIEVAL_STAGE, 0, 0), (RETRIEVAL_STAGE, 3, 0), (PERFECT, 0, 0)])
def test_run_that_looks_contexts_up_or_begins_to_ask_is_stopped(
    assembly: Assembly,
    desk: BakeoffDesk,
    jobs: Jobs,
    run_id: str,
    server: FakeOllama,
    stage: str,
    number: int,
    asked: int,
) -> None:
    watch, after = stop_at(desk, run_id, stage, number)
    assert done(assembly, jobs, claimed(jobs), watch).result == {"run": run_id, "finished": False}
    assert (len(server.chats), after) == (asked, [])
    goes_on(assembly, desk, jobs, run_id, server)


def test_run_that_asks_is_stopped_after_what_it_is_doing(
    assembly: Assembly, desk: BakeoffDesk, jobs: Jobs, run_id: str, server: FakeOllama
) -> None:
    watch, after = stop_at(desk, run_id, PERFECT, 2)
    assert done(assembly, jobs, claimed(jobs), watch).result == {"run": run_id, "finished": False}
    assert after == []
    assert shown(desk, run_id).answered == {PERFECT: 2}
    goes_on(assembly, desk, jobs, run_id, server)


def test_wish_is_of_one_request(assembly: Assembly, desk: BakeoffDesk, jobs: Jobs, run_id: str, server: FakeOllama) -> None:
    for _ in range(2):
        desk.cancel(run_id)
        desk.resume(run_id, author="eva")
    desk.cancel(run_id)
    goes_on(assembly, desk, jobs, run_id, server)


def test_killed_job_does_not_leave_a_run_that_stops_for_ever(desk: BakeoffDesk, jobs: Jobs, run_id: str) -> None:
    claimed(jobs, process=ENDED_PROCESS)
    desk.cancel(run_id)
    assert state(desk, run_id) == STOPPED
    assert "ended without a result" in shown(desk, run_id).error
    desk.resume(run_id, author="eva")
    assert state(desk, run_id) == (True, False, False, False)
    desk.cancel(run_id)


@pytest.mark.parametrize(("name", "error"), [("never-requested", NotFound), ("../elsewhere", BadInput)])
@pytest.mark.parametrize("act", [BakeoffDesk.cancel, lambda desk, name: desk.resume(name, author="eva")])
def test_what_is_neither_run_nor_job_cannot_be_stopped_or_gone_on_with(
    assembly: Assembly, desk: BakeoffDesk, act: Callable[[BakeoffDesk, str], None], name: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        act(desk, name)
    assert not (assembly.settings.data_dir / "reports" / name).exists()
