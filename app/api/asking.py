"""Questions: one answer, or its path as server-sent events."""

import asyncio
import contextlib
import json
import threading
from collections.abc import AsyncIterator
from functools import partial
from typing import Any, assert_never

from fastapi import APIRouter, Request, Response
from sse_starlette import EventSourceResponse, ServerSentEvent

from app.api.bodies import AskBody
from app.api.parts import ApiParts, ClientRequestId, Parts
from app.api.problems import ApiProblem, Problem, api_problem, problem_of, request_id_of
from app.service import Service
from app.ui.streaming import watched
from pipelines.contracts import (
    Answer,
    ClaimEvent,
    Event,
    FinalEvent,
    Outcome,
    PlanEvent,
    Question,
    Refusal,
    RegeneratingEvent,
    SourcesEvent,
)
from pipelines.errors import PvAgentError

HEARTBEAT_SECONDS = 10
router = APIRouter(tags=["Fragen"])


@router.post("/v1/ask", response_model=Answer | Refusal, summary="Eine Frage beantworten")
async def ask(body: AskBody, request: Request, parts: Parts, client_request_id: ClientRequestId) -> Response:
    """The answer or refusal (both 200); 503 when the model cannot be reached or fails.

    A caller that goes away stops the model.
    """
    outcome = await _outcome(parts.ready_service(), _question(body, parts, client_request_id), request)
    if outcome.status == "unavailable":
        raise unavailable(outcome)
    return Response(outcome.model_dump_json(), media_type="application/json")


@router.post(
    "/v1/ask/stream",
    response_class=EventSourceResponse,
    summary="Eine Frage beantworten, geprüfte Aussagen sobald sie da sind",
    responses={
        200: {"description": "Ereignisse plan, sources, claim, regenerating, final, error.", "content": {"text/event-stream": {}}}
    },
)
async def ask_stream(body: AskBody, request: Request, parts: Parts, client_request_id: ClientRequestId) -> EventSourceResponse:
    """The path of a question as server-sent events.

    `plan`, `sources`, `claim` {index, claim} per checked claim, `regenerating` (the claims shown are void), then exactly
    one of `final` (the whole answer or refusal; replaces everything) and `error` (a problem document). Comments are
    heartbeats. A caller that goes away stops the model.
    """
    question = _question(body, parts, client_request_id)
    cancelled = threading.Event()
    batches = watched(partial(parts.ready_service().ask_events, question), cancelled)
    # What fails before the first event is an ordinary HTTP error.
    first = await anext(batches)
    return EventSourceResponse(_messages(first, batches, request_id_of(request)), ping=HEARTBEAT_SECONDS)


def _question(body: AskBody, parts: ApiParts, client_request_id: str | None) -> Question:
    return body.to_question(client_request_id, review_mode=parts.review_mode, today=parts.today())


async def _outcome(service: Service, question: Question, request: Request) -> Outcome:
    """The outcome of a question, given up as soon as the caller has gone."""
    cancelled = threading.Event()
    gone = asyncio.create_task(_when_gone(request, cancelled))
    try:
        async for batch in watched(partial(service.ask_events, question), cancelled):
            for event in batch:
                if isinstance(event, FinalEvent):
                    return event.outcome
    finally:
        gone.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await gone
    raise ApiProblem(503, "Die Anfrage wurde abgebrochen.", code="cancelled")


async def _when_gone(request: Request, cancelled: threading.Event) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    cancelled.set()


async def _messages(first: list[Event], batches: AsyncIterator[list[Event]], request_id: str) -> AsyncIterator[ServerSentEvent]:
    try:
        for event in first:
            yield _message(event)
        async for batch in batches:
            for event in batch:
                yield _message(event)
    except PvAgentError as exc:
        yield _error(problem_of(api_problem(exc), request_id))


def _message(event: Event) -> ServerSentEvent:
    match event:
        case PlanEvent():
            return _event("plan", event.plan.model_dump(mode="json"))
        case SourcesEvent():
            return _event("sources", {"sources": [source.model_dump(mode="json") for source in event.sources]})
        case ClaimEvent():
            return _event("claim", {"index": event.index, "claim": event.claim.model_dump(mode="json")})
        case RegeneratingEvent():
            return _event("regenerating", {"violations": [found.model_dump(mode="json") for found in event.violations]})
        case FinalEvent():
            if event.outcome.status == "unavailable":
                problem = unavailable(event.outcome)
                return _error(problem_of(problem, event.outcome.request_id))
            return _event("final", event.outcome.model_dump(mode="json"))
        case _:
            assert_never(event)


def unavailable(outcome: Outcome) -> ApiProblem:
    """What an outcome whose model failed is to a caller: never an answer."""
    return ApiProblem(
        503,
        outcome.answer,
        code=outcome.refusal_reason or "model_unavailable",
        headers={"Retry-After": "30"},
        request_id=outcome.request_id,
    )


def _error(problem: Problem) -> ServerSentEvent:
    return _event("error", problem.model_dump(mode="json"))


def _event(name: str, value: dict[str, Any]) -> ServerSentEvent:
    return ServerSentEvent(json.dumps(value, ensure_ascii=False), event=name, sep="\n")
