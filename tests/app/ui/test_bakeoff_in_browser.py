"""The tab Modellvergleich of the running product in a real browser, with models of known behaviour behind a fake Ollama.

With `PV_TEST_SCREENSHOTS=docs/images` the screenshots of the documentation are taken anew.
"""

import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.assembly import Assembly
from app.settings import Settings
from app.store.votes import Votes
from tests import fake_models as fake
from tests.app.ui.pages import ChatPage
from tests.app.ui.test_product_in_browser import served
from tests.fake_ollama import FakeOllama
from tests.fake_wire import FakeModel
from tests.small_product import ANSWERS, PERFECT, WRONG, perfect, small_models, small_settings, write_goldset

pytestmark = pytest.mark.browser

QUESTION = list(ANSWERS)[3]
"""Both models answer it rightly."""
BROKEN = "broken:1b"
WAIT = 60_000
JOB_WAIT = 300_000


@pytest.fixture(scope="module")
def server() -> Iterator[FakeOllama]:
    with FakeOllama([*small_models(), FakeModel(BROKEN, fake.fails(500))]) as started:
        yield started


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory, server: FakeOllama) -> Settings:
    made = small_settings(tmp_path_factory.mktemp("product"), server.url)
    (made.data_dir / "goldsets").mkdir()
    write_goldset(made.data_dir / "goldsets" / "small.yaml")
    return made


