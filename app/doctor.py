"""`doctor`: whether the product can do its work here, check by check, each with what to do."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from pydantic import SecretStr

from app.assembly import Assembly
from app.indexing import invalid_active
from app.ingest import is_folder_changed
from app.settings import PREFIX, Settings
from custom_postprocessors.evidence import Frozen
from pipelines.errors import KnowledgeBaseError, ModelError, PvAgentError
from pipelines.index import read_current_meta
from pipelines.knowledge_base import check_folder

LEAST_FREE_BYTES = 500_000_000


class Check(Frozen):
    """One thing that was looked at. `hint` says what to do and is empty when `ok`."""

    name: str
    ok: bool
    message: str
    hint: str = ""


class Diagnosis(Frozen):
    """All checks; `ok` when nothing is broken. An Ollama that nothing needs may be absent."""

    ok: bool
    checks: tuple[Check, ...]


def diagnose(assembly: Assembly) -> Diagnosis:
    """Runs every check; one that fails does not stop the others."""
    checks = tuple(
        _checked(name, check, assembly)
        for name, check in (
            ("settings", _settings),
            ("knowledge_base", _knowledge_base),
            ("data_folder", _data_folder),
            ("database", _database),
            ("catalogue", _catalogue),
            ("endpoint", _endpoint),
            ("index", _index),
            ("ollama", _ollama),
            ("answering_model", _answering_model),
            ("memory_of_models", _loaded_models),
        )
    )
    return Diagnosis(ok=all(check.ok for check in checks), checks=checks)


def settings_values(settings: Settings) -> dict[str, str]:
    """Every setting as its variable and value; keys are masked."""
    values = {}
    for name in Settings.model_fields:
        value = getattr(settings, name)
        values[f"{PREFIX}{name.upper()}"] = "***" if isinstance(value, SecretStr) else "" if value is None else str(value)
    return values


def _checked(name: str, check: Callable[[Assembly], str], assembly: Assembly) -> Check:
    try:
        return Check(name=name, ok=True, message=check(assembly))
    except PvAgentError as exc:
        return Check(name=name, ok=False, message=exc.message, hint=exc.hint)


def _settings(assembly: Assembly) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings_values(assembly.settings).items())


def _knowledge_base(assembly: Assembly) -> str:
    folder = assembly.settings.kb_dir
    has_registry = check_folder(folder)
    return f"{folder}: {'kb.json fits the files' if has_registry else 'no kb.json'}."


def _data_folder(assembly: Assembly) -> str:
    folder = _existing(assembly.settings.data_dir)
    if not os.access(folder, os.W_OK):
        raise PvAgentError(f"{str(folder)!r} is not writable.", hint="Set PV_DATA_DIR to a folder that is, or change its rights.")
    free = shutil.disk_usage(folder).free
    if free < LEAST_FREE_BYTES:
        raise PvAgentError(f"{str(folder)!r} has {free // 1_000_000} MB left.", hint="Free some space: a rebuild needs room.")
    return f"{assembly.settings.data_dir}: writable, {free // 1_000_000_000} GB free."


def _existing(path: Path) -> Path:
    """The nearest folder that exists; the data folder itself is made at the first run."""
    while not path.exists():
        path = path.parent
    return path


def _database(assembly: Assembly) -> str:
    return f"{assembly.database.path}: opened."


def _catalogue(assembly: Assembly) -> str:
    invalid = invalid_active(assembly.catalogue)
    if invalid:
        named = "; ".join(f"{entry_id}: {codes}" for entry_id, codes in list(invalid.items())[:5])
        raise PvAgentError(
            f"{len(invalid)} active versions are not valid and not in the index ({named}).",
            hint="Upload a corrected version or activate an older one.",
        )
    settings = assembly.settings
    try:
        same = not is_folder_changed(settings.kb_dir, assembly.database)
    except KnowledgeBaseError:
        return f"{len(assembly.catalogue.active_hashes())} active documents; the folder cannot be compared (see knowledge_base)."
    differs = (
        "the folder is taken over"
        if same
        else "the folder was changed since, or not yet read by this program: `python -m app ingest`"
    )
    return f"{len(assembly.catalogue.active_hashes())} active documents; {differs}."


def _endpoint(assembly: Assembly) -> str:
    endpoint = assembly.endpoint
    model = endpoint.model or assembly.settings.llm_model
    return f"{endpoint.label}: {endpoint.url}, model {model}, prompt {assembly.prompt.version}."


def _index(assembly: Assembly) -> str:
    engine = assembly.open_engine()
    meta = engine.index.meta
    with engine.index:
        return (
            f"{meta.index_version}: {meta.entries} entries, {meta.nodes} sections, embeddings {meta.embedding_model!r}, "
            f"fingerprint {meta.digest()[:12]}."
        )


def _ollama(assembly: Assembly) -> str:
    try:
        names = [model.name for model in assembly.gateway.models()]
    except ModelError as exc:
        if _needs_ollama(assembly):
            raise
        return f"Not reachable, and nothing needs it: {exc.message}"
    return f"Reachable; models: {', '.join(names) or 'none'}."


def _needs_ollama(assembly: Assembly) -> bool:
    settings = assembly.settings
    meta = read_current_meta(settings.data_dir)
    embedding = settings.embed_model if settings.embed_model != "auto" else meta.embedding_model if meta else "embedded"
    return settings.llm_model not in ("auto", "extractive") or embedding != "embedded"


def _answering_model(assembly: Assembly) -> str:
    choice = assembly.model_choice()
    return f"{choice.name}: {choice.reason}"


def _loaded_models(assembly: Assembly) -> str:
    try:
        loaded = assembly.gateway.loaded()
    except ModelError:
        return "Unknown: Ollama is not reachable."
    total = sum(model.size_vram_bytes for model in loaded) / 1e9
    shown = ", ".join(f"{m.name} {m.size_vram_bytes / 1e9:.1f} GB, context {m.context_length or '?'}" for m in loaded)
    budget = assembly.settings.vram_budget_gb
    if total > budget:
        raise PvAgentError(f"Loaded models take {total:.1f} GB ({shown}).", hint=f"The budget PV_VRAM_BUDGET_GB is {budget} GB.")
    return shown or "No model is loaded."
