import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.headings import Heading, Outline, is_ambiguous, parsed_outline, read_outline, scanned_outline, slugs

LINES = st.sampled_from(
    [
        "# A",
        "## B",
        "##  C ##",
        "## D \\#",
        "##\tE",
        "##",
        "## ##",
        "#F",
        "### G",
        "####### H",
        "Text",
        "",
        "   ",
        "===",
        "---",
        "- Punkt",
        "1. Punkt",
        "> Zitat",
        "  weiter",
        "    ## Code",
        "\t## Code",
        "```",
        "````",
        "~~~",
        "~~~ markdown",
        "``` a`b",
        "```markdown",
        "| a | b |",
        "|---|---|",
        "## a | b",
        "[x]: /url '",
        "< 2 mm",
        "\\## I",
        "* * *",
        "- ```",
        "> ```",
        "-",
        "## J \u00a0",
    ]
)
AMBIGUOUS = st.sampled_from(["<!-- x", "x -->", "<div>", "</div>", "  ## K", " ```", "  ~~~", "   # L", "<script>", "<b>x</b>"])


@settings(max_examples=300, deadline=None)
@given(st.lists(LINES, max_size=12).map("\n".join))
def test_scanner_and_parser_agree_on_every_text_that_is_not_ambiguous(text: str) -> None:
    assert not is_ambiguous(text)
    assert scanned_outline(text) == parsed_outline(text)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.one_of(LINES, AMBIGUOUS), max_size=12).map("\n".join))
def test_an_ambiguous_text_is_left_to_the_parser(text: str) -> None:
    assert read_outline(text) == parsed_outline(text)


def test_scanner_and_parser_agree_on_the_bundled_knowledge_base(bundled_entries) -> None:
    for entry in bundled_entries:
        assert scanned_outline(entry.body) == parsed_outline(entry.body)


def test_headings_are_those_of_commonmark() -> None:
    hidden = "```\n## Code\n```\n### Tief\n- x\n\n  ## Liste\n\n> ## Zitat\n\n<!--\n## Kommentar\n-->"
    text = f"# Titel\n\n## Eins ##\n{hidden}\n\n  ## Zwei"
    assert read_outline(text) == Outline((Heading(1, "Titel", 0), Heading(2, "Eins", 2), Heading(2, "Zwei", 17)))


@pytest.mark.parametrize("text", ["Titel\n=====\n", "Abschnitt\n---\n", "#Titel", "\\# Titel", "    # Titel", "####### Titel"])
def test_is_no_heading(text: str) -> None:
    assert read_outline(text) == Outline(())


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\n```\nb", 1),
        ("```\nb\n~~~\n", 0),
        ("````\nb\n```\n", 0),
        ("a\n<!-- b\n", 1),
        ("```\nb\n```\n", None),
        ("<!-- b -->\n", None),
        ("```\nb\n```\n\nText", None),
    ],
)
def test_a_block_without_end_is_noticed(text: str, line: int | None) -> None:
    assert read_outline(text).unclosed == line


@pytest.mark.parametrize(
    ("heading", "slug"),
    [
        ("Kernwerte & Fristen", "kernwerte-fristen"),
        ("Payroll-Relevanz (Odoo)", "payroll-relevanz-odoo"),
        ("§ 49 ASVG Entgelt", "49-asvg-entgelt"),
        ("Ärzte, Öfen, Übung, Straße", "arzte-ofen-ubung-strasse"),
        ("Café & Co.", "caf-co"),
        ("§§", "abschnitt"),
        ("x" * 100, "x" * 80),
        ("x" * 79 + " y", "x" * 79),
    ],
)
def test_slug_of_a_heading(heading: str, slug: str) -> None:
    assert slugs([heading]) == [slug]


def test_a_repeated_slug_is_numbered() -> None:
    assert slugs(["§ 1", "1", "Eins", "1.", "x" * 90, "x" * 91]) == ["1", "1-2", "eins", "1-3", "x" * 80, "x" * 80 + "-2"]
    assert slugs(["a", "a 2", "a"]) == ["a", "a-2", "a-3"]


@settings(deadline=None)
@given(st.lists(st.text(max_size=100), max_size=20))
def test_slugs_are_unique_and_plain(headings: list[str]) -> None:
    found = slugs(headings)
    assert len(set(found)) == len(headings)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug) and len(slug) <= 83 for slug in found)
