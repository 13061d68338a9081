import json
import random

import pytest

from custom_postprocessors.evidence import DraftClaim, DraftFormula
from pipelines.claim_stream import ClaimStream, DraftReading, draft_claim, without_thinking
from pipelines.json_scan import ClaimScanner, MalformedJson

TWO = json.dumps(
    {
        "silent": False,
        "claims": [
            {"text": 'Er sagt „{"text": [x]}“ und \\ "quer".', "sources": ["pv-sv-05"]},
            {"text": "Zweitens.", "sources": ["pv-sv-07", "pv-sv-05"]},
        ],
        "unanswered": ["die Frist"],
        "follow_up": "Welcher Kollektivvertrag gilt?",
    },
    ensure_ascii=False,
)
FIRST = DraftClaim('Er sagt „{"text": (x)}“ und \\ "quer".', ("pv-sv-05",))
SECOND = DraftClaim("Zweitens.", ("pv-sv-07", "pv-sv-05"))
REST = DraftReading(follow_up="Welcher Kollektivvertrag gilt?", unanswered=("die Frist",))


def read(text: str, size: int = 1) -> tuple[list[DraftClaim], DraftReading]:
    stream = ClaimStream()
    claims = [claim for at in range(0, len(text), size) for claim in stream.feed(text[at : at + size])]
    reading = stream.finish()
    return claims + list(reading.claims), DraftReading(
        (), reading.silent, reading.follow_up, reading.unanswered, reading.mode, reading.empty
    )


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_any_cutting_into_pieces_gives_the_same_draft(size):
    assert read(TWO, size) == ([FIRST, SECOND], REST)


def test_claim_is_given_with_its_last_character_and_not_before():
    ends = [TWO.index("]}", TWO.index(word)) + len("]}") for word in ("quer", "Zweitens")]
    stream = ClaimStream()
    given = {end + 1: claims for end, char in enumerate(TWO) if (claims := stream.feed(char))}
    assert given == {ends[0]: (FIRST,), ends[1]: (SECOND,)}


def test_every_prefix_gives_only_complete_claims():
    for end in range(len(TWO)):
        stream = ClaimStream()
        assert set(stream.feed(TWO[:end])) <= {FIRST, SECOND}


@pytest.mark.parametrize("end", [1, 20, 60, len(TWO) - 1])
def test_unfinished_json_is_malformed(end):
    stream = ClaimStream()
    stream.feed(TWO[:end])
    with pytest.raises(MalformedJson):
        stream.finish()


@pytest.mark.parametrize(
    "wrapped",
    [
        f"```json\n{TWO}\n```",
        f"```\n{TWO}",
        f"  \n{TWO}\n\nHoffentlich hilft das!",
        f'<think>Ich denke {{"text": 1}} [pv-xx-99].</think>\n{TWO}',
        f"Ich denke: [pv-xx-99] hat 511,10.\n</think>\n\n{TWO}",
        f"Hier ist die Antwort:\n```json\n{TWO}\n```",
        f"<thinking>a</thinking><think>b</think>{TWO}",
    ],
)
def test_wrapping_does_not_change_the_draft(wrapped):
    assert read(wrapped) == ([FIRST, SECOND], REST)


def test_silent_draft_gives_no_claims_even_if_it_has_some():
    text = '{"silent": true, "claims": [{"text": "Doch etwas.", "sources": ["pv-sv-05"]}], "unanswered": [], "follow_up": null}'
    assert read(text) == ([], DraftReading(silent=True))


def test_silent_sentence_as_a_claim_means_silent():
    text = '{"claims": [{"text": "Dazu enthält die Wissensbasis keine Aussage.", "sources": ["pv-sv-05"]}]}'
    assert read(text) == ([], DraftReading(silent=True))


def test_no_claims_means_silent():
    assert read('{"silent": false, "claims": []}') == ([], DraftReading(silent=True))


@pytest.mark.parametrize("nothing", ["", " \n", "<think>nur das</think>", "<think>nie zu Ende", "gedacht</think>  "])
def test_nothing_but_thinking_is_empty(nothing):
    assert read(nothing) == ([], DraftReading(empty=True, mode="structured"))


def test_list_of_claims_and_single_source_are_understood():
    assert read('[{"text": "A.", "source": "pv-sv-05"}]') == ([DraftClaim("A.", ("pv-sv-05",))], DraftReading())


