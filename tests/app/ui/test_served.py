"""The product behind the interface, over an index of a few bundled entries: entries, overview, the explained search."""

import threading
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from app.assembly import Assembly
from app.store.documents import Catalogue
from app.ui.model_status import ModelStatus
from app.ui.search_explained import explained
from app.ui.served import ServedUi
from app.ui.service import CrossRef, SearchRequest, SearchView
from pipelines.contracts import Answer, Refusal
from pipelines.errors import BadInput, ModelUnavailable, NotFound, StoreError
from pipelines.intake import read_question
from pipelines.model_choice import ModelChoice
from tests.app.bundled import indexed
from tests.conftest import BUNDLED_FOLDER

ENTRIES = ("pv-sv-05", "pv-sv-07", "pv-nsch-01", "pv-sv-03", "pv-url-01")
QUESTION = "Wie hoch ist die Geringfügigkeitsgrenze 2026?"


@pytest.fixture(scope="module")
def assembly(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Assembly]:
    folder: Path = tmp_path_factory.mktemp("served")
    (folder / "kb" / "dokumente").mkdir(parents=True)
    for entry_id in ENTRIES:
        source = BUNDLED_FOLDER / "dokumente" / f"{entry_id}.md"
        (folder / "kb" / "dokumente" / source.name).write_bytes(source.read_bytes())
    with Assembly(indexed(folder / "data", folder / "kb")) as made:
        yield made


@pytest.fixture
def ui(assembly: Assembly) -> Iterator[ServedUi]:
    models = ModelStatus(lambda: ModelChoice("extractive", "Der Zitatmodus ist eingestellt."), configured="auto")
    yield ServedUi(assembly.service, Catalogue(assembly.database), models, today=lambda: date(2026, 6, 15))
    models.close()


def search(ui: ServedUi, question: str, **fields: object) -> SearchView:
    return ui.search(SearchRequest(question=question, **fields))  # type: ignore[arg-type]


def test_the_overview_counts_what_is_served(ui: ServedUi) -> None:
    overview = ui.overview()
    assert (overview.entries, sum(topic.entries for topic in overview.topics)) == (5, 5)
    assert (overview.mode, overview.model, overview.model_reason) == (
        "extractive",
        "Zitatmodus",
        "Der Zitatmodus ist eingestellt.",
    )
    assert overview.newest_stand == max(ui.entry(entry_id).stand for entry_id in ENTRIES)


def test_an_entry_has_its_sections_sources_and_references(ui: ServedUi) -> None:
    entry = ui.entry("pv-sv-05")
    assert [section.section for section in entry.sections[:2]] == ["Zusammenfassung", "Kernwerte & Fristen"]
    assert entry.sources[0].url.startswith("https://")
    known = {ref.entry_id: ref for ref in entry.cross_refs}
    assert known["pv-sv-07"] == CrossRef("pv-sv-07", ui.entry("pv-sv-07").title, ui.entry("pv-sv-07").stand)


def test_an_entry_that_is_not_served_is_not_found(ui: ServedUi) -> None:
    with pytest.raises(NotFound):
        ui.entry("pv-sv-99")
    assert ui.titles(["pv-sv-99", "pv-url-01"]) == {"pv-url-01": ui.entry("pv-url-01").title}


def test_without_a_store_nothing_said_of_an_answer_is_kept(ui: ServedUi) -> None:
    for act in (
        lambda: ui.rate("r", up=True, author="anna"),
        lambda: ui.comment("r", "x", author="anna"),
        lambda: ui.report_gap("r", "", author="anna"),
        lambda: ui.evidence("r"),
    ):
        with pytest.raises(StoreError):
            act()


def test_the_search_uses_what_the_chat_uses(ui: ServedUi, assembly: Assembly) -> None:
    outcome = assembly.service.ask(read_question(QUESTION))
    assert isinstance(outcome, Answer)
    view = search(ui, QUESTION)
    assert view.plan == outcome.plan
    assert {row.entry_id for row in view.rows if row.in_context} == {source.entry_id for source in outcome.sources}


