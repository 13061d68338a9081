"""The editors' verdicts on conflicts, kept beside the knowledge base in `conflicts.yaml`."""

import hashlib
from pathlib import Path

import yaml
from pydantic import ValidationError

from custom_postprocessors.conflicts import Verdict, load_verdicts
from pipelines.errors import KnowledgeBaseError

VERDICTS_FILE = "conflicts.yaml"


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
