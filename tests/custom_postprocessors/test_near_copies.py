import pytest

from custom_postprocessors.near_copies import exchanged_words, is_patchwork, turned_words

SOURCE = (
    "Sie gilt nicht als Meldung; nur wer nachweislich weniger erhält, "
    "rechnet mindestens einen Monat mit dem tatsächlichen Betrag."
)


@pytest.mark.parametrize(
    ("claim", "turns"),
    [
        ("Sie gilt als Meldung.", ["nicht"]),
        ("Wer nachweislich weniger erhält, rechnet mindestens einen Monat mit dem Betrag.", ["nur"]),
        ("Man rechnet einen Monat mit dem tatsächlichen Betrag.", ["mindestens"]),
        ("Weniger erhält, rechnet einen Monat mit", ["mindestens"]),
        ("Als Meldung gilt sie nicht.", []),
        (SOURCE, []),
    ],
)
def test_a_turning_word_that_is_missing_between_the_same_words_is_found(claim: str, turns: list[str]) -> None:
    assert list(turned_words(SOURCE, claim)) == turns


def test_an_article_stands_for_its_denial() -> None:
    assert list(turned_words("| Arbeitslosenversicherung | keine | laufend |", "Arbeitslosenversicherung: eine (laufend)")) == [
        "keine"
    ]


def test_a_noun_in_the_place_of_another_is_found() -> None:
    source = "Urlaub verjährt zwei Jahre nach dem Ende des Urlaubsjahres."
    assert list(exchanged_words("Krankenstand verjährt zwei Jahre nach dem Ende.", source)) == [("Krankenstand", "Urlaub")]
    assert list(exchanged_words("Nach zwei Jahren verjährt der Urlaub.", source)) == []


ENTRIES = [
    ("a", "Den Deckel von 85,00 € nennt die Arbeitgeberseite, in der Aussendung der Gewerkschaft fehlt er."),
    ("b", "Betriebsvereinbarungen können die Woche anders verteilen; darüber entscheidet der Betriebsrat."),
]


@pytest.mark.parametrize(
    "claim",
    [
        "Betriebsvereinbarungen können die Woche der Gewerkschaft fehlt er.",
        "Den Deckel von 85,00 € nennt anders verteilen; darüber entscheidet der Betriebsrat.",
    ],
)
def test_halves_of_two_entries_are_a_patchwork(claim: str) -> None:
    assert is_patchwork(claim, ENTRIES)


@pytest.mark.parametrize(
    "claim",
    [
        ENTRIES[0][1],
        "Den Deckel von 85,00 € nennt die Arbeitgeberseite, und darüber entscheidet der Betriebsrat.",
        "Darüber entscheidet der Betriebsrat; in der Aussendung der Gewerkschaft fehlt er.",
    ],
)
def test_whole_clauses_of_two_entries_are_none(claim: str) -> None:
    assert not is_patchwork(claim, ENTRIES)
    assert not is_patchwork(claim, ENTRIES[:1])
