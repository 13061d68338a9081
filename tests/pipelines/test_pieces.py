import pytest

from pipelines.pieces import Piece, fixed_tokens, pieces


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("6.930,00", ["6930"]),
        ("6930", ["6930"]),
        ("1,53 %", ["1,53", "1,53%"]),
        ("3,80%", ["3,8", "3,8%"]),
        ("25 Prozent", ["25", "25%"]),
        ("0,50", ["0,5"]),
        ("§ 49 Abs 3", ["§49", "§49/3"]),
        ("§49 abs. 3 Z 11", ["§49", "§49/3/11"]),
        ("Paragraph 68", ["§68"]),
        ("C-233/20", ["c-233/20"]),
        ("9 ObA 18/13g", ["9oba18/13g"]),
        ("2007/15/0238", ["2007/15/0238"]),
        ("1.7.2026", ["1.7.2026", "2026"]),
    ],
)
def test_numbers_norms_dates_and_case_numbers_are_tokens(text, tokens):
    found = list(pieces(text))
    assert [token for piece in found for token in fixed_tokens(piece)] == tokens
    assert all(piece.kind != "word" for piece in found)


def test_two_numbers_with_a_slash_are_no_case_number():
    assert [piece.text for piece in pieces("ob 13/14 zählt")] == ["ob", "13", "14", "zählt"]


def test_gender_endings_are_dropped_and_hyphened_words_kept():
    assert list(pieces("Mitarbeiter:innen, MitarbeiterInnen und KV-Erhöhung")) == [
        Piece("word", "Mitarbeiter"),
        Piece("word", "Mitarbeiter"),
        Piece("word", "und"),
        Piece("word", "KV-Erhöhung"),
    ]


def test_number_glued_to_a_word_is_apart():
    assert [piece.text for piece in pieces("62jaehrigen 38,5h")] == ["62", "jaehrigen", "38,5", "h"]
