"""The export of the log: one JSON line per answer, streamed."""

import json
from collections.abc import Iterator
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import StreamingResponse

from app.access.person import NOBODY, Person, require_role
from app.store.answer_search import AnswerFilter
from app.ui.protocol.answer_log import AnswerLog
from app.ui.protocol.commands import Filters


def export_route(answers: AnswerLog) -> APIRouter:
    """`/protokoll.jsonl` for whoever may read the log; takes the filters of the page."""
    router = APIRouter()

    @router.get("/protokoll.jsonl", include_in_schema=False)
    def export(request: Request, filters: Annotated[Filters, Query()]) -> StreamingResponse:
        person = getattr(request.state, "person", NOBODY)
        require_role(person if isinstance(person, Person) else NOBODY, "evaluator")
        return StreamingResponse(
            _lines(answers, filters.wanted()),
            media_type="application/x-ndjson",
            headers={"Content-Disposition": 'attachment; filename="protokoll.jsonl"', "Cache-Control": "no-store"},
        )

    return router


def _lines(answers: AnswerLog, wanted: AnswerFilter) -> Iterator[str]:
    for record in answers.records(wanted):
        yield json.dumps(record.to_json(), ensure_ascii=False) + "\n"
