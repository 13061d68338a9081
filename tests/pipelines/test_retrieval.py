from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from pipelines.channels import LexicalRetriever, MissingChannel, TypoRetriever
from pipelines.contracts import Plan
from pipelines.errors import IndexFault
from pipelines.fusion import FusionOptions
from pipelines.german import GermanAnalyzer
from pipelines.lexical import LexicalIndex
from pipelines.retrieval import HybridRetriever
from pipelines.typo import TypoIndex
from tests.fake_encoder import FakeEncoder
from tests.retrieval_parts import build_parts, section

SECTIONS = [
    section("kv-a-01#zusammenfassung", "Die Sonderzahlung im Kollektivvertrag.", title="Sonderzahlung KV", work="kv", topic="kv"),
    section("pv-a-01#kernwerte-fristen", "Sonderzahlung 2026", title="Sonderzahlung", position=1, section="Kernwerte & Fristen"),
    section("pv-a-01#zusammenfassung", "Urlaubszuschuss und Weihnachtsremuneration.", title="Sonderzahlung"),
    section("pv-b-01#zusammenfassung", "Die Abfertigung neu und die Vorsorgekasse.", title="Abfertigung", topic="abfertigung"),
    section("pv-c-01#zusammenfassung", "Die Kündigungsfrist der Angestellten.", title="Kündigung", stand="2020-01"),
    section("pv-d-01#zusammenfassung", "Die Kündigungsfrist der Angestellten.", title="Kündigung", stand="2026-01"),
    *(
        section(
            f"ris-a-01#a-{n}", f"Exekution und Pfändung, Absatz {n}.", title="EO", work="ris", source_text=True, section=f"§ {n}"
        )
        for n in range(5)
    ),
]


def plan(*queries, **fields):
    return Plan(**{"type": "fact", "queries": queries, "as_of": "2026-06", **fields})


def entries(retrieved):
    return [hit.node.metadata["entry_id"] for hit in retrieved.nodes]


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    return build_parts(SECTIONS, tmp_path_factory.mktemp("index"), FakeEncoder())


@pytest.fixture(scope="module")
def retriever(parts):
    return parts.retriever(FakeEncoder())


def test_finds_the_best_section_of_an_entry_with_its_text_and_raw_evidence(retriever, parts):
    retrieved = retriever.retrieve_plan(plan("sonderzalung 2026"))
    best = retrieved.nodes[0]
    assert best.node.node_id == "pv-a-01#kernwerte-fristen"
    assert best.node.text == "Sonderzahlung 2026"
    analysis = parts.analyzer.query_tokens("sonderzalung 2026")
    row = parts.nodes.row(best.node.node_id)
    assert best.node.metadata["score_bm25"] == pytest.approx(float(parts.lexical.scores(analysis)[row]))
    assert best.node.metadata["score_ngram"] == pytest.approx(float(parts.typo.scores(analysis)[row]))
    assert best.node.metadata["score_fused"] == best.score
    assert entries(retrieved).count("pv-a-01") == 1


def test_channel_that_did_not_find_a_section_gives_no_score(retriever):
    hits = {hit.node.node_id: hit.node.metadata for hit in retriever.retrieve_plan(plan("abfertigung")).nodes}
    assert "score_bm25" in hits["pv-b-01#zusammenfassung"]
    others = [metadata for node_id, metadata in hits.items() if node_id.startswith("ris")]
    assert all("score_bm25" not in metadata for metadata in others)


def test_source_text_gives_up_to_three_sections(retriever):
    assert entries(retriever.retrieve_plan(plan("exekution pfändung"))).count("ris-a-01") == 3


def test_scopes_filter(retriever):
    assert set(entries(retriever.retrieve_plan(plan("sonderzahlung", scopes=("kv",))))) == {"kv-a-01"}
    both = retriever.retrieve_plan(plan("sonderzahlung exekution", scopes=("kv", "gesetz")))
    assert set(entries(both)) == {"kv-a-01", "ris-a-01"}


def test_stand_near_the_month_asked_about_is_preferred_among_equals(retriever):
    recent = entries(retriever.retrieve_plan(plan("kündigungsfrist", as_of="2026-06")))
    past = entries(retriever.retrieve_plan(plan("kündigungsfrist", as_of="2020-02")))
    assert recent.index("pv-d-01") < recent.index("pv-c-01")
    assert past.index("pv-c-01") < past.index("pv-d-01")


def test_topic_is_a_mild_boost(retriever):
    plain = {hit.node.node_id: hit.score for hit in retriever.retrieve_plan(plan("abfertigung kündigung")).nodes}
    routed = {
        hit.node.node_id: hit.score
        for hit in retriever.retrieve_plan(plan("abfertigung kündigung", topics=("abfertigung",))).nodes
    }
    node_id = "pv-b-01#zusammenfassung"
    assert plain[node_id] < routed[node_id] < 1.1 * plain[node_id]
    assert plain.keys() == routed.keys()


