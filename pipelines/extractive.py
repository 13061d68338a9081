"""The Zitatmodus: answers without a language model, with the few sentences and table rows that answer the question."""

from collections.abc import Iterator, Mapping

from custom_postprocessors.evidence import DraftClaim, GroundedContext, Rejected
from pipelines.contracts import Cancelled, DraftEnd, GenerationMode, ModelInfo, Plan
from pipelines.extractive_order import in_reading_order
from pipelines.extractive_ranking import Candidate, QueryAnalyzer, ranked
from pipelines.extractive_selection import ANSWER_BUDGET, SURVEY_BUDGET, VALUE_BUDGET, Budget, Excerpt, select
from pipelines.extractive_units import QuotableCache
from pipelines.question_shape import question_shape

NAME = "extractive"
VERSION = "zitat-1"


class ExtractiveGenerator:
    """Quotes, never writes: every claim is one exact slice of a section, deterministic, without a model or network.

    At most 8 quotes and 1,200 characters of quotes, surveys 16 and 3,000, best first. Works on whatever passages the
    context has; give it whole entries (`pipelines.whole_entries`), because the value asked for often stands in another
    section than the one that was found. Safe to use from several threads.

    Args:
        analyzer: the German analysis of the index that the context comes from.
        budget: limits of an ordinary answer.
        survey_budget: limits of a survey.
        weights: feature weights instead of the bundled ones.
    """

    def __init__(
        self,
        analyzer: QueryAnalyzer,
        *,
        budget: Budget = ANSWER_BUDGET,
        survey_budget: Budget = SURVEY_BUDGET,
        weights: Mapping[str, float] | None = None,
    ) -> None:
        self._analyzer = analyzer
        self._budget = budget
        self._survey_budget = survey_budget
        self._weights = weights
        self._cache = QuotableCache(analyzer)

    @property
    def mode(self) -> GenerationMode:
        """Always `extractive`."""
        return "extractive"

    def info(self) -> ModelInfo:
        """The engine's name and version; there is no model file, hence no digest."""
        return ModelInfo(
            name=NAME,
            prompt_version=VERSION,
            options={"quotes": self._budget.quotes, "characters": self._budget.characters},
        )

    def draft(
        self,
        plan: Plan,
        question: str,
        context: GroundedContext,
        *,
        feedback: tuple[Rejected, ...] = (),
        cancelled: Cancelled = lambda: False,
    ) -> Iterator[DraftClaim | DraftEnd]:
        """The quotes as claims, best first, then the end; silent when the context has nothing to quote.

        `feedback` changes nothing: the same question has the same quotes. Never raises a ModelError.
        """
        budget = self._survey_budget if plan.type == "survey" else VALUE_BUDGET if _asks_one_value(plan) else self._budget
        parts = [self.rank(plan, part, context) for part in plan.queries[1:]]
        excerpts = select(self.rank(plan, question, context), budget, parts, context.conflicts)
        if plan.type in ("value", "fact") and not parts:
            excerpts = in_reading_order(excerpts, context.facts, plan.as_of)
        for excerpt in excerpts:
            if cancelled():
                break
            yield _claim(excerpt)
        yield DraftEnd(silent=not excerpts, mode="extractive")

    def rank(self, plan: Plan, question: str, context: GroundedContext) -> list[Candidate]:
        """Every sentence and row of the context with its score, best first."""
        pieces = [self._cache.of(passage) for passage in context.passages]
        shape = question_shape(question, plan.as_of)
        return ranked(question, shape, context.passages, pieces, self._analyzer, self._weights)


def _asks_one_value(plan: Plan) -> bool:
    return plan.type == "value" and len(plan.queries) == 1


def _claim(excerpt: Excerpt) -> DraftClaim:
    first = excerpt.candidates[0]
    block_id = first.passage.block_id
    quotes = [(block_id, excerpt.start, excerpt.end)]
    if first.quotable.header is not None:
        quotes.insert(0, (block_id, *first.quotable.header))
    return DraftClaim(text=excerpt.text, sources=(block_id,), quotes=tuple(quotes))
