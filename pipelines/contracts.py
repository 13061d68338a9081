"""What goes into the path of a question and what comes out of it: the answer JSON is these models, field by field."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal, Protocol

from pydantic import Field

from custom_postprocessors.evidence import (
    ChannelScores,
    Claim,
    Conflict,
    DraftClaim,
    Frozen,
    GroundedContext,
    Rejected,
    Scope,
    Stand,
    Violation,
)
from pipelines.review_context import ReviewContext

Mode = Literal["knowledge", "review"]
AnswerStatus = Literal["answered", "partial", "clarification"]
RefusalReason = Literal["kb_silent", "weak_evidence", "verification_failed", "out_of_period", "model_unavailable", "model_failed"]
QuestionType = Literal["fact", "value", "multi", "survey", "decision", "comparison"]
GenerationMode = Literal["structured", "text", "extractive"]
Channel = Literal["lexical", "dense", "typo"]

SILENT_SENTENCE = "Dazu enthält die Wissensbasis keine Aussage."


class Turn(Frozen):
    """One earlier question of the chat; its answer and its sources are never taken over."""

    question: str
    request_id: str


class Question(Frozen):
    """A question after normalising: NFC, no control, bidi or zero-width characters, trimmed, personal data replaced."""

    text: Annotated[str, Field(min_length=1, max_length=2000)]
    mode: Mode = "knowledge"
    as_of: Stand | None = None
    scopes: tuple[Scope, ...] = ()
    topics: tuple[str, ...] = ()
    model: str | None = None
    history: Annotated[tuple[Turn, ...], Field(max_length=6)] = ()
    client_request_id: str | None = None
    context: ReviewContext | None = None
    """What a planned payment is checked by; only with `mode` review."""
    notices: tuple[str, ...] = ()
    """German remarks on what normalising changed, for the reader; empty in the ordinary case."""


class Plan(Frozen):
    """How a question is looked up. `queries`: one to three, the standalone question first. `as_of`: the month it speaks for."""

    type: QuestionType
    queries: Annotated[tuple[str, ...], Field(min_length=1, max_length=3)]
    scopes: tuple[Scope, ...] = ()
    as_of: Stand
    as_of_named: bool = False
    """True when the question or the caller named the time, False when it is the default."""
    topics: tuple[str, ...] = ()
    """Topics the question seems to be about: a mild boost, never a filter."""
    tags: tuple[str, ...] = ()
    """Managed tags that the question seems to be about: as topics."""
    assumptions: tuple[str, ...] = ()
    """What a calculation of this kind takes for granted where the question says nothing; named in the answer."""
    standalone_question: str | None = None


class Source(Frozen):
    """One section that was given to the model."""

    entry_id: str
    title: str
    stand: str
    work: str
    topic: str
    section: str
    scores: ChannelScores


class Grounding(Frozen):
    """How the answer was proven; `violations` are those of every draft, also of claims that were repaired or dropped."""

    verified: bool
    mode: GenerationMode
    regenerated: bool = False
    retrieved_ids: tuple[str, ...] = ()
    cited_ids: tuple[str, ...] = ()
    violations: tuple[Violation, ...] = ()
    dropped_claims: int = 0
    data_scope: Literal["knowledge_base", "knowledge_base_plus_review_context"] = "knowledge_base"


class PlausibilityCheck(Frozen):
    """One point of a planned payment held against the knowledge base."""

    item: str
    result: Literal["OK", "WARN", "OFFEN"]
    expected: str | None = None
    received: str | None = None
    entry_id: str | None = None
    section: str | None = None
    quote: str | None = None


class Plausibility(Frozen):
    """The verdict of the review mode; nothing is ever written back."""

    verdict: Literal["plausible", "implausible", "not_checkable"]
    checks: tuple[PlausibilityCheck, ...] = ()


class ModelInfo(Frozen):
    """Which model answered, exactly enough to ask it again."""

    name: str
    digest: str | None = None
    prompt_version: str | None = None
    endpoint: str | None = None
    """Name and version of the Ollama endpoint; `standard` is the one of the settings."""
    options: dict[str, str | int | float | bool] = Field(default_factory=dict)


class IndexInfo(Frozen):
    """Which state of the knowledge base an outcome speaks for."""

    version: str
    embedding_model: str
    entries: int
    nodes: int


class Timings(Frozen):
    """Milliseconds per stage; `first_claim` is None when no claim was shown."""

    plan: float = 0.0
    retrieve: float = 0.0
    generate: float = 0.0
    verify: float = 0.0
    first_claim: float | None = None
    total: float = 0.0


class _Outcome(Frozen):
    request_id: str
    client_request_id: str | None = None
    created_at: datetime
    mode: Mode = "knowledge"
    question: str
    standalone_question: str | None = None
    as_of: Stand
    unanswered: tuple[str, ...] = ()
    answer: str
    claims: tuple[Claim, ...] = ()
    sources: tuple[Source, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    follow_up: str | None = None
    related: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    """German remarks for the reader, e.g. that personal data in the question was replaced."""
    plan: Plan
    degraded: tuple[Channel, ...] = ()
    grounding: Grounding
    plausibility: Plausibility | None = None
    model: ModelInfo
    index: IndexInfo
    timings_ms: Timings


class Answer(_Outcome):
    """At least one claim, and every claim was verified."""

    status: AnswerStatus
    refusal_reason: None = None
    claims: Annotated[tuple[Claim, ...], Field(min_length=1)]


class Refusal(_Outcome):
    """No answer, and why. `unavailable` is a failure of the model and is never presented as the knowledge base's silence."""

    status: Literal["refused", "unavailable"]
    refusal_reason: RefusalReason
    claims: Annotated[tuple[Claim, ...], Field(max_length=0)] = ()


