import pytest

from pipelines.german import GermanAnalyzer
from pipelines.lexicon import Lexicon, Meaning
from tests.retrieval_parts import section

LEXICON = Lexicon(
    {
        "sz": Meaning(("Sonderzahlung",), abbreviation=True),
        "an": Meaning(("Arbeitnehmer",), abbreviation=True),
        "kommst": Meaning(("Kommunalsteuer",), abbreviation=True),
        "rollstuhlfahrer": Meaning(("begünstigt Behinderte",), abbreviation=False),
        "zwei jobs": Meaning(("mehrfach beschäftigt",), abbreviation=False),
    },
    frozenset({"an", "der", "die", "was", "ist"}),
)


@pytest.fixture(scope="module")
def analyzer() -> GermanAnalyzer:
    text = "Die Kündigungsfrist, die Kündigung, die Frist, die Sonderzahlung, kommen, Kommunalsteuer, begünstigt Behinderte."
    return GermanAnalyzer.build([section("pv-a-01#zusammenfassung", text)], LEXICON)


def terms(analyzer, text):
    return {(term.token, term.origin) for group in analyzer.query_tokens(text).groups for term in group}


def test_compound_keeps_its_whole_and_gets_its_parts_with_less_weight(analyzer):
    (group,) = analyzer.query_tokens("kuendigungsfrist").groups
    assert [(term.token, term.origin) for term in group] == [("kundigungsfrist", "word"), ("kundig", "part"), ("frist", "part")]
    assert group[0].weight == 1.0 > group[1].weight == group[2].weight > 0


def test_split_compound_is_joined(analyzer):
    assert ("kundigungsfrist", "joined") in terms(analyzer, "die kündigungs frist")


def test_abbreviation_is_resolved_and_stays_searchable(analyzer):
    assert {("sz", "word"), ("sonderzahl", "abbreviation")} <= terms(analyzer, "was ist die sz")


def test_abbreviation_like_a_stop_word_counts_only_in_capitals(analyzer):
    assert ("arbeitnehm", "abbreviation") in terms(analyzer, "AN")
    assert terms(analyzer, "an der") == set()


def test_abbreviation_is_not_taken_for_the_stem_of_another_word(analyzer):
    assert ("kommunalsteu", "abbreviation") in terms(analyzer, "KommSt")
    assert ("kommunalsteu", "abbreviation") not in terms(analyzer, "kommen")


def test_phrase_of_several_words_is_resolved(analyzer):
    assert ("mehrfach", "synonym") in terms(analyzer, "hat zwei jobs")


def test_typo_of_a_known_word_and_of_a_word_of_the_lexicon(analyzer):
    assert ("sonderzahl", "typo") in terms(analyzer, "sonderzhalung")
    assert ("behindert", "synonym") in terms(analyzer, "rolstuhlfahrer")


def test_known_word_is_not_corrected(analyzer):
    assert analyzer.query_tokens("Kündigung").of_origin("typo") == ()


def test_question_of_stop_words_has_no_groups(analyzer):
    analysis = analyzer.query_tokens("was ist die?")
    assert (analysis.groups, analysis.content, analysis.tokens) == ((), "", ())


def test_content_is_what_is_left_and_expanded_adds_meanings(analyzer):
    analysis = analyzer.query_tokens("was ist die SZ")
    assert analysis.content == "sz"
    assert analysis.expanded == "was ist die SZ Sonderzahlung"
