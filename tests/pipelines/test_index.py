import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import chromadb
import numpy as np
import pytest
from chromadb.config import Settings as ChromaSettings

from pipelines.errors import IndexBusy, IndexFault, IndexMismatch, IndexMissing
from pipelines.facts import facts_of
from pipelines.index_build import IndexRecipe, Progress, build_index, go_back
from pipelines.index_layout import IndexLayout
from pipelines.index_meta import Fingerprint, IndexOptions, differences
from pipelines.index_open import OpenIndex, open_index, read_current_meta
from pipelines.node_file import NODES_FILE, NodeFile
from pipelines.nodes import SectionNode

ROOT = Path(__file__).resolve().parents[2]
FINGERPRINT = Fingerprint(
    embedding_model="letters",
    embedding_digest="1",
    embedding_dimension=8,
    analyzer_version="1",
    chunking_version="1",
    scoring_version="1",
    chunk_size=1000,
    overlap=100,
)


def section(entry_id: str, slug: str = "zusammenfassung", text: str = "Text", position: int = 0) -> SectionNode:
    return SectionNode(
        node_id=f"{entry_id}#{slug}",
        entry_id=entry_id,
        section="Kernwerte & Fristen" if slug == "kernwerte-fristen" else slug.title(),
        title=f"Titel {entry_id}",
        stand="2026-01",
        work="pv",
        topic="probe",
        tags=("A", "B"),
        legal_bases=("§ 1 ASVG",),
        cross_refs=(),
        publishers=("ÖGK",),
        source_text=False,
        position=position,
        text=text,
        text_hash=hashlib.sha256(text.encode("utf-8")).hexdigest(),
    )


def table(value: str) -> str:
    return f"| Kennzahl | Wert | Gültig | Grundlage |\n|---|---|---|---|\n| Geringfügigkeitsgrenze | {value} | 2026 | § 5 ASVG |"


def corpus(*entry_ids: str, text: str = "Die Grenze beträgt 551,10 €.", value: str = "551,10 €") -> list[SectionNode]:
    return [
        node
        for entry_id in entry_ids
        for node in (section(entry_id, text=f"{text} {entry_id}"), section(entry_id, "kernwerte-fristen", table(value), 1))
    ]


def vector(text: str) -> list[float]:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    raw = np.frombuffer(digest[:8], dtype=np.uint8).astype(np.float32) - 127.5
    return [float(x) for x in raw / np.linalg.norm(raw)]


class VectorChannel:
    """One real Chroma collection, opened and closed."""

    def __init__(self, directory: Path, nodes: NodeFile) -> None:
        with chromadb.PersistentClient(str(directory / "chroma"), settings=ChromaSettings(anonymized_telemetry=False)) as client:
            found = client.get_collection("nodes", embedding_function=None).get()
        self.ids = tuple(sorted(found["ids"]))
        self.closed = False

    def close(self) -> None:
        self.closed = True


class Words:
    """An analysis of plain words."""

    def tokens(self, text: str) -> list[str]:
        return text.lower().split()

    def rarity(self, token: str) -> float:
        return 1.0


class VectorSuite:
    """A channel suite with Chroma only, and hooks to fail where a test wants it."""

    def __init__(self, fail: str = "") -> None:
        self.fail = fail

    def build(self, nodes: NodeFile, directory: Path, progress: Progress) -> Words:
        with chromadb.PersistentClient(str(directory / "chroma"), settings=ChromaSettings(anonymized_telemetry=False)) as client:
            collection = client.create_collection("nodes", embedding_function=None, configuration={"hnsw": {"space": "cosine"}})
            rows = list(nodes)
            collection.add(
                ids=[node.node_id for node in rows],
                embeddings=[vector(node.text) for node in rows],
                metadatas=[{"text_hash": node.text_hash} for node in rows],
            )
        progress("dense", len(nodes), len(nodes))
        if self.fail == "build":
            raise OSError(28, "No space left on device")
        return Words()

    def check(self, nodes: NodeFile, directory: Path) -> None:
        if self.fail == "check" or VectorChannel(directory, nodes).ids != tuple(sorted(nodes.node_ids)):
            raise IndexFault("Chroma does not hold every section.")


def recipe(*, fail: str = "", fingerprint: Fingerprint = FINGERPRINT, max_nodes: int = 100) -> IndexRecipe:
    return IndexRecipe(IndexOptions(fingerprint, max_nodes=max_nodes), VectorSuite(fail))


def opened(data_dir: Path, fingerprint: Fingerprint = FINGERPRINT) -> OpenIndex[VectorChannel]:
    return open_index(data_dir, fingerprint, VectorChannel)


def folders(data_dir: Path) -> list[str]:
    return sorted(path.name for path in (data_dir / "index").iterdir() if path.is_dir())


