import json

import pytest
from typer.testing import CliRunner

from app.cli.main import app

PASSWORD = "vier lange Wörter hier"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("PV_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)

    def made(*arguments: str, stdin: str = ""):
        return CliRunner().invoke(app, ["users", *arguments], input=stdin)

    return made


def test_an_account_is_added_listed_changed_and_removed(run):
    assert run("add", "maria", "--role", "analyst", stdin=PASSWORD + "\n").exit_code == 0
    assert run("role", "maria", "--role", "evaluator", "--role", "editor").exit_code == 0
    assert run("password", "maria", stdin="fünf andere lange Wörter\n").exit_code == 0
    listed = json.loads(run("list", "--json").stdout)
    assert [(a["name"], a["roles"], a["removed_at"]) for a in listed] == [("maria", ["evaluator", "editor"], None)]
    assert run("remove", "maria").exit_code == 0
    assert "removed 20" in run("list").stdout


def test_neither_output_nor_error_shows_the_password(run):
    results = [
        run("add", "maria", "--role", "admin", stdin=PASSWORD + "\n"),
        run("add", "maria", "--role", "admin", stdin=PASSWORD),
    ]
    results.append(run("add", "hans", "--role", "admin", stdin="kurz-xyz\n"))
    assert [result.exit_code for result in results] == [0, 2, 2]
    assert not any(secret in result.output for result in results for secret in (PASSWORD, "kurz-xyz"))


@pytest.mark.parametrize("arguments", [["add", "maria"], ["add", "maria", "--role", "root"], ["add", "maria", "--role", "admin"]])
def test_what_is_missing_or_unknown_is_bad_input(run, arguments):
    assert run(*arguments).exit_code == 2


def test_an_account_that_does_not_exist_cannot_be_changed(run):
    assert run("remove", "maria").exit_code == 1
    assert run("role", "maria", "--role", "admin").exit_code == 1
