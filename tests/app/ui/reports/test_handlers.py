"""What the tab Auswertung shows of the reports on disk, and to whom."""

import json
import re
from html import unescape
from pathlib import Path

import pytest

from app.access.person import Role
from app.ui.reports.handlers import ReportHandlers
from app.ui.reports.shelf import ReportShelf
from evaluation.runs import REPORT_FILE
from tests.app.ui.protocol.test_handlers import request_of
from tests.app.ui.reports.conftest import NothingServed, Served, write_run


def html_of(handlers: ReportHandlers, role: Role = "evaluator", **command: str) -> str:
    (part,) = json.loads(handlers.command(json.dumps(command), request_of(role)))["parts"]
    return str(part["html"])


def text_of(handlers: ReportHandlers, **command: str) -> str:
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html_of(handlers, **command))))


def test_runs_are_listed_newest_first_and_the_damaged_one_last(handlers: ReportHandlers) -> None:
    html = html_of(handlers, do="overview")
    assert re.findall(r'data-run="([^"]+)"', html) == ["answers-3", "bakeoff-2", "answers-1"]
    assert html.index("answers-1") < html.index("answers-0") < html.index("Bericht nicht lesbar")


def test_the_history_has_four_figures_and_a_line_for_each_model(handlers: ReportHandlers) -> None:
    html = html_of(handlers, do="overview")
    assert re.findall(r"<figcaption>([^<]+)<", html) == [
        "Erwartete Quellen zitiert",
        "Zitier-Präzision (Entwurf)",
        "Verweigerung korrekt",
        "Latenz, Median (s)",
    ]
    assert html.count("<circle") == 4 * 4 + 2  # extractive three times, qwen once, and the legend
    assert html.count("<polyline") == 4
    assert "Erwartete Quellen zitiert: extractive zuletzt 0,50, qwen3.8:27b zuletzt 0,50" in html


def test_coverage_begins_with_what_nobody_asks_about(handlers: ReportHandlers) -> None:
    text = text_of(handlers, do="overview")
    assert "Thema Einträge davon gefragt Fragen Urlaub & mehr 1 0 0 Sozialversicherung 1 1 2" in text


def test_gaps_are_listed_with_who_reported_them(handlers: ReportHandlers) -> None:
    text = text_of(handlers, do="overview")
    assert "anna offen Wann ist die UVA abzugeben? bitte <i>bald</i>" in text


def test_a_run_shows_its_failures_which_lead_to_search_and_chat(handlers: ReportHandlers) -> None:
    html = html_of(handlers, do="run", run="bakeoff-2")
    assert "Fehlschläge: qwen3.8:27b (1 von 2)" in html
    assert "Fehlschläge: extractive (1 von 2)" in html
    assert (
        re.findall(r'data-do="(look|reuse)" data-question="([^"]+)"', html)
        == [
            ("look", "Wann ist die UVA abzugeben?"),
            ("reuse", "Wann ist die UVA abzugeben?"),
        ]
        * 2
    )
    assert html.count("<svg") == 3


def test_hostile_questions_stay_text(handlers: ReportHandlers) -> None:
    assert "<b>Grenze" not in html_of(handlers, do="run", run="bakeoff-2")
    assert "<i>bald" not in html_of(handlers, do="overview")


def test_without_runs_it_is_said_how_to_make_one(tmp_path: Path) -> None:
    text = text_of(ReportHandlers(ReportShelf(tmp_path), NothingServed(), lambda: ()), do="overview")
    assert "Noch keine Messung von Antworten." in text
    assert "Ein Lauf im Tab „Modellvergleich“ oder der Befehl python -m evaluation answers" in text
    assert "Ohne Index lässt sich die Abdeckung nicht bestimmen." in text
    assert "Niemand hat eine Lücke gemeldet." in text


def test_a_report_that_changes_is_read_again(tmp_path: Path) -> None:
    shelf = ReportShelf(tmp_path)
    write_run(tmp_path, "answers-1", 1, ("extractive",))
    assert [run.models[0].name for run in shelf.runs()] == ["extractive"]
    report = tmp_path / "reports" / "answers-1" / REPORT_FILE
    report.write_text(report.read_text(encoding="utf-8").replace('"extractive"', '"other"'), encoding="utf-8")
    assert [run.models[0].name for run in shelf.runs()] == ["other"]


@pytest.mark.parametrize("run", ["answers-9", "../../etc"])
def test_a_run_that_does_not_exist_is_said(handlers: ReportHandlers, run: str) -> None:
    assert 'role="alert"' in html_of(handlers, do="run", run=run)


@pytest.mark.parametrize("command", [{"do": "overview"}, {"do": "run", "run": "answers-1"}])
def test_who_is_no_evaluator_gets_nothing(handlers: ReportHandlers, command: dict[str, str]) -> None:
    html = html_of(handlers, role="analyst", **command)
    assert "Dafür fehlt Ihnen die Berechtigung." in html
    assert "Fehlschläge" not in html


def test_questions_of_another_knowledge_base_cover_nothing(data_dir: Path) -> None:
    class Foreign(Served):
        def questions(self) -> tuple[()]:
            return ()

    text = text_of(ReportHandlers(ReportShelf(data_dir), Foreign(), lambda: ()), do="overview")
    assert "Die mitgelieferten Fragen gehören zu einer anderen Wissensbasis." in text
