import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from pipelines.errors import KnowledgeBaseError
from pipelines.knowledge_base import check_folder, iter_entries, iter_files, read_folder, with_known_refs, write_registry
from tests.conftest import BUNDLED_FOLDER
from tests.pipelines.entries import entry_text, named, write_folder

FAULTY = entry_text({"id": "pv-tst-02", "stand": '"2026-13"'})


def report(folder: Path) -> list[tuple[str, str, str]]:
    return [(fault.file, fault.fault, fault.severity) for fault in read_folder(folder).faults]


def test_the_bundled_folder_has_no_fault() -> None:
    reading = read_folder(BUNDLED_FOLDER)
    assert (reading.faults, reading.notices, reading.ok, reading.rejected_ids) == ((), (), True, ())
    assert [entry.id for entry in reading.entries] == sorted(entry.id for entry in reading.entries)


def test_a_folder_without_registry_is_read_with_a_notice(tmp_path: Path) -> None:
    reading = read_folder(write_folder(tmp_path, named("pv-tst-01")))
    assert [entry.id for entry in reading.entries] == ["pv-tst-01"]
    assert reading.faults == ()
    assert reading.notices == ("Der Ordner hat keine kb.json; er wird ohne Abgleich übernommen.",)


def test_one_faulty_file_stops_no_other(tmp_path: Path) -> None:
    files = {**named("pv-tst-01"), "pv-tst-02.md": FAULTY, "pv-tst-03.md": b"\xff\xfe", **named("pv-tst-04")}
    reading = read_folder(write_folder(tmp_path, files))
    assert [entry.id for entry in reading.entries] == ["pv-tst-01", "pv-tst-04"]
    assert reading.files == (("pv-tst-01.md", True), ("pv-tst-02.md", False), ("pv-tst-03.md", False), ("pv-tst-04.md", True))
    assert (reading.ok, reading.rejected_ids) == (False, ("pv-tst-02", "pv-tst-03"))


@pytest.mark.parametrize("missing", [".", "dokumente"])
def test_a_folder_that_is_none_is_refused(tmp_path: Path, missing: str) -> None:
    folder = tmp_path / "kb"
    if missing == "dokumente":
        folder.mkdir()
    with pytest.raises(KnowledgeBaseError, match="dokumente"):
        read_folder(folder)


def test_a_folder_without_entries_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KnowledgeBaseError, match=r"no \.md files"):
        read_folder(write_folder(tmp_path, {"notiz.txt": "x"}))


def test_a_reference_to_a_rejected_file_is_kept_only_if_an_earlier_version_exists(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, {**named("pv-tst-01", {"cross_refs": "[pv-tst-02]"}), "pv-tst-02.md": FAULTY})
    assert [entry.cross_refs for entry in read_folder(folder).entries] == [()]
    assert [entry.cross_refs for entry in read_folder(folder, known_ids={"pv-tst-02"}).entries] == [("pv-tst-02",)]
    assert report(folder) == [("pv-tst-02.md", "bad_stand", "error")]


def test_references_of_a_rejected_file_are_checked_too(tmp_path: Path) -> None:
    changes = {"id": "pv-tst-02", "stand": '"x"', "cross_refs": '\n  - "pv-abc-01"\n  - "pv-tst-01"\n  - "pv-tst-02"'}
    folder = write_folder(tmp_path, {**named("pv-tst-01"), "pv-tst-02.md": entry_text(changes)})
    assert [(fault.fault, fault.line, fault.target) for fault in read_folder(folder).faults] == [
        ("bad_stand", 4, None),
        ("dangling_cross_ref", 13, "pv-abc-01"),
        ("self_cross_ref", 15, "pv-tst-02"),
    ]


def test_a_reference_out_of_the_folder_needs_a_known_entry(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, named("pv-tst-01", {"cross_refs": "[pv-abc-01, pv-tst-01]"}))
    assert report(folder) == [
        ("pv-tst-01.md", "dangling_cross_ref", "warning"),
        ("pv-tst-01.md", "self_cross_ref", "warning"),
    ]
    assert [(fault.fault, fault.line) for fault in read_folder(folder, known_ids=["pv-abc-01"]).faults] == [
        ("self_cross_ref", 12)
    ]


def test_references_that_are_not_known_can_be_left_out_later(tmp_path: Path) -> None:
    (entry,) = iter_entries(write_folder(tmp_path, named("pv-tst-01", {"cross_refs": "[pv-abc-01]"})), known_ids={"pv-abc-01"})
    assert with_known_refs(entry, {"pv-abc-01"}) is entry
    assert with_known_refs(entry, set()).cross_refs == ()