def test_every_query_of_a_plan_is_answered_alone_and_keeps_its_best_near_the_top(retriever):
    retrieved = retriever.retrieve_plan(plan("sonderzahlung", "kündigungsfrist", "exekution"))
    assert [hits[0].node.metadata["entry_id"] for hits in retrieved.per_query] == ["pv-a-01", "pv-d-01", "ris-a-01"]
    assert {"pv-c-01", "pv-d-01", "ris-a-01"} <= set(entries(retrieved)[:8])
    assert len(retrieved.analyses) == 3


def test_ranks_tell_what_each_channel_found(retriever):
    retrieved = retriever.retrieve_plan(plan("abfertigung vorsorgekasse"))
    assert retrieved.ranks["pv-b-01#zusammenfassung"] == {"lexical": 1, "dense": 1, "typo": 1}
    assert "lexical" not in retrieved.ranks.get("pv-c-01#zusammenfassung", {})


def test_failing_encoder_degrades_the_result(parts):
    retrieved = parts.retriever(FakeEncoder(fails=True)).retrieve_plan(plan("abfertigung"))
    assert retrieved.degraded == ("dense",)
    assert entries(retrieved)[0] == "pv-b-01"
    assert all("score_similarity" not in hit.node.metadata for hit in retrieved.nodes)


def test_channel_that_could_not_be_opened_degrades_the_result(parts):
    channels = [
        MissingChannel("lexical", "beschädigt", parts.analyzer, parts.stubs),
        MissingChannel("dense", "nicht erreichbar", parts.analyzer, parts.stubs),
        TypoRetriever(parts.typo, parts.analyzer, parts.stubs, 150),
    ]
    retrieved = HybridRetriever(parts.nodes, parts.analyzer, channels).retrieve_plan(plan("abfertigung"))
    assert retrieved.degraded == ("lexical", "dense")
    assert entries(retrieved)[0] == "pv-b-01"


def test_all_channels_failing_is_an_error(parts):
    channels = [MissingChannel(name, "beschädigt", parts.analyzer, parts.stubs) for name in ("lexical", "dense", "typo")]
    with pytest.raises(IndexFault):
        HybridRetriever(parts.nodes, parts.analyzer, channels).retrieve_plan(plan("abfertigung"))


def test_nothing_found_is_an_empty_result(retriever):
    retrieved = retriever.retrieve_plan(plan("exekution", scopes=("rechtsprechung",)))
    assert (retrieved.nodes, retrieved.degraded) == ([], ())


def test_what_lies_beyond_the_scopes_is_told_apart(retriever):
    retrieved = retriever.retrieve_plan(plan("exekution", scopes=("rechtsprechung",)))
    assert retrieved.beyond_scopes[0].node.metadata["entry_id"] == "ris-a-01"
    assert retriever.retrieve_plan(plan("exekution")).beyond_scopes == ()


def test_plain_retrieve_serves_notebooks(retriever, parts):
    assert retriever.retrieve("abfertigung")[0].node.metadata["entry_id"] == "pv-b-01"
    lexical = LexicalRetriever(parts.lexical, parts.analyzer, parts.stubs, 5)
    assert [hit.node.node_id for hit in lexical.retrieve("abfertigung")] == ["pv-b-01#zusammenfassung"]


def result(retriever, query):
    return [(hit.node.node_id, hit.score, hit.node.metadata) for hit in retriever.retrieve_plan(plan(query)).nodes]


QUERIES = ["sonderzahlung", "kündigungs frist", "abfertiung", "exekution § 2", "urlaubs zuschuss", "quantenphysik"]


def test_eight_threads_get_what_one_gets(retriever):
    expected = [result(retriever, query) for query in QUERIES]
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda _: [result(retriever, query) for query in QUERIES], range(24)):
            assert found == expected


def test_reopened_index_gives_what_the_fresh_build_gave(parts, tmp_path):
    fresh = build_parts(SECTIONS, tmp_path, FakeEncoder())
    analyzer = fresh.analyzer
    analyzer.save(tmp_path)
    opened = HybridRetriever(
        fresh.nodes,
        GermanAnalyzer.open(tmp_path),
        [
            LexicalRetriever(LexicalIndex.open(tmp_path / "bm25"), analyzer, fresh.stubs, 150),
            MissingChannel("dense", "-", analyzer, fresh.stubs),
            TypoRetriever(TypoIndex.open(tmp_path / "typo"), analyzer, fresh.stubs, 150),
        ],
    )
    without_dense = parts.retriever(FakeEncoder(fails=True))
    for query in QUERIES:
        assert result(opened, query) == result(without_dense, query)


def test_keyword_leading_keeps_the_lexical_order(parts):
    retriever = parts.retriever(FakeEncoder(), FusionOptions(mode="keyword_leading"))
    query = "sonderzahlung kündigungsfrist angestellte"
    lexical = parts.lexical.search(parts.analyzer.query_tokens(query), 150)
    order = list(dict.fromkeys(parts.nodes.node_ids[row].partition("#")[0] for row, _ in lexical))
    assert entries(retriever.retrieve_plan(plan(query)))[: len(order)] == order


def test_channels_keep_their_scores_apart_from_each_other(parts):
    scores = parts.lexical.scores(parts.analyzer.query_tokens("abfertigung"))
    assert np.count_nonzero(scores) == 1
