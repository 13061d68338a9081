"""Writes the outcome of a question: every field of the answer JSON from what the path came to."""

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from custom_postprocessors.evidence import Claim, GroundedContext
from custom_postprocessors.grounding import Ungrounded
from pipelines.answer_text import answer_text, grouped_by_entry, plan_heading, refusal_text
from pipelines.conclusion import NotShown, Shown, all_violations, touched_conflicts
from pipelines.contracts import (
    Answer,
    Channel,
    GenerationMode,
    Grounding,
    IndexInfo,
    ModelInfo,
    Outcome,
    Plan,
    Question,
    Refusal,
    RefusalReason,
    Source,
)
from pipelines.drafting import CheckedDraft
from pipelines.errors import ModelError, ModelUnavailable
from pipelines.premises import false_premise, premise_text
from pipelines.stopwatch import Stopwatch

MAX_RELATED = 6
BEYOND_SCOPES = "Gesucht wurde nur im gefragten Bereich; außerhalb davon gibt es Einträge, die dazu etwas sagen."


def new_request_id() -> str:
    """32 hexadecimal digits, unique."""
    return uuid.uuid4().hex


def utc_now() -> datetime:
    """The present moment, with time zone."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question on its way: what every outcome repeats."""

    question: Question
    plan: Plan
    degraded: tuple[Channel, ...]
    stopwatch: Stopwatch
    request_id: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Answerer:
    """What writes, or would write, the drafts."""

    info: ModelInfo = field(default_factory=lambda: ModelInfo(name="none"))
    mode: GenerationMode = "structured"


