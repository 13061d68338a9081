"""Broad questions: each group of blocks is distilled first, then the answer is composed from what was distilled."""

import logging
from collections.abc import Iterator
from dataclasses import replace

from custom_postprocessors.evidence import DraftClaim, GroundedContext, Passage, Rejected
from pipelines.contracts import Cancelled, ClaimGenerator, DraftEnd, Plan
from pipelines.wrapped_generator import WrappedGenerator

log = logging.getLogger(__name__)

BLOCKS_PER_GROUP = 4
ENOUGH_WITHOUT_COMPOSING = 4


class SurveyGenerator(WrappedGenerator):
    """A `ClaimGenerator` around another: survey questions by map and reduce, all others as they are.

    Map: one draft per group of blocks. Reduce: one draft over a context whose blocks hold nothing but their distilled
    statements; its claims cite the same block ids and are checked against the whole blocks, never against the distillate.
    """

    def __init__(self, inner: ClaimGenerator, *, blocks_per_group: int = BLOCKS_PER_GROUP) -> None:
        super().__init__(inner)
        self._size = blocks_per_group

    def draft(
        self,
        plan: Plan,
        question: str,
        context: GroundedContext,
        *,
        feedback: tuple[Rejected, ...] = (),
        cancelled: Cancelled = lambda: False,
    ) -> Iterator[DraftClaim | DraftEnd]:
        """See `ClaimGenerator.draft`.

        A second draft (with feedback) is written in one go over all blocks. Few distilled claims are given as they are, and
        so they are when composing finds nothing to say.

        Raises:
            ModelUnavailable, ModelFailed: as the inner generator, from any of its drafts.
        """
        if plan.type != "survey" or feedback or len(context.passages) <= self._size:
            yield from self._inner.draft(plan, question, context, feedback=feedback, cancelled=cancelled)
            return
        distilled, last = self._map(plan, question, context, cancelled)
        if len(distilled) > ENOUGH_WITHOUT_COMPOSING:
            reduced = _distillate(context, distilled)
            composed = list(self._inner.draft(plan, question, reduced, cancelled=cancelled)) if reduced is not None else []
            if any(isinstance(item, DraftClaim) for item in composed):
                yield from composed
                return
            log.info("Composing %d distilled claims gave none; they are given as they are", len(distilled))
        yield from distilled
        yield replace(last, silent=not distilled, unanswered=())

    def _map(
        self, plan: Plan, question: str, context: GroundedContext, cancelled: Cancelled
    ) -> tuple[tuple[DraftClaim, ...], DraftEnd]:
        """The claims of all groups, each once, and the end of the last draft; a group that is silent adds none."""
        claims: list[DraftClaim] = []
        end = DraftEnd(silent=True)
        for start in range(0, len(context.passages), self._size):
            group = context.passages[start : start + self._size]
            for item in self._inner.draft(plan, question, _part(context, group), cancelled=cancelled):
                if isinstance(item, DraftEnd):
                    end = item
                elif item not in claims:
                    claims.append(item)
        return tuple(claims), end


def _part(context: GroundedContext, group: tuple[Passage, ...]) -> GroundedContext:
    """The context reduced to a group, with the conflicts and facts that touch it."""
    entries = {passage.entry_id for passage in group}
    nodes = {passage.node_id for passage in group}
    return GroundedContext(
        passages=group,
        conflicts=tuple(c for c in context.conflicts if any(side.entry_id in entries for side in c.sides)),
        facts=tuple(fact for fact in context.facts if fact.node_id in nodes),
    )


def _distillate(context: GroundedContext, claims: tuple[DraftClaim, ...]) -> GroundedContext | None:
    """The passages that were cited, each with nothing but its distilled statements; None when no given id was cited."""
    passages = []
    for passage in context.passages:
        text = "\n".join(f"- {claim.text}" for claim in claims if passage.block_id in claim.sources)
        if text:
            passages.append(replace(passage, text=text, shown=((0, len(text)),)))
    return replace(context, passages=tuple(passages), facts=()) if passages else None
