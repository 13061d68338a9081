import time
from contextlib import closing
from pathlib import Path

import pytest

from app.job_starter import JobStarter
from app.job_work import ingest_arguments, job_log
from app.settings import Settings
from app.store.database import Database
from app.store.jobs import Jobs
from pipelines.index import read_current_meta
from pipelines.jobs import Job
from tests.app.test_ingest import Folder, entry


def ended(jobs: Jobs, job_id: int) -> Job:
    limit_seconds = time.monotonic() + 120
    while (job := jobs.get(job_id)).state in ("QUEUED", "RUNNING"):
        assert time.monotonic() < limit_seconds
        time.sleep(0.1)
    return job


@pytest.mark.load
def test_a_requested_job_runs_in_its_own_process_with_its_log(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "kb")
    folder.put("pv-a-01", entry("pv-a-01"))
    settings = Settings(data_dir=tmp_path / "data", kb_dir=folder.path, embed_model="embedded")
    with closing(Database(settings.data_dir)) as database:
        jobs = Jobs(database)
        starter = JobStarter(settings, jobs)
        arguments = ingest_arguments(folder.path, full=False, decision="report", allow_removals=False)
        starter.start_next()
        requested = jobs.request("ingest", requested_by="editor", reason="Probe", arguments=arguments)
        assert requested.state == "QUEUED"
        starter.start_next()
        done = ended(jobs, requested.id)
    assert (done.state, done.error) == ("COMPLETED", None)
    assert done.pid is not None
    meta = read_current_meta(settings.data_dir)
    assert meta is not None
    assert (done.result or {})["index_version"] == meta.index_version
    assert "completed" in job_log(settings.data_dir, done.id).read_text(encoding="utf-8")
