"""The settings as documents show them, made from the settings class so that neither can go stale."""

from pathlib import Path

from pydantic.fields import FieldInfo

from app.settings import PREFIX, ROOT, Settings


def markdown_table() -> str:
    """One row a setting: variable, default, meaning."""
    rows = ["| variable | default | meaning |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        rows.append(f"| `{PREFIX}{name.upper()}` | {_code(_default(field))} | {field.description} |")
    return "\n".join(rows)


def env_example() -> str:
    """A `.env` in which every setting stands with its meaning and its default, commented out."""
    blocks = ["# Copy to .env and uncomment what differs. The environment wins over this file.\n"]
    for name, field in Settings.model_fields.items():
        blocks.append(f"# {field.description}\n# {PREFIX}{name.upper()}={_default(field)}\n")
    return "\n".join(blocks)


def _default(field: FieldInfo) -> str:
    value = field.default
    if value is None:
        return ""
    if isinstance(value, Path):
        return value.relative_to(ROOT).as_posix()
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


def _code(text: str) -> str:
    return f"`{text}`" if text else "–"
