from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from app.store.database import Database
from app.store.documents import Change
from app.store.guidance import Guidance
from pipelines.errors import BadInput, NotFound, StoreError

ADMIN = Change("otto", "Ton")


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def guidance(database: Database) -> Guidance:
    return Guidance(database)


def test_without_any_version_the_product_speaks_for_itself(guidance: Guidance) -> None:
    assert (guidance.active("answer").number, guidance.active("answer").guidance) == (0, "")
    assert [version.number for version in guidance.versions("review")] == [0]


def test_one_version_is_active_for_each_purpose_and_any_can_be_again(guidance: Guidance) -> None:
    guidance.add("answer", "Kurz.", ADMIN)
    guidance.add("answer", "Länger.\r\nMit Absatz.", ADMIN)
    guidance.add("answer", "Entwurf", ADMIN, activate=False)
    assert [(v.number, v.guidance, v.active) for v in guidance.versions("answer")] == [
        (3, "Entwurf", False),
        (2, "Länger.\nMit Absatz.", True),
        (1, "Kurz.", False),
        (0, "", False),
    ]
    assert guidance.active("review").number == 0
    guidance.activate("answer", 1, ADMIN)
    guidance.activate("answer", 1, ADMIN)
    assert guidance.active("answer").guidance == "Kurz."
    guidance.activate("answer", 0, Change("otto"))
    assert guidance.active("answer").guidance == ""
    assert [(step.number, step.author, step.note) for step in guidance.history("answer")] == [
        (0, "otto", ""),
        (1, "otto", "Ton"),
        (2, "otto", "Ton"),
        (1, "otto", "Ton"),
    ]


@pytest.mark.parametrize("wanted", ["", "  \n", "x" * 4001])
def test_a_text_that_is_empty_or_too_long_is_refused(guidance: Guidance, wanted: str) -> None:
    with pytest.raises(BadInput, match="characters"):
        guidance.add("answer", wanted, ADMIN)


def test_an_unknown_version_is_named(guidance: Guidance) -> None:
    with pytest.raises(NotFound, match="version 7"):
        guidance.activate("answer", 7, ADMIN)


@pytest.mark.parametrize("table", ["prompt_versions", "prompt_activations"])
def test_versions_and_history_cannot_be_changed(guidance: Guidance, database: Database, table: str) -> None:
    guidance.add("answer", "Kurz.", ADMIN)

    def change() -> None:
        with database.write() as session:
            session.execute(text(f"UPDATE {table} SET note = 'x'"))

    with pytest.raises(StoreError, match="append-only"):
        change()
