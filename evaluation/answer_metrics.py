"""What is measured on answers: each figure defined once, computed from answer and `nodes.ndjson`, never from its own flags."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from custom_postprocessors.evidence import Claim, Frozen
from custom_postprocessors.values import find_values, proves
from evaluation.goldset import GoldItem, Kind, comparable
from evaluation.metrics import mean, percentile
from pipelines.contracts import Answer, ClaimEvent, Event, FinalEvent, Outcome, RegeneratingEvent
from pipelines.nodes import SectionNode

SectionTexts = Mapping[tuple[str, str], str]
"""(entry id, H2 heading) → section text as stored in `nodes.ndjson`."""

LENGTHS = (200, 400, 600, 800, 1000, 1200, 2000, 3000)
"""Characters of quotes at which the curve of `values_correct` is read."""

_YEAR = re.compile(r"(?:19|20)\d\d")


@dataclass(frozen=True, slots=True)
class DraftCounts:
    """Claims of a first draft: how many passed every check, and how many there were."""

    passed: int
    total: int


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

    `draft_citation_precision`: claims of first drafts that passed ÷ all claims of first drafts; 0 without any.
    `citation_precision`: claims shown that hold against `nodes.ndjson` ÷ claims shown; 1 without any.
    `citation_recall`, `expected_source`: means over answerable questions; 0 without any.
    `values_correct`: over questions with `must_contain`; 0 without any. `refusal_correct`: over all questions.
    `false_refusals`: answerable questions without an answer ÷ answerable ones. `false_answers`: `out_of_kb` questions not
    refused ÷ `out_of_kb` ones. `unavailable` and crashes count as wrong in each. `quote_precision`: quotes of expected
    entries ÷ quotes, over answerable questions. All rates in [0, 1]; `regenerated` and `dropped_claims` are counts.
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


def section_texts(nodes: Iterable[SectionNode]) -> dict[tuple[str, str], str]:
    """The texts that citations are checked against."""
    return {(node.entry_id, node.section): node.text for node in nodes}


def score_answer(
    item: GoldItem, outcome: Outcome | None, sections: SectionTexts, draft: DraftCounts | None = None
) -> AnswerScore:
    """The figures of one question; None as outcome: it crashed."""
    if outcome is None:
        wrong = False if item.must_contain else None
        return AnswerScore(item.id, item.question, item.kind, "crashed", expected_ids=item.expected_ids, values_correct=wrong)
    given = {source.entry_id for source in outcome.sources}
    faults = [claim_faults(claim, given, sections) for claim in outcome.claims]
    citations = [citation for claim in outcome.claims for citation in claim.citations]
    shown = isinstance(outcome, Answer)
    return AnswerScore(
        id=item.id,
        question=item.question,
        kind=item.kind,
        outcome_status=outcome.status,
        claims_proven=tuple(not found for found in faults),
        faults=tuple(fault for found in faults for fault in found),
        draft=draft or DraftCounts(len(outcome.claims), len(outcome.claims) + outcome.grounding.dropped_claims),
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
        first_claim_ms=outcome.timings_ms.first_claim,
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


def claim_faults(claim: Claim, given: Collection[str], sections: SectionTexts) -> tuple[str, ...]:
    """Why a shown claim does not hold; empty when it does.

    It holds when each quote is its slice of the stored section, its entry was given, and every value of the text stands in
    a quote; a derived claim's result and the question's own values are excused. Works from the texts only.
    """
    faults = [] if claim.citations else [f"no citation: {claim.text}"]
    for citation in claim.citations:
        text = sections.get((citation.entry_id, citation.section))
        if text is None or not citation.quote or text[citation.start : citation.end] != citation.quote:
            faults.append(f"not the text of {citation.entry_id} at {citation.start}: {citation.quote}")
        if citation.entry_id not in given:
            faults.append(f"not given: {citation.entry_id}")
    quoted = [value for citation in claim.citations for value in find_values(citation.quote)]
    excused = {value.text for value in claim.values if value.entry_id is None} if claim.derived else set()
    for value in find_values(claim.text):
        if value.text not in excused and not any(proves(source, value) for source in quoted):
            faults.append(f"not in a quote: {value.text}")
    return tuple(faults)


def contains_all(answer: str, required: Iterable[str]) -> bool:
    """Whether the answer has every required string: its values in any spelling, its words as text after `comparable`."""
    text = comparable(answer)
    spelled = _with_normal_values(answer)
    return all(_contains(text, spelled, string) for string in required)


def summarise(scores: Sequence[AnswerScore], lengths: Sequence[int] = LENGTHS) -> AnswerFigures:
    """The figures of a run; of no question at all: zeros, and a citation precision of 1."""
    answerable = [score for score in scores if score.answerable]
    others = [score for score in scores if not score.answerable]
    outcomes = [score for score in scores if score.outcome_status != "crashed"]
    latencies = [score.latency_ms for score in outcomes]
    shown = [proven for score in scores for proven in score.claims_proven]
    drafted = sum(score.draft.total for score in scores)
    first = [score.first_claim_ms for score in scores if score.first_claim_ms is not None]
    return AnswerFigures(
        questions=len(scores),
        draft_citation_precision=sum(score.draft.passed for score in scores) / drafted if drafted else 0.0,
        citation_precision=_share(shown) if shown else 1.0,
        citation_recall=mean([score.citation_recall for score in answerable]) if answerable else 0.0,
        expected_source=_share([score.found_expected for score in answerable]),
        refusal_correct=_share([score.refusal_correct for score in scores]),
        false_refusals=_share([not score.answered for score in answerable]),
        false_answers=_share([not score.refused for score in others]),
        values_correct=_share([score.values_correct for score in scores if score.values_correct is not None]),
        quote_precision=_quote_precision(answerable),
        regenerated=sum(score.regenerated for score in scores),
        dropped_claims=sum(score.dropped_claims for score in scores),
        latency_ms=LatencyFigures(
            mean=mean(latencies) if latencies else 0.0,
            p50=percentile(latencies, 0.5) if latencies else 0.0,
            p95=percentile(latencies, 0.95) if latencies else 0.0,
        ),
        first_claim_ms=mean(first) if first else None,
        values_by_length=values_by_length(scores, lengths),
    )


def values_by_length(scores: Sequence[AnswerScore], lengths: Sequence[int] = LENGTHS) -> dict[int, float]:
    """`values_correct` of answers cut after so many characters of quotes, claims in their order; 0 without such questions."""
    asked = [score for score in scores if score.values_correct is not None]
    return {
        length: _share([score.characters_needed is not None and score.characters_needed <= length for score in asked])
        for length in lengths
    }


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


def _contains(text: str, spelled: str, required: str) -> bool:
    if _with_normal_values(required) in spelled:
        return True
    wanted = comparable(required)
    # The number that a required string begins or ends with must not be a part of a longer one.
    before = r"(?<!\d)" if _YEAR.fullmatch(wanted) else r"(?<!\d)(?<!\d[.,])" if wanted[:1].isdigit() else ""
    after = r"(?!\d)(?![.,]\d)" if wanted[-1:].isdigit() else ""
    return re.search(before + re.escape(wanted) + after, text) is not None


def _with_normal_values(text: str) -> str:
    """The comparable text with each value in its normal form between ‹ and ›."""
    pieces, position = [], 0
    for value in find_values(text):
        if value.start < position:
            continue
        pieces += [text[position : value.start], f"‹{value.normalized}›"]
        position = value.end
    return comparable("".join([*pieces, text[position:]]))


def _quote_precision(scores: Sequence[AnswerScore]) -> float:
    quotes = sum(score.quotes for score in scores)
    return sum(score.quotes_of_expected for score in scores) / quotes if quotes else 0.0


def _share(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags) if flags else 0.0
