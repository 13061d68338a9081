from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from app.document_changes import changed_lines
from app.document_export import export_documents
from app.document_upload import RejectedDocument, Uploaded, upload
from app.ingest import IngestOptions, take_over
from app.store.database import Database
from app.store.documents import Catalogue, Change
from pipelines.errors import BadInput, NotFound, StoreError
from tests.app.test_ingest import entry

EDITOR = Change("editor", "Probe")


@pytest.fixture
def catalogue(tmp_path: Path) -> Iterator[Catalogue]:
    database = Database(tmp_path / "data")
    yield Catalogue(database)
    database.close()


def test_an_upload_is_a_new_version_and_equal_content_is_none(catalogue: Catalogue) -> None:
    data = entry("pv-a-01").encode()
    assert upload(catalogue, "pv-a-01.md", data, EDITOR) == Uploaded("pv-a-01", 1, True, ())
    assert upload(catalogue, "pv-a-01.md", data, EDITOR) == Uploaded("pv-a-01", 1, False, ())
    assert upload(catalogue, "pv-a-01.md", entry("pv-a-01", "560,00 €").encode(), EDITOR).version == 2
    assert [(v.number, v.origin, v.active) for v in catalogue.versions("pv-a-01")] == [(2, "edit", True), (1, "upload", False)]


@pytest.mark.parametrize("name", ["../pv-a-01.md", "/etc/pv-a-01.md", "a\\pv-a-01.md", "C:pv-a-01.md"])
def test_a_path_is_refused(catalogue: Catalogue, name: str) -> None:
    with pytest.raises(BadInput, match="is a path"):
        upload(catalogue, name, entry("pv-a-01").encode(), EDITOR)


def test_an_invalid_upload_is_refused_with_every_fault_and_changes_nothing(catalogue: Catalogue) -> None:
    with pytest.raises(RejectedDocument, match="line 4") as error:
        upload(catalogue, "pv-a-01.md", entry("pv-a-01", stand="2026-13").encode(), EDITOR)
    assert [fault.fault for fault in error.value.faults] == ["bad_stand"]
    assert catalogue.documents() == ()


def test_a_large_upload_is_refused_before_it_is_read(catalogue: Catalogue) -> None:
    with pytest.raises(BadInput, match="allowed are"):
        upload(catalogue, "pv-a-01.md", b"x" * (4 * 1024 * 1024 + 1), EDITOR)


def test_unknown_documents_and_versions_are_named(catalogue: Catalogue) -> None:
    catalogue.add_version("pv-a-01", entry("pv-a-01"), EDITOR, origin="upload")
    for call in (
        lambda: catalogue.versions("pv-x-01"),
        lambda: catalogue.document("pv-x-01"),
        lambda: catalogue.content("pv-x-01"),
        lambda: catalogue.content("pv-a-01", 2),
        lambda: catalogue.activate("pv-a-01", 2, EDITOR),
        lambda: catalogue.remove("pv-x-01", EDITOR),
    ):
        with pytest.raises(NotFound):
            call()


def test_taking_out_twice_is_refused(catalogue: Catalogue) -> None:
    catalogue.add_version("pv-a-01", entry("pv-a-01"), EDITOR, origin="upload")
    catalogue.remove("pv-a-01", EDITOR)
    assert catalogue.active_hashes() == {}
    with pytest.raises(BadInput, match="not active"):
        catalogue.remove("pv-a-01", EDITOR)
    catalogue.activate("pv-a-01", 1, EDITOR)
    assert list(catalogue.active_hashes()) == ["pv-a-01"]


@pytest.mark.parametrize("statement", ["UPDATE document_versions SET content = 'x'", "DELETE FROM document_versions"])
def test_the_database_itself_refuses_to_change_a_version(catalogue: Catalogue, statement: str) -> None:
    catalogue.add_version("pv-a-01", entry("pv-a-01"), EDITOR, origin="upload")

    def change() -> None:
        with catalogue.database.write() as session:
            session.execute(text(statement))

    with pytest.raises(StoreError, match="immutable"):
        change()


def test_an_export_is_taken_over_without_any_change(catalogue: Catalogue, tmp_path: Path) -> None:
    for entry_id, value in (("pv-a-01", "1,00 €"), ("pv-b-01", "2,00 €")):
        catalogue.add_version(entry_id, entry(entry_id, value), EDITOR, origin="upload")
    catalogue.add_version("pv-a-01", entry("pv-a-01", "3,00 €"), EDITOR, origin="edit", activate=False)
    folder = tmp_path / "out"
    assert export_documents(catalogue, folder) == 2
    assert sorted(str(path.relative_to(folder)) for path in folder.rglob("*.*")) == [
        "INDEX.md", "dokumente/pv-a-01.md", "dokumente/pv-b-01.md", "kb.json",
    ]  # fmt: skip
    report = take_over(folder, catalogue.database, IngestOptions())
    assert (report.ok, report.unchanged, report.faults) == (True, ("pv-a-01", "pv-b-01"), ())


def test_an_export_into_a_full_folder_is_refused(catalogue: Catalogue, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "precious.txt").write_text("", encoding="utf-8")
    with pytest.raises(BadInput, match="not empty"):
        export_documents(catalogue, tmp_path / "out")


def test_a_difference_marks_the_values_that_changed_and_only_those() -> None:
    old = "Kopf\n\nDie Grenze beträgt 2026 genau 551,10 €.\nEnde"
    new = "Kopf\n\nDie Grenze beträgt 2026 genau 560,00 €.\nEnde"
    changes = changed_lines(old, new, context=1)
    assert [(c.kind, c.number) for c in changes] == [("same", 2), ("removed", 3), ("added", 3), ("same", 4)]
    assert [c.text[start:end] for c in changes for start, end in c.values] == ["551,10 €", "560,00 €"]
    assert changed_lines(old, old) == ()
