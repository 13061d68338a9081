import sys
from pathlib import Path

import pytest
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, TextNode

from pipelines.contracts import Plan
from pipelines.errors import SettingsError
from pipelines.reranking import MOST_RERANKED, load_reranker, reranked
from pipelines.retrieval import HybridRetriever
from tests.fake_encoder import FakeEncoder
from tests.retrieval_parts import build_parts, section


class LongestFirst(BaseNodePostprocessor):
    """Prefers long sections; writes its scores into the hits, as the stock rerankers do, and keeps `top_n`."""

    top_n: int = 100

    @classmethod
    def class_name(cls):
        return "LongestFirst"

    def _postprocess_nodes(self, nodes, query_bundle=None):
        for hit in nodes:
            hit.score = float(len(hit.node.get_content()))
        return sorted(nodes, key=lambda hit: -hit.score)[: self.top_n]


class Broken(LongestFirst):
    def _postprocess_nodes(self, nodes, query_bundle=None):
        raise RuntimeError("no memory left on the card")


def hits(count):
    return [NodeWithScore(node=TextNode(id_=f"n{i:02d}", text="x" * (i + 1)), score=1.0 / (i + 1)) for i in range(count)]


def ids(found):
    return [hit.node.node_id for hit in found]


def test_only_the_first_twenty_are_reordered_and_scores_stay():
    found = hits(25)
    result = reranked(found, "Frage", LongestFirst())
    assert ids(result) == [*reversed(ids(found)[:MOST_RERANKED]), *ids(found)[MOST_RERANKED:]]
    assert sorted(hit.score for hit in result) == sorted(hit.score for hit in found) == sorted(1.0 / (i + 1) for i in range(25))


def test_what_the_reranker_drops_follows_behind_what_it_kept():
    assert ids(reranked(hits(4), "Frage", LongestFirst(top_n=1))) == ["n03", "n00", "n01", "n02"]


def test_failing_reranker_leaves_the_order(caplog):
    assert ids(reranked(hits(3), "Frage", Broken())) == ["n00", "n01", "n02"]
    assert "no memory left" in caplog.text


def test_retrieval_uses_it_also_for_what_a_small_limit_would_have_cut(tmp_path):
    sections = [
        section("pv-a-01#x", "Abfertigung. Abfertigung.", title="Abfertigung"),
        section("pv-b-01#x", "Die Abfertigung, die ein Betrieb zahlt, steht auch hier, viel länger beschrieben.", title="Ende"),
    ]
    parts = build_parts(sections, tmp_path, FakeEncoder())
    plain = parts.retriever(FakeEncoder())
    ordered = HybridRetriever(parts.nodes, parts.analyzer, plain._channels, reranker=LongestFirst())
    plan = Plan(type="fact", queries=("abfertigung",), as_of="2026-06")
    assert ids(plain.retrieve_plan(plan, limit=1).nodes) == ["pv-a-01#x"]
    assert ids(ordered.retrieve_plan(plan, limit=1).nodes) == ["pv-b-01#x"]
    assert ids(ordered.retrieve_plan(plan).nodes) == ["pv-b-01#x", "pv-a-01#x"]


def test_missing_folder_is_a_wrong_setting(tmp_path):
    with pytest.raises(SettingsError, match="PV_RERANK_MODEL_PATH"):
        load_reranker(tmp_path / "none")


def test_missing_package_is_told_with_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(SettingsError, match="pip install sentence-transformers"):
        load_reranker(Path(tmp_path))
