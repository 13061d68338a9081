import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from app.store.database import Database
from app.store.jobs import Jobs
from pipelines.errors import IndexBusy, IndexFault, NotFound
from pipelines.index import Progress
from pipelines.jobs import Job, JobProgress, run_job
from pipelines.process_identity import is_running, process_name, this_process


@pytest.fixture
def jobs(tmp_path: Path) -> Iterator[Jobs]:
    database = Database(tmp_path)
    yield Jobs(database)
    database.close()


def backdate(jobs: Jobs, job_id: int, column: str, minutes: float) -> None:
    moment = datetime.now(UTC) - timedelta(minutes=minutes)
    microseconds = int(moment.timestamp() * 1_000_000)
    with jobs.database.write() as session:
        session.execute(text(f"UPDATE jobs SET {column} = :at WHERE id = :id"), {"at": microseconds, "id": job_id})


def test_a_job_passes_its_states_and_keeps_what_it_was_for(jobs: Jobs) -> None:
    queued = jobs.request("ingest", requested_by="editor", reason="Werte 2027", arguments={"folder": "kb"})
    assert (queued.state, queued.requested_by, queued.reason, queued.arguments) == (
        "QUEUED", "editor", "Werte 2027", {"folder": "kb"},
    )  # fmt: skip
    running = jobs.start(queued.id, this_process())
    assert running is not None
    assert (running.state, running.pid) == ("RUNNING", int(this_process().split(":")[0]))
    jobs.report(queued.id, JobProgress(stage="embed", done=3, total=9))
    assert jobs.get(queued.id).progress == JobProgress(stage="embed", done=3, total=9)
    done = jobs.finish(queued.id, result={"index_version": "v"})
    assert (done.state, done.result, done.error) == ("COMPLETED", {"index_version": "v"}, None)
    assert jobs.list() == (done,)


def test_requests_for_the_same_coalesce_into_one_that_follows_the_running_one(jobs: Jobs) -> None:
    first = jobs.claim("rebuild", this_process(), requested_by="a")
    second = jobs.request("rebuild", requested_by="b", reason="x", arguments={"full": False})
    third = jobs.request("rebuild", requested_by="c", reason="y", arguments={"full": True})
    assert (third.id, third.reason, third.arguments) == (second.id, "x; y", {"full": True})
    assert jobs.next_queued() is None
    jobs.finish(first.id, result={})
    following = jobs.next_queued()
    assert following is not None
    assert following.id == second.id


def test_an_ingest_does_the_work_of_a_rebuild_that_waits_and_the_other_way_round(jobs: Jobs) -> None:
    folder = {"folder": "kb", "decision": "report"}
    waiting = jobs.request("rebuild", requested_by="anna", reason="pv-a-01 version 2", arguments={"full": True})
    ingest = jobs.request("ingest", requested_by="bert", arguments=folder)
    again = jobs.request("rebuild", requested_by="anna", reason="pv-a-02 version 3")
    assert waiting.id == ingest.id == again.id
    assert (again.kind, again.requested_by, again.reason) == ("ingest", "anna; bert", "pv-a-01 version 2; pv-a-02 version 3")
    assert again.arguments == {**folder, "full": True}
    other = jobs.request("ingest", requested_by="bert", arguments={**folder, "decision": "take_folder"})
    assert other.id != ingest.id
    assert jobs.request("tags", requested_by="anna").id not in (other.id, ingest.id)


def test_at_most_one_job_writes_the_index(jobs: Jobs) -> None:
    running = jobs.claim("ingest", this_process(), requested_by="a")
    waiting = jobs.request("rebuild", requested_by="b")
    assert jobs.start(waiting.id, this_process()) is None
    with pytest.raises(IndexBusy, match=f"Job {running.id} "):
        jobs.claim("rebuild", this_process(), requested_by="c")
    evaluation = jobs.request("evaluation", requested_by="d")
    assert jobs.start(evaluation.id, this_process()) is not None


