"""One small product, its goldset and one whole run for all tests of bake-offs."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.assembly import Assembly
from app.bakeoff import RunRequest, run_bakeoff
from app.settings import Settings
from evaluation.model_report import BakeoffReport
from pipelines.index import silent
from tests.fake_ollama import FakeOllama, Recorded
from tests.fake_wire import ChatCall
from tests.small_product import MODELS, small_models, small_settings, write_goldset

QUESTIONS = 8


@pytest.fixture(scope="package")
def server() -> Iterator[FakeOllama]:
    with FakeOllama(small_models()) as started:
        yield started


@pytest.fixture(scope="package")
def settings(tmp_path_factory: pytest.TempPathFactory, server: FakeOllama) -> Settings:
    return small_settings(tmp_path_factory.mktemp("bakeoff"), server.url)


@pytest.fixture(scope="package")
def goldset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_goldset(tmp_path_factory.mktemp("goldset") / "small.yaml")


@pytest.fixture(scope="package")
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


@pytest.fixture(scope="package")
def whole(assembly: Assembly, goldset: Path, server: FakeOllama) -> Whole:
    server.models = small_models()
    server.requests.clear()
    _, report = run_bakeoff(assembly, wanted(goldset, "whole"), silent)
    assert report is not None
    return Whole(report, tuple(server.of("/api/chat")), tuple(server.chats), tuple(server.loaded))


@pytest.fixture(scope="package")
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
