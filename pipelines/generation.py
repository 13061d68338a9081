"""Writes drafts with a model on Ollama: complete claims as they arrive, and a failure wherever the answer is not whole."""

import logging
import secrets
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, replace

from custom_postprocessors.evidence import DraftClaim, GroundedContext, Rejected
from pipelines.claim_schema import draft_schema
from pipelines.claim_stream import ClaimStream, DraftReading
from pipelines.contracts import Cancelled, DraftEnd, GenerationMode, ModelInfo, Plan
from pipelines.errors import ModelFailed
from pipelines.json_scan import MalformedJson
from pipelines.ollama_client import ChatEnd, ChatOptions, ChatRequest, OllamaGateway
from pipelines.prompts import SystemPrompt, user_message
from pipelines.token_estimate import SAFETY, TEMPLATE_TOKENS, prompt_tokens_estimate, was_cut

log = logging.getLogger(__name__)

NO_THINKING = "/no_think"
"""Qwen's switch in the message, for servers that ignore `think: false`; other models read past it."""


@dataclass(frozen=True, slots=True)
class _Call:
    """The request that is tried next, and which repetitions are used up."""

    request: ChatRequest
    doubled: bool = False
    unthought: bool = False
    repaired: bool = False


@dataclass(frozen=True, slots=True)
class _Written:
    """How a call ended; `reading` is None when what was written is not a draft, `end` when it was not read to its end."""

    end: ChatEnd | None
    reading: DraftReading | None


