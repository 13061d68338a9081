from contextlib import closing
from pathlib import Path

from app.job_starter import JobStarter
from app.job_work import ingest_arguments, job_log
from app.settings import Settings
from app.store.database import Database
from app.store.jobs import Jobs
from pipelines.index import read_current_meta
from tests.app.test_ingest import Folder, entry


def test_a_requested_job_runs_in_its_own_process_with_its_log(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "kb")
    folder.put("pv-a-01", entry("pv-a-01"))
    settings = Settings(data_dir=tmp_path / "data", kb_dir=folder.path, embed_model="embedded")
    with closing(Database(settings.data_dir)) as database:
        jobs = Jobs(database)
        starter = JobStarter(settings, jobs)
        arguments = ingest_arguments(folder.path, full=False, decision="report", allow_removals=False)
        requested = starter.request("ingest", requested_by="editor", reason="Probe", arguments=arguments)
        assert requested.state == "QUEUED"
        starter.wait(120)
        done = jobs.get(requested.id)
    assert (done.state, done.error) == ("COMPLETED", None)
    assert done.pid is not None
    meta = read_current_meta(settings.data_dir)
    assert meta is not None
    assert (done.result or {})["index_version"] == meta.index_version
    assert "completed" in job_log(settings.data_dir, done.id).read_text(encoding="utf-8")
