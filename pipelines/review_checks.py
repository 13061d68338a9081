"""The checks of a planned payment as a model writes them, and what is left of them once they are proven."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from pydantic import ValidationError

from custom_postprocessors.evidence import Claim, DraftClaim, Frozen, GroundedContext
from custom_postprocessors.values import FoundValue, find_values
from pipelines.contracts import Cancelled, Plan, PlausibilityCheck
from pipelines.drafting import ClaimVerifier
from pipelines.errors import ModelFailed
from pipelines.ollama_client import ChatEnd, ChatOptions, ChatRequest, OllamaGateway
from pipelines.prompts import CLOSE, OPEN, SystemPrompt, one_line, user_message
from pipelines.review_context import ReceivedValue
from pipelines.review_facts import same_number

MOST_CHECKS = 40
MOST_STATEMENT_CHARACTERS = 600
_UPPER = re.compile(r"höchst|maximal|bis zu|nicht (?:über|mehr)|obergrenze|limit", re.IGNORECASE)
_LOWER = re.compile(r"mindest|nicht (?:unter|weniger)|untergrenze|ab einem", re.IGNORECASE)


class DraftCheck(Frozen):
    """One check as written, unchecked; `source` is a block id."""

    key: str
    result: Literal["OK", "WARN", "OFFEN"]
    statement: str = ""
    source: str | None = None


class _Draft(Frozen):
    checks: tuple[DraftCheck, ...]


@dataclass(frozen=True, slots=True)
class Unusable:
    """A check that is not proven, and why; German, told to the model when it tries again."""

    key: str
    reason: str


class CheckWriter(Protocol):
    """Writes the checks of received values from a grounded context."""

    def checks(
        self,
        plan: Plan,
        question: str,
        context: GroundedContext,
        received: Sequence[ReceivedValue],
        *,
        feedback: Sequence[Unusable] = (),
        cancelled: Cancelled = lambda: False,
    ) -> tuple[DraftCheck, ...]:
        """The checks as written.

        Raises:
            ModelUnavailable, ModelFailed: it cannot be reached, or what came is no list of checks.
            GenerationCancelled: `cancelled` became true.
        """
        ...


class OllamaCheckWriter:
    """A `CheckWriter` over one model on Ollama."""

    def __init__(self, gateway: OllamaGateway, model: str, *, options: ChatOptions, prompt: SystemPrompt) -> None:
        self._gateway = gateway
        self._model = model
        self._options = options
        self._prompt = prompt

    def checks(
        self,
        plan: Plan,
        question: str,
        context: GroundedContext,
        received: Sequence[ReceivedValue],
        *,
        feedback: Sequence[Unusable] = (),
        cancelled: Cancelled = lambda: False,
    ) -> tuple[DraftCheck, ...]:
        """See `CheckWriter.checks`."""
        self._gateway.local_model(self._model)
        request = ChatRequest(
            model=self._model,
            system=self._prompt.text,
            user="\n\n".join([user_message(plan, question, context), transmitted(received), *_told(feedback)]),
            options=self._options,
            schema=check_schema(sorted({value.key for value in received}), [passage.block_id for passage in context.passages]),
        )
        written: list[str] = []
        for piece in self._gateway.chat(request, cancelled=cancelled):
            if not isinstance(piece, ChatEnd):
                written.append(piece.text)
        try:
            return _Draft.model_validate(json.loads("".join(written))).checks[:MOST_CHECKS]
        except (ValueError, ValidationError) as exc:
            raise ModelFailed("Das Modell hat keine lesbare Prüfung geschrieben.", hint="Ein anderes Modell wählen.") from exc


def check_schema(keys: Sequence[str], block_ids: Sequence[str]) -> dict[str, Any]:
    """Schema for Ollama's `format`: keys are those that were transmitted, sources the blocks that were given."""
    check = {
        "type": "object",
        "properties": {
            "key": {"type": "string", "enum": list(keys)},
            "result": {"type": "string", "enum": ["OK", "WARN", "OFFEN"]},
            "statement": {"type": "string"},
            "source": {"enum": [*dict.fromkeys(block_ids), None]},
        },
        "required": ["key", "result", "statement", "source"],
    }
    checks = {"type": "array", "items": check, "maxItems": MOST_CHECKS}
    return {"type": "object", "properties": {"checks": checks}, "required": ["checks"]}