def test_two_files_with_the_same_strange_id_are_both_refused(tmp_path: Path) -> None:
    text = entry_text({"id": "pv-tst-09"})
    reading = read_folder(write_folder(tmp_path, {"pv-tst-01.md": text, "pv-tst-02.md": text}))
    found = [(fault.file, fault.fault, fault.line, fault.other_file) for fault in reading.faults]
    assert found == [
        ("pv-tst-01.md", "id_filename_mismatch", 2, None),
        ("pv-tst-02.md", "id_filename_mismatch", 2, None),
        ("pv-tst-02.md", "duplicate_id", 2, "pv-tst-01.md"),
    ]
    assert reading.entries == ()


def test_a_duplicate_is_found_before_its_owner_is_read(tmp_path: Path) -> None:
    reading = read_folder(write_folder(tmp_path, {"pv-tst-00.md": entry_text(), **named("pv-tst-01")}))
    assert [entry.id for entry in reading.entries] == ["pv-tst-01"]
    assert [(fault.file, fault.other_file) for fault in reading.faults if fault.fault == "duplicate_id"] == [
        ("pv-tst-00.md", "pv-tst-01.md")
    ]


@pytest.mark.parametrize(
    "name",
    [
        "PV-TST-01.md",
        "pv tst 01.md",
        "pv-tst-01 (Kopie).md",
        "pv-tst-01\n.md",
        "pv-tst-\u202e01.md",
        "ü.md",
        "x" * 200 + ".md",
        "'.md",
    ],
)
def test_a_file_with_another_name_than_its_id_is_refused(tmp_path: Path, name: str) -> None:
    reading = read_folder(write_folder(tmp_path, {name: entry_text()}))
    (fault,) = reading.faults
    assert (fault.fault, fault.id, reading.entries) == ("id_filename_mismatch", "pv-tst-01", ())
    assert not set(fault.file) & set("\n\u202e")


def test_a_file_name_that_is_not_unicode_is_reported(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, named("pv-tst-01"))
    (folder / "dokumente" / os.fsdecode(b"\xff.md")).write_text(entry_text(), encoding="utf-8")
    assert [(fault.file, fault.fault) for fault in read_folder(folder).faults] == [
        ("\ufffd.md", "id_filename_mismatch"),
        ("\ufffd.md", "duplicate_id"),
    ]


def test_what_is_no_entry_is_named_and_not_read(tmp_path: Path) -> None:
    folder = write_folder(
        tmp_path, {**named("pv-tst-01"), "notiz.txt": "x", "pv-tst-02.MD": "x", ".DS_Store": "x", ".alt.md": "x"}
    )
    (folder / "dokumente" / "pv-tst-03.md").mkdir()
    (folder / "dokumente" / "alt").mkdir()
    (folder / "dokumente" / "alt" / "pv-tst-04.md").write_text("x", encoding="utf-8")
    assert report(folder) == [
        (".alt.md", "hidden_file", "warning"),
        ("alt", "subfolder", "warning"),
        ("notiz.txt", "not_markdown", "warning"),
        ("pv-tst-02.MD", "not_markdown", "warning"),
        ("pv-tst-03.md", "subfolder", "warning"),
    ]


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "geheim.md"
    secret.write_text(entry_text({"id": "pv-tst-02"}), encoding="utf-8")
    folder = write_folder(tmp_path / "kb", named("pv-tst-01"))
    (folder / "dokumente" / "pv-tst-02.md").symlink_to(secret)
    (folder / "dokumente" / "pv-tst-03.md").symlink_to(tmp_path / "nichts.md")
    (folder / "dokumente" / "pv-tst-04.md").symlink_to("pv-tst-04.md")
    (folder / "dokumente" / "pv-tst-05.md").symlink_to("pv-tst-06.md")
    assert report(folder) == [
        ("pv-tst-02.md", "outside_folder", "error"),
        ("pv-tst-03.md", "outside_folder", "error"),
        ("pv-tst-04.md", "unreadable", "error"),
        ("pv-tst-05.md", "unreadable", "error"),
    ]


def test_a_pipe_or_socket_does_not_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_folder(tmp_path, named("pv-tst-01"))
    os.mkfifo(folder / "dokumente" / "pv-tst-02.md")
    monkeypatch.chdir(folder / "dokumente")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("pv-tst-03.md")
        assert report(folder) == [("pv-tst-02.md", "not_a_file", "error"), ("pv-tst-03.md", "not_a_file", "error")]


