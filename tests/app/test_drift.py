from app.drift import QuoteCheck, check_quotes, compared, drifted, question_of
from app.store.audit import AuditRecord
from custom_postprocessors.evidence import Citation, Claim
from pipelines.contracts import Answer
from pipelines.nodes import SectionNode
from tests.app.store.test_audit import outcome

OLD_ROW = "| Grenze | 551,10 € | 2026 | § 5 |"
TABLE = f"| Kennzahl | Wert | Gültig | Grundlage |\n|---|---|---|---|\n{OLD_ROW}\n| UV-Beitrag | 1,10 % | 2026 | x |"


def node(text: str) -> SectionNode:
    return SectionNode(
        node_id="pv-sv-05#kernwerte-fristen",
        entry_id="pv-sv-05",
        section="Kernwerte & Fristen",
        title="Grenze",
        stand="2026-01",
        work="pv",
        topic="sozialversicherung",
        tags=(),
        legal_bases=(),
        cross_refs=(),
        publishers=(),
        source_text=False,
        position=0,
        text=text,
        text_hash="",
    )


def answer(quote: str = OLD_ROW) -> Answer:
    start = TABLE.index(quote)
    citation = Citation(
        entry_id="pv-sv-05", section="Kernwerte & Fristen", stand="2026-01", quote=quote, start=start, end=start + len(quote)
    )
    base = outcome(1)
    assert isinstance(base, Answer)
    return base.model_copy(update={"claims": (Claim(text="Grenze: 551,10 €", citations=(citation,)),)})


def check(text: str | None) -> list[QuoteCheck]:
    return list(check_quotes(answer(), lambda entry_id: () if text is None else (node(text),)))


def expected(state: str, new: str | None = None) -> list[QuoteCheck]:
    return [
        QuoteCheck.model_validate(
            {"entry_id": "pv-sv-05", "section": "Kernwerte & Fristen", "state": state, "old": OLD_ROW, "new": new}
        )
    ]


def test_a_quote_that_still_stands_is_unchanged_also_at_another_place() -> None:
    assert check(TABLE) == expected("unchanged")
    assert check("Vorspann.\n\n" + TABLE) == expected("unchanged")


def test_a_changed_value_is_shown_with_old_and_new() -> None:
    assert check(TABLE.replace("551,10", "561,20")) == expected("changed", OLD_ROW.replace("551,10", "561,20"))


def test_a_quote_is_gone_with_its_row_its_section_or_its_entry() -> None:
    assert check(TABLE.replace(OLD_ROW + "\n", "")) == expected("gone")
    assert check(None) == expected("gone")


def record(one: Answer | None) -> AuditRecord:
    return AuditRecord(1, "r-1", outcome(1).created_at, {}, one, "sha256:0")


def test_drift_names_exactly_the_answers_that_are_touched() -> None:
    untouched = answer("| UV-Beitrag | 1,10 % | 2026 | x |")
    changed = TABLE.replace("551,10", "561,20")
    found = list(drifted([record(answer()), record(untouched), record(None)], lambda entry_id: (node(changed),)))
    assert [(one.request_id, one.quotes[0].new) for one in found] == [("r-1", OLD_ROW.replace("551,10", "561,20"))]


def test_a_replay_asks_for_the_month_and_model_of_the_record() -> None:
    question = question_of(answer())
    assert (question.text, question.as_of, question.model) == ("Was gilt für Frau Muster? 1", "2026-03", "extractive")


def test_a_replay_shows_what_only_one_of_the_two_says() -> None:
    before = answer()
    assert compared(before, before).same
    now = before.model_copy(update={"claims": (before.claims[0].model_copy(update={"text": "Grenze: 561,20 €"}),)})
    result = compared(before, now)
    assert (result.same, result.only_before, result.only_now) == (False, ("Grenze: 551,10 €",), ("Grenze: 561,20 €",))
