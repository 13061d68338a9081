"""What the tab Protokoll answers to the page's commands, and to whom."""

import json
import re
from datetime import UTC, datetime
from html import unescape

import gradio as gr
import pytest
from starlette.requests import Request

from app.access.person import Person, Role
from app.store.answer_search import AnswerFilter
from app.store.audit import AuditLog
from app.store.database import Database
from app.store.feedback import Feedback
from app.ui.protocol.answer_log import AnswerLog
from app.ui.protocol.handlers import ProtocolHandlers
from pipelines.errors import IndexMissing


def request_of(*roles: Role) -> gr.Request:
    person = Person("anna", frozenset(roles))
    return gr.Request(Request({"type": "http", "headers": [], "state": {"person": person}}))


def parts(answers: AnswerLog, role: Role = "evaluator", **command: str) -> list[dict[str, str]]:
    found = json.loads(ProtocolHandlers(answers).command(json.dumps(command), request_of(role)))["parts"]
    assert isinstance(found, list)
    return found


def text_of(answers: AnswerLog, **command: str) -> str:
    """The first part as a reader sees it."""
    html = parts(answers, **command)[0]["html"]
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html)))


def test_the_list_is_newest_first_and_says_that_the_chain_holds(answers: AnswerLog) -> None:
    listed, chain = parts(answers, do="list")
    assert re.findall(r'data-request="(r-\d)"', listed["html"]) == ["r-5", "r-4", "r-3", "r-2", "r-1"]
    assert "✓ Kette unversehrt · 5 Zeilen" in chain["html"]


def test_filters_reach_the_log(answers: AnswerLog) -> None:
    assert "Wann ist die UVA" in text_of(answers, do="list", status="refused")
    assert text_of(answers, do="list", status="refused").count("15.03.2026") == 1
    assert "nicht hilfreich" in text_of(answers, do="list", feedback="down")
    assert "Keine Antwort passt zu dieser Auswahl." in text_of(answers, do="list", until="2026-03-14")
    assert text_of(answers, do="list", since="15.03.2026", until="2026-03-15").count("15.03.2026") == 5


@pytest.mark.parametrize("day", ["2026-02-30", "31.04.2026", "gestern", "3/15/2026"])
def test_a_day_that_does_not_exist_is_said(answers: AnswerLog, day: str) -> None:
    assert "Bitte ein Datum als TT.MM.JJJJ angeben." in text_of(answers, do="list", since=day)


def test_an_answer_is_shown_with_quotes_that_still_stand_and_one_that_is_gone(answers: AnswerLog) -> None:
    text = text_of(answers, do="show", request="r-1")
    assert text.split("Zitate heute")[1].count("nicht mehr da") == 2
    assert "551,10 €" in text
    assert "anna : Bitte <b>prüfen</b>" in text
    assert "Protokollzeile 1 · sha256:" in text
    assert "pv-sv-05#zusammenfassung · " + "ab" * 32 in text


def test_a_refusal_is_shown_with_its_reason(answers: AnswerLog) -> None:
    text = text_of(answers, do="show", request="r-2")
    assert "Es gibt entfernt verwandte Einträge, aber keiner trägt eine Antwort." in text
    assert "Keine Rückmeldung." in text


def test_drift_names_the_answers_that_cite_what_is_gone(answers: AnswerLog) -> None:
    html = parts(answers, do="drift")[0]["html"]
    assert re.findall(r'data-request="(r-\d)"', html) == ["r-3", "r-1"]


def test_hostile_text_stays_text(answers: AnswerLog) -> None:
    for command in ({"do": "list"}, {"do": "show", "request": "r-3"}, {"do": "show", "request": "r-1"}, {"do": "drift"}):
        assert "<b>" not in parts(answers, **command)[0]["html"]


def test_a_sheet_is_handed_out(answers: AnswerLog) -> None:
    (sheet,) = parts(answers, do="sheet", request="r-1")
    assert sheet["download"] == "beweisblatt-r-1.html"
    assert "551,10 €" in sheet["content"]


@pytest.mark.parametrize("command", ["list", "drift", "chain", "show", "sheet"])
def test_who_is_no_evaluator_gets_nothing(answers: AnswerLog, command: str) -> None:
    arguments = {"request": "r-1"} if command in ("show", "sheet") else {}
    (part,) = parts(answers, role="analyst", do=command, **arguments)
    assert "Dafür fehlt Ihnen die Berechtigung." in part["html"]
    assert "r-1" not in part["html"]


@pytest.mark.parametrize("raw", ["", "[]", '{"do": "delete"}', '{"do": "show"}', '{"do": "list", "before": "x"}'])
def test_unknown_commands_are_refused(answers: AnswerLog, raw: str) -> None:
    assert "unknown command" in ProtocolHandlers(answers).command(raw, request_of("admin"))


def test_what_does_not_exist_is_said(answers: AnswerLog) -> None:
    assert "There is no answer 'r-9'" in text_of(answers, do="show", request="r-9")


def test_without_an_index_quotes_are_not_judged(database: Database) -> None:
    def nothing_served() -> object:
        raise IndexMissing("none")

    answers = AnswerLog(AuditLog(database), Feedback(database), nothing_served)  # type: ignore[arg-type]
    assert "Ohne Index lässt sich nicht prüfen, ob die Zitate noch gelten." in text_of(answers, do="show", request="r-1")
    assert "Es gibt noch keinen Index" in text_of(answers, do="drift")


def test_deleted_content_is_said_and_what_remains_is_shown(tmp_path, answers: AnswerLog) -> None:
    database = Database(tmp_path)
    for record in reversed(list(answers.records(AnswerFilter()))):
        assert record.outcome is not None
        AuditLog(database).append(record.outcome, record.sections)
    AuditLog(database).delete_content(datetime(2027, 1, 1, tzinfo=UTC))
    emptied = AnswerLog(AuditLog(database, keep_content=False), Feedback(database), lambda: lambda _: [])
    assert text_of(emptied, do="list").count("Inhalt gelöscht oder nie gespeichert") == 5
    text = text_of(emptied, do="show", request="r-1")
    assert "Von dieser Antwort sind nur Kennungen" in text
    assert "pv-sv-07" in text
    assert "551,10" not in text
    assert "gelöscht oder nie gespeichert" in parts(emptied, do="sheet", request="r-1")[0]["html"]
    database.close()
