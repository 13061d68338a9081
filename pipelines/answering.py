"""The path of a question: plan, retrieve, ground, generate, verify, return.

The pipeline is synchronous and keeps no state between questions; one instance serves all threads. Nothing leaves it
that was not checked, and a failure of the model is never presented as the silence of the knowledge base.
"""

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Protocol

from custom_postprocessors.evidence import GroundedContext, Rejected
from custom_postprocessors.grounding import Ungrounded
from pipelines.conclusion import conclude
from pipelines.contracts import (
    Cancelled,
    Channel,
    ClaimEvent,
    ClaimGenerator,
    Event,
    FinalEvent,
    GenerationMode,
    Outcome,
    Plan,
    PlanEvent,
    Question,
    RegeneratingEvent,
    SourcesEvent,
)
from pipelines.drafting import CheckedDraft, ClaimVerifier, checked_draft
from pipelines.errors import GenerationCancelled, ModelError
from pipelines.outcomes import Answerer, Asked, OutcomeWriter
from pipelines.retrieval import Retrieved
from pipelines.review import NOT_CHECKABLE, Reviewer, with_plausibility
from pipelines.stopwatch import Stopwatch


class Planner(Protocol):
    """Turns a question into a plan, by rules, deterministically."""

    def plan(self, question: Question) -> Plan:
        """The plan; never fails for a normalised question."""
        ...


class PlanRetriever(Protocol):
    """Looks a plan up in every channel."""

    def retrieve_plan(self, plan: Plan, limit: int = ...) -> Retrieved:
        """At most `limit` sections, and those of each sub-query, best first; failed channels are named, not raised."""
        ...


class ContextGrounder(Protocol):
    """Decides what an answer may rest on, or that there is nothing it may rest on."""

    def ground(self, plan: Plan, retrieved: Retrieved) -> GroundedContext | Ungrounded:
        """A context that is never empty, or the reason why there is none."""
        ...


GeneratorChoice = Callable[[str | None], ClaimGenerator]
"""From the model named by the request (None: the configured one) to what writes drafts; may raise ModelUnavailable."""


def never() -> bool:
    """A `Cancelled` that is never true."""
    return False


@dataclass(frozen=True, slots=True)
class Prepared:
    """A question that was planned, looked up and grounded once, so that several models get the identical context."""

    question: Question
    plan: Plan
    degraded: tuple[Channel, ...]
    context: GroundedContext | Ungrounded
    plan_ms: float
    retrieve_ms: float


