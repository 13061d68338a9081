import pytest

from pipelines.claim_text import ClaimText, claim_text, remark, source_id


@pytest.mark.parametrize(
    ("written", "text", "ids"),
    [
        ("Es sind **551,10 €** (Stand 2026-01) [pv-sv-05].", "Es sind **551,10 €**.", ["pv-sv-05"]),
        ("Es sind 551,10 € [pv-sv-05] [pv-xx-99].", "Es sind 551,10 €.", ["pv-sv-05", "pv-xx-99"]),
        ("Es sind 551,10 € (pv-sv-05, pv-xx-99).", "Es sind 551,10 €.", ["pv-sv-05", "pv-xx-99"]),
        ("Es sind 551,10 € (siehe pv-sv-05#kernwerte-fristen).", "Es sind 551,10 €.", ["pv-sv-05#kernwerte-fristen"]),
        ("Es sind 551,10 €. Quelle: pv-xx-99", "Es sind 551,10 €.", ["pv-xx-99"]),
        ("Es sind 551,10 € 【pv-sv-05】【3†source】.", "Es sind 551,10 €.", ["pv-sv-05"]),
        ("Es sind 551,10 € [pv-sv-05](http://evil.example).", "Es sind 551,10 €.", ["pv-sv-05"]),
        ("Laut PV-XX-99 sind es 551,10 € [kv-allg].", "Laut sind es 551,10 €.", ["PV-XX-99", "kv-allg"]),
        ("⚠️ Die Frist beträgt 6 Wochen (laut Sekundärquelle).", "Die Frist beträgt 6 Wochen.", []),
        ("- Die Frist beträgt 6 Wochen (Nichtamtliche Wiedergabe).", "Die Frist beträgt 6 Wochen.", []),
        ("## Siehe <b>hier</b> ![x](http://evil.example/?q=1) [da](https://a.b) https://c.d/e www.f.at", "Siehe hier x da", []),
        ("Der All-in-Vertrag [brutto] gilt ab 1-1-2026 [12].", "Der All-in-Vertrag (brutto) gilt ab 1-1-2026.", []),
        (
            "Bei Covid-19 und der EU-VO 2016/679 sind <5 %, a < b > c.",
            "Bei Covid-19 und der EU-VO 2016/679 sind <5 %, a < b > c.",
            [],
        ),
        ("§ 5 Abs 2 Z 1 ASVG, EuGH C-385/17, 9 ObA 12/20x", "§ 5 Abs 2 Z 1 ASVG, EuGH C-385/17, 9 ObA 12/20x", []),
        ("Von 9-12-15 Uhr und ab 2024-01-31.", "Von 9-12-15 Uhr und ab 2024-01-31.", []),
        ("\u202eUnsichtbar\u200b\x00 a\u0308\ud83d", "Unsichtbar ä", []),
        ("  ", "", []),
    ],
)
def test_text_is_a_plain_sentence_and_ids_are_told(written, text, ids):
    assert claim_text(written) == ClaimText(text, tuple(ids))


def test_cleaning_twice_changes_nothing():
    once = claim_text("- ⚠ Es sind **551,10 €** [brutto] (Stand 2026-01) [pv-sv-05].").text
    assert claim_text(once) == ClaimText(once, ())


def test_remarks_are_one_plain_line_or_nothing():
    assert [remark(text) for text in ("Welcher\nKV gilt [pv-sv-05]?", "null", " ", "Keine.")] == [
        "Welcher KV gilt?",
        None,
        None,
        None,
    ]


def test_source_is_taken_without_brackets():
    assert [source_id(text) for text in ("[pv-sv-05]", " pv-sv-05\u200b\n", "")] == ["pv-sv-05", "pv-sv-05", ""]