def test_every_row_has_its_ranks_and_a_reason(ui: ServedUi) -> None:
    view = search(ui, QUESTION)
    first = view.rows[0]
    assert (first.entry_id, first.ranks.bm25, first.in_context) == ("pv-sv-05", 1, True)
    assert first.reason == "gefunden und aussagekräftig für die Frage"
    for row in view.rows:
        assert row.reason
        for rank, score in (
            (row.ranks.bm25, row.scores.bm25),
            (row.ranks.similarity, row.scores.similarity),
            (row.ranks.ngram, row.scores.ngram),
        ):
            assert rank is None or (rank >= 1 and score is not None)
    assert [row.rank for row in view.rows] == list(range(1, len(view.rows) + 1))


def test_a_question_without_an_answer_says_why_nothing_is_in_the_context(ui: ServedUi, assembly: Assembly) -> None:
    question = "Wann ist die Umsatzsteuervoranmeldung abzugeben?"
    assert isinstance(assembly.service.ask(read_question(question)), Refusal)
    view = search(ui, question)
    assert view.refusal
    assert not any(row.in_context for row in view.rows)
    assert {row.reason for row in view.rows} <= {"es wird nichts in den Kontext genommen, weil die Belege die Frage nicht tragen"}


def test_the_words_of_the_question_are_shown_as_they_are_read(ui: ServedUi) -> None:
    words = {word.word: word for word in search(ui, "Wie hoch ist die Geringfuegigkeitsgrenze?").words}
    assert words["die"].note == "Stoppwort, wird nicht gesucht"
    assert words["die"].tokens == ()
    assert len(words["Geringfuegigkeitsgrenze"].tokens) > 1  # the compound and its parts


def test_month_and_scopes_reach_the_plan(ui: ServedUi) -> None:
    view = search(ui, "Wie hoch ist die Grenze?", as_of="2025-03", scopes=("kv",))
    assert (view.plan.as_of, view.plan.scopes) == ("2025-03", ("kv",))
    assert all(row.work == "kv" for row in view.rows)


def test_a_month_that_is_none_is_refused(ui: ServedUi) -> None:
    with pytest.raises(BadInput):
        search(ui, "Grenze?", as_of="2025-13")


def test_no_more_rows_than_asked_for_but_those_that_joined_the_context(assembly: Assembly) -> None:
    view = explained(read_question(QUESTION), assembly.service.engine, 1)
    assert [row for row in view.rows[1:] if not row.in_context] == []


def test_a_model_that_takes_its_time_is_not_waited_for() -> None:
    answered = threading.Event()

    def slow() -> ModelChoice:
        answered.wait(5)
        return ModelChoice("qwen3.8:27b", "installiert")

    models = ModelStatus(slow, configured="auto")
    assert models.current() == ("auto", "Das Modell wird gerade geprüft.", None)
    answered.set()
    models.close()


def test_a_model_that_cannot_answer_is_said_and_offers_no_names() -> None:
    def gone() -> ModelChoice:
        raise ModelUnavailable("Ollama ist nicht erreichbar.")

    def none() -> tuple[str, ...]:
        raise ModelUnavailable("Ollama ist nicht erreichbar.")

    models = ModelStatus(gone, configured="qwen3.8:27b", installed=none)
    assert models.current() == ("qwen3.8:27b", "", "Ollama ist nicht erreichbar.")
    assert models.names() == ()
    models.close()


def test_names_are_unknown_until_ollama_has_told_them() -> None:
    answered = threading.Event()

    def slow() -> tuple[str, ...]:
        answered.wait(5)
        return ("a:1b",)

    models = ModelStatus(lambda: ModelChoice("extractive", ""), configured="auto", installed=slow)
    assert models.names() is None
    answered.set()
    assert models.names() == ("a:1b",)
    models.close()


def test_installed_models_are_asked_once_in_half_a_minute() -> None:
    asked: list[int] = []

    def installed() -> tuple[str, ...]:
        asked.append(1)
        return ("a:1b", "b:2b")

    models = ModelStatus(lambda: ModelChoice("extractive", ""), configured="auto", installed=installed)
    assert (models.names(), models.names(), len(asked)) == (("a:1b", "b:2b"), ("a:1b", "b:2b"), 1)
    models.close()