Outcome = Answer | Refusal


@dataclass(frozen=True, slots=True)
class PlanEvent:
    """How the question will be looked up."""

    plan: Plan


@dataclass(frozen=True, slots=True)
class SourcesEvent:
    """What was found and is given to the model."""

    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class ClaimEvent:
    """A claim that passed its check, in order of writing."""

    index: int
    claim: Claim


@dataclass(frozen=True, slots=True)
class RegeneratingEvent:
    """The claims shown so far are void; a second draft begins."""

    violations: tuple[Violation, ...]


@dataclass(frozen=True, slots=True)
class FinalEvent:
    """The whole outcome; replaces everything shown before."""

    outcome: Outcome


Event = PlanEvent | SourcesEvent | ClaimEvent | RegeneratingEvent | FinalEvent


@dataclass(frozen=True, slots=True)
class DraftEnd:
    """The end of a draft: what the model said beside its claims, and how it ended."""

    silent: bool = False
    """The model itself says that the blocks do not answer the question."""
    follow_up: str | None = None
    unanswered: tuple[str, ...] = ()
    mode: GenerationMode = "structured"
    prompt_tokens: int | None = None
    output_tokens: int | None = None
    tokens_per_second: float | None = None


class Cancelled(Protocol):
    """Tells a long step that nobody waits for it any more."""

    def __call__(self) -> bool:
        """True once the caller has gone."""
        ...


class ClaimGenerator(Protocol):
    """Writes a draft from a grounded context: a model on Ollama, or the extractive engine."""

    @property
    def mode(self) -> GenerationMode:
        """How claims come about; a model that ignores the schema says `text` in its `DraftEnd`."""
        ...

    def info(self) -> ModelInfo:
        """Name, digest, prompt version and options of what answers."""
        ...

    def draft(
        self,
        plan: Plan,
        question: str,
        context: GroundedContext,
        *,
        feedback: tuple[Rejected, ...] = (),
        cancelled: Cancelled = lambda: False,
    ) -> Iterator[DraftClaim | DraftEnd]:
        """Yields claims as soon as each is complete, then exactly one `DraftEnd`.

        `feedback` are the claims of the first draft that failed; the second draft is told why.

        Raises:
            ModelUnavailable: the model or its server cannot be reached or does not exist.
            ModelFailed: it answered, but unusably (cut prompt, cut stream, invalid after the retries that it does itself).
        """
        ...
