"""The editors' verdicts on conflicts, kept beside the knowledge base in `conflicts.yaml`."""

import hashlib
import os
from pathlib import Path

import yaml
from pydantic import ValidationError

from custom_postprocessors.conflicts import Verdict, load_verdicts
from pipelines.errors import KnowledgeBaseError

VERDICTS_FILE = "conflicts.yaml"
_WIDTH = 120


def read_verdicts(folder: Path) -> tuple[Verdict, ...]:
    """The verdicts of a knowledge base; none when it has no such file.

    Raises:
        KnowledgeBaseError: the file cannot be read, or a verdict has a wrong field.
    """
    path = folder / VERDICTS_FILE
    try:
        return load_verdicts(path)
    except (OSError, UnicodeDecodeError, yaml.YAMLError, ValidationError) as exc:
        raise KnowledgeBaseError(f"{str(path)!r} cannot be used: {exc}.", hint="Correct the file; nothing was changed.") from exc


def with_verdicts(state: str, folder: Path) -> str:
    """The hash of a state of the knowledge base together with the verdicts on it: both decide what an index says."""
    path = folder / VERDICTS_FILE
    if not path.is_file():
        return state
    return hashlib.sha256(state.encode("ascii") + path.read_bytes()).hexdigest()


def write_verdict(folder: Path, verdict: Verdict) -> None:
    """Adds a verdict to the file, or puts it in the place of the one on the same entries, sections and values.

    The file is replaced as a whole or not at all; the comment at its beginning and the order of the others stay. The index
    that is served does not change.

    Raises:
        KnowledgeBaseError: the file cannot be read or written.
    """
    known = list(read_verdicts(folder))
    place = next((number for number, one in enumerate(known) if one.key() == verdict.key()), len(known))
    known[place : place + 1] = [verdict]
    path = folder / VERDICTS_FILE
    aside = path.with_suffix(".yaml.new")
    items = [one.model_dump(mode="json", exclude_defaults=True) for one in known]
    try:
        head = _comment(path.read_text(encoding="utf-8")) if path.is_file() else ""
        aside.write_text(head + yaml.safe_dump(items, allow_unicode=True, sort_keys=False, width=_WIDTH), encoding="utf-8")
        os.replace(aside, path)
    except OSError as exc:
        raise KnowledgeBaseError(f"{str(path)!r} cannot be written: {exc}.", hint="Nothing was changed.") from exc


def _comment(text: str) -> str:
    """The comment lines at the beginning of a file."""
    lines = text.splitlines(keepends=True)
    end = next((number for number, line in enumerate(lines) if not line.startswith("#")), len(lines))
    return "".join(lines[:end])
