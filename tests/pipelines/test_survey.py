from collections.abc import Iterator
from dataclasses import replace

import pytest

from custom_postprocessors.evidence import DraftClaim, GroundedContext, Rejected, Violation
from pipelines.contracts import Cancelled, ClaimGenerator, DraftEnd, GenerationMode, ModelInfo, Plan
from pipelines.errors import ModelFailed
from pipelines.survey import SurveyGenerator
from tests.model_context import PLAN, QUESTION, passage

SURVEY = PLAN.model_copy(update={"type": "survey"})
PASSAGES = tuple(passage(f"pv-sv-{n:02}", f"Satz {n} a. Satz {n} b.") for n in range(1, 8))
CONTEXT = GroundedContext(PASSAGES)


class Distiller(ClaimGenerator):
    """Claims the text of every block whose number is not in `silent_on`; notes what it was given."""

    def __init__(self, *, silent_on: tuple[str, ...] = (), silent_when_composing: bool = False, failing: bool = False) -> None:
        self.silent_on = silent_on
        self.silent_when_composing = silent_when_composing
        self.failing = failing
        self.given: list[list[str]] = []

    @property
    def mode(self) -> GenerationMode:
        return "structured"

    def info(self) -> ModelInfo:
        return ModelInfo(name="m")

    def draft(
        self,
        plan: Plan,
        question: str,
        context: GroundedContext,
        *,
        feedback: tuple[Rejected, ...] = (),
        cancelled: Cancelled = lambda: False,
    ) -> Iterator[DraftClaim | DraftEnd]:
        self.given.append([f"{p.block_id}: {p.shown_text()}" for p in context.passages])
        if self.failing and len(self.given) == 2:
            raise ModelFailed("weg")
        composing = context.passages[0].text.startswith("- ")
        if composing and self.silent_when_composing:
            yield DraftEnd(silent=True)
            return
        for p in context.passages:
            if p.block_id not in self.silent_on:
                yield DraftClaim(p.shown_text().removeprefix("- "), (p.block_id,))
        yield DraftEnd(unanswered=("die Frist",) if composing else ())


def test_survey_distils_groups_and_composes_over_what_was_distilled():
    inner = Distiller(silent_on=("pv-sv-03",))
    *claims, end = SurveyGenerator(inner).draft(SURVEY, QUESTION, CONTEXT)
    assert [len(given) for given in inner.given] == [4, 3, 6]
    assert inner.given[2][0] == "pv-sv-01: - Satz 1 a. Satz 1 b."
    assert [claim.sources for claim in claims] == [(p.block_id,) for p in PASSAGES if p.block_id != "pv-sv-03"]
    assert end == DraftEnd(unanswered=("die Frist",))


def test_few_distilled_claims_are_given_as_they_are():
    inner = Distiller(silent_on=tuple(p.block_id for p in PASSAGES[2:]))
    *claims, end = SurveyGenerator(inner).draft(SURVEY, QUESTION, CONTEXT)
    assert len(inner.given) == 2
    assert [claim.sources for claim in claims] == [("pv-sv-01",), ("pv-sv-02",)]
    assert end == DraftEnd()


def test_composing_nothing_gives_what_was_distilled():
    *claims, end = SurveyGenerator(Distiller(silent_when_composing=True)).draft(SURVEY, QUESTION, CONTEXT)
    assert len(claims) == 7
    assert end == DraftEnd()


def test_all_groups_silent_is_silent():
    inner = Distiller(silent_on=tuple(p.block_id for p in PASSAGES))
    assert list(SurveyGenerator(inner).draft(SURVEY, QUESTION, CONTEXT)) == [DraftEnd(silent=True)]


@pytest.mark.parametrize("plan", [PLAN, SURVEY])
def test_other_questions_few_blocks_and_second_drafts_go_in_one(plan):
    inner = Distiller()
    rejected = Rejected(DraftClaim("x", ()), (Violation(kind="uncited", message="x"),))
    context = replace(CONTEXT, passages=PASSAGES[:4]) if plan is SURVEY else CONTEXT
    list(SurveyGenerator(inner).draft(plan, QUESTION, context))
    list(SurveyGenerator(inner).draft(SURVEY, QUESTION, CONTEXT, feedback=(rejected,)))
    assert [len(given) for given in inner.given] == [len(context.passages), 7]


def test_failure_of_one_group_is_a_failure_of_the_draft():
    with pytest.raises(ModelFailed):
        list(SurveyGenerator(Distiller(failing=True)).draft(SURVEY, QUESTION, CONTEXT))
