"""What the command line says and how it ends: JSON on stdout, everything else on stderr, one exit code per kind of end."""

import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

from pipelines.errors import BadInput, ModelError, PvAgentError, SettingsError

EXIT_FAILED = 1
EXIT_BAD_INPUT = 2
EXIT_UNAVAILABLE = 3


def print_json(value: Any) -> None:
    """One JSON document on stdout, UTF-8, indented; nothing else is written there."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2))


def say(text: str = "") -> None:
    """A line for people on stderr."""
    typer.echo(text, err=True)


@contextmanager
def reported_errors() -> Iterator[None]:
    """Turns the product's errors into a message on stderr and an exit code: 2 bad input, 3 model unavailable, 1 the rest.

    A defect (any other exception) passes through.
    """
    try:
        yield
    except (BadInput, SettingsError) as exc:
        say(f"Error: {exc}")
        raise typer.Exit(EXIT_BAD_INPUT) from exc
    except ModelError as exc:
        say(f"Error: {exc}")
        raise typer.Exit(EXIT_UNAVAILABLE) from exc
    except PvAgentError as exc:
        say(f"Error: {exc}")
        raise typer.Exit(EXIT_FAILED) from exc


class JsonFormatter(logging.Formatter):
    """One JSON object a line: time, level, logger, message, and the traceback of an exception."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as a JSON line without line breaks inside."""
        entry = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            entry["exception"] = self.formatException(record.exc_info)
        return json.dumps(entry, ensure_ascii=False)


def configure_logging(level: str, *, json_lines: bool = False) -> None:
    """Logs to stderr as text, or to stdout as JSON lines; libraries only from WARNING on."""
    handler = logging.StreamHandler(sys.stdout if json_lines else sys.stderr)
    handler.setFormatter(JsonFormatter() if json_lines else logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    for layer in ("app", "evaluation", "pipelines", "custom_postprocessors"):
        logging.getLogger(layer).setLevel(level)
