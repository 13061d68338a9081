from datetime import UTC, datetime

import pytest

from custom_postprocessors.evidence import ChannelScores, Citation, Claim, Violation
from evaluation.answer_metrics import (
    AnswerScore,
    DraftCounts,
    draft_counts,
    score_answer,
    summarise,
    values_by_length,
)
from evaluation.goldset import GoldItem
from evaluation.required import contains_all
from pipelines.contracts import (
    Answer,
    ClaimEvent,
    FinalEvent,
    Grounding,
    IndexInfo,
    ModelInfo,
    Outcome,
    Plan,
    Refusal,
    RegeneratingEvent,
    Source,
    Timings,
)

TEXT = "Die Grenze beträgt **551,10 €**. Bis 2025 galt derselbe Wert."
SECTIONS = {("pv-sv-05", "Zusammenfassung"): TEXT}
GIVEN = {"pv-sv-05"}


def cited(text: str, quote: str = TEXT[:32], start: int = 0, entry_id: str = "pv-sv-05", **fields: object) -> Claim:
    place = Citation(
        entry_id=entry_id, section="Zusammenfassung", stand="2026-01", quote=quote, start=start, end=start + len(quote)
    )
    return Claim(text=text, citations=(place,), **fields)


def outcome(*claims: Claim, answer: str = "", status: str = "answered", total: float = 10.0, **grounding: object) -> Outcome:
    common = {
        "request_id": "r",
        "created_at": datetime(2026, 1, 1, tzinfo=UTC),
        "question": "q",
        "as_of": "2026-01",
        "answer": answer,
        "sources": (
            Source(
                entry_id="pv-sv-05",
                title="t",
                stand="2026-01",
                work="pv",
                topic="s",
                section="Zusammenfassung",
                scores=ChannelScores(),
            ),
        ),
        "plan": Plan(type="value", queries=("q",), as_of="2026-01"),
        "grounding": Grounding(verified=True, mode="extractive", **grounding),
        "model": ModelInfo(name="m"),
        "index": IndexInfo(version="v", embedding_model="embedded", entries=1, nodes=1),
        "timings_ms": Timings(total=total, first_claim=total / 2 if claims else None),
    }
    if status in ("refused", "unavailable"):
        reason = "kb_silent" if status == "refused" else "model_failed"
        return Refusal(status=status, refusal_reason=reason, **common)
    return Answer(status=status, claims=claims, **common)


def item(kind: str = "value", expected: tuple[str, ...] = ("pv-sv-05",), must: tuple[str, ...] = ("551,10 €",)) -> GoldItem:
    if kind == "out_of_kb":
        expected, must = (), ()
    return GoldItem(id="q-t-1", question="q", kind=kind, expected_ids=expected, must_contain=must)


@pytest.mark.parametrize(
    ("answer", "required", "expected"),
    [
        ("sind **551,10 €** im Monat", ["551,10 €"], True),
        ("sind 551,1 Euro", ["551,10 €"], True),
        ("eine Frist von vier Wochen", ["4 Wochen"], True),
        ("nach 12 Tagen", ["2 Tage"], False),
        ("sind 1.860,00 €", ["860,00 €"], False),
        ("Nie  addiert\u00a0wird", ["nie addiert"], True),
        ("am 31.3.2025", ["2025"], True),
        ("551,10 €", ["551,10 €", "826,65 €"], False),
        ("egal", [], True),
    ],
)
def test_required_strings_are_compared_by_value(answer, required, expected):
    assert contains_all(answer, required) is expected


def test_score_of_an_answer():
    shown = outcome(cited("Die Grenze beträgt 551,10 €."), answer="Die Grenze beträgt 551,10 €.", dropped_claims=1)
    assert score_answer(item(), shown, SECTIONS) == AnswerScore(
        id="q-t-1",
        question="q",
        kind="value",
        outcome_status="answered",
        claims_proven=(True,),
        draft=DraftCounts(1, 2),
        cited_ids=("pv-sv-05",),
        expected_ids=("pv-sv-05",),
        values_correct=True,
        quotes=1,
        quotes_of_expected=1,
        characters=32,
        characters_needed=32,
        dropped_claims=1,
        latency_ms=10.0,
        first_claim_ms=5.0,
    )


def test_figures_of_a_run_by_hand():
    good = outcome(cited("Die Grenze beträgt 551,10 €."), answer="551,10 €", total=10.0)
    false = outcome(cited("Die Grenze beträgt 511,10 €."), answer="511,10 €", total=30.0)
    scores = [
        score_answer(item(), good, SECTIONS, DraftCounts(1, 1)),
        score_answer(item(), false, SECTIONS, DraftCounts(0, 3)),
        score_answer(item(expected=("pv-sv-05", "pv-sv-07")), outcome(status="refused", total=20.0), SECTIONS),
        score_answer(item("out_of_kb"), outcome(status="refused", total=20.0), SECTIONS),
        score_answer(item("out_of_kb"), outcome(status="unavailable", total=20.0), SECTIONS),
        score_answer(item(), None, SECTIONS),
    ]
    figures = summarise(scores, lengths=(31, 32))
    assert figures.questions == 6
    assert figures.draft_citation_precision == 1 / 6, "the crash and the failed model each owe a claim"
    assert (figures.unavailable, figures.tokens_per_second) == (1, None)
    assert figures.citation_precision == 1 / 2
    assert figures.citation_recall == 2 / 4
    assert figures.expected_source == 2 / 4
    assert figures.values_correct == 1 / 4
    assert figures.refusal_correct == 3 / 6
    assert figures.false_refusals == 2 / 4
    assert figures.false_answers == 1 / 2
    assert figures.quote_precision == 1.0
    assert (figures.latency_ms.mean, figures.latency_ms.p50, figures.latency_ms.p95) == (20.0, 20.0, 30.0)
    assert figures.first_claim_ms == 10.0
    assert figures.values_by_length == {31: 0.0, 32: 1 / 4}


def test_figures_of_no_question():
    figures = summarise([])
    assert (figures.questions, figures.citation_precision, figures.draft_citation_precision) == (0, 1.0, 0.0)
    assert values_by_length([], (100,)) == {100: 0.0}


def test_counts_of_the_first_draft_end_where_the_second_begins():
    claim = cited("Die Grenze beträgt 551,10 €.")
    wrong = [Violation(kind="unsupported", message="m", claim=text) for text in ("a", "a", "b")]
    events = [ClaimEvent(0, claim), RegeneratingEvent(tuple(wrong)), ClaimEvent(0, claim), ClaimEvent(1, claim)]
    assert draft_counts([*events, FinalEvent(outcome(claim, regenerated=True))]) == DraftCounts(1, 3)
    assert draft_counts([ClaimEvent(0, claim), FinalEvent(outcome(claim, dropped_claims=2))]) == DraftCounts(1, 3)
    assert draft_counts([]) == DraftCounts(0, 0)
