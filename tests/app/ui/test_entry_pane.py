"""The entry beside the answer."""

import pytest

from app.ui.entry_pane import WHOLE_ENTRY_CHARACTERS, entry_pane
from app.ui.service import EntrySection, EntrySource, EntryView
from tests.app.ui.fake_service import FakeService


def entry(**fields: object) -> EntryView:
    return EntryView(entry_id="pv-a-01", title="Titel", stand="2026-01", work="pv", topic="thema", **fields)


def test_the_cited_section_is_the_one_that_is_marked():
    view = FakeService().entry("pv-sv-05")
    place = FakeService().cite("pv-sv-05", "Kernwerte & Fristen", "| BV-Beitrag | 1,53 % | laufend | BMSVG |")
    html = entry_pane(view, section=place.section, spans=[(place.start, place.end)])
    assert html.count('id="pv-cited"') == 1
    assert html.count('id="pv-hit"') == 1
    assert html.index('id="pv-cited"') < html.index('id="pv-hit"')


@pytest.mark.parametrize("span", [(0, 10_000), (5, 5), (7, 3), (9_999, 10_000)])
def test_a_place_that_is_not_there_any_more_is_said_and_marks_nothing(span: tuple[int, int]):
    view = entry(sections=(EntrySection("Zusammenfassung", "Ein kurzer Text."),))
    html = entry_pane(view, section="Zusammenfassung", spans=[span])
    assert "<mark" not in html
    assert "in der aktuellen Fassung" in html


def test_a_section_that_is_gone_is_said():
    html = entry_pane(entry(sections=(EntrySection("Neu", "Text"),)), section="Alt", spans=[(0, 2)])
    assert "in der aktuellen Fassung" in html


def test_a_long_source_text_shows_the_cited_section_and_names_the_others():
    long = "Wort " * WHOLE_ENTRY_CHARACTERS
    view = entry(sections=(EntrySection("§ 1", long), EntrySection("§ 2", "Kurz."), EntrySection("§ 3", long)))
    html = entry_pane(view, section="§ 2", spans=[(0, 5)])
    assert len(html) < 5_000
    assert html.count('class="pv-closed"') == 2


def test_only_web_addresses_become_links():
    sources = (EntrySource("A", "gut", "https://example.at/x", "2026"), EntrySource("B", "böse", "javascript:alert(1)", "2026"))
    html = entry_pane(entry(sources=sources))
    assert html.count("<a ") == 1
    assert 'href="https://example.at/x" target="_blank" rel="noopener noreferrer nofollow"' in html
    assert "javascript:" not in html
