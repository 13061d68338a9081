"""Managed tags as an index of their own: built aside, switched to, routed by words first and by likeness else."""

from pathlib import Path

import numpy as np
import pytest

from pipelines.contracts import Plan
from pipelines.embedding_cache import EmbeddingCache
from pipelines.errors import IndexBusy, IndexFault
from pipelines.index import silent
from pipelines.tag_index import ServedTags, TagIndex, TagLine, TagMeta, TagRouter, build_tag_index, tag_layout
from tests.fake_encoder import FakeEncoder
from tests.retrieval_parts import build_parts, section

REISE = TagLine(kind="tag", name="Dienstreise", entries=("pv-a-02",))
KOSTEN = TagLine(kind="topic", name="Reisekosten", entries=("pv-a-01", "pv-a-02"))
EMPTY = TagLine(kind="tag", name="Taggeld", entries=())


def build(root: Path, *lines: TagLine, encoder: FakeEncoder | None = None) -> TagMeta:
    cache = EmbeddingCache(root / "embeddings")
    return build_tag_index(lines, root, encoder or FakeEncoder(), cache, state="s1", progress=silent)


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    texts = {"pv-a-01": "Kilometergeld bei der Dienstreise", "pv-a-02": "Kilometergeld bei der Fahrt", "pv-a-03": "Taggeld"}
    sections = [section(f"{entry_id}#zusammenfassung", text) for entry_id, text in texts.items()]
    return build_parts(sections, tmp_path_factory.mktemp("parts"), FakeEncoder())


def test_the_files_are_the_tags_in_order_and_the_vectors_come_from_the_cache(tmp_path: Path) -> None:
    assert (build(tmp_path, KOSTEN, REISE).version, build(tmp_path, REISE, EMPTY, KOSTEN).version) == ("1", "2")
    folder = tag_layout(tmp_path).directory("2")
    assert (folder / "tags.ndjson").read_text(encoding="utf-8") == (
        '{"kind": "tag", "name": "Dienstreise", "entries": ["pv-a-02"]}\n'
        '{"kind": "tag", "name": "Taggeld", "entries": []}\n'
        '{"kind": "topic", "name": "Reisekosten", "entries": ["pv-a-01", "pv-a-02"]}\n'
    )
    assert np.load(folder / "vectors.npy").shape == (3, 64)
    encoder = FakeEncoder()
    build(tmp_path, REISE, EMPTY, KOSTEN, encoder=encoder)
    assert encoder.encoded == []
    assert sorted(path.name for path in tag_layout(tmp_path).root.iterdir() if path.is_dir()) == ["2", "3"]


def test_a_failed_build_changes_nothing(tmp_path: Path) -> None:
    build(tmp_path, REISE)
    with pytest.raises(Exception, match="nicht erreichbar"):
        build(tmp_path, REISE, KOSTEN, encoder=FakeEncoder(fails=True))
    with tag_layout(tmp_path).lock(), pytest.raises(IndexBusy):
        build(tmp_path, REISE, KOSTEN)
    served = ServedTags(tmp_path)()
    assert served is not None
    assert served.lines == (REISE,)
    assert [path.name for path in tag_layout(tmp_path).root.iterdir() if path.is_dir()] == ["1"]


def test_a_question_is_routed_by_the_tags_it_names_longest_first(tmp_path: Path, parts) -> None:
    both = TagLine(kind="tag", name="Kilometergeld Dienstreise", entries=("pv-a-01",))
    build(tmp_path, REISE, both, EMPTY)
    router = TagRouter(ServedTags(tmp_path), parts.analyzer, None)
    assert router.route("Wie hoch ist das Kilometergeld bei einer Dienstreise?") == ("Kilometergeld Dienstreise", "Dienstreise")
    assert router.route("Gibt es Taggeld?") == ()
    assert router.entries_of(("Dienstreise", "Kilometergeld Dienstreise")) == {"pv-a-01", "pv-a-02"}
    assert router.entries_of(()) == frozenset()


def test_without_a_named_tag_the_likest_one_routes_and_an_unlike_one_does_not(tmp_path: Path, parts) -> None:
    build(tmp_path, TagLine(kind="tag", name="Fahrt Auto", entries=("pv-a-02",)))
    router = TagRouter(ServedTags(tmp_path), parts.analyzer, FakeEncoder())
    assert router.route("Fahrt Auto privat") == ("Fahrt Auto",)
    assert router.route("Auto geliehen: Fahrt") == ("Fahrt Auto",)
    assert router.route("Wie lange dauert der Krankenstand?") == ()


def test_a_changed_tag_index_is_used_by_the_next_question(tmp_path: Path, parts) -> None:
    router = TagRouter(ServedTags(tmp_path), parts.analyzer, FakeEncoder())
    assert router.route("Dienstreise") == ()
    build(tmp_path, REISE)
    assert router.route("Dienstreise") == ("Dienstreise",)
    build(tmp_path)
    assert router.route("Dienstreise") == ()


def test_a_damaged_tag_index_routes_nothing(tmp_path: Path, parts, caplog: pytest.LogCaptureFixture) -> None:
    build(tmp_path, REISE)
    (tag_layout(tmp_path).directory("1") / "tags.ndjson").write_text("{", encoding="utf-8")
    router = TagRouter(ServedTags(tmp_path), parts.analyzer, FakeEncoder())
    assert (router.route("Dienstreise"), router.route("Dienstreise")) == ((), ())
    assert caplog.text.count("not routed by tags") == 1
    with pytest.raises(IndexFault, match="damaged"):
        TagIndex.open(tag_layout(tmp_path).directory("1"))


def test_a_tag_moves_an_entry_a_little_and_removes_none(parts) -> None:
    encoder = FakeEncoder()
    plan = Plan(type="fact", queries=("Kilometergeld",), as_of="2026-01", tags=("Dienstreise",))
    plain = parts.retriever(encoder).retrieve_plan(plan).nodes
    tagged = (
        parts.retriever(encoder, entries_of_tags=lambda names: frozenset({"pv-a-02"} if names else ())).retrieve_plan(plan).nodes
    )
    without = {hit.node.metadata["entry_id"]: hit.score for hit in plain}
    with_tag = {hit.node.metadata["entry_id"]: hit.score for hit in tagged}
    assert without.keys() == with_tag.keys()
    assert with_tag["pv-a-01"] == without["pv-a-01"]
    assert 1.0 < with_tag["pv-a-02"] / without["pv-a-02"] < 1.05