def test_opens_what_was_built(tmp_path: Path) -> None:
    nodes = corpus("pv-a-01", "pv-b-01")
    meta = build_index(nodes, tmp_path, recipe())
    with opened(tmp_path) as index:
        assert index.meta == meta == read_current_meta(tmp_path)
        assert (meta.entries, meta.nodes, meta.facts) == (2, 4, 2)
        assert list(index.nodes) == nodes
        assert index.node("pv-b-01#kernwerte-fristen") == nodes[3] == index.row(3)
        assert index.node("pv-b-01#nichts") is None
        assert index.rows_of_entry("pv-b-01") == range(2, 4)
        assert index.rows_of_entry("pv-x-01") == range(0)
        assert index.sections_of("pv-a-01") == tuple(nodes[:2])
        assert list(index.entries) == ["pv-a-01", "pv-b-01"]
        assert index.facts_of("pv-a-01#kernwerte-fristen") == facts_of(nodes[1]) != ()
        assert index.facts_of("pv-a-01#zusammenfassung") == ()
        assert index.channels.ids == tuple(sorted(node.node_id for node in nodes))


def test_conflicting_values_of_two_entries_are_in_the_register(tmp_path: Path) -> None:
    nodes = [*corpus("pv-a-01", value="551,10 €"), *corpus("pv-a-02", value="518,44 €")]
    meta = build_index(nodes, tmp_path, recipe())
    with opened(tmp_path) as index:
        assert meta.conflicts == len(index.conflicts) == 1
        assert [side.entry_id for side in index.conflicts[0].sides] == ["pv-a-01", "pv-a-02"]


def test_same_input_gives_same_bytes_and_same_name(tmp_path: Path) -> None:
    first = build_index(corpus("pv-a-01", "pv-b-01"), tmp_path / "one", recipe())
    second = build_index(iter(corpus("pv-a-01", "pv-b-01")), tmp_path / "two", recipe())
    assert first.index_version == second.index_version
    assert (tmp_path / "one/index" / first.index_version / NODES_FILE).read_bytes() == (
        tmp_path / "two/index" / second.index_version / NODES_FILE
    ).read_bytes()


def test_a_repeated_build_gets_the_next_free_name(tmp_path: Path) -> None:
    first = build_index(corpus("pv-a-01"), tmp_path, recipe())
    second = build_index(corpus("pv-a-01"), tmp_path, recipe())
    assert second.index_version == f"{first.index_version}-2"


def test_keeps_the_previous_version_and_removes_older_ones(tmp_path: Path) -> None:
    names = [build_index(corpus("pv-a-01", text=str(n)), tmp_path, recipe()).index_version for n in range(3)]
    assert folders(tmp_path) == sorted(names[1:])
    assert IndexLayout(tmp_path).previous() == names[1]


def test_goes_back_and_forth_between_two_versions(tmp_path: Path) -> None:
    old, new = (build_index(corpus("pv-a-01", text=t), tmp_path, recipe()) for t in ("alt", "neu"))
    assert go_back(tmp_path) == old
    with opened(tmp_path) as index:
        assert index.row(0).text.startswith("alt")
    assert go_back(tmp_path) == new


def test_going_back_without_a_previous_version_is_refused(tmp_path: Path) -> None:
    build_index(corpus("pv-a-01"), tmp_path, recipe())
    with pytest.raises(IndexMissing, match="no previous"):
        go_back(tmp_path)


@pytest.mark.parametrize("fail", ["build", "check"])
def test_a_failed_build_leaves_the_served_version_and_no_rubbish(tmp_path: Path, fail: str) -> None:
    served = build_index(corpus("pv-a-01"), tmp_path, recipe())
    with pytest.raises(IndexFault):
        build_index(corpus("pv-b-01"), tmp_path, recipe(fail=fail))
    assert read_current_meta(tmp_path) == served
    assert folders(tmp_path) == [served.index_version]


def test_rubbish_of_a_killed_build_is_removed_by_the_next(tmp_path: Path) -> None:
    (tmp_path / "index" / "build.tmp-1" / "chroma").mkdir(parents=True)
    (tmp_path / "index" / "0123-never-served").mkdir()
    meta = build_index(corpus("pv-a-01"), tmp_path, recipe())
    assert folders(tmp_path) == [meta.index_version]


def test_an_open_version_stays_readable_after_it_was_removed(tmp_path: Path) -> None:
    build_index(corpus("pv-a-01", text="alt"), tmp_path, recipe())
    with opened(tmp_path) as index:
        for text in ("neu", "neuer"):
            build_index(corpus("pv-a-01", text=text), tmp_path, recipe())
        assert index.version not in folders(tmp_path)
        assert index.row(0).text.startswith("alt")


def test_refuses_to_open_without_an_index(tmp_path: Path) -> None:
    assert read_current_meta(tmp_path) is None
    with pytest.raises(IndexMissing, match="app ingest"):
        opened(tmp_path)


def test_refuses_other_settings_and_names_every_field_that_differs(tmp_path: Path) -> None:
    build_index(corpus("pv-a-01"), tmp_path, recipe())
    wanted = FINGERPRINT.model_copy(update={"embedding_model": "bge-m3", "embedding_dimension": 1024})
    with pytest.raises(IndexMismatch) as error:
        opened(tmp_path, wanted)
    assert "embedding_model: built with 'letters', wanted 'bge-m3'" in str(error.value)
    assert "embedding_dimension: built with 8, wanted 1024" in str(error.value)
    assert "ingest --full" in str(error.value)
    assert "overlap" not in str(error.value)


