"""The notebooks run from top to bottom on the embedded default, import the project and define nothing."""

import ast
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.app.bundled import KNOWLEDGE_BASE, NOBODY, indexed

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def code_of(path: Path) -> list[str]:
    return [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_defines_nothing_and_carries_no_output(path: Path) -> None:
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            assert cell.outputs == []
            tree = ast.parse(cell.source)
            assert not [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda)]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    settings = indexed(tmp_path_factory.mktemp("notebooks"))
    return {
        "PV_DATA_DIR": str(settings.data_dir),
        "PV_KB_DIR": str(KNOWLEDGE_BASE),
        "PV_OLLAMA_URL": NOBODY,
        "PV_TODAY": "2026-06-15",
        "MPLBACKEND": "Agg",
    }


@pytest.mark.notebook
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=170, resources={"metadata": {"path": str(ROOT)}}).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert [output for output in outputs if output.output_type == "error"] == []
    assert any("551,10 €" in str(output) for output in outputs)
