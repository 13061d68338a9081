"""`facts.ndjson`: the values of the „Kernwerte & Fristen“ tables of one index version, one fact a line."""

from collections.abc import Iterable
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from custom_postprocessors.evidence import Fact
from pipelines.errors import IndexFault

FACTS_FILE = "facts.ndjson"
_FACT = TypeAdapter(Fact)


def write_facts(facts: Iterable[Fact], path: Path) -> tuple[Fact, ...]:
    """Writes facts in their order and returns them (facts are small; the sections they stand in are not kept)."""
    kept = tuple(facts)
    with path.open("wb") as handle:
        handle.writelines(_FACT.dump_json(fact) + b"\n" for fact in kept)
    return kept


def read_facts(path: Path) -> tuple[Fact, ...]:
    """Reads what `write_facts` wrote.

    Raises:
        IndexFault: the file is missing or damaged.
    """
    try:
        with path.open("rb") as handle:
            return tuple(_FACT.validate_json(line) for line in handle)
    except (OSError, ValidationError) as exc:
        raise IndexFault(f"{str(path)!r} is damaged.", hint="Rebuild with `python -m app ingest --full`.") from exc
