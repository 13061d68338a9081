import pytest

from pipelines.contracts import Turn
from pipelines.errors import BadInput
from pipelines.intake import read_question


@pytest.mark.parametrize("raw", ["", "   ", "\n\t", "\u200b\u202e", "\x00"])
def test_a_question_of_nothing_is_bad_input(raw: str) -> None:
    with pytest.raises(BadInput, match="leer"):
        read_question(raw)


def test_a_question_may_have_2000_characters_and_not_one_more() -> None:
    assert read_question("ä" * 2000).text == "ä" * 2000
    with pytest.raises(BadInput, match="2001 Zeichen"):
        read_question("ä" * 2001)


def test_normalising_comes_before_counting_and_keeps_composed_umlauts() -> None:
    assert read_question("  U\u0308berstunden\u200b ").text == "Überstunden"


def test_only_the_newest_six_turns_are_kept_and_empty_ones_go() -> None:
    history = [Turn(question=f"Frage {n}", request_id=str(n)) for n in range(8)] + [Turn(question=" ", request_id="x")]
    assert [turn.question for turn in read_question("Und 2025?", history=history).history] == [f"Frage {n}" for n in range(3, 8)]


def test_scopes_and_topics_are_kept_once_in_order() -> None:
    question = read_question("x", scopes=["kv", "gesetz", "kv"], topics=["b", "a", "b"])
    assert (question.scopes, question.topics) == (("kv", "gesetz"), ("b", "a"))
