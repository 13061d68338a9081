import numpy as np
import pytest

from pipelines.german import GermanAnalyzer
from pipelines.lexical import ALTERNATIVES_SHARE, LexicalIndex
from pipelines.query_terms import PART_WEIGHT
from pipelines.section_pieces import SectionPieces
from tests.retrieval_parts import section

SECTIONS = [
    section("pv-a-01#zusammenfassung", "Allgemeines über Entgelt und Urlaub.", title="Urlaub"),
    section(
        "pv-b-01#zusammenfassung",
        "Der Urlaub wird einmal erwähnt, sonst geht es um andere Dinge und noch andere.",
        title="Krankheit",
    ),
    section("pv-c-01#zusammenfassung", "Nichts davon.", title="Pfändung", tags=("Sonderzahlung",)),
    section(
        "pv-d-01#zusammenfassung",
        "Kündigungsfrist der Angestellten: eine Frist bei Kündigung.",
        title="Ende",
        legal_bases=("§ 20 AngG",),
    ),
]


@pytest.fixture(scope="module")
def analyzer():
    return GermanAnalyzer.build(SECTIONS)


@pytest.fixture(scope="module")
def index(analyzer, tmp_path_factory):
    return LexicalIndex.build(SectionPieces.read(SECTIONS), tmp_path_factory.mktemp("bm25"), analyzer)


def rows(index, analyzer, query, **options):
    return [row for row, _ in index.search(analyzer.query_tokens(query), 10, **options)]


def test_title_outweighs_the_text(index, analyzer):
    assert rows(index, analyzer, "urlaub") == [0, 1]


def test_tags_legal_bases_and_parts_of_compounds_are_found(index, analyzer):
    assert rows(index, analyzer, "sonderzahlung") == [2]
    assert rows(index, analyzer, "§ 20") == [3]
    assert rows(index, analyzer, "kündigungs frist") == [3]


def test_unknown_words_find_nothing(index, analyzer):
    assert rows(index, analyzer, "quantenphysik") == []


def test_only_allowed_rows_are_found(index, analyzer):
    assert rows(index, analyzer, "urlaub", allowed=np.array([False, True, True, True])) == [1]


def test_ways_to_find_one_thing_count_less_than_several_things(index, analyzer):
    compound = index.scores(analyzer.query_tokens("kündigungsfrist"))[3]
    whole = float(index._postings.of("kundigungsfrist")[1][0])
    parts = [PART_WEIGHT * float(index._postings.of(part)[1][0]) for part in ("kundig", "frist")]
    best, *others = sorted([whole, *parts], reverse=True)
    assert compound == pytest.approx(best + ALTERNATIVES_SHARE * sum(others))


def test_reopened_index_scores_the_same(analyzer, tmp_path):
    fresh = LexicalIndex.build(SectionPieces.read(SECTIONS), tmp_path, analyzer)
    analysis = analyzer.query_tokens("urlaub sonderzahlung frist")
    assert np.array_equal(LexicalIndex.open(tmp_path).scores(analysis), fresh.scores(analysis))


def test_no_sections_find_nothing(tmp_path):
    analyzer = GermanAnalyzer.build([])
    index = LexicalIndex.build(SectionPieces.read([]), tmp_path, analyzer)
    assert index.search(analyzer.query_tokens("urlaub"), 5) == []
    assert LexicalIndex.open(tmp_path).rows == 0
