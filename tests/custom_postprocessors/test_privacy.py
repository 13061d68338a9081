import pytest

from custom_postprocessors.privacy import NormalisedQuestion, normalise_question


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("Meine SV-Nr ist 1237 010180, bin ich versichert?", "Meine SV-Nr ist [Sozialversicherungsnummer], bin ich versichert?"),
        ("SVNR 1237010180", "SVNR [Sozialversicherungsnummer]"),
        ("SVNR 12\u200b37\u200b 010180.", "SVNR [Sozialversicherungsnummer]."),
        ("Konto AT61 1904 3002 3457 3201 pfänden", "Konto [IBAN] pfänden"),
        ("konto at611904300234573201", "konto [IBAN]"),
        ("Mail an max.muster@firma.co.at bitte", "Mail an [E-Mail-Adresse] bitte"),
        ("max.muster (at) firma.at", "[E-Mail-Adresse]"),
        ("Tel. +43 664 123 45 67", "Tel. [Telefonnummer]"),
        ("ruf 0664/1234567 an", "ruf [Telefonnummer] an"),
        ("01 5331234 oder (01) 533 12 34", "[Telefonnummer] oder [Telefonnummer]"),
        ("0043 1 5331234", "[Telefonnummer]"),
    ],
)
def test_personal_data_becomes_a_placeholder_and_the_user_is_told(written: str, expected: str) -> None:
    result = normalise_question(written)
    assert result.text == expected
    assert len(result.notices) == 1


@pytest.mark.parametrize(
    "text",
    [
        "Wie hoch ist die HBG 2026: 6.930,00 € oder 13.860,00 €?",
        "Gilt das ab 01.01.2026 oder 01/12/2026 bis 31-12-2026?",
        "Was sagt Ra 2019/08/0123, C-233/20 und 8 ObA 23/23z?",
        "Sind 0,35 % von 2000 Euro für 01/2026 richtig?",
        "Abzug von 1.234.567,89 € nach § 68 Abs 1 EStG",
        "BGBl I Nr 47/2025, RV/3100544/2017",
        "zwischen 1000 2000 und 3000 Euro",
    ],
)
def test_values_of_payroll_are_no_personal_data(text: str) -> None:
    assert normalise_question(text) == NormalisedQuestion(text)


def test_invisible_and_control_characters_go_and_blanks_are_single() -> None:
    assert normalise_question("  Wie\u202e hoch\u00ad\x00\n\n ist\u00a0die U\u0308ZA\u200b?\t") == NormalisedQuestion(
        "Wie hoch ist die ÜZA?"
    )


def test_is_idempotent() -> None:
    once = normalise_question("IBAN AT611904300234573201, Tel 0664 1234567, SV 1237 010180, a@b.at")
    assert normalise_question(once.text).text == once.text
    assert len(once.notices) == 4
