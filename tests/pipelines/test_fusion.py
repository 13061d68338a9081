import pytest
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import NodeWithScore, TextNode

from pipelines.fusion import FusionOptions, WeightedRRF


class Fixed(BaseRetriever):
    """Finds what it is told: (node id, score)."""

    def __init__(self, *hits):
        super().__init__()
        self.hits = [NodeWithScore(node=node(node_id), score=score) for node_id, score in hits]

    def _retrieve(self, query_bundle):
        return self.hits


def node(node_id):
    return TextNode(id_=node_id, text="", metadata={"entry_id": node_id.partition("#")[0], "node": node_id})


def fused(channels, weights, k=10.0):
    return [(hit.node.id_, hit.score) for hit in WeightedRRF(channels, weights, k).retrieve("Frage")]


def test_score_of_an_entry_is_the_weighted_sum_over_its_ranks():
    assert fused([Fixed(("a#1", 9.0), ("b#1", 8.0)), Fixed(("b#1", 0.9))], [1.0, 0.5]) == [
        ("b#1", pytest.approx(1 / 12 + 0.5 / 11)),
        ("a#1", pytest.approx(1 / 11)),
    ]


def test_weight_of_a_channel_decides():
    channels = [Fixed(("a#1", 1.0)), Fixed(("b#1", 1.0))]
    assert [node_id for node_id, _ in fused(channels, [1.0, 0.5])] == ["a#1", "b#1"]
    assert [node_id for node_id, _ in fused(channels, [0.5, 1.0])] == ["b#1", "a#1"]


def test_entry_counts_once_by_its_best_section_and_its_other_sections_follow():
    hits = Fixed(("a#1", 9.0), ("a#2", 8.0), ("b#1", 7.0))
    assert dict(fused([hits], [1.0])) == {
        "a#1": pytest.approx(1 / 11),
        "a#2": pytest.approx(1 / 12),
        "b#1": pytest.approx(1 / 12),
    }


def test_zero_scores_get_no_credit():
    assert fused([Fixed(("a#1", 1.0), ("b#1", 0.0), ("c#1", -1.0))], [1.0]) == [("a#1", pytest.approx(1 / 11))]


def test_equal_scores_share_a_rank_and_ties_go_by_id():
    assert fused([Fixed(("b#1", 1.0), ("a#1", 1.0))], [1.0]) == [("a#1", pytest.approx(1 / 11)), ("b#1", pytest.approx(1 / 11))]


def test_nodes_and_scores_of_the_channels_stay_as_they_are():
    channel = Fixed(("a#1", 9.0))
    fused([channel, Fixed(("a#1", 0.5))], [1.0, 1.0])
    assert channel.hits[0].score == 9.0


def test_nothing_found_is_an_empty_result():
    assert fused([Fixed(), Fixed()], [1.0, 1.0]) == []


def test_keyword_leading_keeps_the_lexical_order_and_adds_behind_it():
    weights = FusionOptions(mode="keyword_leading").weights
    lexical = Fixed(*((f"e{n:03d}#1", 500.0 - n) for n in range(150)))
    against = Fixed(*((f"e{n:03d}#1", 1.0 + n) for n in range(150)), ("z#1", 0.5))
    for k in (5.0, 20.0):
        order = [node_id for node_id, _ in fused([lexical, against, against], weights, k)]
        assert order == [*(f"e{n:03d}#1" for n in range(150)), "z#1"]


def test_keyword_leading_breaks_lexical_ties_by_the_other_channels():
    weights = FusionOptions(mode="keyword_leading").weights
    assert [n for n, _ in fused([Fixed(("a#1", 1.0), ("b#1", 1.0)), Fixed(("b#1", 0.9)), Fixed()], weights)] == ["b#1", "a#1"]
