"""What came of one question to one model, as it is kept on disk; every figure is computed from these, never kept beside them."""

import logging
from collections.abc import Callable, Iterable
from typing import Annotated

from pydantic import Field

from custom_postprocessors.evidence import Frozen
from evaluation.answer_metrics import AnswerScore, DraftCounts, SectionTexts, draft_counts, score_answer
from evaluation.goldset import GoldItem
from evaluation.metering import Usage
from pipelines.contracts import Answer, Event, FinalEvent, Refusal
from pipelines.errors import GenerationCancelled, PvAgentError

log = logging.getLogger(__name__)

AskEvents = Callable[[str], Iterable[Event]]
"""A question → its events; may raise, which counts as a crash."""
NO_OUTCOME = "no outcome"


class QuestionRecord(Frozen):
    """One model's outcome of one question. `outcome` is None when the path crashed; `error` then says why.

    `draft_passed` of `draft_total` claims of the first draft passed every check. `output_tokens` were written in
    `writing_seconds`, both 0 where the model does not count.
    """

    model: str
    question_id: str
    outcome: Annotated[Answer | Refusal, Field(discriminator="status")] | None = None
    error: str = ""
    draft_passed: int = 0
    draft_total: int = 0
    output_tokens: int = 0
    writing_seconds: float = 0.0

    def score(self, item: GoldItem, sections: SectionTexts) -> AnswerScore:
        """The figures of the question that this is the record of."""
        draft = DraftCounts(self.draft_passed, self.draft_total)
        return score_answer(
            item, self.outcome, sections, draft, output_tokens=self.output_tokens, writing_seconds=self.writing_seconds
        )


def answered_record(model: str, item: GoldItem, ask: AskEvents, usage: Usage | None = None) -> QuestionRecord:
    """Asks one question to its end. A path that raises is a record without an outcome.

    Raises:
        GenerationCancelled: the question was cancelled; there is nothing to record.
    """
    events: list[Event] = []
    error = NO_OUTCOME
    try:
        events.extend(ask(item.question))
    except GenerationCancelled:
        raise
    except PvAgentError as exc:
        error = str(exc)
    except Exception as exc:  # one question's defect must not end a run of hours; it is a listed failure
        log.exception("Question %s crashed", item.id)
        error = f"{type(exc).__name__}: {exc}"
    outcome = next((event.outcome for event in events if isinstance(event, FinalEvent)), None)
    counts = draft_counts(events)
    return QuestionRecord(
        model=model,
        question_id=item.id,
        outcome=outcome,
        error="" if outcome else error,
        draft_passed=counts.passed,
        draft_total=counts.total,
        output_tokens=usage.output_tokens if usage else 0,
        writing_seconds=usage.writing_seconds if usage else 0.0,
    )
