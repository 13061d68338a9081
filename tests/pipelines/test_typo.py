import numpy as np
import pytest

from pipelines.errors import IndexFault
from pipelines.german import GermanAnalyzer
from pipelines.section_pieces import SectionPieces
from pipelines.typo import MOST_GRAMS, TypoIndex, grams
from tests.retrieval_parts import section

SECTIONS = [
    section("pv-a-01#zusammenfassung", "Die Abfertigung alt steht bei Kündigung zu.", title="Abfertigung"),
    section("pv-b-01#zusammenfassung", "Das Kilometergeld für den Privatwagen.", title="Reisekosten"),
    section(
        "pv-c-01#zusammenfassung", " ".join(f"wort{chr(97 + i % 26)}{chr(97 + i // 26)}xyz{i}" for i in range(400)), title="Lang"
    ),
]


@pytest.fixture(scope="module")
def analyzer():
    return GermanAnalyzer.build(SECTIONS)


def test_grams_of_a_word_and_of_a_short_one():
    assert grams("abc") == [" ab", "abc", "bc ", " abc", "abc ", " abc "]
    assert grams("a") == [" a "]


@pytest.mark.parametrize(("query", "row"), [("abfretigungg", 0), ("kilo meter gelt", 1), ("reise kostn", 1)])
def test_misspelled_words_find_their_section(analyzer, tmp_path, query, row):
    index = TypoIndex.build(SectionPieces.read(SECTIONS), tmp_path, analyzer)
    (best, score), *_ = index.search(analyzer.query_tokens(query), 3)
    assert best == row
    assert 0 < score <= 1


def test_own_title_and_text_have_the_highest_cosine(analyzer, tmp_path):
    index = TypoIndex.build(SectionPieces.read(SECTIONS), tmp_path, analyzer)
    scores = index.scores(analyzer.query_tokens("Abfertigung Abfertigung Abfertigung alt steht Kündigung"))
    assert 0.8 < scores[0] <= 1.0
    assert scores[0] == scores.max()


def test_long_section_keeps_only_its_weightiest_grams(analyzer, tmp_path):
    index = TypoIndex.build(SectionPieces.read(SECTIONS), tmp_path, analyzer)
    assert np.count_nonzero(index._postings.row_ids == 2) == MOST_GRAMS


def test_reopened_index_scores_the_same(analyzer, tmp_path):
    fresh = TypoIndex.build(SectionPieces.read(SECTIONS), tmp_path, analyzer)
    analysis = analyzer.query_tokens("abfertigung kilometer")
    assert np.array_equal(TypoIndex.open(tmp_path).scores(analysis), fresh.scores(analysis))


def test_refuses_a_damaged_index(analyzer, tmp_path):
    TypoIndex.build(SectionPieces.read(SECTIONS), tmp_path, analyzer)
    np.save(tmp_path / "rarity.npy", np.ones(3, dtype=np.float32))
    with pytest.raises(IndexFault):
        TypoIndex.open(tmp_path)
    (tmp_path / "rarity.npy").unlink()
    with pytest.raises(IndexFault):
        TypoIndex.open(tmp_path)


def test_no_sections_and_no_words_find_nothing(analyzer, tmp_path):
    empty = GermanAnalyzer.build([])
    assert TypoIndex.build(SectionPieces.read([]), tmp_path / "none", empty).search(empty.query_tokens("urlaub"), 5) == []
    index = TypoIndex.build(SectionPieces.read(SECTIONS), tmp_path / "some", analyzer)
    assert index.search(analyzer.query_tokens("?!"), 5) == []
