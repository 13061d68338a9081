"""A data folder with three finished runs over the same questions, one of them of two models, and one that is damaged."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.store.audit import AuditLog
from app.store.database import Database
from app.store.feedback import Feedback, Gap
from app.ui.reports.handlers import ReportHandlers
from app.ui.reports.served_questions import ServedQuestions
from app.ui.reports.shelf import ReportShelf
from evaluation.goldset import GoldItem, Goldset
from evaluation.model_report import bakeoff_report
from evaluation.records import QuestionRecord
from evaluation.runs import REPORT_FILE, Contestant, RunFolder, RunManifest
from pipelines.contracts import FinalEvent, Outcome, Question
from pipelines.errors import IndexMissing
from tests.app.ui.fake_service import FakeService

VALUE = GoldItem(
    id="q-x-1",
    question="Wie hoch ist die <b>Grenze</b>?",
    kind="value",
    expected_ids=("pv-sv-05",),
    must_contain=("551,10 €",),
)
MISSED = GoldItem(id="q-x-2", question="Wann ist die UVA abzugeben?", kind="fact", expected_ids=("pv-sv-05",))
GOLDSET = Goldset((VALUE, MISSED), "feedbeefcafe0123")


class NothingServed(ServedQuestions):
    """No index."""

    def __init__(self) -> None:
        pass

    def topics(self) -> dict[str, str]:
        raise IndexMissing("none")

    def questions(self) -> tuple[GoldItem, ...]:
        raise IndexMissing("none")


class Served(NothingServed):
    """Two topics, one of which is asked about."""

    def topics(self) -> dict[str, str]:
        return {"pv-sv-05": "Sozialversicherung", "pv-url-01": "Urlaub & mehr"}

    def questions(self) -> tuple[GoldItem, ...]:
        return GOLDSET.items


def outcome_of(service: FakeService, question: str) -> Outcome:
    events = service.ask_events(Question(text=question), lambda: False)
    return next(event.outcome for event in events if isinstance(event, FinalEvent))


def write_run(data_dir: Path, run_id: str, day: int, models: tuple[str, ...]) -> None:
    service = FakeService()
    manifest = RunManifest(
        run_id=run_id,
        created_at=datetime(2026, 3, day, 12, tzinfo=UTC),
        kind="bakeoff" if len(models) > 1 else "answers",
        models=tuple(Contestant(name=name) for name in models),
        goldset_version=GOLDSET.version,
        goldset_files=("probe.yaml",),
        questions=len(GOLDSET.items),
        index_version="v1",
        knowledge_base_hash="k",
        embedding_model="embedded",
        prompt_version="p",
        as_of="2026-03",
        options={},
    )
    records = [
        QuestionRecord(model=model, question_id=item.id, outcome=outcome_of(service, item.question))
        for model in models
        for item in GOLDSET.items
    ]
    texts = {("pv-sv-05", s.section): s.text for s in service.entry("pv-sv-05").sections}
    texts |= {("pv-sv-07", s.section): s.text for s in service.entry("pv-sv-07").sections}
    report = bakeoff_report(manifest, GOLDSET, records, {}, texts, record="", vram_budget_gb=28)
    folder = RunFolder.of(data_dir, run_id)
    folder.begin(manifest, [])
    folder.write(REPORT_FILE, report.model_dump_json())


@pytest.fixture(scope="session")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reports")
    write_run(folder, "answers-1", 1, ("extractive",))
    write_run(folder, "bakeoff-2", 2, ("qwen3.8:27b", "extractive"))
    write_run(folder, "answers-3", 3, ("extractive",))
    damaged = RunFolder.of(folder, "answers-0")
    damaged.path.mkdir(parents=True)
    (damaged.path / REPORT_FILE).write_text("{", encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def gaps(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Gap, ...]]:
    database = Database(tmp_path_factory.mktemp("gaps"))
    outcome = outcome_of(FakeService(), "Wann ist die UVA abzugeben?")
    AuditLog(database).append(outcome, [])
    Feedback(database).report_gap(outcome.request_id, outcome.question, "bitte <i>bald</i>", author="anna")
    yield Feedback(database).gaps()
    database.close()


@pytest.fixture(scope="session")
def handlers(data_dir: Path, gaps: tuple[Gap, ...]) -> ReportHandlers:
    return ReportHandlers(ReportShelf(data_dir), Served(), lambda: gaps)
