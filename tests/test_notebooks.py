"""The notebooks run from top to bottom on the embedded default, import the project and define nothing."""

import ast
import os
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.app.bundled import KNOWLEDGE_BASE, NOBODY, copied

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
SHOWN = {
    "01_retrieval_exploration": "551,10 €",
    "02_model_bakeoff": "Zitier-Präzision",
    "03_knowledge_base_health": "pv-nsch-01",
}
"""What each notebook has to show somewhere: an answer, the rates of a report, a conflict."""
SECONDS_TOGETHER = 180


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_defines_nothing_and_carries_no_output(path: Path) -> None:
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            assert cell.outputs == []
            tree = ast.parse(cell.source)
            assert not [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda)]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory, bundled_data: Path) -> dict[str, str]:
    settings = copied(bundled_data, tmp_path_factory.mktemp("notebooks"))
    return {
        "PV_DATA_DIR": str(settings.data_dir),
        "PV_KB_DIR": str(KNOWLEDGE_BASE),
        "PV_OLLAMA_URL": NOBODY,
        "PV_TODAY": "2026-06-15",
    }


def test_every_notebook_has_something_to_show() -> None:
    assert sorted(SHOWN) == [path.stem for path in NOTEBOOKS]


@pytest.fixture(scope="module")
def seconds() -> Iterator[list[float]]:
    """Processor time of each notebook's kernel, because other work on the machine says nothing about a notebook.

    Together they have to stay short enough to be run with every change.
    """
    taken: list[float] = []
    yield taken
    assert sum(taken) <= SECONDS_TOGETHER, taken


@pytest.mark.notebook
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, seconds: list[float]) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    notebook = nbformat.read(path, as_version=4)
    before = os.times()
    NotebookClient(notebook, timeout=170, resources={"metadata": {"path": str(ROOT)}}).execute()
    after = os.times()
    seconds.append(after.children_user + after.children_system - before.children_user - before.children_system)
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert [output for output in outputs if output.output_type == "error"] == []
    assert any(SHOWN[path.stem] in str(output) for output in outputs)
    assert sum("image/png" in str(output) or "<svg" in str(output) for output in outputs) >= 2
