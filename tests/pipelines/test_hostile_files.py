"""Files that nobody should write: always a report, never a traceback, never slow."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.knowledge_base import FileReading
from pipelines.nodes import split_entry
from pipelines.normalisation import is_invisible
from tests.pipelines.entries import GOOD_BODY, KEY_VALUES, SUMMARY, TITLE, body, entry_text, faults_of, frontmatter, read

GOOD = entry_text()
HOSTILE = {
    "empty": b"",
    "line ends only": b"\n\n\n",
    "blanks only": b"   \n\t\n",
    "byte order mark only": b"\xef\xbb\xbf",
    "byte order mark of UTF-16": GOOD.encode("utf-16"),
    "UTF-16 without mark": GOOD.encode("utf-16-le"),
    "Latin-1": GOOD.encode("latin-1", "replace"),
    "picture": b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 10,
    "archive": b"PK\x03\x04" + bytes(range(1, 256)) * 10,
    "NUL inside": GOOD.replace("1,11", "1,\x0011").encode(),
    "encoded surrogate": GOOD.encode() + b"\xed\xa0\x80",
    "overlong encoding": GOOD.encode() + b"\xc0\xaf",
    "truncated character": GOOD.encode() + "€".encode()[:2],
    "lost character": GOOD.replace("1,11 €", "1,11 \ufffd"),
    "fence with text": "--- # x\n" + frontmatter() + "---\n" + GOOD_BODY,
    "fence with four hyphens": "----\n" + frontmatter() + "----\n" + GOOD_BODY,
    "indented fence": " ---\n" + frontmatter() + " ---\n" + GOOD_BODY,
    "blank line before the fence": "\n" + GOOD,
    "comment before the fence": "# x\n" + GOOD,
    "opened twice": "---\n" + GOOD,
    "only a fence": "---",
    "two fences": "---\n---",
    "closed by dots": "---\n" + frontmatter() + "...\n" + GOOD_BODY,
    "two documents": entry_text({"id": "pv-tst-01\n--- x"}),
    "list": "---\n- a\n- b\n---\n" + GOOD_BODY,
    "scalar": "---\nnur Text\n---\n" + GOOD_BODY,
    "number": "---\n42\n---\n" + GOOD_BODY,
    "unclosed before a body": "---\n" + frontmatter() + "\n" + GOOD_BODY,
    "field twice": entry_text().replace("work: pv\n", "work: pv\nwork: pv\n"),
    "field of a source twice": entry_text().replace('    title: "Quelle"\n', '    title: "Quelle"\n    title: "Q"\n'),
    "python object": entry_text({"title": "!!python/object/apply:os.system ['true']"}),
    "python name": entry_text({"title": "!!python/name:os.system"}),
    "own tag": entry_text({"title": "!mein x"}),
    "binary tag": entry_text({"title": "!!binary aGFsbG8="}),
    "string tag": entry_text({"stand": "!!str 2026-01"}),
    "set": entry_text({"tags": "!!set {a, b}"}),
    "anchor": entry_text({"title": "&a x"}),
    "alias": entry_text({"topic": "&a probe", "autor": "*a"}),
    "alias without anchor": entry_text({"title": "*nichts"}),
    "alias of itself": entry_text({"tags": "&a [*a]"}),
    "merge of an alias": entry_text({"autor": "&a {b: c}", "<<": "*a"}),
    "lists in lists": entry_text({"tags": "[" * 50_000}),
    "mappings in mappings": entry_text({"tags": "{a: " * 20_000}),
    "closed lists in lists": entry_text({"tags": "[" * 3000 + "]" * 3000}),
    "block lists in lists": entry_text({"tags": "\n" + "- " * 3000}),
    "huge key": entry_text({"x" * 90_000: "1"}),
    "many fields": entry_text({f"x{number}": "1" for number in range(3000)}),
    "huge frontmatter": entry_text({"title": '"' + "x" * 200_000 + '"'}),
    "list as key": entry_text({"? [a, b]\n": "x"}),
    "mapping as key": entry_text({"{a: b}": "x"}),
    "nothing as key": entry_text({"": "x"}),
    "escape beyond Unicode": entry_text({"title": '"\\UFFFFFFFF"'}),
    "escaped surrogate": entry_text({"title": '"a\\uD800"'}),
    "unknown escape": entry_text({"title": '"\\q"'}),
    "directive": "---\n%YAML 9.9\n" + GOOD[4:],
    "reserved character": entry_text({"title": "@x"}),
    "backtick": entry_text({"title": "`x`"}),
    "tabulator": entry_text({"title": "\t\tx"}).replace("title:", "\ttitle:"),
    "heading characters": entry_text(text="#" * 100_000),
    "headings only": entry_text(text="##\n" * 9_000),
    "more headings than sections": entry_text(text="##\n" * 1_000_000),
    "one word": entry_text(text="x" * 1_000_000),
    "quotes in quotes": entry_text(text=body(SUMMARY) + ">" * 100_000),
    "lists in lists of the body": entry_text(text=TITLE + "- " * 20_000),
    "numbered lists": entry_text(text=TITLE + "".join(" " * level + "1. x\n" for level in range(500))),
    "brackets": entry_text(text=TITLE + "[" * 100_000),
    "emphasis": entry_text(text=TITLE + "*a_" * 50_000),
    "fences": entry_text(text=TITLE + "```\n" * 20_001),
    "four megabytes of short lines": entry_text(text=TITLE + "```\n```\n\nx\n" * 300_000),
    "four megabytes of lists": entry_text(text=TITLE + "<!-- -->\n\n" + "- x\n\n" * 700_000),
    "comments": entry_text(text=TITLE + "<!--" * 50_000),
    "tags": entry_text(text=TITLE + "<a" * 100_000),
    "bars": entry_text(text=body(SUMMARY, KEY_VALUES.split("\n")[0] + "\n\n" + "|" * 100_000)),
    "orders": entry_text(text=TITLE + "antworte immer\n\n" * 10_000),
    "blank orders": entry_text(text=TITLE + "system\n" + " \n" * 50_000 + "ignoriere " * 5000),
}
FINE = {"escaped surrogate", "quotes in quotes", "bars"}
"""Ugly, but entries all the same; their faults are warnings."""


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE.keys())
def test_is_reported_and_not_taken_over(data: str | bytes, request: pytest.FixtureRequest) -> None:
    started = time.process_time()
    reading = read(data)
    assert time.process_time() - started < 5
    if request.node.callspec.id not in FINE:
        assert reading.entry is None
        assert any(fault.severity == "error" for fault in reading.faults)
    assert_presentable(reading)


def assert_presentable(reading: FileReading) -> None:
    for fault in reading.faults:
        assert fault.line >= 1
        shown = fault.message + (fault.value or "") + (fault.field or "") + (fault.section or "")
        assert len(shown) < 700
        assert not any(is_invisible(character) or character in "\n\t" for character in shown)
        shown.encode()


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("empty", "frontmatter_missing"),
        ("NUL inside", "not_text"),
        ("byte order mark of UTF-16", "not_utf8"),
        ("UTF-16 without mark", "not_utf8"),
        ("encoded surrogate", "not_utf8"),
        ("lost character", "replacement_character"),
        ("fence with text", "frontmatter_missing"),
        ("only a fence", "frontmatter_unclosed"),
        ("unclosed before a body", "frontmatter_unclosed"),
        ("closed by dots", "frontmatter_unclosed"),
        ("two documents", "yaml_multiple_documents"),
        ("list", "frontmatter_not_fields"),
        ("scalar", "frontmatter_not_fields"),
        ("field twice", "duplicate_field"),
        ("field of a source twice", "duplicate_field"),
        ("python object", "yaml_tag_not_allowed"),
        ("string tag", "yaml_tag_not_allowed"),
        ("alias of itself", "yaml_alias_not_allowed"),
        ("alias without anchor", "yaml_alias_not_allowed"),
        ("merge of an alias", "yaml_alias_not_allowed"),
        ("lists in lists", "yaml_too_deep"),
        ("huge frontmatter", "frontmatter_too_large"),
        ("escape beyond Unicode", "yaml_syntax"),
        ("tabulator", "yaml_syntax"),
    ],
)
def test_is_called_by_its_name(name: str, code: str) -> None:
    assert code in {fault.fault for fault in read(HOSTILE[name]).faults if fault.severity == "error"}


def test_an_empty_frontmatter_lacks_every_field() -> None:
    assert [fault.fault for fault in read("---\n---\n\n" + GOOD_BODY).faults] == ["missing_field"] * 9


@pytest.mark.parametrize("line_end", ["\r\n", "\r"])
def test_every_kind_of_line_end_is_read_the_same(line_end: str) -> None:
    other = read(GOOD.replace("\n", line_end))
    assert faults_of(other) == [("crlf", "info", 1)]
    assert other.entry == read(GOOD).entry


@pytest.mark.parametrize(
    ("character", "shown"),
    [
        ("\u200b", "U+200B"),
        ("\u202e", "U+202E"),
        ("\u2066", "U+2066"),
        ("\u00ad", "U+00AD"),
        ("\ufeff", "U+FEFF"),
        ("\x07", "U+0007"),
        ("\x1b", "U+001B"),
        ("\x7f", "U+007F"),
        ("\x9b", "U+009B"),
        ("\ue000", "U+E000"),
        ("\U000e0041", "U+E0041"),
        ("\U000e0100", "U+E0100"),
        ("\ufffe", "U+FFFE"),
        ("\u3164", "U+3164"),
        ("\u2800", "U+2800"),
        ("\ufe01", "U+FE01"),
    ],
)
def test_what_nobody_sees_is_removed_and_reported(character: str, shown: str) -> None:
    spoilt = entry_text(
        {"tags": f'\n  - "Probe{character}fahrt"\n  - "Zuschlag"'}, text=GOOD_BODY.replace("1,11", f"1,{character}11")
    )
    reading = read(spoilt)
    faults = [(fault.fault, fault.line, fault.field, fault.characters) for fault in reading.faults]
    assert faults[0] == ("invisible_characters", 8, "tags[0]", (shown,))
    assert {fault[0] for fault in faults} == {"invisible_characters"}
    assert reading.entry is not None
    assert read(GOOD).entry == reading.entry


def test_an_escape_cannot_bring_back_what_was_removed() -> None:
    reading = read(entry_text({"title": '"Zuschlag\\u202E für\\u200B Probefahrten"'}))
    assert faults_of(reading) == [("invisible_characters", "warning", 3)]
    assert reading.entry is not None
    assert reading.entry.title == "Zuschlag für Probefahrten"


@pytest.mark.parametrize("character", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c"])
def test_other_line_breaks_become_a_blank(character: str) -> None:
    reading = read(GOOD.replace("beträgt 1,11", f"beträgt{character}1,11"))
    assert faults_of(reading) == [("invisible_characters", "warning", 24)]
    assert reading.entry == read(GOOD).entry


@pytest.mark.parametrize("visible", ["1.000,00\u00a0€", "5\u202f%", "⚠\ufe0f", "½", "„“–…", "数", "😀", "e\u0323", "\u2212"])
def test_what_can_be_seen_stays(visible: str) -> None:
    reading = read(GOOD.replace("1,11 € je", f"{visible} je"))
    assert {fault.fault for fault in reading.faults} <= {"not_nfc"}
    assert reading.entry is not None
    assert any(text in reading.entry.body for text in (visible, "ẹ"))


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_give_a_report(data: bytes) -> None:
    reading = read(data)
    assert reading.entry is None
    assert_presentable(reading)


@settings(max_examples=100, deadline=None)
@given(position=st.integers(0, len(GOOD)), removed=st.integers(0, 30), inserted=st.text(max_size=20))
def test_a_good_entry_with_damage_gives_a_report_or_an_entry(position: int, removed: int, inserted: str) -> None:
    damaged = (GOOD[:position] + inserted + GOOD[position + removed :]).encode("utf-8", "surrogatepass")
    reading = read(damaged)
    assert_presentable(reading)
    assert (reading.entry is None) == any(fault.severity == "error" for fault in reading.faults)
    if reading.entry is not None:
        assert read(reading.entry.text).entry == reading.entry
        assert all(node.text for node in split_entry(reading.entry))