class AnsweringPipeline:
    """One index version's way from a question to an answer or a refusal.

    Args:
        planner, retriever, grounder, verifier: the stages, in this order.
        choose_generator: from the model that the request names to what writes drafts.
        writer: makes outcomes of what the stages came to.
        widen: gives the extractive engine the whole entries: it can only quote what it sees.
        outdated_after_months: age of a Stand from which a claim is marked.
        reviewer: judges the planned payment of a question in review mode; None: nothing can be checked.
    """

    def __init__(
        self,
        *,
        planner: Planner,
        retriever: PlanRetriever,
        grounder: ContextGrounder,
        verifier: ClaimVerifier,
        choose_generator: GeneratorChoice,
        writer: OutcomeWriter,
        widen: Callable[[GroundedContext], GroundedContext],
        outdated_after_months: int,
        reviewer: Reviewer | None = None,
    ) -> None:
        self._planner = planner
        self._retriever = retriever
        self._grounder = grounder
        self._verifier = verifier
        self._choose_generator = choose_generator
        self._writer = writer
        self._widen = widen
        self._outdated_after_months = outdated_after_months
        self._reviewer = reviewer

    def answer(self, question: Question, *, cancelled: Cancelled = never) -> Outcome:
        """The outcome alone; see `events`."""
        for event in self.events(question, cancelled=cancelled):
            if isinstance(event, FinalEvent):
                return event.outcome
        raise AssertionError("events() ended without a FinalEvent")

    def events(self, question: Question, *, cancelled: Cancelled = never) -> Iterator[Event]:
        """The path, step by step; the last event is always a `FinalEvent`, which replaces all shown before.

        A model that cannot be reached or fails ends in an `unavailable` outcome, not in an exception.

        Raises:
            GenerationCancelled: `cancelled` became true; there is no outcome then.
            IndexFault: every retrieval channel failed.
        """
        stopwatch = Stopwatch()
        plan = self._planned(question, stopwatch)
        yield PlanEvent(plan)
        degraded, context = self._grounded(plan, stopwatch)
        asked = self._writer.asked(question, plan, degraded, stopwatch)
        yield from self._from_context(asked, context, self._choose_generator, cancelled)

    def prepare(self, question: Question) -> Prepared:
        """The path as far as no model is needed; `prepared_events` goes on from there, as often as one likes.

        Raises:
            IndexFault: every retrieval channel failed.
        """
        stopwatch = Stopwatch()
        plan = self._planned(question, stopwatch)
        degraded, context = self._grounded(plan, stopwatch)
        return Prepared(question, plan, degraded, context, stopwatch.elapsed_ms("plan"), stopwatch.elapsed_ms("retrieve"))

    def prepared_events(
        self,
        prepared: Prepared,
        model: str | None,
        *,
        choose_generator: GeneratorChoice | None = None,
        cancelled: Cancelled = never,
    ) -> Iterator[Event]:
        """The events of a prepared question answered by `model`; its times count the preparation as if it had just been done.

        Args:
            prepared: what `prepare` returned, of this pipeline.
            model: the model that answers, as in `Question.model`.
            choose_generator: another choice of what writes drafts than the pipeline's own.
            cancelled: see `events`.

        Raises:
            GenerationCancelled: `cancelled` became true; there is no outcome then.
        """
        stopwatch = Stopwatch(plan=prepared.plan_ms, retrieve=prepared.retrieve_ms)
        yield PlanEvent(prepared.plan)
        question = prepared.question.model_copy(update={"model": model})
        asked = self._writer.asked(question, prepared.plan, prepared.degraded, stopwatch)
        yield from self._from_context(asked, prepared.context, choose_generator or self._choose_generator, cancelled)

    def _planned(self, question: Question, stopwatch: Stopwatch) -> Plan:
        with stopwatch.stage("plan"):
            return self._planner.plan(question)

    def _grounded(self, plan: Plan, stopwatch: Stopwatch) -> tuple[tuple[Channel, ...], GroundedContext | Ungrounded]:
        with stopwatch.stage("retrieve"):
            retrieved = self._retriever.retrieve_plan(plan)
            return retrieved.degraded, self._grounder.ground(plan, retrieved)

    def _from_context(
        self, asked: Asked, context: GroundedContext | Ungrounded, choose: GeneratorChoice, cancelled: Cancelled
    ) -> Iterator[Event]:
        """Everything after grounding."""
        if isinstance(context, Ungrounded):
            refusal = self._writer.ungrounded(asked, context, _answerer_or_none(choose, asked.question.model))
            yield FinalEvent(_unchecked(asked, refusal))
            return
        answerer = Answerer()
        try:
            generator = choose(asked.question.model)
            answerer = Answerer(generator.info(), generator.mode)
            if generator.mode == "extractive":
                context = self._widen(context)
            yield SourcesEvent(self._writer.sources(context))
            yield from self._answered(asked, context, generator, answerer, cancelled)
        except GenerationCancelled:
            raise
        except ModelError as exc:
            yield FinalEvent(_unchecked(asked, self._writer.unavailable(asked, context, exc, answerer)))

    def _answered(
        self, asked: Asked, context: GroundedContext, generator: ClaimGenerator, answerer: Answerer, cancelled: Cancelled
    ) -> Iterator[Event]:
        """One draft, a second one where the first had failures, and the verdict over both."""
        first = yield from self._draft(asked, context, generator, (), cancelled)
        second = None
        if first.rejected and generator.mode != "extractive":
            yield RegeneratingEvent(first.violations)
            try:
                second = yield from self._draft(asked, context, generator, first.rejected, cancelled)
            except GenerationCancelled:
                raise
            except ModelError:
                # What held in the first draft still holds; without any of it the failure is the outcome.
                if not first.claims:
                    raise
        question = asked.plan.standalone_question or asked.question.text
        verdict = conclude(question, first, second)
        outcome = self._writer.concluded(asked, context, verdict, answerer, first, second)
        yield FinalEvent(self._reviewed(asked, outcome, context, generator.mode, cancelled))

    def _reviewed(
        self, asked: Asked, outcome: Outcome, context: GroundedContext, mode: GenerationMode, cancelled: Cancelled
    ) -> Outcome:
        review = asked.question.context
        if self._reviewer is None or review is None:
            return _unchecked(asked, outcome)
        return self._reviewer.reviewed(outcome, review, context, mode=mode, model=asked.question.model, cancelled=cancelled)

    def _draft(
        self,
        asked: Asked,
        context: GroundedContext,
        generator: ClaimGenerator,
        feedback: tuple[Rejected, ...],
        cancelled: Cancelled,
    ) -> Generator[Event, None, CheckedDraft]:
        question = asked.plan.standalone_question or asked.question.text
        shown = 0
        for item in checked_draft(
            generator,
            self._verifier,
            asked.plan,
            question,
            context,
            feedback=feedback,
            cancelled=cancelled,
            stopwatch=asked.stopwatch,
            outdated_after_months=self._outdated_after_months,
        ):
            if isinstance(item, CheckedDraft):
                return item
            yield ClaimEvent(shown, item)
            shown += 1
        raise AssertionError("checked_draft() ended without a CheckedDraft")


def _answerer_or_none(choose: GeneratorChoice, model: str | None) -> Answerer:
    """What would have answered; a refusal must not fail because the model is not there."""
    try:
        generator = choose(model)
        return Answerer(generator.info(), generator.mode)
    except ModelError:
        return Answerer()


def _unchecked(asked: Asked, outcome: Outcome) -> Outcome:
    """The outcome; of a review, with the verdict that nothing could be checked."""
    return with_plausibility(outcome, NOT_CHECKABLE) if asked.question.mode == "review" else outcome
