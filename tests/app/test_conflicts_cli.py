import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from app.cli.main import app
from tests.app.test_ingest import Folder, entry

HEAD = "# Verdicts of this folder.\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    made = Folder(tmp_path / "kb")
    for number, text in ((1, "Die Frist endet mit dem Austritt."), (2, "Die Frist beginnt mit dem Austritt.")):
        made.put(f"pv-a-{number:02d}", entry(f"pv-a-{number:02d}").replace("Die Grenze beträgt 551,10 €.", text))
    (made.path / "conflicts.yaml").write_text(HEAD, encoding="utf-8")
    monkeypatch.setenv("PV_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("PV_KB_DIR", str(made.path))
    monkeypatch.setenv("PV_EMBED_MODEL", "embedded")
    assert run("ingest").exit_code == 0
    return made


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def register(*arguments: str) -> list[dict[str, object]]:
    return json.loads(run("conflicts", "--json", *arguments).stdout)


def added(*texts: str) -> Result:
    sides = [f"--side=pv-a-{number:02d}#Zusammenfassung={text}" for number, text in enumerate(texts, start=1)]
    return run("conflicts", "add", "--quantity", "Beginn der Frist", *sides)


def test_a_conflict_is_added_explained_and_dismissed_each_with_the_next_index(folder: Folder) -> None:
    result = added("endet mit dem Austritt", "beginnt mit dem Austritt")
    assert result.exit_code == 0, result.output
    assert "takes effect with the next index" in result.output
    assert register() == []
    assert run("ingest").exit_code == 0
    (conflict,) = register()
    assert (conflict["quantity"], conflict["status"], conflict["note"]) == ("Beginn der Frist", "open", "")
    assert [side["quote"] for side in conflict["sides"]] == [
        "Die Frist endet mit dem Austritt.",
        "Die Frist beginnt mit dem Austritt.",
    ]

    assert run("conflicts", "explain", str(conflict["id"]), "--note", "zwei Fristen").exit_code == 0
    assert run("ingest").exit_code == 0
    assert [(one["id"], one["status"], one["note"]) for one in register()] == [(conflict["id"], "explained", "zwei Fristen")]

    assert run("conflicts", "dismiss", str(conflict["id"]), "--note", "kein Widerspruch").exit_code == 0
    assert run("ingest").exit_code == 0
    assert register() == []
    assert [one["status"] for one in register("--all")] == ["dismissed"]
    written = (folder.path / "conflicts.yaml").read_text(encoding="utf-8")
    assert written.startswith(HEAD)
    assert written.count("quantity:") == 1


@pytest.mark.parametrize(
    "texts", [("endet mit dem Austritt",), ("endet mit dem Austritt", "steht dort nicht"), ("ohne Gleichheitszeichen", "")]
)
def test_what_no_two_sections_say_cannot_be_added(folder: Folder, texts: tuple[str, ...]) -> None:
    assert added(*texts).exit_code == 2
    assert (folder.path / "conflicts.yaml").read_text(encoding="utf-8") == HEAD


def test_a_conflict_that_the_register_has_not_cannot_be_judged(folder: Folder) -> None:
    result = run("conflicts", "explain", "cf-0000000000", "--note", "x")
    assert result.exit_code == 1
    assert "conflicts --all" in result.output
