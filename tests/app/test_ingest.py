import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule, run_state_machine_as_test

from app.indexing import active_nodes
from app.ingest import IngestOptions, is_folder_changed, take_over
from app.store.database import Database
from app.store.documents import Catalogue, Change, content_hash
from pipelines.errors import KnowledgeBaseError
from pipelines.knowledge_base import parse_entry, write_registry


def entry(entry_id: str, value: str = "551,10 €", refs: tuple[str, ...] = (), stand: str = "2026-01") -> str:
    links = "".join(f'\n  - "{ref}"' for ref in refs) or " []"
    return f"""---
id: {entry_id}
title: "Grenze {entry_id}"
stand: "{stand}"
work: pv
topic: probe
tags:
  - "Grenze"
legal_bases: []
cross_refs:{links}
sources:
  - publisher: "ÖGK"
    title: "Werte"
    url: "https://www.gesundheitskasse.at/werte"
    as_of: "2026-01"
---

# Grenze {entry_id}

## Zusammenfassung

Die Grenze beträgt {value}.
"""


class Folder:
    """A knowledge base folder that a test changes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        (path / "dokumente").mkdir(parents=True)

    def put(self, entry_id: str, text: str | bytes) -> None:
        data = text if isinstance(text, bytes) else text.encode("utf-8")
        (self.path / "dokumente" / f"{entry_id}.md").write_bytes(data)

    def drop(self, entry_id: str) -> None:
        (self.path / "dokumente" / f"{entry_id}.md").unlink()


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = Folder(tmp_path / "kb")
    for number in range(1, 7):
        made.put(f"pv-a-{number:02d}", entry(f"pv-a-{number:02d}"))
    return made


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(tmp_path / "data")
    yield opened
    opened.close()


ALL = tuple(f"pv-a-{number:02d}" for number in range(1, 7))
REPORT = IngestOptions()


def test_the_first_run_adds_everything_and_the_second_changes_nothing(folder: Folder, database: Database) -> None:
    first = take_over(folder.path, database, REPORT)
    assert (first.ok, first.added, first.unchanged) == (True, ALL, ())
    before = Catalogue(database).documents()
    second = take_over(folder.path, database, REPORT)
    assert (second.ok, second.added, second.unchanged) == (True, (), ALL)
    assert Catalogue(database).documents() == before
    assert [document.versions for document in before] == [1] * 6


def test_changes_become_new_versions_and_missing_files_are_taken_out(folder: Folder, database: Database) -> None:
    take_over(folder.path, database, REPORT)
    folder.put("pv-a-01", entry("pv-a-01", "560,00 €"))
    folder.drop("pv-a-02")
    folder.put("pv-a-07", entry("pv-a-07"))
    report = take_over(folder.path, database, IngestOptions(author="editor", note="Werte 2027"))
    assert (report.added, report.changed, report.removed) == (("pv-a-07",), ("pv-a-01",), ("pv-a-02",))
    assert report.unchanged == ("pv-a-03", "pv-a-04", "pv-a-05", "pv-a-06")
    catalogue = Catalogue(database)
    newest, oldest = catalogue.versions("pv-a-01")
    assert (newest.number, newest.author, newest.note, newest.active, oldest.active) == (2, "editor", "Werte 2027", True, False)
    assert "560,00 €" in catalogue.content("pv-a-01")
    assert "551,10 €" in catalogue.content("pv-a-01", 1)
    assert catalogue.document("pv-a-02").active_version is None


def test_a_file_that_comes_back_is_added_again(folder: Folder, database: Database) -> None:
    take_over(folder.path, database, REPORT)
    folder.drop("pv-a-02")
    take_over(folder.path, database, REPORT)
    folder.put("pv-a-02", entry("pv-a-02"))
    assert take_over(folder.path, database, REPORT).added == ("pv-a-02",)


def test_a_rejected_file_keeps_its_earlier_version_and_the_good_ones_are_taken(folder: Folder, database: Database) -> None:
    take_over(folder.path, database, REPORT)
    folder.put("pv-a-01", entry("pv-a-01", stand="2026-13"))
    folder.put("pv-a-02", entry("pv-a-02", "560,00 €"))
    report = take_over(folder.path, database, REPORT)
    assert (report.ok, report.rejected, report.changed, report.removed) == (False, ("pv-a-01",), ("pv-a-02",), ())
    assert [(fault["file"], fault["fault"], fault["severity"]) for fault in report.faults] == [
        ("pv-a-01.md", "bad_stand", "error")
    ]
    assert "551,10 €" in Catalogue(database).content("pv-a-01")
    again = take_over(folder.path, database, REPORT)
    assert (again.ok, again.rejected, again.faults) == (False, ("pv-a-01",), report.faults)


def test_a_rejected_file_under_another_name_protects_the_entry_it_is_about(folder: Folder, database: Database) -> None:
    take_over(folder.path, database, REPORT)
    folder.drop("pv-a-01")
    folder.put("pv-a-01-neu", entry("pv-a-01"))
    report = take_over(folder.path, database, REPORT)
    assert (report.rejected, report.removed) == (("pv-a-01-neu",), ())
    assert Catalogue(database).document("pv-a-01").active_version == 1


def test_more_than_a_fifth_is_removed_only_when_allowed(folder: Folder, database: Database) -> None:
    take_over(folder.path, database, REPORT)
    folder.drop("pv-a-01")
    folder.drop("pv-a-02")
    folder.put("pv-a-03", entry("pv-a-03", "560,00 €"))
    with pytest.raises(KnowledgeBaseError, match="2 of 6"):
        take_over(folder.path, database, REPORT)
    assert len(Catalogue(database).active_hashes()) == 6
    assert "551,10 €" in Catalogue(database).content("pv-a-03")
    report = take_over(folder.path, database, IngestOptions(allow_removals=True))
    assert (report.removed, report.changed) == (("pv-a-01", "pv-a-02"), ("pv-a-03",))


def test_a_registry_that_does_not_fit_stops_before_anything_changes(folder: Folder, database: Database) -> None:
    write_registry(folder.path)
    take_over(folder.path, database, REPORT)
    folder.put("pv-a-07", entry("pv-a-07"))
    with pytest.raises(KnowledgeBaseError, match="pv-a-07"):
        take_over(folder.path, database, REPORT)
    assert len(Catalogue(database).documents()) == 6


def test_an_edited_document_is_reported_until_someone_decides(folder: Folder, database: Database) -> None:
    take_over(folder.path, database, REPORT)
    catalogue = Catalogue(database)
    edited = entry("pv-a-01", "570,00 €")
    catalogue.add_version("pv-a-01", edited, Change("editor"), origin="edit")
    for _ in range(2):
        report = take_over(folder.path, database, REPORT)
        assert (report.ok, report.diverged, report.changed) == (True, ("pv-a-01",), ())
        assert catalogue.content("pv-a-01") == edited
    kept = take_over(folder.path, database, IngestOptions(decision="keep_catalogue"))
    assert (kept.kept, kept.diverged) == (("pv-a-01",), ())
    assert take_over(folder.path, database, REPORT).diverged == ()
    folder.put("pv-a-01", entry("pv-a-01", "580,00 €"))
    assert take_over(folder.path, database, REPORT).diverged == ("pv-a-01",)
    assert take_over(folder.path, database, IngestOptions(decision="take_folder")).changed == ("pv-a-01",)
    assert "580,00 €" in catalogue.content("pv-a-01")


def test_an_uploaded_document_is_neither_overwritten_nor_removed(folder: Folder, database: Database) -> None:
    take_over(folder.path, database, REPORT)
    Catalogue(database).add_version("pv-b-01", entry("pv-b-01"), Change("editor"), origin="upload")
    assert take_over(folder.path, database, REPORT).removed == ()
    folder.put("pv-b-01", entry("pv-b-01", "999,99 €"))
    assert take_over(folder.path, database, REPORT).diverged == ("pv-b-01",)
    assert "551,10 €" in Catalogue(database).content("pv-b-01")


def test_a_reference_to_an_uploaded_document_is_right_and_to_a_removed_one_is_not(folder: Folder, database: Database) -> None:
    Catalogue(database).add_version("pv-b-01", entry("pv-b-01"), Change("editor"), origin="upload")
    folder.put("pv-a-01", entry("pv-a-01", refs=("pv-b-01", "pv-a-02")))
    assert take_over(folder.path, database, REPORT).faults == ()
    folder.drop("pv-a-02")
    report = take_over(folder.path, database, REPORT)
    assert [fault["fault"] for fault in report.faults] == ["dangling_cross_ref"]
    assert take_over(folder.path, database, REPORT).faults == report.faults
    first = next(iter(active_nodes(Catalogue(database))))
    assert (first.entry_id, first.cross_refs) == ("pv-a-01", ("pv-b-01",))


def test_line_ends_marks_and_normal_forms_are_no_change(folder: Folder, database: Database) -> None:
    take_over(folder.path, database, REPORT)
    folder.put("pv-a-01", b"\xef\xbb\xbf" + entry("pv-a-01").replace("\n", "\r\n").encode("utf-8"))
    report = take_over(folder.path, database, REPORT)
    assert (report.changed, report.unchanged) == ((), ALL)


def test_a_change_of_the_same_size_and_time_is_seen(folder: Folder, database: Database, tmp_path: Path) -> None:
    take_over(folder.path, database, REPORT)
    path = folder.path / "dokumente" / "pv-a-01.md"
    status = path.stat()
    path.write_text(entry("pv-a-01", "511,10 €"), encoding="utf-8")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert path.stat().st_size == status.st_size
    assert take_over(folder.path, database, REPORT).changed == ("pv-a-01",)


def test_another_folder_takes_the_place_of_the_first(folder: Folder, database: Database, tmp_path: Path) -> None:
    take_over(folder.path, database, REPORT)
    other = Folder(tmp_path / "other")
    shutil.copytree(folder.path / "dokumente", other.path / "dokumente", dirs_exist_ok=True)
    other.put("pv-a-01", entry("pv-a-01", "570,00 €"))
    assert take_over(other.path, database, REPORT).changed == ("pv-a-01",)
    assert take_over(folder.path, database, REPORT).changed == ("pv-a-01",)


def test_nodes_are_those_of_the_active_versions(folder: Folder, database: Database) -> None:
    take_over(folder.path, database, REPORT)
    catalogue = Catalogue(database)
    catalogue.add_version("pv-a-02", entry("pv-a-02", "1,00 €"), Change("editor"), origin="edit", activate=False)
    catalogue.add_version("pv-a-03", entry("pv-a-03", "2,00 €"), Change("editor"), origin="edit")
    catalogue.remove("pv-a-04", Change("editor"))
    texts = {node.entry_id: node.text for node in active_nodes(catalogue)}
    assert list(texts) == ["pv-a-01", "pv-a-02", "pv-a-03", "pv-a-05", "pv-a-06"]
    assert "551,10 €" in texts["pv-a-02"]
    assert "2,00 €" in texts["pv-a-03"]
    catalogue.activate("pv-a-03", 1, Change("editor"))
    assert "551,10 €" in {node.entry_id: node.text for node in active_nodes(catalogue)}["pv-a-03"]


def test_it_is_known_whether_the_folder_differs_whatever_the_catalogue_does(folder: Folder, database: Database) -> None:
    assert is_folder_changed(folder.path, database)
    take_over(folder.path, database, REPORT)
    Catalogue(database).add_version("pv-a-02", entry("pv-a-02", "1,00 €"), Change("editor"), origin="edit")
    assert not is_folder_changed(folder.path, database)
    folder.put("pv-a-01", entry("pv-a-01", "560,00 €"))
    assert is_folder_changed(folder.path, database)
    assert [document.entry_id for document in Catalogue(database).documents() if document.diverged] == ["pv-a-02"]


IDS = tuple(f"pv-a-{number:02d}" for number in range(1, 5))
VALUES = ("1,00 €", "2,00 €", "3,00 €")


class CatalogueMachine(RuleBasedStateMachine):
    """Random takes, edits, activations and removals against a model of what is active."""

    root: Path

    @initialize()
    def start(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)
        self.folder = Folder(self.root / "kb")
        self.database = Database(self.root / "data")
        self.catalogue = Catalogue(self.database)
        self.folder.put(IDS[0], entry(IDS[0]))
        self.active: dict[str, str] = {}

    @rule(entry_id=st.sampled_from(IDS), value=st.sampled_from(VALUES))
    def write_file(self, entry_id: str, value: str) -> None:
        self.folder.put(entry_id, entry(entry_id, value))

    @precondition(lambda self: len(list((self.folder.path / "dokumente").iterdir())) > 1)
    @rule(data=st.data())
    def delete_file(self, data: st.DataObject) -> None:
        names = sorted(path.stem for path in (self.folder.path / "dokumente").iterdir())
        self.folder.drop(data.draw(st.sampled_from(names)))

    @rule(decision=st.sampled_from(["report", "take_folder", "keep_catalogue"]))
    def ingest(self, decision: str) -> None:
        options = IngestOptions(decision=decision, allow_removals=True)
        report = take_over(self.folder.path, self.database, options)
        files = {path.stem: content_hash(path.read_text(encoding="utf-8")) for path in (self.folder.path / "dokumente").iterdir()}
        for entry_id in (*report.added, *report.changed, *report.unchanged):
            self.active[entry_id] = files[entry_id]
        for entry_id in report.removed:
            del self.active[entry_id]
        assert {*report.added, *report.changed, *report.unchanged, *report.diverged, *report.kept} >= set(files)
        assert not report.diverged or decision == "report"
        again = take_over(self.folder.path, self.database, IngestOptions(allow_removals=True))
        assert (again.added, again.changed, again.removed) == ((), (), ())

    @rule(entry_id=st.sampled_from(IDS), value=st.sampled_from(VALUES), activate=st.booleans())
    def edit(self, entry_id: str, value: str, activate: bool) -> None:
        text = entry(entry_id, value)
        self.catalogue.add_version(entry_id, text, Change("editor"), origin="edit", activate=activate)
        if activate:
            self.active[entry_id] = content_hash(text)

    @rule(data=st.data())
    def activate(self, data: st.DataObject) -> None:
        documents = self.catalogue.documents()
        if documents:
            document = data.draw(st.sampled_from(documents))
            number = data.draw(st.integers(1, document.versions))
            self.catalogue.activate(document.entry_id, number, Change("editor"))
            self.active[document.entry_id] = content_hash(self.catalogue.content(document.entry_id, number))

    @precondition(lambda self: self.active)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        entry_id = data.draw(st.sampled_from(sorted(self.active)))
        self.catalogue.remove(entry_id, Change("editor"))
        del self.active[entry_id]

    @invariant()
    def what_is_active_is_what_the_model_says(self) -> None:
        assert self.catalogue.active_hashes() == dict(sorted(self.active.items()))

    @invariant()
    def one_version_is_active_and_contents_never_change(self) -> None:
        for document in self.catalogue.documents():
            versions = self.catalogue.versions(document.entry_id)
            assert sum(version.active for version in versions) == (document.active_version is not None)
            assert [version.number for version in versions] == list(range(len(versions), 0, -1))
            for version in versions:
                assert content_hash(self.catalogue.content(document.entry_id, version.number)) == version.content_hash

    @invariant()
    def nodes_are_the_active_content(self) -> None:
        nodes = [node.node_id for node in active_nodes(self.catalogue)]
        assert nodes == [f"{entry_id}#zusammenfassung" for entry_id in sorted(self.active)]

    def teardown(self) -> None:
        self.database.close()


def test_random_sequences_keep_the_invariants(tmp_path: Path) -> None:
    class Machine(CatalogueMachine):
        root = tmp_path / "machine"

    profile = settings(
        max_examples=8, stateful_step_count=10, deadline=None, suppress_health_check=list(HealthCheck), database=None
    )
    run_state_machine_as_test(Machine, settings=profile)


def test_the_entries_of_these_tests_are_valid() -> None:
    reading = parse_entry("pv-a-01.md", entry("pv-a-01").encode("utf-8"))
    assert (reading.accepted, reading.faults) == (True, ())
