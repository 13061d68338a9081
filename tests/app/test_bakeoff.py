"""A bake-off of three models of known behaviour and the Zitatmodus: exactly the known figures, and the right decision."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from app.assembly import Assembly
from app.bakeoff import RunRequest, candidates, read_report, run_bakeoff
from app.settings import PREFIX, ROOT, Settings
from evaluation.__main__ import app as command_line
from evaluation.comparison import compare_runs
from evaluation.model_report import BakeoffReport
from evaluation.runs import RunFolder
from pipelines.errors import BadInput, ModelUnavailable, NotFound
from pipelines.index import silent
from tests import fake_models as fake
from tests.fake_ollama import FakeOllama, Recorded
from tests.fake_wire import ChatCall, FakeModel
from tests.small_product import (
    ANSWERS,
    MODELS,
    PERFECT,
    SHY,
    SIMILAR,
    WRONG,
    perfect,
    small_models,
    small_settings,
    write_goldset,
)

QUESTIONS = 8


@pytest.fixture(scope="module")
def server() -> Iterator[FakeOllama]:
    with FakeOllama(small_models()) as started:
        yield started


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory, server: FakeOllama) -> Settings:
    return small_settings(tmp_path_factory.mktemp("bakeoff"), server.url)


@pytest.fixture(scope="module")
def goldset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_goldset(tmp_path_factory.mktemp("goldset") / "small.yaml")


@pytest.fixture(scope="module")
def assembly(settings: Settings) -> Iterator[Assembly]:
    with Assembly(settings, audited=False) as made:
        yield made


@pytest.fixture(autouse=True)
def fresh(server: FakeOllama) -> None:
    server.models = small_models()
    server.loaded.clear()
    server.requests.clear()


def wanted(goldset: Path, run_id: str, models: tuple[str, ...] = MODELS) -> RunRequest:
    return RunRequest("bakeoff", models, (goldset,), run_id)


@dataclass(frozen=True)
class Whole:
    """A whole run, and what the server was asked for it."""

    report: BakeoffReport
    requests: tuple[Recorded, ...]
    chats: tuple[ChatCall, ...]
    loaded_at_the_end: tuple[str, ...]


@pytest.fixture(scope="module")
def whole(assembly: Assembly, goldset: Path, server: FakeOllama) -> Whole:
    server.models = small_models()
    server.requests.clear()
    _, report = run_bakeoff(assembly, wanted(goldset, "whole"), silent)
    assert report is not None
    return Whole(report, tuple(server.of("/api/chat")), tuple(server.chats), tuple(server.loaded))


@pytest.fixture(scope="module")
def measured(whole: Whole) -> BakeoffReport:
    return whole.report


def asked_questions(server: FakeOllama) -> Counter[tuple[str, str]]:
    """How often each question was asked of each model, second drafts left out."""
    return Counter((chat.model, chat.question) for chat in server.chats if not chat.second_draft)


def figures(report: BakeoffReport, name: str) -> dict[str, object]:
    model = report.model(name)
    assert model is not None
    names = ("draft_citation_precision", "citation_precision", "citation_recall", "expected_source", "refusal_correct")
    more = ("false_refusals", "false_answers", "values_correct", "regenerated", "dropped_claims", "unavailable")
    return {figure: getattr(model, figure) for figure in (*names, *more)}


def test_figures_are_the_known_ones(measured: BakeoffReport) -> None:
    # Perfect: six questions with one claim each, all right; both others refused.
    assert figures(measured, PERFECT) == {
        "draft_citation_precision": 6 / 6,
        "citation_precision": 1.0,
        "citation_recall": 1.0,
        "expected_source": 6 / 6,
        "refusal_correct": 8 / 8,
        "false_refusals": 0.0,
        "false_answers": 0.0,
        "values_correct": 6 / 6,
        "regenerated": 0,
        "dropped_claims": 0,
        "unavailable": 0,
    }
    # Wrong: three of six first claims have an invented source; the first question fails again and is refused.
    assert figures(measured, WRONG) == {
        "draft_citation_precision": 3 / 6,
        "citation_precision": 1.0,
        "citation_recall": 5 / 6,
        "expected_source": 5 / 6,
        "refusal_correct": 7 / 8,
        "false_refusals": 1 / 6,
        "false_answers": 0.0,
        "values_correct": 5 / 6,
        "regenerated": 3,
        "dropped_claims": 1,
        "unavailable": 0,
    }
    # Shy: silent on three of six, so three claims, all right.
    assert figures(measured, SHY) == {
        "draft_citation_precision": 3 / 3,
        "citation_precision": 1.0,
        "citation_recall": 3 / 6,
        "expected_source": 3 / 6,
        "refusal_correct": 5 / 8,
        "false_refusals": 3 / 6,
        "false_answers": 0.0,
        "values_correct": 3 / 6,
        "regenerated": 0,
        "dropped_claims": 0,
        "unavailable": 0,
    }
    # Zitatmodus: what it quotes is right, but it also answers the question that nothing answers.
    assert figures(measured, "extractive") == {
        "draft_citation_precision": 1.0,
        "citation_precision": 1.0,
        "citation_recall": 1.0,
        "expected_source": 6 / 6,
        "refusal_correct": 7 / 8,
        "false_refusals": 0.0,
        "false_answers": 1 / 2,
        "values_correct": 6 / 6,
        "regenerated": 0,
        "dropped_claims": 0,
        "unavailable": 0,
    }


def test_decision_follows_the_protocol(measured: BakeoffReport) -> None:
    decision = measured.decision
    assert decision.winner == PERFECT
    assert decision.ranking == (PERFECT, "extractive", SHY, WRONG)
    assert [place.decided_by for place in decision.places] == [
        "refusal_correct",
        "refusal_correct",
        "draft_citation_precision",
        None,
    ]
    assert decision.runner_up == "extractive", "of the two that cite as precisely, it is the faster one"
    against_wrong = next(one for one in decision.versus if one.model == WRONG)
    assert (against_wrong.draft_citation_precision.a_better, against_wrong.draft_citation_precision.b_better) == (3, 0)
    assert against_wrong.draft_citation_precision.p_value == pytest.approx(0.25)
    assert not against_wrong.equal_citation_precision, "three of six is not equal, though the test cannot prove it"


def test_models_are_loaded_one_after_another_and_unloaded(whole: Whole) -> None:
    requests = [(one.body["model"], bool(one.body["messages"])) for one in whole.requests]
    models = list(dict.fromkeys(model for model, _ in requests))
    assert models == [PERFECT, WRONG, SHY]
    for model in models:
        of_model = [asks for name, asks in requests if name == model]
        assert of_model == [True] * (len(of_model) - 1) + [False], "questions, then the unloading"
    assert whole.loaded_at_the_end == ()


def test_every_model_gets_the_identical_context(whole: Whole) -> None:
    for question in ANSWERS:
        prompts = [chat.user for chat in whole.chats if chat.question == question and not chat.second_draft]
        assert (len(prompts), len(set(prompts))) == (3, 1)


def test_memory_is_shown_and_warned_about(measured: BakeoffReport) -> None:
    perfect_part, wrong_part, baseline = (measured.model(name) for name in (PERFECT, WRONG, "extractive"))
    assert perfect_part is not None
    assert perfect_part.memory is not None
    assert (perfect_part.memory.size_vram_bytes, perfect_part.memory.context_length) == (17_000_000_000, 32768)
    assert measured.over_budget == (WRONG,)
    assert wrong_part is not None
    assert baseline is not None
    assert baseline.memory is None
    assert perfect_part.tokens_per_second == pytest.approx(50.0, rel=0.01)
    assert baseline.tokens_per_second is None


def test_reports_are_written_and_read_again(settings: Settings, measured: BakeoffReport) -> None:
    folder = RunFolder.of(settings.data_dir, "whole")
    assert read_report(folder) == measured
    record = (folder.path / measured.record).read_text(encoding="utf-8")
    assert "| Kandidat | Zitier-Präzision | Verweigerung korrekt | erwartete Quelle | mean/p95 | Regen |" in record
    assert measured.decision.reason in record
    text = (folder.path / "report.md").read_text(encoding="utf-8")
    for piece in (SIMILAR, "wurde nicht gegeben", measured.goldset_version, measured.index_version, "antwort@"):
        assert piece in text
    page = (folder.path / "report.html").read_text(encoding="utf-8")
    assert page.count("<svg ") == 3
    assert "http://" not in page.replace("http://www.w3.org", "")
    rows = (folder.path / "answers.csv").read_text(encoding="utf-8-sig").splitlines()
    assert len([row for row in rows if row.startswith((*(f"{name};" for name in MODELS),))]) == len(MODELS) * QUESTIONS


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


def test_failing_model_is_wrong_in_everything_and_spoils_nothing(assembly: Assembly, goldset: Path, server: FakeOllama) -> None:
    server.models = [FakeModel("broken:1b", fake.fails(500)), FakeModel(PERFECT, perfect())]
    _, report = run_bakeoff(assembly, wanted(goldset, "failing", ("broken:1b", PERFECT)), silent)
    assert report is not None
    found = figures(report, "broken:1b")
    assert (found["unavailable"], found["draft_citation_precision"], found["values_correct"]) == (7, 0.0, 0.0)
    assert found["refusal_correct"] == 1 / 8, "the one that no model was asked"
    assert (found["false_refusals"], found["false_answers"]) == (1.0, 1 / 2)
    assert (report.decision.winner, report.decision.runner_up) == (PERFECT, None)


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


@pytest.mark.parametrize("name", ["glm:cloud", "gpt-oss:120b-cloud", "remote:1b", "missing:1b"])
def test_cloud_and_missing_models_are_refused_before_anything_is_asked(
    assembly: Assembly, goldset: Path, server: FakeOllama, name: str
) -> None:
    server.models = [*small_models(), FakeModel("remote:1b", perfect(), remote_host="https://elsewhere.example")]
    with pytest.raises(ModelUnavailable):
        run_bakeoff(assembly, wanted(goldset, "refused", (PERFECT, name)), silent)
    assert server.chats == []
    assert not RunFolder.of(assembly.settings.data_dir, "refused").exists


def test_candidates_are_what_runs_here_and_writes(assembly: Assembly, server: FakeOllama) -> None:
    server.models = [
        FakeModel(PERFECT, perfect()),
        FakeModel("bge-m3", capabilities=("embedding",)),
        FakeModel("glm:cloud", perfect()),
        FakeModel("remote:1b", perfect(), remote_host="https://elsewhere.example"),
    ]
    assert [candidate.name for candidate in candidates(assembly.gateway)] == [PERFECT, "extractive"]


def test_model_named_twice_and_unusable_run_names_are_refused(assembly: Assembly, goldset: Path) -> None:
    with pytest.raises(BadInput, match="twice"):
        run_bakeoff(assembly, wanted(goldset, "twice", (PERFECT, PERFECT)), silent)
    with pytest.raises(BadInput, match="no name for a run"):
        run_bakeoff(assembly, wanted(goldset, "../elsewhere"), silent)
    with pytest.raises(NotFound):
        read_report(RunFolder.of(assembly.settings.data_dir, "never"))


def test_two_processes_do_not_write_one_run(assembly: Assembly, goldset: Path) -> None:
    folder = RunFolder.of(assembly.settings.data_dir, "locked")
    with folder.locked(), pytest.raises(BadInput, match="another process"):
        run_bakeoff(assembly, wanted(goldset, "locked", ("extractive",)), silent)


def test_two_runs_are_compared_question_by_question(
    assembly: Assembly, goldset: Path, server: FakeOllama, measured: BakeoffReport
) -> None:
    server.models = [replace_behaviour(model) for model in small_models()]
    _, better = run_bakeoff(assembly, wanted(goldset, "better", (WRONG, SHY)), silent)
    assert better is not None
    comparison = compare_runs(measured, better)
    assert [model.before for model in comparison.models] == [WRONG, SHY]
    first = comparison.models[0]
    assert (len(first.better), first.worse) == (3, ())
    assert first.better[0].what == ("Verweigerung", "Werte", "erwartete Quelle", "Entwurf")
    change = next(one for one in first.figures if one.figure == "draft_citation_precision")
    assert (change.before, change.after) == (0.5, 1.0)
    assert change.test is not None
    assert (change.test.b_better, change.test.p_value) == (3, pytest.approx(0.25))
    assert [one.what for one in comparison.models[1].better] == [("Verweigerung", "Werte", "erwartete Quelle")] * 3


def replace_behaviour(model: FakeModel) -> FakeModel:
    return FakeModel(model.name, perfect())


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
