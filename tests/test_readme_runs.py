"""A reader who types what the README says gets there: their own entry cited, and a bake-off of two models."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from evaluation.__main__ import app as evaluation
from tests import fake_models as fake
from tests.app.bundled import KNOWLEDGE_BASE, NOBODY, copied
from tests.fake_ollama import FakeOllama
from tests.fake_wire import FakeModel

ROOT = Path(__file__).resolve().parent.parent
pytestmark = pytest.mark.notebook


def block(name: str) -> str:
    """The shell commands between two marks of the README."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    return readme.split(f"<!-- {name}:begin -->\n```sh\n")[1].split("\n```\n<!--")[0]


def test_an_entry_of_ones_own_is_indexed_and_cited(tmp_path: Path) -> None:
    script = "set -e\n" + block("own").replace(".venv/bin/python", sys.executable)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PV_")}
    environment |= {"PYTHONPATH": str(ROOT), "PV_OLLAMA_URL": NOBODY, "PV_TODAY": "2026-06-15"}
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = readme.split("<!-- own-answer:begin -->\n> ")[1].split("\n<!--")[0]
    assert shown in done.stdout
    assert (tmp_path / "my-kb" / "kb.json").exists()


def test_two_models_are_compared_and_the_runs_too(tmp_path: Path, bundled_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands = [line.split()[3:] for line in block("bakeoff").splitlines() if "-m evaluation" in line]
    names = re.findall(r"ollama pull (\S+)", block("bakeoff"))
    settings = copied(bundled_data, tmp_path / "data")
    with FakeOllama([FakeModel(name, fake.honest()) for name in names]) as ollama:
        for name, value in {
            "PV_DATA_DIR": str(settings.data_dir),
            "PV_KB_DIR": str(KNOWLEDGE_BASE),
            "PV_OLLAMA_URL": ollama.url,
        }.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(ROOT)
        results = [CliRunner().invoke(evaluation, command) for command in commands]
    assert [result.exit_code for result in results] == [0, 0, 0], [result.output for result in results]
    folder = settings.data_dir / "reports" / "first"
    assert {"report.html", "report.md", "report.json", "answers.csv"} <= {path.name for path in folder.iterdir()}
    assert all(name in results[0].output for name in names)
