"""Other wordings of a claim that say the same, and those that do not."""

import pytest

from custom_postprocessors.equivalents import equivalent


@pytest.mark.parametrize(
    ("text", "source", "expected"),
    [
        ("Vor 2025 galten 3,9 %.", "Der Satz betrug bis 2024 3,9 %.", "Bis 2024 galten 3,9 %."),
        ("Bis 2024 galten 3,9 %.", "Vor 2025 waren es 3,9 %.", "Vor 2025 galten 3,9 %."),
        ("Die Klausel ist nicht wirksam.", "Solche Klauseln sind unwirksam.", "Die Klausel ist unwirksam."),
        ("Das Kind ist noch keine zwölf.", "unter zwölf Jahren", "Das Kind ist unter zwölf."),
        (
            "Bis zum 18. Geburtstag gilt das.",
            "bis zum vollendeten 18. Lebensjahr",
            "Bis zum vollendeten 18. Lebensjahr gilt das.",
        ),
        ("Der Oberste Gerichtshof entschied das.", "Der OGH entschied.", "Der OGH entschied das."),
    ],
)
def test_says_the_same_in_words_that_the_source_uses(text: str, source: str, expected: str) -> None:
    found = equivalent(text, [source])
    assert found is not None
    assert found.text == expected


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("Vor 2024 galten 3,9 %.", "Der Satz betrug bis 2024 3,9 %."),
        ("Bis 2025 galten 3,9 %.", "Vor 2025 waren es 3,9 %."),
        ("Die Klausel ist wirksam.", "Solche Klauseln sind unwirksam."),
        ("Der Oberste Gerichtshof entschied das.", "Der VwGH entschied."),
    ],
)
def test_what_says_something_else_is_left_as_it_is(text: str, source: str) -> None:
    assert equivalent(text, [source]) is None
