import pytest

from custom_postprocessors.sentences import row_text, split_units


def texts(markdown: str) -> list[str]:
    return [markdown[unit.start : unit.end] for unit in split_units(markdown)]


@pytest.mark.parametrize(
    "sentence",
    [
        "Nach § 68 Abs. 2 Z. 1 EStG gilt das bzw. Ähnliches für Betriebe mit mind. 5 Personen.",
        "Die Frist endet am 15. des Folgemonats, spätestens am 1. Jänner 2026.",
        "Vom 2. bis zum 15. Jahr sind es 6.930,00 € oder 1.5 Prozent.",
        "Ab dem 26. Dienstjahr gilt mehr.",
    ],
)
def test_abbreviations_ordinals_and_decimals_do_not_end_a_sentence(sentence: str) -> None:
    assert texts(f"{sentence} Das ist neu.") == [sentence, "Das ist neu."]


def test_a_year_or_amount_ends_a_sentence() -> None:
    assert texts("Es gilt ab 2026. Die Grenze liegt bei 5. Die Frist nicht.") == [
        "Es gilt ab 2026.",
        "Die Grenze liegt bei 5.",
        "Die Frist nicht.",
    ]


def test_items_headings_tables_and_paragraphs() -> None:
    markdown = "### Kopf\n\nErster\nSatz. Zweiter.\n\n- Punkt eins\n2. Punkt zwei\n\n| A | B |\n|---|---|\n| x | 1 € |\n"
    assert [(unit.kind, markdown[unit.start : unit.end], unit.heading) for unit in split_units(markdown)] == [
        ("heading", "Kopf", ""),
        ("sentence", "Erster\nSatz.", "Kopf"),
        ("sentence", "Zweiter.", "Kopf"),
        ("sentence", "Punkt eins", "Kopf"),
        ("sentence", "Punkt zwei", "Kopf"),
        ("header", "| A | B |", "Kopf"),
        ("row", "| x | 1 € |", "Kopf"),
    ]


def test_a_row_reads_as_a_statement() -> None:
    markdown = "| Kennzahl | Wert | Gültig | Grundlage |\n|---|---|---|---|\n| **HBG** | 231,00 € | ab 2026 | ASVG |"
    assert row_text(markdown, split_units(markdown)[1]) == "HBG: 231,00 € (ab 2026)"


def test_blank_text_has_no_units() -> None:
    assert split_units(" \n\n") == ()