@dataclass(frozen=True, slots=True)
class OutcomeWriter:
    """Knows the index version, and the titles and cross references of its entries."""

    index: IndexInfo
    titles: Mapping[str, str]
    cross_refs: Mapping[str, tuple[str, ...]]
    now: Callable[[], datetime] = utc_now
    new_id: Callable[[], str] = new_request_id

    def asked(self, question: Question, plan: Plan, degraded: tuple[Channel, ...], stopwatch: Stopwatch) -> Asked:
        """Gives the question its request id and time."""
        return Asked(question, plan, degraded, stopwatch, self.new_id(), self.now())

    def sources(self, context: GroundedContext) -> tuple[Source, ...]:
        """What was given to the model, best first."""
        return tuple(
            Source(
                entry_id=p.entry_id,
                title=p.title,
                stand=p.stand,
                work=p.work,
                topic=p.topic,
                section=p.section,
                scores=p.scores,
            )
            for p in context.passages
        )

    def ungrounded(self, asked: Asked, found: Ungrounded, answerer: Answerer) -> Refusal:
        """The refusal before anything was generated."""
        grounding = Grounding(verified=False, mode=answerer.mode)
        detail = BEYOND_SCOPES if found.beyond_scopes else ""
        return self._refusal(asked, found.reason, grounding, answerer, found.nearest, detail=detail)

    def unavailable(self, asked: Asked, context: GroundedContext, error: ModelError, answerer: Answerer) -> Refusal:
        """The failure of the model; the message of the error is part of the text."""
        reason: RefusalReason = "model_unavailable" if isinstance(error, ModelUnavailable) else "model_failed"
        grounding = Grounding(verified=False, mode=answerer.mode, retrieved_ids=_ids(context))
        return self._refusal(asked, reason, grounding, answerer, (), context=context, detail=str(error))

    def concluded(
        self,
        asked: Asked,
        context: GroundedContext,
        verdict: Shown | NotShown,
        answerer: Answerer,
        first: CheckedDraft,
        second: CheckedDraft | None,
    ) -> Outcome:
        """The answer, or the refusal after generation."""
        cited = tuple(dict.fromkeys(c.entry_id for claim in _claims(verdict) for c in claim.citations))
        grounding = Grounding(
            verified=isinstance(verdict, Shown),
            mode=(second or first).end.mode,
            regenerated=second is not None,
            retrieved_ids=_ids(context),
            cited_ids=cited,
            violations=all_violations(first, second),
            dropped_claims=verdict.dropped_claims,
        )
        if isinstance(verdict, NotShown):
            return self._refusal(asked, verdict.reason, grounding, answerer, _ids(context)[:MAX_RELATED], context=context)
        conflicts = touched_conflicts(verdict.claims, context.conflicts)
        claims = grouped_by_entry(verdict.claims) if asked.plan.type == "survey" else verdict.claims
        text = answer_text(
            claims,
            conflicts,
            unanswered=verdict.unanswered,
            follow_up=verdict.follow_up,
            heading=_heading(asked, claims),
            titles=self.titles if asked.plan.type == "survey" else None,
        )
        return Answer(
            request_id=asked.request_id,
            client_request_id=asked.question.client_request_id,
            created_at=asked.created_at,
            mode=asked.question.mode,
            status=verdict.status,
            question=asked.question.text,
            standalone_question=asked.plan.standalone_question,
            as_of=asked.plan.as_of,
            unanswered=verdict.unanswered,
            answer=text,
            claims=claims,
            sources=self.sources(context),
            conflicts=conflicts,
            follow_up=verdict.follow_up,
            related=self._related(cited),
            notices=(*asked.question.notices, *context.notices),
            plan=asked.plan,
            degraded=asked.degraded,
            grounding=grounding,
            model=answerer.info,
            index=self.index,
            timings_ms=asked.stopwatch.timings(),
        )

    def _refusal(
        self,
        asked: Asked,
        reason: RefusalReason,
        grounding: Grounding,
        answerer: Answerer,
        nearest: tuple[str, ...],
        *,
        context: GroundedContext | None = None,
        detail: str = "",
    ) -> Refusal:
        near = [(entry_id, self.titles[entry_id]) for entry_id in nearest if entry_id in self.titles]
        failed = reason in ("model_unavailable", "model_failed")
        return Refusal(
            request_id=asked.request_id,
            client_request_id=asked.question.client_request_id,
            created_at=asked.created_at,
            mode=asked.question.mode,
            status="unavailable" if failed else "refused",
            refusal_reason=reason,
            question=asked.question.text,
            standalone_question=asked.plan.standalone_question,
            as_of=asked.plan.as_of,
            unanswered=(asked.plan.standalone_question or asked.question.text,),
            answer=refusal_text(reason, plan=asked.plan, sections=self.index.nodes, nearest=near, detail=detail),
            sources=self.sources(context) if context else (),
            related=tuple(entry_id for entry_id, _ in near),
            notices=asked.question.notices,
            plan=asked.plan,
            degraded=asked.degraded,
            grounding=grounding,
            model=answerer.info,
            index=self.index,
            timings_ms=asked.stopwatch.timings(),
        )

    def _related(self, cited: tuple[str, ...]) -> tuple[str, ...]:
        """What the cited entries refer to and is not cited itself, at most six."""
        linked = dict.fromkeys(ref for entry_id in cited for ref in self.cross_refs.get(entry_id, ()))
        return tuple(ref for ref in linked if ref not in cited and ref in self.titles)[:MAX_RELATED]


def _heading(asked: Asked, claims: Sequence[Claim]) -> str | None:
    """The month and the assumptions; then, when the claims contradict a value that the question affirms, both values."""
    premise = false_premise(asked.plan.standalone_question or asked.question.text, claims)
    parts = [plan_heading(asked.plan), premise_text(premise) if premise else None]
    return "\n\n".join(part for part in parts if part) or None


def _ids(context: GroundedContext) -> tuple[str, ...]:
    return tuple(dict.fromkeys(p.entry_id for p in context.passages))


def _claims(verdict: Shown | NotShown) -> tuple[Claim, ...]:
    return verdict.claims if isinstance(verdict, Shown) else ()
