"""One draft: claims arrive, each is checked at once, and only what holds goes on."""

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Protocol

from custom_postprocessors.evidence import Claim, DraftClaim, GroundedContext, Rejected, Violation
from custom_postprocessors.marks import with_marks
from pipelines.contracts import Cancelled, ClaimGenerator, DraftEnd, Plan
from pipelines.errors import ModelFailed
from pipelines.stopwatch import Stopwatch


class ClaimVerifier(Protocol):
    """Checks one draft claim against the context."""

    def check(self, draft: DraftClaim, context: GroundedContext, question: str) -> Claim | Rejected:
        """The proven claim, or every reason why it may not be shown."""
        ...


@dataclass(frozen=True, slots=True)
class CheckedDraft:
    """A finished draft: what holds, what does not, and what the model said at its end."""

    claims: tuple[Claim, ...]
    rejected: tuple[Rejected, ...]
    end: DraftEnd

    @property
    def violations(self) -> tuple[Violation, ...]:
        """Everything that is wrong with the rejected claims, in order of writing."""
        return tuple(violation for rejected in self.rejected for violation in rejected.violations)


def checked_draft(
    generator: ClaimGenerator,
    verifier: ClaimVerifier,
    plan: Plan,
    question: str,
    context: GroundedContext,
    *,
    feedback: tuple[Rejected, ...] = (),
    cancelled: Cancelled,
    stopwatch: Stopwatch,
    outdated_after_months: int,
) -> Iterator[Claim | CheckedDraft]:
    """Yields every claim that passed, as soon as it is complete, then exactly one `CheckedDraft`.

    A claim that repeats an earlier one of the same draft word for word is left out.

    Raises:
        ModelUnavailable, ModelFailed: as the generator raises them; claims yielded before are void then.
    """
    claims: list[Claim] = []
    rejected: list[Rejected] = []
    end: DraftEnd | None = None
    before = perf_counter()
    for item in generator.draft(plan, question, context, feedback=feedback, cancelled=cancelled):
        stopwatch.add("generate", (perf_counter() - before) * 1000)
        if isinstance(item, DraftEnd):
            end = item
        else:
            with stopwatch.stage("verify"):
                checked = verifier.check(item, context, question)
            if isinstance(checked, Rejected):
                rejected.append(checked)
            elif checked.text not in {claim.text for claim in claims}:
                marked = with_marks(checked, context, as_of=plan.as_of, outdated_after_months=outdated_after_months)
                claims.append(marked)
                stopwatch.claim_shown()
                yield marked
        before = perf_counter()
    if end is None:
        raise ModelFailed("Der Entwurf des Modells endete ohne Schluss.", hint="Bitte die Frage noch einmal stellen.")
    yield CheckedDraft(tuple(claims), tuple(rejected), end)
