"""The tab Verwaltung of the running product in a real browser, over a copy of the bundled knowledge base.

With `PV_TEST_SCREENSHOTS=docs/images` the screenshots of the documentation are taken anew.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.app.bundled import copied
from tests.app.ui.pages import ChatPage
from tests.app.ui.test_product_in_browser import served
from tests.conftest import BUNDLED_FOLDER

pytestmark = pytest.mark.browser

JOB_MILLISECONDS = 120_000
VIEWS = {
    "documents": "Dokumente",
    "tags": "Schlagworte",
    "conflicts": "Widersprüche",
    "gaps": "Lücken",
    "jobs": "Aufträge",
    "index": "Indexfassungen",
    "prompts": "Prompts",
    "endpoints": "Endpunkte",
}


class ManagePage(ChatPage):
    """The tab Verwaltung of one page."""

    def open(self) -> "ManagePage":
        self.page.get_by_role("tab", name="Verwaltung").click()
        self.heading("Dokumente")
        return self

    def heading(self, text: str) -> None:
        self.page.locator(".pv-mg-title", has_text=text).first.wait_for()

    def view(self, name: str) -> None:
        self.page.locator(f"#pv-mg-nav-{name}").click()
        self.heading(VIEWS[name])

    def main(self) -> Any:
        return self.page.locator("#pv-manage-main")

    def notice(self, text: str) -> None:
        self.page.locator("#pv-manage-notice .pv-mg-notice", has_text=text).wait_for()

    def until_idle(self) -> None:
        """Until no job runs or waits."""
        self.page.locator("#pv-manage-status .pv-mg-running").first.wait_for(state="detached", timeout=JOB_MILLISECONDS)

    def until(self, expression: str) -> None:
        """Until a JavaScript expression is true; the page's policy forbids Playwright's own way of waiting for one."""
        for _ in range(200):
            if self.page.evaluate(expression):
                return
            self.page.wait_for_timeout(50)
        pytest.fail(f"never true: {expression}")

    def choose(self, file: Path) -> None:
        self.page.set_input_files("#pv-mg-file", str(file))
        self.until("document.querySelector('input[name=data]').value.length > 0")

    def upload(self, file: Path, note: str) -> None:
        self.main().locator("summary", has_text="Dokument hochladen").click()
        self.choose(file)
        self.page.fill("#pv-mg-upload-note", note)
        self.main().get_by_role("button", name="Hochladen").click()


@pytest.fixture(scope="module")
def product(tmp_path_factory, bundled_data) -> Iterator[tuple[str, Path]]:
    folder = tmp_path_factory.mktemp("managed")
    copied(bundled_data, folder / "data")
    shutil.copytree(BUNDLED_FOLDER, folder / "kb")
    with served(folder / "data", folder / "log", PV_KB_DIR=str(folder / "kb")) as url:
        yield url, folder


@pytest.fixture
def manage(browser, product) -> Iterator[ManagePage]:
    page = ManagePage(browser, product[0]).open()
    yield page
    page.close()


@pytest.fixture
def pictures(tmp_path) -> Path:
    folder = Path(os.environ.get("PV_TEST_SCREENSHOTS") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def changed_entry(folder: Path, old: str, new: str) -> Path:
    text = (BUNDLED_FOLDER / "dokumente" / "pv-sv-05.md").read_text(encoding="utf-8")
    file = folder / "pv-sv-05.md"
    file.write_text(text.replace(old, new), encoding="utf-8")
    return file


def test_a_value_is_changed_served_compared_and_changed_back(manage, pictures, tmp_path):
    page = manage.page
    manage.upload(changed_entry(tmp_path, "551,10", "561,10"), "Wert 2026 berichtigt")
    manage.notice("pv-sv-05 Fassung 2 ist gespeichert und aktiv.")
    manage.until_idle()
    page.fill("#pv-mg-find-text", "geringfügig")
    manage.main().get_by_role("button", name="Anzeigen").click()
    manage.until("document.querySelectorAll('#pv-manage-main tbody tr').length < 30")
    page.screenshot(path=pictures / "manage-documents.png")
    manage.main().get_by_role("button", name="pv-sv-05", exact=True).click()
    manage.heading("Geringfügigkeit")
    assert "weicht vom Ordner ab" in manage.main().inner_text()
    page.screenshot(path=pictures / "manage-document.png")
    manage.main().get_by_role("button", name="mit der davor").first.click()
    manage.heading("Fassung 1 und 2 im Vergleich")
    marked = manage.main().locator("mark.pv-hit").all_inner_texts()
    assert {text.replace("\N{NO-BREAK SPACE}", " ") for text in marked} == {"551,10 €", "561,10 €"}
    page.screenshot(path=pictures / "manage-diff.png")
    page.get_by_role("tab", name="Fragen").click()
    assert "561,10" in manage.answer("Wie hoch ist die Geringfügigkeitsgrenze 2026?").inner_text()
    page.get_by_role("tab", name="Verwaltung").click()
    manage.main().get_by_role("button", name="← pv-sv-05").click()
    manage.main().get_by_role("button", name="Aktivieren: Fassung 1").click()
    manage.notice("Fassung 1 von pv-sv-05 ist aktiv.")
    manage.until_idle()
    page.get_by_role("tab", name="Fragen").click()
    answer = manage.answer("Wie hoch ist die Geringfügigkeitsgrenze 2026?").inner_text()
    assert "551,10" in answer
    assert "561,10" not in answer


def test_a_faulty_file_is_refused_with_its_line_and_changes_nothing(manage, tmp_path):
    manage.upload(changed_entry(tmp_path, 'stand: "2026-01"', 'stand: "2026-13"'), "")
    manage.notice("pv-sv-05.md wurde nicht übernommen. Zeile 4:")
    file = tmp_path / "pv-sv-05.md"
    file.write_bytes(b"---\n\xff\xfe\n")
    manage.choose(file)
    manage.main().get_by_role("button", name="Hochladen").click()
    manage.page.locator("#pv-manage-notice", has_text="UTF-8").wait_for()
    file.write_bytes(b"x" * (4 * 1024 * 1024 + 1))
    manage.page.set_input_files("#pv-mg-file", str(file))
    assert "zu groß" in manage.page.eval_on_selector("#pv-mg-file", "input => input.validationMessage")


def test_the_folder_is_taken_over_as_a_job_with_progress_and_log(manage, product, pictures):
    entry = product[1] / "kb" / "dokumente" / "pv-sv-06.md"
    entry.write_text(entry.read_text(encoding="utf-8") + "\nErgänzt.\n", encoding="utf-8")
    manage.view("jobs")
    manage.main().locator("summary", has_text="Auftrag starten").click()
    manage.main().get_by_role("button", name="Ordner übernehmen").click()
    manage.notice("Auftrag")
    manage.page.locator("#pv-manage-status .pv-mg-running").wait_for()
    manage.page.screenshot(path=pictures / "manage-jobs.png")
    manage.until_idle()
    manage.view("jobs")
    row = manage.main().locator("tbody tr").first
    assert "1 geändert" in row.inner_text()
    row.get_by_role("button").first.click()
    manage.heading("Auftrag")
    manage.page.locator(".pv-mg-log", has_text="completed").wait_for()
    manage.page.screenshot(path=pictures / "manage-job.png")


def test_tags_are_adopted_given_and_merged(manage, pictures):
    manage.view("tags")
    manage.main().locator("summary", has_text="Schlagwort anlegen").click()
    manage.page.fill("#pv-mg-tag-name", "Dienstreise")
    manage.page.fill("#pv-mg-tag-entries", "pv-sv-05, pv-sv-06")
    manage.main().get_by_role("button", name="Anlegen").click()
    manage.notice("„Dienstreise“ ist angelegt.")
    suggestion = manage.main().get_by_role("button", name="Übernehmen:").first
    suggestion.click()
    manage.notice("wird jetzt verwaltet")
    manage.until_idle()
    manage.page.screenshot(path=pictures / "manage-tags.png")
    manage.main().get_by_role("button", name="Dienstreise", exact=True).click()
    manage.heading("Dienstreise")
    manage.page.fill("#pv-mg-assign", "pv-gibt-es-nicht")
    manage.main().get_by_role("button", name="Vergeben", exact=True).click()
    manage.notice("Mindestens eine Kennung gibt es nicht")
    manage.main().get_by_role("button", name="Entziehen: Dienstreise, pv-sv-06").click()
    manage.notice("ist pv-sv-06 entzogen")
    assert manage.main().locator("tbody tr").count() == 1


def test_conflicts_and_gaps_have_owner_status_and_note(manage, pictures):
    manage.view("conflicts")
    card = manage.main().locator(".pv-mg-card").first
    card.locator("summary").click()
    card.get_by_label("Zuständig").fill("Anna Huber")
    card.get_by_label("Bearbeitung").select_option("in_progress")
    card.get_by_label("Notiz").fill("ÖGK gefragt")
    card.get_by_role("button", name="Speichern", exact=True).click()
    manage.notice("Gespeichert.")
    card = manage.main().locator(".pv-mg-card").first
    assert "Anna Huber" in card.inner_text()
    assert "in Arbeit" in card.inner_text()
    manage.page.screenshot(path=pictures / "manage-conflicts.png")
    manage.page.get_by_role("tab", name="Fragen").click()
    turn = manage.answer("Wann ist die UVA abzugeben?")
    turn.get_by_role("button", name="Lücke melden").first.click()
    turn.locator(".pv-feedback", has_text="Lücke gemeldet").wait_for()
    manage.page.get_by_role("tab", name="Verwaltung").click()
    manage.view("gaps")
    card = manage.main().locator(".pv-mg-card", has_text="UVA")
    card.locator("summary").click()
    card.get_by_label("Zuständig").fill("Anna Huber")
    card.get_by_label("Notiz").fill("gehört nicht zur Personalverrechnung")
    card.get_by_label("Bearbeitung").select_option("dismissed")
    card.get_by_role("button", name="Speichern", exact=True).click()
    manage.notice("Gespeichert.")
    assert "verworfen" in manage.main().locator(".pv-mg-card", has_text="UVA").inner_text()
    manage.page.screenshot(path=pictures / "manage-gaps.png")


def test_prompts_and_endpoints_are_versions_with_history(manage, pictures):
    manage.view("prompts")
    manage.main().locator("summary", has_text="Neue Fassung schreiben").first.click()
    manage.page.fill("#pv-mg-guidance-answer", "Schreib in ganzen Sätzen.")
    manage.page.fill("#pv-mg-guidance-note-answer", "Ton")
    manage.main().get_by_role("button", name="Als neue Fassung einsetzen").first.click()
    manage.notice("Fassung 1 gilt ab der nächsten Frage.")
    assert "answer-1@" in manage.main().inner_text()
    manage.page.screenshot(path=pictures / "manage-prompts.png")
    manage.view("endpoints")
    manage.main().locator("summary", has_text="Endpunkt anlegen").click()
    manage.page.fill("#pv-mg-endpoint-name", "gpu")
    manage.page.fill("#pv-mg-endpoint-url", "http://anna:geheim@gpu:11434")
    manage.main().get_by_role("button", name="Anlegen").click()
    manage.notice("ohne Benutzer und Passwort")
    manage.page.fill("#pv-mg-endpoint-url", "http://127.0.0.1:9")
    manage.main().get_by_role("button", name="Anlegen").click()
    manage.notice("gpu@1 ist angelegt.")
    manage.main().get_by_role("button", name="Verbindung prüfen: gpu@1").click()
    manage.main().locator(".pv-mg-notice-bad", has_text="Ollama").wait_for()
    manage.page.screenshot(path=pictures / "manage-endpoints.png")


def test_the_index_goes_back_by_two_clicks(manage, pictures):
    manage.view("index")
    first = manage.main().locator("tbody code").first.inner_text()
    manage.page.screenshot(path=pictures / "manage-index.png")
    manage.main().locator("summary").click()
    manage.main().get_by_role("button", name="Zurückschalten").click()
    manage.notice("Geantwortet wird jetzt aus der Indexfassung")
    assert manage.main().locator("tbody code").first.inner_text() != first


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_view_is_accessible_in_both_themes(browser, product, pictures, scheme):
    manage = ManagePage(browser, product[0], scheme=scheme).open()
    faults = {}
    for name in VIEWS:
        manage.view(name)
        manage.page.locator("#pv-manage-main details").evaluate_all("all => all.forEach((d) => { d.open = true; })")
        faults[name] = manage.accessibility_faults()
    manage.page.screenshot(path=pictures / f"manage-{scheme}.png")
    manage.close()
    assert faults == {name: [] for name in VIEWS}


def test_the_tab_is_used_with_the_keyboard(manage):
    manage.page.locator("#pv-mg-nav-documents").focus()
    manage.page.keyboard.press("Tab")
    manage.page.keyboard.press("Enter")
    manage.heading("Schlagworte")
    assert manage.page.evaluate("document.activeElement.id") == "pv-mg-nav-tags"
    manage.page.locator("#pv-mg-nav-documents").click()
    manage.main().locator("tbody button").first.focus()
    manage.page.keyboard.press("Enter")
    manage.until("document.activeElement.classList.contains('pv-mg-title')")