def test_a_job_is_started_once(jobs: Jobs) -> None:
    job = jobs.request("ingest", requested_by="a")
    assert jobs.start(job.id, this_process()) is not None
    assert jobs.start(job.id, this_process()) is None


def test_a_job_whose_process_is_gone_becomes_failed_and_blocks_nothing(jobs: Jobs) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        name = process_name(process.pid)
        assert name is not None
        dead = jobs.claim("ingest", name, requested_by="a")
        assert jobs.get(dead.id).state == "RUNNING"
        process.kill()
    found = jobs.get(dead.id)
    assert found.state == "FAILED"
    assert "process" in (found.error or "")
    assert jobs.claim("ingest", this_process(), requested_by="b").state == "RUNNING"


def test_another_process_of_the_same_number_is_not_taken_for_it() -> None:
    pid, start, boot = this_process().split(":")
    assert is_running(f"{pid}:{start}:{boot}")
    assert not is_running(f"{pid}:{int(start) - 1}:{boot}")
    assert not is_running(f"{pid}:{start}:other-boot")
    assert not is_running("")


def test_a_job_that_nobody_starts_becomes_failed_after_five_minutes(jobs: Jobs) -> None:
    job = jobs.request("ingest", requested_by="a")
    backdate(jobs, job.id, "created_at", 4.9)
    assert jobs.get(job.id).state == "QUEUED"
    backdate(jobs, job.id, "created_at", 5.1)
    assert jobs.get(job.id).state == "FAILED"
    assert jobs.request("ingest", requested_by="a").id != job.id


def test_a_job_that_waited_behind_a_long_one_has_time_to_start(jobs: Jobs) -> None:
    long = jobs.claim("ingest", this_process(), requested_by="a")
    waiting = jobs.request("ingest", requested_by="b")
    backdate(jobs, waiting.id, "created_at", 30)
    assert jobs.get(waiting.id).state == "QUEUED"
    jobs.finish(long.id, result={})
    assert jobs.get(waiting.id).state == "QUEUED"
    backdate(jobs, long.id, "finished_at", 6)
    assert jobs.get(waiting.id).state == "FAILED"


def test_a_clock_that_went_back_fails_no_job(jobs: Jobs) -> None:
    job = jobs.request("ingest", requested_by="a")
    backdate(jobs, job.id, "created_at", -600)
    assert jobs.get(job.id).state == "QUEUED"
    assert jobs.start(job.id, this_process()) is not None


def test_jobs_survive_a_restart(tmp_path: Path) -> None:
    first = Database(tmp_path)
    job = Jobs(first).request("ingest", requested_by="a")
    first.close()
    second = Database(tmp_path)
    assert Jobs(second).get(job.id) == job
    second.close()


def test_an_unknown_job_is_named(jobs: Jobs) -> None:
    with pytest.raises(NotFound, match="no job 7"):
        jobs.get(7)


def test_work_ends_completed_with_its_result(jobs: Jobs) -> None:
    def work(job: Job, progress: Progress) -> dict[str, object]:
        progress("embed", 1, 2)
        return {"answer": 42}

    job = jobs.claim("ingest", this_process(), requested_by="a")
    done = run_job(job, jobs, work)
    assert (done.state, done.result, done.progress.stage) == ("COMPLETED", {"answer": 42}, "embed")


@pytest.mark.parametrize("error", [IndexFault("no space"), ValueError("defect"), KeyboardInterrupt()])
def test_work_that_raises_ends_failed_with_a_reason_and_the_error_goes_on(jobs: Jobs, error: BaseException) -> None:
    def work(job: Job, progress: Progress) -> dict[str, object]:
        raise error

    job = jobs.claim("ingest", this_process(), requested_by="a")
    with pytest.raises(type(error)):
        run_job(job, jobs, work)
    assert jobs.get(job.id).state == "FAILED"
    assert jobs.get(job.id).error == (str(error) or "KeyboardInterrupt")
