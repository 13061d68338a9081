"""What a model wrote for one question, in tokens and seconds, measured around any generator."""

from collections.abc import Iterator

from custom_postprocessors.evidence import DraftClaim, GroundedContext, Rejected
from pipelines.contracts import Cancelled, ClaimGenerator, DraftEnd, Plan
from pipelines.wrapped_generator import WrappedGenerator


class Usage:
    """Tokens that were written and the seconds it took, over all drafts of a question; zeros where nothing was counted."""

    def __init__(self) -> None:
        self.output_tokens = 0
        self.writing_seconds = 0.0

    def add(self, end: DraftEnd) -> None:
        """Counts a draft whose model told both figures; any other one counts as nothing."""
        if end.output_tokens and end.tokens_per_second:
            self.output_tokens += end.output_tokens
            self.writing_seconds += end.output_tokens / end.tokens_per_second


class MeteredGenerator(WrappedGenerator):
    """A generator whose drafts are counted in a `Usage`."""

    def __init__(self, inner: ClaimGenerator, usage: Usage) -> None:
        super().__init__(inner)
        self._usage = usage

    def draft(
        self,
        plan: Plan,
        question: str,
        context: GroundedContext,
        *,
        feedback: tuple[Rejected, ...] = (),
        cancelled: Cancelled = lambda: False,
    ) -> Iterator[DraftClaim | DraftEnd]:
        """See `ClaimGenerator.draft`."""
        for item in self._inner.draft(plan, question, context, feedback=feedback, cancelled=cancelled):
            if isinstance(item, DraftEnd):
                self._usage.add(item)
            yield item