def transmitted(received: Sequence[ReceivedValue]) -> str:
    """The received values as a block of data: nothing in them can end the block, name a source or speak in another role."""
    lines = [
        f"- {value.key}: {one_line(value.value)}" + (f" ({one_line(value.note)})" if value.note else "") for value in received
    ]
    return "\n".join([f"{OPEN}ÜBERMITTELT{CLOSE}", *lines, f"{OPEN}ENDE ÜBERMITTELT{CLOSE}"])


def proven(
    drafts: Sequence[DraftCheck], received: Sequence[ReceivedValue], context: GroundedContext, verifier: ClaimVerifier
) -> tuple[tuple[PlausibilityCheck, ...], tuple[Unusable, ...]]:
    """The checks that hold, and those that do not.

    The statement of OK and WARN is verified like every claim of an answer; the received value is the one that was
    transmitted; the result must fit both values.
    """
    good: list[PlausibilityCheck] = []
    bad: list[Unusable] = []
    for draft in drafts:
        values = [value for value in received if value.key == draft.key]
        if not values:
            bad.append(Unusable(draft.key, "Diesen Schlüssel hat niemand übermittelt."))
            continue
        checked = _proven(draft, values, context, verifier)
        if isinstance(checked, Unusable):
            bad.append(checked)
        else:
            good.append(checked)
    return tuple(good), tuple(bad)


def _proven(
    draft: DraftCheck, values: Sequence[ReceivedValue], context: GroundedContext, verifier: ClaimVerifier
) -> PlausibilityCheck | Unusable:
    if draft.result == "OFFEN":
        return PlausibilityCheck(item=draft.key, result="OFFEN", received=values[0].value)
    if not draft.source or not draft.statement.strip():
        return Unusable(draft.key, "OK und WARN brauchen einen Satz aus einem Block und dessen Kennung.")
    # No question: a value that only the caller named proves nothing.
    claim = verifier.check(DraftClaim(text=draft.statement[:MOST_STATEMENT_CHARACTERS], sources=(draft.source,)), context, "")
    if not isinstance(claim, Claim):
        return Unusable(draft.key, " ".join(violation.message for violation in claim.violations))
    # A component has a rate, a base and an amount under one key; the statement is about that of its own kind.
    fitting = [(value, expected) for value in values if (expected := _expected(value, claim, draft.result)) is not None]
    if not fitting:
        return Unusable(draft.key, f"Das Ergebnis {draft.result} folgt nicht aus dem übermittelten Wert und dem Satz.")
    (value, expected), citation = fitting[0], claim.citations[0]
    return PlausibilityCheck(
        item=draft.key,
        result=draft.result,
        expected=expected.text,
        received=value.value,
        entry_id=citation.entry_id,
        section=citation.section,
        quote=citation.quote,
    )


def _expected(value: ReceivedValue, claim: Claim, result: str) -> FoundValue | None:
    """The one value of the statement that the received one is compared with, when the result follows from both."""
    comparable = [found for found in find_values(claim.text) if same_number(value.value, found) is not None]
    if len(comparable) != 1:
        return None
    expected = comparable[0]
    if same_number(value.value, expected):
        return expected if result == "OK" else None
    return expected if result == "WARN" or _is_within(value.value, expected, claim.text) else None


def _is_within(received: str, expected: FoundValue, statement: str) -> bool:
    number = find_values(received)[0].number
    if number is None or expected.number is None or (_UPPER.search(statement) and _LOWER.search(statement)):
        return False
    return bool(
        (_UPPER.search(statement) and number < expected.number) or (_LOWER.search(statement) and number > expected.number)
    )


def _told(feedback: Sequence[Unusable]) -> list[str]:
    if not feedback:
        return []
    lines = [f"- {found.key}: {one_line(found.reason)}" for found in feedback[:MOST_CHECKS]]
    return ["\n".join(["Deine erste Prüfung war nicht verwendbar:", *lines, "Schreib alle Prüfungen neu."])]