@pytest.mark.parametrize("field", sorted(set(Fingerprint.model_fields)))
def test_every_field_of_the_fingerprint_counts(field: str) -> None:
    value = getattr(FINGERPRINT, field)
    other = FINGERPRINT.model_copy(update={field: f"{value}x" if isinstance(value, str) else value + 1})
    assert [d.field for d in differences(FINGERPRINT, other)] == [field]
    assert FINGERPRINT.digest() != other.digest()


def test_a_changed_text_is_found_when_the_version_is_opened(tmp_path: Path) -> None:
    meta = build_index(corpus("pv-a-01"), tmp_path, recipe())
    path = tmp_path / "index" / meta.index_version / NODES_FILE
    path.write_bytes(path.read_bytes().replace(b"551,10", b"511,10"))
    with pytest.raises(IndexFault, match="does not have the hash"):
        opened(tmp_path)


def test_a_changed_stand_is_found_when_the_version_is_opened(tmp_path: Path) -> None:
    meta = build_index(corpus("pv-a-01"), tmp_path, recipe())
    path = tmp_path / "index" / meta.index_version / NODES_FILE
    path.write_bytes(path.read_bytes().replace(b"2026-01", b"2027-01"))
    with pytest.raises(IndexFault, match="were written"):
        opened(tmp_path)


def test_a_truncated_node_file_is_found(tmp_path: Path) -> None:
    meta = build_index(corpus("pv-a-01"), tmp_path, recipe())
    path = tmp_path / "index" / meta.index_version / NODES_FILE
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(IndexFault, match="damaged"):
        opened(tmp_path)


def test_stops_at_the_limit_of_sections(tmp_path: Path) -> None:
    with pytest.raises(IndexFault, match="more than 3 sections"):
        build_index(corpus("pv-a-01", "pv-b-01"), tmp_path, recipe(max_nodes=3))
    assert build_index(corpus("pv-a-01", "pv-b-01"), tmp_path, recipe(max_nodes=4)).nodes == 4


def test_warns_near_the_limit_of_sections(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    near = replace(recipe(), options=IndexOptions(FINGERPRINT, max_nodes=10, warn_nodes=2))
    build_index(corpus("pv-a-01"), tmp_path, near)
    assert "2 sections; the limit is 10" in caplog.text


def test_refuses_an_empty_knowledge_base_a_repeated_id_and_a_wrong_order(tmp_path: Path) -> None:
    for nodes, message in (
        ([], "no section"),
        ([section("pv-a-01"), section("pv-a-01")], "occurs twice"),
        ([section("pv-b-01"), section("pv-a-01")], "sorted by id"),
    ):
        with pytest.raises(IndexFault, match=message):
            build_index(nodes, tmp_path, recipe())
    assert folders(tmp_path) == []


def test_a_second_builder_in_the_process_is_refused(tmp_path: Path) -> None:
    with IndexLayout(tmp_path).lock(), pytest.raises(IndexBusy, match=str(os.getpid())):
        build_index(corpus("pv-a-01"), tmp_path, recipe())


HOLD = """
import sys
from pathlib import Path
from pipelines.index_layout import IndexLayout
with IndexLayout(Path(sys.argv[1])).lock():
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def other_builder(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_second_process_is_refused_and_the_lock_ends_with_its_holder(
    tmp_path: Path, other_builder: subprocess.Popen[str]
) -> None:
    with pytest.raises(IndexBusy, match=f"Process {other_builder.pid} is building"):
        build_index(corpus("pv-a-01"), tmp_path, recipe())
    other_builder.kill()
    other_builder.wait()
    assert build_index(corpus("pv-a-01"), tmp_path, recipe()).nodes == 2


def test_an_unwritable_folder_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(IndexFault, match="cannot be written"):
        build_index(corpus("pv-a-01"), tmp_path / "file", recipe())


def test_node_lines_are_canonical_json(tmp_path: Path) -> None:
    meta = build_index(corpus("pv-a-01"), tmp_path, recipe())
    lines = (tmp_path / "index" / meta.index_version / NODES_FILE).read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["node_id"] for line in lines] == ["pv-a-01#zusammenfassung", "pv-a-01#kernwerte-fristen"]
    assert all("551,10 €" in line for line in lines)
    assert lines == [node.to_json() for node in corpus("pv-a-01")]


def test_the_time_of_the_build_does_not_name_it(tmp_path: Path) -> None:
    late = build_index(corpus("pv-a-01"), tmp_path / "l", recipe(), created_at=datetime(2030, 1, 1, tzinfo=UTC))
    early = build_index(corpus("pv-a-01"), tmp_path / "e", recipe(), created_at=datetime(2020, 1, 1, tzinfo=UTC))
    assert late.index_version == early.index_version