class OllamaGenerator:
    """A `ClaimGenerator` over one model; keeps no state between drafts and serves all threads."""

    def __init__(
        self,
        gateway: OllamaGateway,
        model: str,
        *,
        options: ChatOptions,
        prompt: SystemPrompt,
        digest: str | None = None,
        endpoint: str | None = None,
    ) -> None:
        self._gateway = gateway
        self._model = model
        self._options = options
        self._prompt = prompt
        self._digest = digest
        self._endpoint = endpoint

    @property
    def mode(self) -> GenerationMode:
        """Structured; a draft of a model that ignores the schema says `text` in its end."""
        return "structured"

    def info(self) -> ModelInfo:
        """What answers, exactly enough to ask it again."""
        options = self._options
        return ModelInfo(
            name=self._model,
            digest=self._digest,
            prompt_version=self._prompt.version,
            endpoint=self._endpoint,
            options={
                "temperature": options.temperature,
                "num_ctx": options.num_ctx,
                "num_predict": options.num_predict,
                "seed": options.seed,
                "think": False,
            },
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
        """See `ClaimGenerator.draft`.

        Within one draft it repeats a call at most once per reason: with twice the budget when the answer was cut by it;
        without thinking when nothing but thinking came; with another seed when what came is not a draft. A claim that a
        repetition writes again is not yielded again.

        Raises:
            ModelUnavailable: server not reachable, model not installed, or a cloud model.
            ModelFailed: cut prompt, cut or endless stream, or unusable after the repetitions.
            GenerationCancelled: `cancelled` became true.
        """
        self._gateway.local_model(self._model)
        call = _Call(self._request(plan, question, context, feedback))
        given: set[tuple[str, tuple[str, ...]]] = set()
        while True:
            written = yield from self._read(call.request, given, cancelled)
            if written.end is not None:
                self._refuse_cut_prompt(call.request, written.end, cancelled)
                if written.reading is not None and not written.reading.empty:
                    yield _draft_end(written.reading, written.end)
                    return
            call = self._again(call, written)

    def _request(self, plan: Plan, question: str, context: GroundedContext, feedback: tuple[Rejected, ...]) -> ChatRequest:
        request = ChatRequest(
            model=self._model,
            system=self._prompt.text,
            user=user_message(plan, question, context, feedback),
            options=self._options,
            schema=draft_schema([passage.block_id for passage in context.passages]),
        )
        tokens = _estimate(request)
        if tokens > self._options.num_ctx * SAFETY:
            raise ModelFailed(
                f"Die Belege sind mit rund {tokens} Token zu lang für das Kontextfenster von {self._options.num_ctx}.",
                hint="PV_NUM_CTX erhöhen oder PV_CONTEXT_BLOCKS verringern.",
            )
        return request

    def _read(
        self, request: ChatRequest, given: set[tuple[str, tuple[str, ...]]], cancelled: Cancelled
    ) -> Generator[DraftClaim, None, _Written]:
        stream = ClaimStream()
        end = ChatEnd("stop")
        try:
            with closing(self._gateway.chat(request, cancelled=cancelled)) as pieces:
                for piece in pieces:
                    if isinstance(piece, ChatEnd):
                        end = piece
                    else:
                        yield from _new(stream.feed(piece.text), given)
        except MalformedJson as exc:
            log.warning("Draft of %r is malformed: %s", self._model, exc)
            return _Written(None, None)
        try:
            reading = None if end.done_reason == "length" else stream.finish()
        except MalformedJson as exc:
            log.warning("Draft of %r is malformed at its end: %s", self._model, exc)
            return _Written(end, None)
        if reading is not None:
            yield from _new(reading.claims, given)
        return _Written(end, reading)

    def _again(self, call: _Call, written: _Written) -> _Call:
        """The next call.

        Raises:
            ModelFailed: the repetition for this reason is used up.
        """
        if written.end is not None and written.end.done_reason == "length":
            return self._longer(call)
        if written.reading is None:
            if call.repaired:
                raise ModelFailed(
                    f"Das Modell {self._model!r} hält die verlangte Form nicht ein.", hint="Ein anderes Modell wählen."
                )
            return replace(call, repaired=True, request=_other_seed(call.request))
        if call.unthought:
            raise ModelFailed(f"Das Modell {self._model!r} hat nichts geantwortet.", hint="Ein anderes Modell wählen.")
        request = replace(_other_seed(call.request), user=f"{call.request.user}\n\n{NO_THINKING}")
        return replace(call, unthought=True, request=request)

    def _longer(self, call: _Call) -> _Call:
        options = call.request.options
        room = options.num_ctx - _estimate(call.request)
        budget = min(2 * options.num_predict, room)
        if call.doubled or budget <= options.num_predict:
            raise ModelFailed(
                f"Die Antwort des Modells {self._model!r} ist auch mit {options.num_predict} Token nicht fertig.",
                hint="PV_NUM_PREDICT oder PV_NUM_CTX erhöhen oder enger fragen.",
            )
        return replace(call, doubled=True, request=replace(call.request, options=replace(options, num_predict=budget)))

    def _refuse_cut_prompt(self, request: ChatRequest, end: ChatEnd, cancelled: Cancelled) -> None:
        """Fails when the server read far fewer tokens than were sent.

        Older servers do not count what they have in their prompt cache; so before failing, the same prompt is read once
        more behind a text that no cache can hold, for one token of answer.
        """
        estimate = _estimate(request)
        if end.prompt_tokens is not None and not was_cut(end.prompt_tokens, estimate):
            return
        uncached = replace(
            request,
            system=f"{secrets.token_hex(8)}\n{request.system}",
            schema=None,
            options=replace(request.options, num_predict=1),
        )
        counted = 0
        for piece in self._gateway.chat(uncached, cancelled=cancelled):
            if isinstance(piece, ChatEnd):
                counted = piece.prompt_tokens or 0
        if was_cut(counted, estimate):
            raise ModelFailed(
                f"Ollama hat nur {counted} von rund {estimate} Token der Belege gelesen.",
                hint="PV_NUM_CTX und das Kontextfenster des Modells prüfen.",
            )


def _estimate(request: ChatRequest) -> int:
    return prompt_tokens_estimate(request.system) + prompt_tokens_estimate(request.user) + TEMPLATE_TOKENS


def _other_seed(request: ChatRequest) -> ChatRequest:
    return replace(request, options=replace(request.options, seed=request.options.seed + 1))


def _new(claims: tuple[DraftClaim, ...], given: set[tuple[str, tuple[str, ...]]]) -> Iterator[DraftClaim]:
    for claim in claims:
        key = (claim.text, claim.sources)
        if key not in given:
            given.add(key)
            yield claim


def _draft_end(reading: DraftReading, end: ChatEnd) -> DraftEnd:
    return DraftEnd(
        silent=reading.silent,
        follow_up=reading.follow_up,
        unanswered=reading.unanswered,
        mode=reading.mode,
        prompt_tokens=end.prompt_tokens,
        output_tokens=end.output_tokens,
        tokens_per_second=end.tokens_per_second,
    )
