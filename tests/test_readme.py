"""What the documents say exists: commands, make targets, files."""

import re
import sys
from pathlib import Path

import pytest
import typer.main

from app.cli.main import app as product
from app.ui import strings
from app.ui.bakeoff.texts import TITLE as BAKEOFF
from app.ui.manage.texts import TITLE as MANAGE
from app.ui.protocol import texts as protocol
from app.ui.reports import texts as reports
from evaluation.__main__ import app as evaluation

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PROGRAMS = {"app": typer.main.get_command(product), "evaluation": typer.main.get_command(evaluation)}


def commands(text: str) -> set[tuple[str, str]]:
    """Every `python -m app|evaluation WORD` in a text; `a\\|b` in a table names several."""
    found = set()
    for program, words in re.findall(r"python -m (app|evaluation) ([a-z][a-z\\|-]*)", text):
        found |= {(program, word) for word in words.replace("\\", "").split("|") if word}
    return found


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_command_in_a_document_exists(document: Path) -> None:
    for program, word in commands(document.read_text(encoding="utf-8")):
        assert word in PROGRAMS[program].commands, f"python -m {program} {word}"  # type: ignore[attr-defined]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_file_a_document_links_to_exists(document: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text(encoding="utf-8")):
        assert (document.parent / target).exists(), target


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_source_file_a_document_names_exists(document: Path) -> None:
    for name in re.findall(r"`([a-z_]+/[a-z_/]+\.(?:py|js|yaml))`", document.read_text(encoding="utf-8")):
        assert (ROOT / name).exists(), name


def test_every_make_target_in_the_readme_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"(?:^|`)make ([a-z]+)", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_commands_are_read_from_text_and_tables() -> None:
    assert commands("`python -m app docs\\|jobs …` and python -m evaluation answers --json") == {
        ("app", "docs"),
        ("app", "jobs"),
        ("evaluation", "answers"),
    }


def commands_table() -> str:
    """Every command with the first sentence of its help, as the README has it."""
    lines = ["| command | does |", "|---|---|"]
    for program, group in PROGRAMS.items():
        for name, command in group.commands.items():  # type: ignore[attr-defined]
            first = " ".join((command.help or "").split("\n\n")[0].split()).replace("|", "\\|")
            lines.append(f"| `python -m {program} {name}` | {first} |")
    return "\n".join(lines)


def test_the_readmes_commands_are_those_of_the_help() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = readme.split("<!-- commands:begin -->\n")[1].split("\n<!-- commands:end -->")[0]
    assert shown == commands_table(), "put what `python -m tests.test_readme` prints between the marks"


def test_every_tab_of_the_page_is_in_the_readme() -> None:
    table = (ROOT / "README.md").read_text(encoding="utf-8").split("## The page")[1].split("##")[0]
    titles = [strings.TAB_ASK, strings.TAB_SEARCH, BAKEOFF, reports.TITLE, MANAGE, protocol.TITLE]
    assert [title for title in titles if f"| {title} |" not in table] == []


if __name__ == "__main__":
    sys.stdout.write(commands_table() + "\n")
