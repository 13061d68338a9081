import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from pipelines.tables import Row, Table, find_tables


def test_a_table_has_rows_with_cells_and_places() -> None:
    text = "Vor.\n\n| a | b |\n|---|:-:|\n|  c|d \\| e|\n\nNach."
    assert find_tables(text) == (Table(Row(("a", "b"), 2, 6, 15), True, (Row(("c", "d | e"), 4, 26, 38),)),)
    assert text[26:38] == "|  c|d \\| e|"


@pytest.mark.parametrize(
    ("row", "cells"),
    [
        ("| a | b |", ("a", "b")),
        ("|a|b|", ("a", "b")),
        ("| a | b", ("a", "b")),
        ("| a |  | c |", ("a", "", "c")),
        ("| a \\| b |", ("a | b",)),
        ("| a | b \\|", ("a", "b |")),
        ("||", ("",)),
        ("   | a |   ", ("a",)),
    ],
)
def test_cells_of_a_row(row: str, cells: tuple[str, ...]) -> None:
    (table,) = find_tables(row)
    assert table.header.cells == cells


@pytest.mark.parametrize(
    "text",
    ["", "a | b", "```\n| a |\n```", "~~~~\n| a |\n~~~\n| b |\n~~~~", "    | a |", "- | a |", "> | a |", "```\n| a |"],
)
def test_is_no_table(text: str) -> None:
    assert find_tables(text) == ()


def test_tables_are_separated_by_any_other_line() -> None:
    tables = find_tables("| a |\n|---|\n| b |\n\n| c |\nText\n```\n| d |\n```\n| e |\n|---|")
    assert [(table.header.cells, table.delimited, len(table.rows)) for table in tables] == [
        (("a",), True, 1),
        (("c",), False, 0),
        (("e",), True, 0),
    ]


cell = st.text(st.sampled_from("ab 1,€|\\"), max_size=5)


@given(st.lists(st.lists(cell.map(lambda text: text.replace("\\", "").replace("|", "\\|")), min_size=2, max_size=2), max_size=4))
def test_complete_rows_are_read_as_markdown_reads_them(rows: list[list[str]]) -> None:
    text = "| x | y |\n|---|---|\n" + "\n".join(f"| {left} | {right} |" for left, right in rows)
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    cells = [tokens[place + 1].content.replace("\\|", "|") for place, token in enumerate(tokens) if token.type == "td_open"]
    (table,) = find_tables(text)
    assert [value for row in table.rows for value in row.cells] == cells
    assert all(text[row.start : row.end].strip() == text.split("\n")[row.line] for row in table.rows)
