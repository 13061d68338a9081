"""From the checked drafts to a verdict: which claims are shown, and whether they are an answer. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from custom_postprocessors.evidence import Citation, Claim, Conflict, Violation
from custom_postprocessors.values import find_values
from pipelines.contracts import AnswerStatus, RefusalReason
from pipelines.drafting import CheckedDraft
from pipelines.question_shape import answers_asked_value

MAX_REMARK_CHARACTERS = 300
_REFERENCE_OR_LINK = re.compile(r"\[|\]|https?:|www\.|<|\(Stand", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Shown:
    """An answer: the claims that are shown, and what remains open."""

    status: AnswerStatus
    claims: tuple[Claim, ...]
    unanswered: tuple[str, ...]
    follow_up: str | None
    dropped_claims: int


@dataclass(frozen=True, slots=True)
class NotShown:
    """No answer, and why."""

    reason: RefusalReason
    dropped_claims: int


def conclude(question: str, first: CheckedDraft, second: CheckedDraft | None) -> Shown | NotShown:
    """Decides over one draft, or over a first draft with failures and its second.

    The second draft counts. Only if none of its claims holds, the first draft's claims that held are used; then, and
    whenever a claim was dropped, the rest must still answer the question: a question for a value needs a value of the
    asked kind.
    """
    last = second or first
    claims = last.claims or first.claims
    dropped = len(last.rejected)
    incomplete = dropped > 0 or claims is not last.claims
    if not claims:
        return NotShown("verification_failed" if dropped else "kb_silent", dropped)
    if incomplete and not answers_asked_value(question, claims):
        return NotShown("verification_failed", dropped)
    unanswered = tuple(part for part in last.end.unanswered if _is_harmless(part, question))
    if incomplete and not unanswered:
        unanswered = (f"Teile der Frage „{question}“",)
    follow_up = last.end.follow_up if last.end.follow_up and _is_harmless(last.end.follow_up, question) else None
    status: AnswerStatus = "partial" if unanswered or last.end.silent else "clarification" if follow_up else "answered"
    return Shown(status, claims, unanswered, follow_up, dropped)


def all_violations(first: CheckedDraft, second: CheckedDraft | None) -> tuple[Violation, ...]:
    """The violations of every draft, in order of writing."""
    return first.violations + (second.violations if second else ())


def touched_conflicts(claims: Sequence[Claim], conflicts: Sequence[Conflict]) -> tuple[Conflict, ...]:
    """The conflicts one of whose sides a claim rests on: its quote overlaps the side's quote."""
    citations = [citation for claim in claims for citation in claim.citations]
    return tuple(conflict for conflict in conflicts if any(_touches(citation, conflict) for citation in citations))


def _touches(citation: Citation, conflict: Conflict) -> bool:
    return any(
        (side.entry_id, side.section) == (citation.entry_id, citation.section)
        and citation.start < side.end
        and side.start < citation.end
        for side in conflict.sides
    )


def _is_harmless(remark: str, question: str) -> bool:
    """Whether a remark that cannot be verified may be shown: short, no reference, no value but the question's own."""
    if not remark.strip() or len(remark) > MAX_REMARK_CHARACTERS or _REFERENCE_OR_LINK.search(remark):
        return False
    asked = {value.normalized for value in find_values(question)}
    return all(value.normalized in asked for value in find_values(remark))
