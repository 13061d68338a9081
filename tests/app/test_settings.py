import os
from datetime import date
from pathlib import Path

import pytest
from pydantic import ValidationError

from app.settings import Settings
from app.settings_table import env_example, markdown_table
from pipelines.errors import SettingsError

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("PV_"):
            monkeypatch.delenv(name)


def test_defaults_stand_alone() -> None:
    settings = Settings.load(env_file=None)
    assert settings.kb_dir == ROOT / "storage" / "wissensbasis"
    assert (settings.host, settings.port, settings.llm_model, settings.embed_model) == ("127.0.0.1", 7860, "auto", "auto")


def test_the_environment_wins_over_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / ".env"
    file.write_text("# comment\nPV_PORT=7001\nPV_HOST='127.0.0.2'\nOTHER=1\n", encoding="utf-8")
    monkeypatch.setenv("PV_PORT", "7002")
    settings = Settings.load(env_file=file)
    assert (settings.port, settings.host) == (7002, "127.0.0.2")


def test_an_unknown_setting_is_an_error_that_names_the_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PV_LLM_MODELL", "x")
    with pytest.raises(SettingsError, match=r"Unknown setting 'PV_LLM_MODELL'\. Did you mean PV_LLM_MODEL\?"):
        Settings.load(env_file=None)


def test_variables_of_the_tests_are_let_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PV_TEST_OLLAMA_URL", "http://127.0.0.1:1")
    assert Settings.load(env_file=None).port == 7860


@pytest.mark.parametrize(
    ("name", "value"),
    [("PV_PORT", "0"), ("PV_PORT", "x"), ("PV_FUSION", "best"), ("PV_TEMPERATURE", "0.7"), ("PV_OLLAMA_URL", "localhost:11434")],
)
def test_a_bad_value_is_named_with_its_variable(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError, match=f"{name} has value '{value}'"):
        Settings.load(env_file=None)


def test_an_empty_variable_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PV_PORT", "")
    assert Settings.load(env_file=None).port == 7860


def test_keys_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PV_API_KEY", "geheim-123")
    assert "geheim-123" not in repr(Settings.load(env_file=None))


def test_settings_are_frozen() -> None:
    with pytest.raises(ValidationError):
        Settings.load(env_file=None).port = 1  # type: ignore[misc]


def test_the_clock_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PV_TODAY", "2026-06-15")
    assert Settings.load(env_file=None).clock_day == date(2026, 6, 15)


def test_the_example_file_equals_the_settings_class() -> None:
    assert (ROOT / ".env.example").read_text(encoding="utf-8") == env_example()


def test_the_table_in_the_documents_equals_the_settings_class() -> None:
    text = (ROOT / "docs" / "operation.md").read_text(encoding="utf-8")
    assert text.split("<!-- settings:begin -->\n")[1].split("\n<!-- settings:end -->")[0] == markdown_table()
