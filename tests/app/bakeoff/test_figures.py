"""A bake-off of three models of known behaviour and the Zitatmodus: exactly the known figures, and the right decision."""

from pathlib import Path

import pytest

from app.assembly import Assembly
from app.bakeoff import candidates, read_report, run_bakeoff
from app.settings import Settings
from evaluation.comparison import compare_runs
from evaluation.model_report import BakeoffReport
from evaluation.runs import RunFolder
from pipelines.errors import BadInput, ModelUnavailable, NotFound
from pipelines.index import silent
from tests import fake_models as fake
from tests.app.bakeoff.conftest import QUESTIONS, Whole, figures, wanted
from tests.fake_ollama import FakeOllama
from tests.fake_wire import FakeModel
from tests.small_product import ANSWERS, MODELS, PERFECT, SHY, SIMILAR, WRONG, perfect, small_models


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


def test_failing_model_is_wrong_in_everything_and_spoils_nothing(assembly: Assembly, goldset: Path, server: FakeOllama) -> None:
    server.models = [FakeModel("broken:1b", fake.fails(500)), FakeModel(PERFECT, perfect())]
    _, report = run_bakeoff(assembly, wanted(goldset, "failing", ("broken:1b", PERFECT)), silent)
    assert report is not None
    found = figures(report, "broken:1b")
    assert (found["unavailable"], found["draft_citation_precision"], found["values_correct"]) == (7, 0.0, 0.0)
    assert found["refusal_correct"] == 1 / 8, "the one that no model was asked"
    assert (found["false_refusals"], found["false_answers"]) == (1.0, 1 / 2)
    assert (report.decision.winner, report.decision.runner_up) == (PERFECT, None)


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