@contextmanager
def without_roots_rights() -> Iterator[None]:
    """Root may read everything, so it becomes nobody for the time of the block."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


def test_an_unreadable_file_is_reported() -> None:
    # pytest's own temporary folders are closed to nobody.
    with TemporaryDirectory() as outside:
        Path(outside).chmod(0o755)
        folder = write_folder(Path(outside), {**named("pv-tst-01"), **named("pv-tst-02")})
        (folder / "dokumente" / "pv-tst-02.md").chmod(0)
        with without_roots_rights():
            assert report(folder) == [("pv-tst-02.md", "unreadable", "error")]


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, named("pv-tst-01"))
    with (folder / "dokumente" / "pv-tst-02.md").open("wb") as huge:
        huge.truncate(50_000_000_000)
    assert report(folder) == [("pv-tst-02.md", "file_too_large", "error")]


def test_files_are_read_one_after_the_other(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, {**named("pv-tst-01"), **named("pv-tst-02")})
    readings = iter_files(folder)
    assert next(readings).entry_id == "pv-tst-01"
    (folder / "dokumente" / "pv-tst-02.md").write_bytes(b"")
    assert not next(readings).accepted


def test_the_content_hash_is_that_of_the_stored_text(tmp_path: Path) -> None:
    first = read_folder(write_folder(tmp_path / "a", named("pv-tst-01"))).entries[0]
    again = read_folder(write_folder(tmp_path / "b", {"pv-tst-01.md": "\ufeff" + entry_text().replace("\n", "\r\n")})).entries[0]
    changed = read_folder(write_folder(tmp_path / "c", {"pv-tst-01.md": entry_text() + " "})).entries[0]
    assert first.content_hash == again.content_hash != changed.content_hash


def test_the_registry_of_the_bundled_folder_comes_out_as_it_is(tmp_path: Path) -> None:
    files = {path.name: path.read_bytes() for path in (BUNDLED_FOLDER / "dokumente").iterdir()}
    folder = write_folder(tmp_path, files)
    assert write_registry(folder) == 190
    for name in ("kb.json", "INDEX.md"):
        assert (folder / name).read_bytes() == (BUNDLED_FOLDER / name).read_bytes()
    assert sorted(path.name for path in folder.iterdir()) == ["INDEX.md", "dokumente", "kb.json"]


def test_no_registry_is_written_over_a_faulty_file(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, {**named("pv-tst-01"), "pv-tst-02.md": FAULTY})
    with pytest.raises(KnowledgeBaseError, match=r"pv-tst-02\.md, line 4"):
        write_registry(folder)
    assert [path.name for path in folder.iterdir()] == ["dokumente"]


def test_the_gate_counts_rejected_files_too(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, {**named("pv-tst-01"), **named("pv-tst-02")})
    write_registry(folder)
    (folder / "dokumente" / "pv-tst-02.md").write_text(FAULTY, encoding="utf-8")
    assert check_folder(folder)
    assert report(folder) == [("pv-tst-02.md", "bad_stand", "error")]


@pytest.mark.parametrize("change", ["added", "removed", "renamed"])
def test_the_gate_names_both_numbers_and_the_ids_that_differ(tmp_path: Path, change: str) -> None:
    folder = write_folder(tmp_path, {**named("pv-tst-01"), **named("pv-tst-02")})
    write_registry(folder)
    if change != "added":
        (folder / "dokumente" / "pv-tst-02.md").unlink()
    if change != "removed":
        write_folder(folder, named("pv-tst-03"))
    with pytest.raises(KnowledgeBaseError) as caught:
        read_folder(folder)
    files = {"added": 3, "removed": 1, "renamed": 2}[change]
    assert f"names 2 entries (2 listed), the folder has {files} files" in str(caught.value)
    assert ("Only in kb.json: pv-tst-02." in str(caught.value)) == (change != "added")
    assert ("Only as files: pv-tst-03." in str(caught.value)) == (change != "removed")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff",
        b'{"count": 1}',
        b'{"entries": [], "count": 1}',
        b'{"entries": [{}], "count": 1}',
        b'{"entries": ["pv-tst-01"], "count": 1}',
        b'{"entries": [{"id": 1}], "count": 1}',
        b'{"entries": [{"id": "pv-tst-01"}], "count": "1"}',
        b'{"entries": [{"id": "pv-tst-01"}], "count": true}',
        b'{"entries": [{"id": "pv-tst-01"}], "count": 2}',
        b'{"entries": [{"id": "pv-tst-01"}, {"id": "pv-tst-01"}], "count": 2}',
        b"[" * 100_000,
    ],
)
def test_a_registry_that_does_not_fit_stops_the_reading(tmp_path: Path, content: bytes) -> None:
    folder = write_folder(tmp_path, named("pv-tst-01"))
    (folder / "kb.json").write_bytes(content)
    with pytest.raises(KnowledgeBaseError, match=r"kb\.json"):
        read_folder(folder)


def test_a_registry_with_a_byte_order_mark_fits(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, named("pv-tst-01"))
    (folder / "kb.json").write_text('{"entries": [{"id": "pv-tst-01"}], "count": 1}', encoding="utf-8-sig")
    assert check_folder(folder)
