import json
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from app.cli.main import app
from app.store.database import Database
from app.store.jobs import Jobs
from pipelines.process_identity import this_process
from tests.app.test_ingest import Folder, entry


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    made = Folder(tmp_path / "kb")
    for number in range(1, 4):
        made.put(f"pv-a-{number:02d}", entry(f"pv-a-{number:02d}"))
    monkeypatch.setenv("PV_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("PV_KB_DIR", str(made.path))
    monkeypatch.setenv("PV_EMBED_MODEL", "embedded")
    return made


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def ingested(*arguments: str, code: int = 0) -> dict[str, object]:
    result = run("ingest", "--json", *arguments)
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def test_ingest_asks_for_an_evaluation_of_what_it_built(folder: Folder, tmp_path: Path) -> None:
    first = ingested("--evaluate")
    folder.put("pv-a-01", entry("pv-a-01", "560,00 €"))
    with closing(Database(tmp_path / "data")) as database:
        # While another evaluation runs, the one that is asked for waits instead of being started in a process of its own.
        Jobs(database).claim("evaluation", this_process(), requested_by="test")
        second = ingested("--evaluate")
        asked, _ = Jobs(database).list(kind="evaluation")
    assert second["index_version"] != first["index_version"], "the first version had nothing to be compared with"
    assert (asked.state, asked.reason) == ("QUEUED", f"index {second['index_version']} of job {second['job_id']}")


def test_ingest_prints_one_document_and_its_second_run_changes_nothing(folder: Folder) -> None:
    first = ingested()
    ids = ["pv-a-01", "pv-a-02", "pv-a-03"]
    assert (first["ok"], first["added"]) == (True, ids)
    assert [first[name] for name in ("changed", "removed", "unchanged", "rejected", "diverged", "faults")] == [[]] * 6
    second = ingested()
    assert (second["added"], second["unchanged"], second["index_version"]) == ([], ids, first["index_version"])
    assert second["job_id"] == int(str(first["job_id"])) + 1
    jobs = json.loads(run("jobs", "list", "--json").stdout)
    assert [(job["kind"], job["state"]) for job in jobs] == [("ingest", "COMPLETED")] * 2
    assert "completed" in run("jobs", "log", str(first["job_id"])).stdout


def test_a_rejected_file_ends_with_one_and_the_good_ones_are_served(folder: Folder) -> None:
    before = ingested()
    folder.put("pv-a-01", entry("pv-a-01", stand="2026-13"))
    folder.put("pv-a-02", entry("pv-a-02", "560,00 €"))
    report = ingested(code=1)
    assert (report["ok"], report["rejected"], report["changed"]) == (False, ["pv-a-01"], ["pv-a-02"])
    assert report["index_version"] != before["index_version"]
    (fault,) = report["faults"]
    assert (fault["file"], fault["line"], fault["fault"], fault["severity"], fault["field"], fault["value"]) == (
        "pv-a-01.md", 4, "bad_stand", "error", "stand", "2026-13",
    )  # fmt: skip


def test_a_folder_that_cannot_be_taken_over_ends_with_one_and_a_failed_job(folder: Folder, tmp_path: Path) -> None:
    report = ingested("--kb", str(tmp_path / "nowhere"), code=1)
    assert (report["ok"], report["faults"][0]["fault"], report["index_version"]) == (False, "folder_refused", None)
    (job,) = json.loads(run("jobs", "list", "--json").stdout)
    assert (job["state"], "nowhere" in job["error"]) == ("FAILED", True)


def test_both_decisions_at_once_are_bad_input(folder: Folder) -> None:
    assert run("ingest", "--take-folder", "--keep-catalogue").exit_code == 2


def test_a_version_is_activated_served_and_the_index_goes_back(folder: Folder) -> None:
    ingested()
    folder.put("pv-a-01", entry("pv-a-01", "560,00 €"))
    ingested()
    assert "560,00 €" in run("docs", "show", "pv-a-01").stdout
    diff = run("versions", "diff", "pv-a-01", "1", "2").stdout
    assert "«551,10 €»" in diff
    assert "«560,00 €»" in diff
    assert run("versions", "activate", "pv-a-01", "1").exit_code == 0
    assert [version["active"] for version in json.loads(run("versions", "list", "pv-a-01", "--json").stdout)] == [False, True]
    shown = json.loads(run("index", "show", "--json").stdout)
    assert run("index", "rollback").exit_code == 0
    assert json.loads(run("index", "show", "--json").stdout)["current"] == shown["previous"]
    assert ingested()["diverged"] == ["pv-a-01"]


def test_a_document_is_added_and_taken_out(folder: Folder, tmp_path: Path) -> None:
    ingested()
    file = tmp_path / "pv-b-01.md"
    file.write_text(entry("pv-b-01"), encoding="utf-8")
    assert run("docs", "add", str(file), "--author", "Editor").stdout == "pv-b-01 version 1\n"
    assert json.loads(run("index", "show", "--json").stdout)["current"]["entries"] == 4
    assert run("docs", "remove", "pv-b-01").exit_code == 0
    assert json.loads(run("index", "show", "--json").stdout)["current"]["entries"] == 3
    assert run("docs", "remove", "pv-b-01").exit_code == 2
    assert run("docs", "show", "pv-x-01").exit_code == 1


def test_registry_and_check_of_a_folder(folder: Folder) -> None:
    assert run("docs", "registry", str(folder.path)).exit_code == 0
    assert json.loads((folder.path / "kb.json").read_text(encoding="utf-8"))["count"] == 3
    folder.put("pv-a-01", entry("pv-a-01", stand="2026-13"))
    result = run("docs", "check", str(folder.path), "--json")
    assert (result.exit_code, json.loads(result.stdout)["rejected"]) == (1, ["pv-a-01"])


def test_a_queued_job_is_run_by_its_number(folder: Folder) -> None:
    ingested()
    assert run("jobs", "run", "1").exit_code == 1
    assert run("jobs", "show", "9").exit_code == 1
