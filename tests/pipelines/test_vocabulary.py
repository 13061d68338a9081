import pytest

from pipelines.vocabulary import Vocabulary, fold


@pytest.mark.parametrize(
    ("one", "other"),
    [("Überstunde", "ueberstunde"), ("Straße", "strasse"), ("GRÖSSE", "groesse"), ("ÜSt", "uest"), ("Zuschüsse", "zuschuesse")],
)
def test_spellings_of_one_word_fold_to_one_form(one, other):
    assert fold(one) == fold(other)


@pytest.mark.parametrize("word", ["steuer", "neue", "quelle", "dauer"])
def test_ue_after_a_vowel_or_q_is_no_umlaut(word):
    assert fold(word) == word


def test_decomposed_umlauts_fold_like_composed_ones():
    assert fold("Höchst") == fold("Höchst") == "hochst"


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    words = [
        "kundigung",
        "frist",
        "kundigungsfrist",
        "sonder",
        "zahlung",
        "abfertigung",
        "arbeit",
        "zeit",
        "dienstgeber",
        "kommunalsteuer",
    ]
    return Vocabulary(dict.fromkeys(words, 3), stop_words=["oder"])


def test_compound_is_split_into_known_words_without_linking_letters(vocabulary):
    assert vocabulary.split("kundigungsfrist") == ("kundigung", "frist")
    assert vocabulary.split("arbeitszeit") == ("arbeit", "zeit")


def test_word_with_an_unknown_part_is_not_split(vocabulary):
    assert vocabulary.split("kundigungsbrief") == ()


def test_known_words_that_unknown_compound_begins_and_ends_with(vocabulary):
    assert vocabulary.ends("kundigungsbrief") == ("kundigung",)
    assert vocabulary.ends("hauptfrist") == ("frist",)
    assert vocabulary.ends("krimskrams") == ()


def test_split_words_are_joined_when_the_compound_is_known(vocabulary):
    assert vocabulary.join(["kundigungs", "frist"]) == "kundigungsfrist"
    assert vocabulary.join(["kundigung", "frist"]) == "kundigungsfrist"
    assert vocabulary.join(["frist", "kundigung"]) is None


@pytest.mark.parametrize("typed", ["abfertiung", "abferitgung", "abfertigugn", "abfertigunng"])
def test_typo_finds_the_word(vocabulary, typed):
    assert vocabulary.near(typed) == ("abfertigung",)


def test_typo_in_the_first_letter_and_short_words_are_not_guessed(vocabulary):
    assert vocabulary.near("ubfertigung") == ()
    assert vocabulary.near("zeid") == ()


def test_typo_may_mean_a_word_that_only_the_caller_knows(vocabulary):
    assert vocabulary.near("rolstuhl", ["rollstuhl"]) == ("rollstuhl",)


def test_feminine_of_a_role_counts_as_the_role(vocabulary):
    assert vocabulary.stem("dienstgeberin") == vocabulary.stem("dienstgeberinnen") == vocabulary.stem("dienstgeber")


def test_other_form_of_a_known_word_is_known(vocabulary):
    assert vocabulary.knows("zahlungen")
    assert not vocabulary.knows("urlaub")
