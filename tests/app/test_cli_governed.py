"""The commands `tags`, `prompts`, `endpoints` and `conflicts care`."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from app.cli.main import app
from tests.app.test_ingest import Folder, entry


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    made = Folder(tmp_path / "kb")
    made.put("pv-a-01", entry("pv-a-01"))
    made.put("pv-a-02", entry("pv-a-02"))
    for name, value in (
        ("DATA_DIR", tmp_path / "data"),
        ("KB_DIR", made.path),
        ("EMBED_MODEL", "embedded"),
        ("OLLAMA_URL", "http://127.0.0.1:9"),
    ):
        monkeypatch.setenv(f"PV_{name}", str(value))
    return made


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def printed(*arguments: str) -> object:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_tags_are_managed_and_their_index_follows() -> None:
    assert run("ingest").exit_code == 0
    suggested = printed("tags", "suggest")
    assert [(one["kind"], one["name"], one["entries"]) for one in suggested] == [  # type: ignore[union-attr]
        ("topic", "probe", ["pv-a-01", "pv-a-02"]),
        ("tag", "Grenze", ["pv-a-01", "pv-a-02"]),
    ]
    created = run("tags", "create", "Freigrenze", "pv-a-01", "--author", "anna")
    assert (created.exit_code, created.stdout) == (0, "tag Freigrenze: pv-a-01\n")
    assert "Served: tag index 1" in created.stderr
    assert run("tags", "assign", "freigrenze", "pv-a-02", "--no-build").stdout == "tag Freigrenze: pv-a-01, pv-a-02\n"
    assert "older than these tags" in run("tags", "list").stderr
    rebuilt = printed("tags", "rebuild")
    assert (rebuilt["state"], rebuilt["result"]) == ("COMPLETED", {"tag_index_version": "2", "tags": 1})  # type: ignore[call-overload]
    plan = printed("search", "Was ist eine Freigrenze?")["plan"]  # type: ignore[call-overload]
    assert plan["tags"] == ["Freigrenze"]
    assert run("tags", "remove", "Freigrenze").exit_code == 0
    assert printed("tags", "list") == []
    assert [step["action"] for step in printed("tags", "history")] == ["remove", "assign", "assign", "create"]  # type: ignore[union-attr]


def test_a_wrong_kind_or_an_unknown_tag_changes_nothing() -> None:
    assert run("tags", "create", "X", "--kind", "word").exit_code == 2
    unknown = run("tags", "remove", "X")
    assert (unknown.exit_code, "no tag 'X'" in unknown.stderr) == (1, True)
    assert printed("jobs", "list") == []


def test_guidance_comes_and_goes_in_versions(tmp_path: Path) -> None:
    built_in = run("prompts", "show").stdout
    (tmp_path / "text.txt").write_text("Schreib kurz.\n", encoding="utf-8")
    assert run("prompts", "add", str(tmp_path / "text.txt"), "--note", "Ton").stdout == "answer version 1 is used now\n"
    assert run("prompts", "show").stdout.startswith(built_in.rstrip())
    assert run("prompts", "show", "--number", "1").stdout == "Schreib kurz.\n"
    assert run("prompts", "activate", "0").exit_code == 0
    assert run("prompts", "show").stdout == built_in
    listed = printed("prompts", "list")
    assert [(one["number"], one["active"]) for one in listed] == [(1, False), (0, True)]  # type: ignore[union-attr]
    assert [step["number"] for step in printed("prompts", "history")] == [0, 1]  # type: ignore[union-attr]
    (tmp_path / "latin.txt").write_bytes(b"\xff")
    assert run("prompts", "add", str(tmp_path / "latin.txt")).exit_code == 2
    assert run("prompts", "activate", "7").exit_code == 1


def test_endpoints_are_added_tested_and_activated() -> None:
    assert run("endpoints", "add", "gpu", "http://anna:geheim@gpu").exit_code == 2
    assert run("endpoints", "add", "gpu", "http://127.0.0.1:9", "--model", "qwen3.8:27b").exit_code == 0
    tested = run("endpoints", "test", "gpu")
    assert (tested.exit_code, "Ollama" in tested.stdout) == (3, True)
    assert run("endpoints", "activate", "gpu").stdout == "gpu@1 http://127.0.0.1:9 is asked now\n"
    assert [(one["name"], one["active"]) for one in printed("endpoints", "list")] == [("standard", False), ("gpu", True)]  # type: ignore[union-attr]
    assert run("endpoints", "activate", "standard").exit_code == 0
    assert [one["active"] for one in printed("endpoints", "list")] == [True, False]  # type: ignore[union-attr]


def test_the_care_of_a_conflict_needs_a_conflict_of_the_register(folder: Folder) -> None:
    assert run("ingest").exit_code == 0
    assert run("conflicts", "care", "cf-0000000000", "--owner", "anna").exit_code == 1
    table = (
        "\n## Kernwerte & Fristen\n\n| Kennzahl | Wert | Gültig | Grundlage |\n|---|---|---|---|\n"
        "| Grenze monatlich | {} € | 2026 | § 5 ASVG |\n"
    )
    folder.put("pv-a-01", entry("pv-a-01") + table.format("551,10"))
    folder.put("pv-a-02", entry("pv-a-02") + table.format("560,00"))
    assert run("ingest").exit_code == 0
    found = printed("conflicts")
    assert found
    conflict_id = found[0]["id"]  # type: ignore[index]
    kept = run("conflicts", "care", conflict_id, "--owner", "anna", "--status", "in_progress", "--note", "ÖGK gefragt")
    assert kept.stdout.startswith(f"{conflict_id} in_progress anna: ")
    care = printed("conflicts")[0]["care"]  # type: ignore[index]
    assert (care["owner"], care["status"], care["note"]) == ("anna", "in_progress", "ÖGK gefragt")
    assert run("conflicts", "care", conflict_id, "--status", "weg").exit_code == 2
