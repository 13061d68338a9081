"""The one arrow: app → evaluation → pipelines → custom_postprocessors → libraries."""

import ast
from importlib.metadata import distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LAYERS = ("app", "evaluation", "pipelines", "custom_postprocessors")
ALLOWED = {layer: set(LAYERS[position:]) for position, layer in enumerate(LAYERS)}
EXCEPTIONS = {"evaluation/__main__.py": {"app"}}
CLOUD_CLIENTS = {
    "openai",
    "anthropic",
    "cohere",
    "mistralai",
    "groq",
    "google-generativeai",
    "google-cloud-aiplatform",
    "google-genai",
    "boto3",
    "azure-ai-inference",
    "azure-core",
    "together",
    "replicate",
    "llama-index",
    "llama-index-llms-openai",
    "llama-index-embeddings-openai",
    "llama-cloud",
    "llama-cloud-services",
    "llama-parse",
    "posthog",
    "sentry-sdk",
}


def imported_layers(source: str) -> set[str]:
    """The project's layers that a module imports, wherever in the module the import stands."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.add(node.module.split(".")[0])
    return names & {*LAYERS, "tests"}


def modules() -> list[Path]:
    return sorted(path for layer in LAYERS for path in (ROOT / layer).rglob("*.py"))


@pytest.mark.parametrize("module", modules(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_imports_only_from_its_own_layer_and_those_below(module: Path) -> None:
    name = module.relative_to(ROOT).as_posix()
    allowed = ALLOWED[name.split("/")[0]] | EXCEPTIONS.get(name, set())
    assert imported_layers(module.read_text(encoding="utf-8")) <= allowed


def test_an_upward_or_hidden_import_is_noticed() -> None:
    assert imported_layers("def f():\n    from app.settings import Settings\n") == {"app"}
    assert imported_layers("import pipelines.index as i\nfrom tests import fakes\n") == {"pipelines", "tests"}


def test_no_relative_imports_hide_the_direction() -> None:
    relative = [
        path.name
        for path in modules()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert relative == []


def test_only_the_user_interface_imports_gradio() -> None:
    users = {
        path.relative_to(ROOT).as_posix()
        for path in modules()
        if any(
            (isinstance(node, ast.Import) and any(a.name.split(".")[0] == "gradio" for a in node.names))
            or (isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "gradio")
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        )
    }
    assert users
    assert {name for name in users if not name.startswith("app/ui/")} == set()


def test_no_cloud_client_is_installed() -> None:
    installed = {(dist.metadata["Name"] or "").lower().replace("_", "-") for dist in distributions()}
    assert "llama-index-core" in installed
    assert installed & CLOUD_CLIENTS == set()
