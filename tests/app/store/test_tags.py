from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from app.store.database import Database
from app.store.documents import Catalogue, Change
from app.store.tags import Tags, TagSuggestion, clean_name
from pipelines.errors import BadInput, NotFound, StoreError

EDITOR = Change("anna", "Probe")
ENTRIES = ("pv-a-01", "pv-a-02", "pv-a-03")


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(tmp_path)
    catalogue = Catalogue(opened)
    for entry_id in ENTRIES:
        catalogue.add_version(entry_id, entry_id, EDITOR, origin="upload")
    yield opened
    opened.close()


@pytest.fixture
def tags(database: Database) -> Tags:
    return Tags(database)


def listed(tags: Tags) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(tag.kind, tag.name, tag.entries) for tag in tags.list()]


def test_tags_are_created_assigned_taken_away_and_removed(tags: Tags) -> None:
    tags.create("Reise", EDITOR, entries=["pv-a-02"])
    tags.create("Reisekosten", EDITOR, kind="topic")
    tags.assign("reise", ["pv-a-01", "pv-a-02"], EDITOR)
    assert listed(tags) == [("topic", "Reisekosten", ()), ("tag", "Reise", ("pv-a-01", "pv-a-02"))]
    tags.unassign("Reise", ["pv-a-02", "pv-a-03"], EDITOR)
    assert listed(tags)[1] == ("tag", "Reise", ("pv-a-01",))
    tags.remove("Reise", EDITOR)
    assert listed(tags) == [("topic", "Reisekosten", ())]
    assert [(step.action, step.tag, step.detail) for step in tags.history()] == [
        ("remove", "tag: Reise", "pv-a-01"),
        ("unassign", "tag: Reise", "pv-a-02"),
        ("assign", "tag: Reise", "pv-a-01"),
        ("create", "topic: Reisekosten", "Probe"),
        ("assign", "tag: Reise", "pv-a-02"),
        ("create", "tag: Reise", "Probe"),
    ]


def test_merging_moves_every_entry_once(tags: Tags) -> None:
    tags.create("Diäten", EDITOR, entries=["pv-a-01", "pv-a-02"])
    tags.create("Taggeld", EDITOR, entries=["pv-a-02", "pv-a-03"])
    assert tags.merge("Diäten", "Taggeld", EDITOR).entries == ENTRIES
    assert listed(tags) == [("tag", "Taggeld", ENTRIES)]
    with pytest.raises(BadInput, match="same"):
        tags.merge("taggeld", "Taggeld", EDITOR)


def test_what_does_not_exist_is_named_and_nothing_changes(tags: Tags) -> None:
    tags.create("Reise", EDITOR)
    with pytest.raises(NotFound, match="pv-x-01"):
        tags.assign("Reise", ["pv-a-01", "pv-x-01"], EDITOR)
    with pytest.raises(NotFound, match="pv-x-01"):
        tags.create("Neu", EDITOR, entries=["pv-x-01"])
    with pytest.raises(NotFound, match="'Fehlt'"):
        tags.merge("Reise", "Fehlt", EDITOR)
    assert listed(tags) == [("tag", "Reise", ())]


@pytest.mark.parametrize("name", ["", " \n ", "\u200b", "x" * 81])
def test_an_unusable_name_is_refused(tags: Tags, name: str) -> None:
    with pytest.raises(BadInput, match="characters"):
        tags.create(name, EDITOR)


def test_names_differ_by_more_than_case_and_blanks(tags: Tags) -> None:
    assert clean_name("  Dienst \t reise\u200b ") == "Dienst reise"
    tags.create("Dienstreise", EDITOR)
    with pytest.raises(BadInput, match="already"):
        tags.create("DIENSTREISE", EDITOR)


def test_the_frontmatter_suggests_what_nobody_manages(tags: Tags) -> None:
    tags.create("Reise", EDITOR)
    found = tags.suggestions([("pv-a-02", "lohn", ["Reise", "SZ"]), ("pv-a-01", "lohn", ["SZ", ""])])
    assert found == (
        TagSuggestion(kind="topic", name="lohn", entries=("pv-a-01", "pv-a-02")),
        TagSuggestion(kind="tag", name="SZ", entries=("pv-a-01", "pv-a-02")),
    )
    assert listed(tags) == [("tag", "Reise", ())]


def test_the_state_has_a_name_that_follows_the_content(tags: Tags) -> None:
    empty = tags.state_hash()
    tags.create("Reise", EDITOR, entries=["pv-a-01"])
    named = tags.state_hash()
    tags.remove("Reise", EDITOR)
    assert named != empty == tags.state_hash()


def test_the_history_cannot_be_changed(tags: Tags, database: Database) -> None:
    tags.create("Reise", EDITOR)

    def forget() -> None:
        with database.write() as session:
            session.execute(text("DELETE FROM tag_events"))

    with pytest.raises(StoreError, match="append-only"):
        forget()