@pytest.mark.parametrize(
    "bad",
    [
        "{",
        "```json\n{silent: true}",
        '{"silent": false, "claims": [{"text": "A.", "sources": [], "text": "B."}]}',
        '{"silent": false, "claims": [], "claims": [{"text": "A.", "sources": ["x"]}], "silent": true}',
        '{"silent": false, "claims": [{"text": 5, "sources": []}]}',
        '{"silent": false, "claims": [{"text": "A.", "sources": "x", "n": NaN}]}',
        '{"silent": false, "claims": [{"text": "A.", "sources": [5]}]}',
        '{"silent": false, "claims": ["A."]}',
        '{"silent": false, "claims": "A."}',
        '{"answer": "A."}',
        '{"claims": [{"text": "A."]}',
        '{"claims": ' + "[" * 50,
        '{"claims": [{"text": "' + "A" * 3000 + '", "sources": ["x"]}]}',
        '{"silent": false, "claims": [{"text": "A.", "sources": ["x"]} {"text": "B."}]}',
    ],
)
def test_what_is_not_a_draft_is_malformed(bad):
    with pytest.raises(MalformedJson):
        read(bad)


def test_ids_in_the_text_become_sources():
    assert draft_claim({"text": "Es sind 551,10 € [pv-xx-99].", "sources": ["[pv-sv-05]"]}) == DraftClaim(
        "Es sind 551,10 €.", ("pv-sv-05", "pv-xx-99")
    )


def test_formula_makes_a_claim_derived():
    formula = {"expression": "2 * 551.10", "operands": ["2", 551.10], "result": 1102.2}
    assert draft_claim({"text": "A.", "sources": ["x"], "formula": formula}) == DraftClaim(
        "A.", ("x",), derived=True, formula=DraftFormula("2 * 551.10", "1102.2", ("2", "551.1"))
    )


def test_empty_formula_is_none():
    claim = draft_claim({"text": "A.", "sources": ["x"], "formula": {"expression": "", "operands": [], "result": ""}})
    assert claim == DraftClaim("A.", ("x",))


def test_lone_closing_tag_ends_thinking():
    assert without_thinking("a <think>b</think> c") == "a  c"
    assert without_thinking("b</think>c") == "c"
    assert without_thinking("<think>b") == "<think>b"


def test_scanner_ignores_what_follows_the_value():
    scanner = ClaimScanner()
    assert scanner.feed('{"claims": []}{"claims": [{"text": "B."}]}') == []
    assert scanner.whole() == {"claims": []}


def test_free_text_with_marks_is_read_at_its_end():
    text = (
        "# Antwort\nHier die Antwort:\n- Die Grenze beträgt 551,10 € [pv-sv-05].\n"
        "- Die Abgabe beträgt 19,4 % [pv-sv-07] [pv-sv-05]. Sie ist jährlich zu zahlen.\n"
        "Offen: die Frist\nRückfrage: Welcher KV gilt?"
    )
    assert read(text) == (
        [
            DraftClaim("Die Grenze beträgt 551,10 €.", ("pv-sv-05",)),
            DraftClaim("Die Abgabe beträgt 19,4 %.", ("pv-sv-07", "pv-sv-05")),
            DraftClaim("Sie ist jährlich zu zahlen.", ()),
        ],
        DraftReading(follow_up="Welcher KV gilt?", unanswered=("die Frist",), mode="text"),
    )


def test_free_text_that_says_the_silent_sentence_is_silent():
    assert read("Dazu enthält die Wissensbasis keine Aussage.") == ([], DraftReading(silent=True, mode="text"))


def test_claims_can_always_be_stored():
    claim = '{"text": "Die\\ud83d Grenze\\u0000\\u202e ist a\\u0308.", "sources": ["pv-sv-05\\u200b"]}'
    claims, reading = read(f'{{"claims": [{claim}], "follow_up": "\\ud83d?"}}')
    assert claims == [DraftClaim("Die Grenze ist ä.", ("pv-sv-05",))]
    assert reading.follow_up == "?"


def test_damaged_drafts_give_a_draft_or_malformed_and_nothing_else():
    dice = random.Random(1)
    alphabet = '{}[]",:\\ \n`<think></think>aä1.-'
    outcomes = set()
    for _ in range(1000):
        text = list(TWO)
        for _ in range(dice.randint(1, 6)):
            at = dice.randrange(len(text))
            text[at : at + dice.randint(0, 3)] = dice.choices(alphabet, k=dice.randint(0, 3))
        try:
            claims, reading = read("".join(text), size=dice.choice((1, 5, 50)))
        except MalformedJson:
            outcomes.add("malformed")
            continue
        outcomes.add(reading.mode)
        assert all(isinstance(claim.text, str) and isinstance(claim.sources, tuple) for claim in claims)
    assert outcomes == {"malformed", "structured"}


def test_reading_takes_time_in_proportion_to_the_length():
    claims = [{"text": f"Aussage {n} " + "x" * 300, "sources": ["pv-sv-05"]} for n in range(200)]
    assert len(read(json.dumps({"silent": False, "claims": claims}), size=7)[0]) == 200
