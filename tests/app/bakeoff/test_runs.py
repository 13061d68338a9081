"""Runs that are stopped, killed, damaged or refused go on as the same run or not at all; what the command line says of them."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from app.assembly import Assembly
from app.bakeoff import RunRequest, run_bakeoff
from app.settings import PREFIX, ROOT, Settings
from evaluation.__main__ import app as command_line
from evaluation.model_report import BakeoffReport
from evaluation.runs import RunFolder
from pipelines.errors import BadInput, ModelUnavailable
from pipelines.index import silent
from tests.app.bakeoff.conftest import QUESTIONS, asked_questions, figures, wanted
from tests.fake_ollama import FakeOllama
from tests.fake_wire import FakeModel
from tests.small_product import ANSWERS, MODELS, PERFECT, SHY, SIMILAR, WRONG, perfect


def test_stopped_run_goes_on_without_asking_again(
    assembly: Assembly, goldset: Path, server: FakeOllama, measured: BakeoffReport
) -> None:
    folder = RunFolder.of(assembly.settings.data_dir, "stopped")

    def stop_in_the_middle(stage: str, done: int, total: int) -> None:
        if (stage, done) == (WRONG, 4):
            folder.request_cancel()

    _, stopped = run_bakeoff(assembly, wanted(goldset, "stopped"), stop_in_the_middle)
    assert stopped is None
    assert not folder.finished
    assert len(folder.records()) == QUESTIONS + 4
    _, report = run_bakeoff(assembly, RunRequest("bakeoff", MODELS, (goldset,), resume=True), silent)
    assert report is not None
    assert report.run_id == "stopped"
    assert set(asked_questions(server).values()) == {1}
    assert [figures(report, name) for name in MODELS] == [figures(measured, name) for name in MODELS]
    assert report.decision.ranking == measured.decision.ranking


def test_half_written_line_is_forgotten_and_asked_again(assembly: Assembly, goldset: Path, server: FakeOllama) -> None:
    request = wanted(goldset, "torn", (PERFECT,))
    folder, whole = run_bakeoff(assembly, request, silent)
    answers = folder.path / "answers.jsonl"
    data = answers.read_bytes()
    answers.write_bytes(data[: len(data) - 40])
    (folder.path / "report.json").unlink()
    server.requests.clear()
    _, again = run_bakeoff(assembly, request, silent)
    assert whole is not None
    assert again is not None
    assert figures(again, PERFECT) == figures(whole, PERFECT)
    assert list(asked_questions(server)) == [(PERFECT, SIMILAR)]


@pytest.mark.parametrize("change", ["models", "goldset", "digest", "settings"])
def test_run_goes_on_only_as_the_same_run(
    assembly: Assembly, settings: Settings, goldset: Path, server: FakeOllama, tmp_path: Path, change: str
) -> None:
    request = wanted(goldset, "same", (PERFECT,))
    folder = RunFolder.of(settings.data_dir, "same")
    if not folder.exists:
        run_bakeoff(assembly, request, silent)
    before = folder.records()
    named = {"models": "models", "goldset": "goldset_version", "digest": "models", "settings": "options"}[change]
    if change == "models":
        request = wanted(goldset, "same", (PERFECT, "extractive"))
    elif change == "goldset":
        other = tmp_path / "small.yaml"
        other.write_text(goldset.read_text(encoding="utf-8").replace("[pv-azt-01]", "[pv-azt-01, pv-sv-05]"), encoding="utf-8")
        request = wanted(other, "same", (PERFECT,))
    elif change == "digest":
        server.models = [FakeModel(PERFECT, perfect(), digest="ab" * 32)]
    running = settings.model_copy(update={"context_blocks": 3}) if change == "settings" else settings
    with Assembly(running, audited=False) as other_assembly, pytest.raises(BadInput, match=f"cannot go on.*{named}"):
        run_bakeoff(other_assembly, request, silent)
    assert folder.records() == before


def test_server_that_goes_away_stops_the_run_and_loses_nothing(assembly: Assembly, goldset: Path, server: FakeOllama) -> None:
    def down_in_the_middle(stage: str, done: int, total: int) -> None:
        if (stage, done) == (PERFECT, 3):
            server.down()

    with pytest.raises(ModelUnavailable, match="--run gone"):
        run_bakeoff(assembly, wanted(goldset, "gone", (PERFECT,)), down_in_the_middle)
    server.up()
    assert len(RunFolder.of(assembly.settings.data_dir, "gone").records()) == 3
    _, report = run_bakeoff(assembly, wanted(goldset, "gone", (PERFECT,)), silent)
    assert report is not None
    assert report.decision.winner == PERFECT
    assert set(asked_questions(server).values()) == {1}


def test_two_processes_do_not_write_one_run(assembly: Assembly, goldset: Path) -> None:
    folder = RunFolder.of(assembly.settings.data_dir, "locked")
    with folder.locked(), pytest.raises(BadInput, match="another process"):
        run_bakeoff(assembly, wanted(goldset, "locked", ("extractive",)), silent)


ANSWERS_FIELDS = {
    "draft_citation_precision",
    "citation_precision",
    "citation_recall",
    "expected_source",
    "refusal_correct",
    "false_refusals",
    "false_answers",
    "values_correct",
    "regenerated",
    "dropped_claims",
    "latency_ms",
    "first_claim_ms",
    "questions",
    "per_question",
    "goldset_version",
    "index_version",
}
"""What scripts rely on."""


def invoked(settings: Settings, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> Result:
    """The command line in this process, with these settings."""
    for name in ("kb_dir", "data_dir", "ollama_url", "embed_model"):
        monkeypatch.setenv(f"{PREFIX}{name.upper()}", str(getattr(settings, name)))
    return CliRunner().invoke(command_line, arguments)


def test_json_of_the_commands_is_the_contract(
    settings: Settings, goldset: Path, server: FakeOllama, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = invoked(settings, monkeypatch, "answers", "--goldset", str(goldset), "--model", "extractive", "--json")
    assert answers.exit_code == 0
    document = json.loads(answers.stdout)
    assert set(document) >= ANSWERS_FIELDS
    assert set(document["latency_ms"]) == {"mean", "p50", "p95"}
    assert set(document["rates"]["refusal_correct"]) == {"value", "n", "interval"}
    arguments = ("--goldset", str(goldset), "--models", f"{PERFECT},extractive", "--run", "json", "--json")
    RunFolder.of(settings.data_dir, "json").request_cancel()  # an older wish: whoever gives the command wants it to run
    document = json.loads(invoked(settings, monkeypatch, "bakeoff", *arguments).stdout)
    assert [set(model) >= {"name", "digest", *ANSWERS_FIELDS} for model in document["models"]] == [True, True]
    assert set(document["decision"]) >= {"winner", "ranking", "reason"}
    assert (RunFolder.of(settings.data_dir, "json").path / document["record"]).is_file()
    compared = json.loads(invoked(settings, monkeypatch, "compare", "json", "json", "--json").stdout)
    assert [model["better"] + model["worse"] for model in compared["models"]] == [[], []]


def test_table_names_memory_and_warns_above_the_budget(
    settings: Settings, goldset: Path, server: FakeOllama, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = invoked(settings, monkeypatch, "bakeoff", "--goldset", str(goldset), "--models", WRONG, "--run", "table")
    assert shown.exit_code == 0
    assert "30,0 GB" in shown.stdout
    assert f"Warning: {WRONG} takes more memory than PV_VRAM_BUDGET_GB (28 GB)." in shown.stderr


def test_bad_commands_end_with_two_and_missing_models_with_three(
    settings: Settings, goldset: Path, server: FakeOllama, monkeypatch: pytest.MonkeyPatch
) -> None:
    without = invoked(settings, monkeypatch, "bakeoff", "--goldset", str(goldset))
    assert (without.exit_code, f"candidates: {PERFECT}, {WRONG}, {SHY}, extractive" in without.stderr) == (2, True)
    missing = invoked(settings, monkeypatch, "bakeoff", "--goldset", str(goldset), "--models", "glm:cloud")
    assert missing.exit_code == 3
    assert invoked(settings, monkeypatch, "compare", "never", "ever").exit_code == 1


def command(settings: Settings, *arguments: str) -> subprocess.Popen[str]:
    kept = {name: value for name, value in os.environ.items() if not name.upper().startswith(PREFIX)}
    given = {
        "PV_KB_DIR": str(settings.kb_dir),
        "PV_DATA_DIR": str(settings.data_dir),
        "PV_OLLAMA_URL": settings.ollama_url,
        "PV_EMBED_MODEL": "embedded",
    }
    line = [sys.executable, "-m", "evaluation", *arguments]
    return subprocess.Popen(line, cwd=ROOT, env={**kept, **given}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.crash
def test_killed_run_goes_on_with_the_same_figures_and_asks_nothing_again(
    settings: Settings, goldset: Path, server: FakeOllama, measured: BakeoffReport
) -> None:
    arguments = ("bakeoff", "--goldset", str(goldset), "--models", ",".join(MODELS), "--run", "killed", "--json")
    folder = RunFolder.of(settings.data_dir, "killed")
    process = command(settings, *arguments)
    until = time.monotonic() + 240
    while len(folder.records() if folder.exists else ()) < QUESTIONS + 5:
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < until
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait(10)
    process.communicate()
    finished = {(record.model, record.question_id) for record in folder.records()}
    assert QUESTIONS + 5 <= len(finished) < QUESTIONS * 3
    questions = {f"q-small-{n}": question for n, question in enumerate(ANSWERS, start=1)} | {"q-small-8": SIMILAR}
    before = asked_questions(server)

    resumed = command(settings, *arguments)
    out, err = resumed.communicate(timeout=300)
    assert resumed.returncode == 0, err
    report = json.loads(out)
    assert report["decision"]["winner"] == PERFECT
    assert report["decision"]["ranking"] == list(measured.decision.ranking)
    again = asked_questions(server) - before
    assert [key for key in again if key in {(model, questions.get(name)) for model, name in finished}] == []
    read = BakeoffReport.model_validate(report)
    assert [figures(read, name) for name in MODELS] == [figures(measured, name) for name in MODELS]
    assert len(folder.records()) == QUESTIONS * len(MODELS)
