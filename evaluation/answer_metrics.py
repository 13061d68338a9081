"""What is measured on answers: each figure defined once, computed from answer and `nodes.ndjson`, never from its own flags."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import Field

from custom_postprocessors.evidence import Claim, Frozen, Violation
from evaluation.goldset import GoldItem, Kind
from evaluation.intervals import Rate
from evaluation.metrics import mean, percentile
from evaluation.recheck import recheck
from evaluation.required import contains_all
from pipelines.contracts import Answer, ClaimEvent, Event, FinalEvent, Outcome, RegeneratingEvent
from pipelines.nodes import SectionNode

SectionTexts = Mapping[tuple[str, str], str]
"""(entry id, H2 heading) → section text as stored in `nodes.ndjson`."""

LENGTHS = (200, 400, 600, 800, 1000, 1200, 2000, 3000)
"""Characters of quotes at which the curve of `values_correct` is read."""


@dataclass(frozen=True, slots=True)
class DraftCounts:
    """Claims of a first draft: how many passed every check, and how many there were."""

    passed: int
    total: int

    @property
    def share(self) -> float | None:
        """Passed ÷ all, in [0, 1]; None without a claim."""
        return self.passed / self.total if self.total else None

    def as_failure(self) -> "DraftCounts":
        """The draft of a model that failed: none of its claims counts, and at least one was owed."""
        return DraftCounts(0, max(1, self.total))


@dataclass(frozen=True, slots=True)
class AnswerScore:
    """One question's figures. `outcome_status` is `crashed` when there was no outcome at all.

    `claims_proven` has one flag for each claim shown, in order. `characters_needed` is the length of the shortest run of
    quotes from the first on that has every required value: None when even all of them have not, or when none is required.
    """

    id: str
    question: str
    kind: Kind
    outcome_status: str
    claims_proven: tuple[bool, ...] = ()
    faults: tuple[str, ...] = ()
    draft: DraftCounts = field(default_factory=lambda: DraftCounts(0, 0))
    cited_ids: tuple[str, ...] = ()
    expected_ids: tuple[str, ...] = ()
    values_correct: bool | None = None
    quotes: int = 0
    quotes_of_expected: int = 0
    characters: int = 0
    characters_needed: int | None = None
    regenerated: bool = False
    dropped_claims: int = 0
    latency_ms: float = 0.0
    first_claim_ms: float | None = None
    output_tokens: int = 0
    writing_seconds: float = 0.0

    @property
    def answerable(self) -> bool:
        """Whether the knowledge base has the answer."""
        return self.kind != "out_of_kb"

    @property
    def answered(self) -> bool:
        """Whether the reader got an answer; `partial` and `clarification` are answers."""
        return self.outcome_status in ("answered", "partial", "clarification")

    @property
    def refused(self) -> bool:
        """Whether the knowledge base was said to be silent; `unavailable` and a crash are no refusals."""
        return self.outcome_status == "refused"

    @property
    def refusal_correct(self) -> bool:
        """Whether an answerable question was answered, or another one refused."""
        return self.answered if self.answerable else self.refused

    @property
    def found_expected(self) -> bool:
        """Whether at least one expected entry is cited."""
        return bool(set(self.cited_ids) & set(self.expected_ids))

    @property
    def citation_recall(self) -> float:
        """Share of the expected entries that are cited; 0 without an answer, 1 when none is expected."""
        if not self.expected_ids:
            return 1.0
        return len(set(self.cited_ids) & set(self.expected_ids)) / len(set(self.expected_ids))


class LatencyFigures(Frozen):
    """Milliseconds per question from the call to the outcome, crashes left out; zeros when there is no outcome."""

    mean: float
    p50: float
    p95: float


class AnswerFigures(Frozen):
    """The figures of a run.

    `draft_citation_precision`: claims of first drafts that passed ÷ all claims of first drafts; 0 without any. A question
    whose model failed counts as a draft without a claim that passed.
    `citation_precision`: claims shown that hold against `nodes.ndjson` ÷ claims shown; 1 without any.
    `citation_recall`, `expected_source`: means over answerable questions; 0 without any.
    `values_correct`: over questions with `must_contain`; 0 without any. `refusal_correct`: over all questions.
    `false_refusals`: answerable questions without an answer ÷ answerable ones. `false_answers`: `out_of_kb` questions not
    refused ÷ `out_of_kb` ones. `unavailable` and crashes count as wrong in each. `quote_precision`: quotes of expected
    entries ÷ quotes, over answerable questions. All rates in [0, 1]; `regenerated`, `dropped_claims` and `unavailable` are
    counts. `tokens_per_second`: tokens written ÷ seconds of writing, of the drafts whose model counts both; None without.
    `rates` has the Wilson interval of every figure that is a share of counted things (`citation_recall` is a mean).
    """

    questions: int
    draft_citation_precision: float
    citation_precision: float
    citation_recall: float
    expected_source: float
    refusal_correct: float
    false_refusals: float
    false_answers: float
    values_correct: float
    quote_precision: float
    regenerated: int
    dropped_claims: int
    latency_ms: LatencyFigures
    first_claim_ms: float | None
    values_by_length: dict[int, float]
    unavailable: int = 0
    tokens_per_second: float | None = None
    rates: dict[str, Rate] = Field(default_factory=dict)


def section_texts(nodes: Iterable[SectionNode]) -> dict[tuple[str, str], str]:
    """The texts that citations are checked against."""
    return {(node.entry_id, node.section): node.text for node in nodes}


def score_answer(
    item: GoldItem,
    outcome: Outcome | None,
    sections: SectionTexts,
    draft: DraftCounts | None = None,
    *,
    output_tokens: int = 0,
    writing_seconds: float = 0.0,
) -> AnswerScore:
    """The figures of one question; None as outcome: it crashed. Without `draft` it is read from the outcome."""
    if outcome is None:
        wrong = False if item.must_contain else None
        owed = (draft or DraftCounts(0, 0)).as_failure()
        return AnswerScore(
            item.id, item.question, item.kind, "crashed", draft=owed, expected_ids=item.expected_ids, values_correct=wrong
        )
    titles = {source.entry_id: source.title for source in outcome.sources}
    faults = [recheck([claim], sections, titles.keys(), titles) for claim in outcome.claims]
    citations = [citation for claim in outcome.claims for citation in claim.citations]
    shown = isinstance(outcome, Answer)
    drafted = draft or DraftCounts(len(outcome.claims), len(outcome.claims) + outcome.grounding.dropped_claims)
    return AnswerScore(
        id=item.id,
        question=item.question,
        kind=item.kind,
        outcome_status=outcome.status,
        claims_proven=tuple(not found for found in faults),
        faults=tuple(_fault(fault) for found in faults for fault in found),
        draft=drafted.as_failure() if outcome.status == "unavailable" else drafted,
        cited_ids=tuple(dict.fromkeys(citation.entry_id for citation in citations)),
        expected_ids=item.expected_ids,
        values_correct=(shown and contains_all(outcome.answer, item.must_contain)) if item.must_contain else None,
        quotes=len(citations),
        quotes_of_expected=sum(citation.entry_id in item.expected_ids for citation in citations),
        characters=sum(len(citation.quote) for citation in citations),
        characters_needed=_characters_needed(outcome.claims, item.must_contain),
        regenerated=outcome.grounding.regenerated,
        dropped_claims=outcome.grounding.dropped_claims,
        latency_ms=outcome.timings_ms.total,
        first_claim_ms=outcome.timings_ms.first_claim if shown else None,
        output_tokens=output_tokens,
        writing_seconds=writing_seconds,
    )


def draft_counts(events: Sequence[Event]) -> DraftCounts:
    """What became of the first draft's claims, from the events of a question; zeros when there was no draft.

    A claim that failed is counted once, however many violations it has.
    """
    passed = 0
    for event in events:
        if isinstance(event, ClaimEvent):
            passed += 1
        elif isinstance(event, RegeneratingEvent):
            failed = len({violation.claim for violation in event.violations})
            return DraftCounts(passed, passed + failed)
        elif isinstance(event, FinalEvent):
            return DraftCounts(passed, passed + event.outcome.grounding.dropped_claims)
    return DraftCounts(passed, passed)


def summarise(scores: Sequence[AnswerScore], lengths: Sequence[int] = LENGTHS) -> AnswerFigures:
    """The figures of a run; of no question at all: zeros, and a citation precision of 1."""
    answerable = [score for score in scores if score.answerable]
    rates = rates_of(scores)
    latencies = [score.latency_ms for score in scores if score.outcome_status != "crashed"]
    first = [score.first_claim_ms for score in scores if score.first_claim_ms is not None]
    seconds = sum(score.writing_seconds for score in scores)
    return AnswerFigures(
        questions=len(scores),
        draft_citation_precision=rates["draft_citation_precision"].value,
        citation_precision=rates["citation_precision"].value,
        citation_recall=mean([score.citation_recall for score in answerable]),
        expected_source=rates["expected_source"].value,
        refusal_correct=rates["refusal_correct"].value,
        false_refusals=rates["false_refusals"].value,
        false_answers=rates["false_answers"].value,
        values_correct=rates["values_correct"].value,
        quote_precision=rates["quote_precision"].value,
        regenerated=sum(score.regenerated for score in scores),
        dropped_claims=sum(score.dropped_claims for score in scores),
        latency_ms=LatencyFigures(mean=mean(latencies), p50=percentile(latencies, 0.5), p95=percentile(latencies, 0.95)),
        first_claim_ms=mean(first) if first else None,
        values_by_length=values_by_length(scores, lengths),
        unavailable=sum(score.outcome_status == "unavailable" for score in scores),
        tokens_per_second=sum(score.output_tokens for score in scores) / seconds if seconds else None,
        rates=rates,
    )


def rates_of(scores: Sequence[AnswerScore]) -> dict[str, Rate]:
    """Every share of `AnswerFigures` with what it counts and its interval, by the figure's name."""
    answerable = [score for score in scores if score.answerable]
    others = [score for score in scores if not score.answerable]
    return {
        "draft_citation_precision": Rate.of(
            sum(score.draft.passed for score in scores), sum(score.draft.total for score in scores)
        ),
        "citation_precision": Rate.of_flags([proven for score in scores for proven in score.claims_proven], empty=1.0),
        "expected_source": Rate.of_flags([score.found_expected for score in answerable]),
        "refusal_correct": Rate.of_flags([score.refusal_correct for score in scores]),
        "false_refusals": Rate.of_flags([not score.answered for score in answerable]),
        "false_answers": Rate.of_flags([not score.refused for score in others]),
        "values_correct": Rate.of_flags([score.values_correct for score in scores if score.values_correct is not None]),
        "quote_precision": Rate.of(
            sum(score.quotes_of_expected for score in answerable), sum(score.quotes for score in answerable)
        ),
        "regenerated": Rate.of_flags([score.regenerated for score in scores]),
    }


def values_by_length(scores: Sequence[AnswerScore], lengths: Sequence[int] = LENGTHS) -> dict[int, float]:
    """`values_correct` of answers cut after so many characters of quotes, claims in their order; 0 without such questions."""
    asked = [score for score in scores if score.values_correct is not None]
    return {
        length: _share([score.characters_needed is not None and score.characters_needed <= length for score in asked])
        for length in lengths
    }


def _fault(violation: Violation) -> str:
    return f"{violation.kind}: {violation.value or violation.entry_id or violation.claim}"


def _characters_needed(claims: Sequence[Claim], required: Sequence[str]) -> int | None:
    if not required:
        return None
    characters, texts = 0, []
    for claim in claims:
        characters += sum(len(citation.quote) for citation in claim.citations)
        texts.append(claim.text)
        if contains_all("\n".join(texts), required):
            return characters
    return None


def _share(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags) if flags else 0.0