@pytest.fixture(scope="module")
def url(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    log = tmp_path_factory.mktemp("log") / "serve.log"
    given = {"PV_KB_DIR": str(settings.kb_dir), "PV_OLLAMA_URL": settings.ollama_url, "PV_LLM_MODEL": "extractive"}
    with served(settings.data_dir, log, **given) as address:
        yield address


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    folder = Path(os.environ.get("PV_TEST_SCREENSHOTS") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


LISTEN = """
window.pvReceived = "";
const keep = (text) => { window.pvReceived += text; };
const fetchBefore = window.fetch;
window.fetch = async (...given) => {
  const response = await fetchBefore(...given);
  const reader = response.clone().body?.getReader();
  const decoder = new TextDecoder();
  const read = () => reader.read().then(({ done, value }) => done || (keep(decoder.decode(value, { stream: true })), read()));
  if (reader) read().catch(() => {});
  return response;
};
const SourceBefore = window.EventSource;
window.EventSource = class extends SourceBefore {
  constructor(...given) { super(...given); this.addEventListener("message", (event) => keep(event.data)); }
};
"""
"""Keeps everything that the page receives after it was loaded."""


class BakeoffTab(ChatPage):
    """The tab in one browser page; remembers what the server sent."""

    def __init__(self, browser: Any, url: str, **options: Any) -> None:
        super().__init__(browser, url, **options)
        self.page.add_init_script(LISTEN)
        self.page.reload()
        self.faults.clear()  # of the page before: its connections are cut by the reload
        self.page.get_by_role("tab", name="Modellvergleich").click(timeout=WAIT)
        self.page.wait_for_selector(".pv-bo-ask", timeout=WAIT)
        self.page.wait_for_selector("#pv-bakeoff-runs .pv-log-list", timeout=WAIT)

    def compare(self, question: str, *models: str, blind: bool = True) -> None:
        form = self.page.locator(".pv-bo-ask")
        form.locator("#pv-bo-question").fill(question)
        for box in form.locator("input[name^=model-]").all():
            box.set_checked(box.get_attribute("value") in models)
        form.locator("input[name=blind]").set_checked(blind)
        form.get_by_role("button", name="Vergleichen").click()
        self.page.locator(".pv-bo-columns").first.wait_for(timeout=WAIT)

    def columns(self) -> Any:
        return self.page.locator("#pv-bakeoff-answers .pv-bo-column")

    def vote(self, correctness: str, citations: str, completeness: str) -> None:
        choices = {"correctness": correctness, "citations": citations, "completeness": completeness}
        for criterion, value in choices.items():
            self.page.locator(f'.pv-bo-vote input[name={criterion}][value="{value}"]').check()
        self.page.locator(".pv-bo-vote button[type=submit]").click()

    def close(self) -> None:
        assert self.faults == []  # said here, where the assertion shows them
        super().close()

    def said(self, text: str) -> Any:
        """Where the tab says this (the hidden messages below it say it too)."""
        return self.page.locator("#pv-bakeoff").get_by_text(text)

    def received(self) -> str:
        """Everything the server has sent since this was asked last."""
        return str(self.page.evaluate("(() => { const all = window.pvReceived; window.pvReceived = ''; return all; })()"))


def test_blind_vote_hides_the_names_until_it_is_given(
    browser: Any, url: str, settings: Settings, server: FakeOllama, pictures: Path
) -> None:
    tab = BakeoffTab(browser, url)
    assert PERFECT in tab.page.content(), "the names are on the page before, so their absence says something"
    assert PERFECT in tab.received(), "and they came over the network"
    tab.compare(QUESTION, PERFECT, WRONG)
    tab.page.locator(".pv-bo-vote").wait_for(timeout=WAIT)
    received, content = tab.received(), tab.page.content()
    assert "551,10" in received
    assert "551,10" in content
    for secret in (PERFECT, WRONG, "Token/s", "timings", 'pv-bo-timing"', *(model.tag["digest"] for model in server.models)):
        assert secret not in received, secret
        assert secret not in content, secret
    assert [column.get_attribute("data-label") for column in tab.columns().all()] == ["A", "B"]
    assert tab.columns().locator(".pv-chip").count() == 2
    assert tab.accessibility_faults() == []
    tab.page.screenshot(path=pictures / "modellvergleich-blind.png")

    tab.page.locator(".pv-bo-vote input[name=correctness][value=A]").check()
    tab.page.locator(".pv-bo-vote button[type=submit]").click()
    tab.said("Bitte in jedem Kriterium eine Wahl treffen.").wait_for(timeout=WAIT)
    assert PERFECT not in tab.page.content()

    tab.vote("A", "tie", "none")
    tab.said("Danke, Ihre Stimme zählt.").wait_for(timeout=WAIT)
    names = [heading.inner_text() for heading in tab.columns().locator(".pv-bo-name").all()]
    assert sorted(name.partition(" · ")[2] for name in names) == sorted([PERFECT, WRONG])
    assert tab.columns().locator(".pv-bo-timing").count() == 2
    best = names[0].partition(" · ")[2]
    with Assembly(settings) as assembly:
        ballots = Votes(assembly.database).ballots()
        votes = Votes(assembly.database).list()
    assert [(ballot.criterion, ballot.outcome, ballot.best) for ballot in ballots] == [
        ("correctness", "best", best),
        ("citations", "tie", None),
        ("completeness", "none", None),
    ]
    assert {(vote.blind, vote.question, vote.author) for vote in votes} == {(True, QUESTION, "lokal")}

    ranking = tab.page.locator("#pv-bakeoff-ranking .pv-bo-ranking").first
    ranking.wait_for(timeout=WAIT)
    assert ranking.locator("tbody tr").first.locator("th").inner_text() == best
    assert tab.accessibility_faults() == []
    tab.page.screenshot(path=pictures / "modellvergleich-revealed.png")
    tab.close()


def test_order_is_random_and_waiting_tells_nothing(browser: Any, url: str, server: FakeOllama) -> None:
    tab = BakeoffTab(browser, url)
    seen = set()
    for _ in range(12):
        tab.compare(QUESTION, PERFECT, "extractive")
        tab.page.locator(".pv-bo-vote").wait_for(timeout=WAIT)
        tab.page.get_by_role("button", name="Ohne Stimme aufdecken").click()
        tab.said("Aufgedeckt ohne Stimme.").wait_for(timeout=WAIT)
        seen.add(tab.columns().first.locator(".pv-bo-name").inner_text())
        tab.page.get_by_role("button", name="Neue Frage").click()
        tab.page.wait_for_selector(".pv-bo-ask", timeout=WAIT)
        if len(seen) == 2:
            break
    assert seen == {f"A · {PERFECT}", "A · Zitatmodus"}
    tab.close()


def test_failing_model_does_not_spoil_the_others(browser: Any, url: str) -> None:
    tab = BakeoffTab(browser, url, scheme="dark")
    tab.compare(QUESTION, PERFECT, BROKEN, "extractive", blind=False)
    tab.page.locator(".pv-bo-vote").wait_for(timeout=WAIT)
    by_name = {column.locator(".pv-bo-name").inner_text(): column for column in tab.columns().all()}
    assert set(by_name) == {PERFECT, BROKEN, "Zitatmodus"}
    assert "551,10\N{NO-BREAK SPACE}€" in by_name[PERFECT].inner_text()
    assert "551,10\N{NO-BREAK SPACE}€" in by_name["Zitatmodus"].inner_text()
    assert "Dieses Modell ist gescheitert" in by_name[BROKEN].inner_text()
    chip = by_name[PERFECT].locator(".pv-chip").first
    chip.click()
    tab.page.locator("#pv-bakeoff-pane .pv-pane-title").wait_for(timeout=WAIT)
    assert "551,10" in " ".join(tab.page.locator("#pv-bakeoff-pane mark").all_inner_texts())
    tab.page.keyboard.press("Escape")
    assert tab.accessibility_faults() == []
    tab.close()


def test_failing_model_is_not_named_in_a_blind_round(browser: Any, url: str) -> None:
    tab = BakeoffTab(browser, url)
    tab.received()
    tab.compare(QUESTION, PERFECT, BROKEN)
    tab.page.locator(".pv-bo-vote").wait_for(timeout=WAIT)
    assert "broken" not in tab.received().lower()
    assert tab.said("Dieses Modell hat keine Antwort geliefert.").count() == 1
    tab.close()


def test_one_model_is_no_comparison(browser: Any, url: str) -> None:
    tab = BakeoffTab(browser, url)
    form = tab.page.locator(".pv-bo-ask")
    form.locator("#pv-bo-question").fill(QUESTION)
    for box in form.locator("input[name^=model-]").all():
        box.set_checked(box.get_attribute("value") == PERFECT)
    form.get_by_role("button", name="Vergleichen").click()
    tab.said("Bitte zwei bis vier Modelle wählen.").wait_for(timeout=WAIT)
    assert form.locator("#pv-bo-question").input_value() == QUESTION
    tab.close()


NOTICE = re.compile(r"Der Lauf (\S+) ist angefordert\.")


def start_run(tab: BakeoffTab, *models: str) -> str:
    """Starts a run over the small goldset, gives its name as the page says it."""
    form = tab.page.locator(".pv-bo-start")
    for box in form.locator("input[name^=model-]").all():
        box.set_checked(box.get_attribute("value") in models)
    for box in form.locator("input[name^=goldset-]").all():
        box.set_checked(box.get_attribute("value") == "small")
    said = tab.page.locator("#pv-bakeoff-runs [role=status]")
    before = "".join(said.all_inner_texts())
    form.get_by_role("button", name="Lauf starten").click()
    said.filter(has_text=NOTICE).filter(has_not_text=before or "kein Hinweis").wait_for(timeout=WAIT)
    found = NOTICE.fullmatch(said.inner_text())
    assert found is not None
    run_row(tab, found[1]).wait_for(timeout=WAIT)
    return str(found[1])


def run_row(tab: BakeoffTab, run: str, state: str = "") -> Any:
    """A run's row in the list; with a state only while it is in that."""
    row = tab.page.locator(f'#pv-bakeoff-runs li[data-run="{run}"]')
    return row.filter(has=tab.page.locator(f"[data-state={state}]")) if state else row


def finished_run(tab: BakeoffTab, *models: str) -> str:
    """Starts a run and waits for its end."""
    run = start_run(tab, *models)
    run_row(tab, run, "finished").wait_for(timeout=JOB_WAIT)
    assert tab.said(f"Der Lauf {run} ist angefordert.").count() == 1, "what was said stays until the next click"
    assert tab.page.locator(".pv-bo-start input[value=small]").is_checked(), "nor does the list take what was ticked away"
    return run


def test_run_is_started_watched_shown_compared_and_exported(browser: Any, url: str, server: FakeOllama, pictures: Path) -> None:
    tab = BakeoffTab(browser, url, size={"width": 1280, "height": 1000})
    first = finished_run(tab, PERFECT, WRONG, "extractive")
    server.models = [FakeModel(name, perfect()) for name in (PERFECT, WRONG)]
    second = finished_run(tab, PERFECT, WRONG)
    row = run_row(tab, first)
    assert f"Sieger: {PERFECT}" in row.inner_text()
    row.get_by_role("button", name="Ansehen").click()
    report = tab.page.locator("#pv-bakeoff-report .pv-bo-report")
    report.wait_for(timeout=WAIT)
    assert report.locator("svg").count() == 3
    assert report.locator("tbody tr").first.locator("th").inner_text() == PERFECT
    assert tab.accessibility_faults() == []
    report.scroll_into_view_if_needed()
    tab.page.screenshot(path=pictures / "modellvergleich-report.png")
    with tab.page.expect_download() as downloading:
        row.get_by_role("button", name="CSV").click()
    text = Path(downloading.value.path()).read_text(encoding="utf-8-sig")
    assert text.count(f"{PERFECT};q-small-") == 8
    tab.page.select_option("#pv-bo-before", first)
    tab.page.select_option("#pv-bo-after", second)
    tab.page.locator("#pv-bakeoff-compare").get_by_role("button").click()
    tab.page.locator("#pv-bakeoff-report h2", has_text="→").wait_for(timeout=WAIT)
    compared = tab.page.locator("#pv-bakeoff-report")
    assert "besser: 3" in compared.inner_text()
    assert compared.locator("svg").count() == 6
    server.models = small_models()
    tab.close()


@pytest.mark.parametrize("moment", ["at once", "while a model writes"])
def test_run_is_cancelled_and_goes_on(browser: Any, url: str, server: FakeOllama, moment: str) -> None:
    # Longer than the test waits for the run to stop: it does not end by itself.
    server.models = [FakeModel(PERFECT, fake.slow(perfect(), first_seconds=JOB_WAIT / 1000)), FakeModel(WRONG, perfect())]
    server.requests.clear()
    tab = BakeoffTab(browser, url)
    run = start_run(tab, PERFECT, WRONG)
    if moment == "while a model writes":
        run_row(tab, run, "running").wait_for(timeout=JOB_WAIT)
        wait_until(tab, lambda: bool(server.chats))
    run_row(tab, run).get_by_role("button", name="Abbrechen").click(timeout=WAIT)
    run_row(tab, run, "stopped").wait_for(timeout=JOB_WAIT)
    assert tab.said(f"Der Lauf {run} wird angehalten und kann fortgesetzt werden.").count() == 1
    server.models = [FakeModel(PERFECT, perfect()), FakeModel(WRONG, perfect())]
    run_row(tab, run).get_by_role("button", name="Fortsetzen").click()
    run_row(tab, run, "finished").wait_for(timeout=JOB_WAIT)
    server.models = small_models()
    tab.close()


def wait_until(tab: BakeoffTab, reached: Callable[[], bool]) -> None:
    until = time.monotonic() + JOB_WAIT / 1000
    while not reached():
        assert time.monotonic() < until
        tab.page.wait_for_timeout(100)
