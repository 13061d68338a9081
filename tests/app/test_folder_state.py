from collections.abc import Iterator
from pathlib import Path

import pytest

from app.folder_state import FolderState, folder_notices
from app.indexing import active_nodes, invalid_active
from app.ingest import IngestOptions, take_over
from app.store.database import Database
from app.store.documents import Catalogue, Change
from tests.app.test_ingest import Folder, entry

EDITOR = Change("anna")


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = Folder(tmp_path / "kb")
    made.put("pv-a-01", entry("pv-a-01"))
    return made


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(tmp_path / "data")
    yield opened
    opened.close()


def test_a_changed_folder_is_told_until_it_is_taken_over(folder: Folder, database: Database) -> None:
    state = FolderState(folder.path, database)
    assert [text[:60] for text in state.notices()] == ["Der Ordner der Wissensbasis wurde seit der letzten Übernahme "[:60]]
    report = take_over(folder.path, database, IngestOptions())
    assert report.notices == ("Der Ordner hat keine kb.json; er wird ohne Abgleich übernommen.",)
    assert len(state.notices()) == 1
    state.look_again()
    assert state.notices() == ()


def test_a_missing_folder_is_told_and_nothing_fails(folder: Folder, database: Database) -> None:
    assert "kann nicht gelesen werden" in folder_notices(folder.path / "nowhere", database, ())[0]


def test_an_active_version_that_is_not_valid_is_told_and_left_out(folder: Folder, database: Database) -> None:
    take_over(folder.path, database, IngestOptions())
    catalogue = Catalogue(database)
    catalogue.add_version("pv-a-02", entry("pv-a-02", stand="2026-13"), EDITOR, origin="upload")
    assert invalid_active(catalogue) == {"pv-a-02": "bad_stand"}
    left_out: list[str] = []
    assert [node.entry_id for node in active_nodes(catalogue, left_out.append)] == ["pv-a-01"]
    assert left_out == ["pv-a-02"]
    assert FolderState(folder.path, database).notices() == ("Nicht im Index, weil die aktive Fassung ungültig ist: pv-a-02.",)
