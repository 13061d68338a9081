"""The frame of the page: who is there, what is served, what it says when nothing is."""

from dataclasses import replace

from app.access.person import LOCAL_PERSON, NOBODY, Person
from app.ui.page import header, welcome
from tests.app.ui.fake_service import FakeService

OVERVIEW = FakeService().overview()


def test_the_header_names_who_is_logged_in_and_the_way_out() -> None:
    html = header(OVERVIEW, Person("anna <b>", frozenset({"editor"})))
    assert 'anna &lt;b&gt; · <a href="/logout">Abmelden</a>' in html


def test_where_there_are_no_accounts_there_is_nobody_to_log_out() -> None:
    for person in (LOCAL_PERSON, NOBODY, None):
        assert "Abmelden" not in header(OVERVIEW, person)


def test_the_header_says_what_is_served_and_what_answers() -> None:
    html = header(OVERVIEW)
    assert "190 Einträge · 25 Themen · neuester Stand 2026-03" in html
    assert '<span class="pv-mode">Zitatmodus</span>' in html


def test_a_model_that_does_not_answer_is_marked_with_its_reason() -> None:
    broken = replace(OVERVIEW, mode="structured", model="qwen3.8:27b", model_unavailable="Ollama ist nicht erreichbar.")
    html = header(broken)
    assert '<span class="pv-mode pv-mode-broken">qwen3.8:27b</span>' in html
    assert ">Ollama ist nicht erreichbar.<" in html


def test_a_channel_that_failed_is_said() -> None:
    assert "⚠ Bedeutungssuche ausgefallen" in header(replace(OVERVIEW, degraded=("dense",)))


def test_the_first_screen_has_six_questions_and_the_topics() -> None:
    html = welcome(OVERVIEW)
    assert html.count('data-do="example"') == 6
    assert "Was die Wissensbasis behandelt: 25 Themen, 772 Abschnitte" in html
    assert "thema-0\N{NO-BREAK SPACE}(7)" in html


def test_without_an_index_the_first_screen_says_that_it_is_being_built() -> None:
    assert "pv-starting" in welcome(None)
    assert "pv-starting" not in welcome(None, problem="Der Index ist <kaputt>.")
    assert "Der Index ist &lt;kaputt&gt;." in welcome(None, problem="Der Index ist <kaputt>.")
