"""The review mode: an answer that was proven, and beside it whether a planned payment is plausible.

Three kinds of proof are kept apart: the citation of the knowledge base (`expected`, `quote`), the transmitted value
(`received`), and the caller's calculation, which proves nothing and is at most said to contradict itself.
"""

import logging
from collections.abc import Callable, Sequence
from decimal import Decimal

from custom_postprocessors.evidence import GroundedContext, TextAnalyzer
from custom_postprocessors.values import find_values
from pipelines.contracts import Cancelled, GenerationMode, Outcome, Plausibility, PlausibilityCheck
from pipelines.drafting import ClaimVerifier
from pipelines.errors import GenerationCancelled, ModelError, ModelUnavailable
from pipelines.review_checks import CheckWriter, proven
from pipelines.review_context import ReviewComponent, ReviewContext, received_values
from pipelines.review_facts import compared

NOT_CHECKABLE = Plausibility(verdict="not_checkable")
_CENT = Decimal("0.01")
_log = logging.getLogger(__name__)

WriterChoice = Callable[[str | None], CheckWriter]
"""From the model named by the request to what writes checks; may raise ModelUnavailable."""


class Reviewer:
    """Judges planned payments; keeps no state between them.

    Args:
        verifier: proves the statements of checks.
        analyzer: reads keys and quantities.
        choose_writer: what writes checks with a model; None: nothing does, and only facts are compared.
    """

    def __init__(self, verifier: ClaimVerifier, analyzer: TextAnalyzer, choose_writer: WriterChoice | None) -> None:
        self._verifier = verifier
        self._analyzer = analyzer
        self._choose_writer = choose_writer

    def reviewed(
        self,
        outcome: Outcome,
        review: ReviewContext,
        context: GroundedContext,
        *,
        mode: GenerationMode,
        model: str | None,
        cancelled: Cancelled,
    ) -> Outcome:
        """The outcome with the verdict; its answer, refusal and citations stay as they are.

        Raises:
            GenerationCancelled: `cancelled` became true.
        """
        received = received_values(review)
        if mode == "extractive" or self._choose_writer is None:
            checks = compared(received, context, self._analyzer, outcome.as_of)
            return with_plausibility(outcome, verdict((*checks, *contradictions(review))))
        try:
            return with_plausibility(outcome, self._written(outcome, review, context, self._choose_writer(model), cancelled))
        except GenerationCancelled:
            raise
        except (ModelError, ModelUnavailable) as exc:
            _log.warning("The checks of request %s were not written: %s", outcome.request_id, exc)
            return with_plausibility(outcome, NOT_CHECKABLE)

    def _written(
        self, outcome: Outcome, review: ReviewContext, context: GroundedContext, writer: CheckWriter, cancelled: Cancelled
    ) -> Plausibility:
        received = received_values(review)
        if not received:
            return NOT_CHECKABLE
        question = outcome.standalone_question or outcome.question
        drafts = writer.checks(outcome.plan, question, context, received, cancelled=cancelled)
        checks, unusable = proven(drafts, received, context, self._verifier)
        if unusable:
            drafts = writer.checks(outcome.plan, question, context, received, feedback=unusable, cancelled=cancelled)
            checks, unusable = proven(drafts, received, context, self._verifier)
        values = {value.key: value.value for value in reversed(received)}
        unsaid = dict.fromkeys(found.key for found in unusable if found.key in values)
        still_open = [PlausibilityCheck(item=key, result="OFFEN", received=values[key]) for key in unsaid]
        found = verdict((*checks, *still_open, *contradictions(review)))
        return found.model_copy(update={"verdict": "not_checkable"}) if unusable else found


def with_plausibility(outcome: Outcome, plausibility: Plausibility) -> Outcome:
    """The outcome of a review: with its verdict, and with what it rested on said."""
    grounding = outcome.grounding.model_copy(update={"data_scope": "knowledge_base_plus_review_context"})
    return outcome.model_copy(update={"plausibility": plausibility, "grounding": grounding})


def verdict(checks: Sequence[PlausibilityCheck]) -> Plausibility:
    """Implausible as soon as one check warns, plausible when all are OK; else not checkable."""
    results = {check.result for check in checks}
    if "WARN" in results:
        return Plausibility(verdict="implausible", checks=tuple(checks))
    return Plausibility(verdict="plausible" if results == {"OK"} else "not_checkable", checks=tuple(checks))


def contradictions(review: ReviewContext) -> tuple[PlausibilityCheck, ...]:
    """Lines of the caller's calculation whose amount is not base times rate: open, because no citation decides them."""
    components = review.computation.components if review.computation else ()
    return tuple(check for component in components if (check := _contradiction(component)) is not None)


def _contradiction(component: ReviewComponent) -> PlausibilityCheck | None:
    base, rate, amount = (_number(text) for text in (component.base, component.rate, component.amount))
    if base is None or rate is None or amount is None:
        return None
    factor = rate / 100 if "%" in (component.rate or "") else rate
    product = (base * factor).quantize(_CENT)
    if abs(product - amount) <= _CENT:
        return None
    shown = f"{component.base} × {component.rate} = {str(product).replace('.', ',')}"
    return PlausibilityCheck(item=f"{component.key} (Rechnung)", result="OFFEN", expected=shown, received=component.amount)


def _number(text: str | None) -> Decimal | None:
    found = find_values(text) if text else ()
    return found[0].number if len(found) == 1 else None
