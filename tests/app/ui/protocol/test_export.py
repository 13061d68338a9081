"""The export of the log as a file: what it has, and for whom."""

import json
from collections.abc import Awaitable, Callable

import pytest
from fastapi import FastAPI, Request, Response
from fastapi.testclient import TestClient

from app.access.person import Person, Role
from app.ui.protocol.answer_log import AnswerLog
from app.ui.protocol.export import export_route
from pipelines.errors import BadInput, Forbidden


def client(answers: AnswerLog, *roles: Role) -> TestClient:
    app = FastAPI()

    @app.middleware("http")
    async def known(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
        request.state.person = Person("anna", frozenset(roles))
        return await call_next(request)

    app.include_router(export_route(answers))
    return TestClient(app)


def test_every_answer_is_a_line_newest_first(answers: AnswerLog) -> None:
    response = client(answers, "evaluator").get("/protokoll.jsonl")
    lines = [json.loads(line) for line in response.text.splitlines()]
    assert [line["metadata"]["request_id"] for line in lines] == ["r-5", "r-4", "r-3", "r-2", "r-1"]
    assert {"sequence", "hash", "metadata", "outcome"} == set(lines[0])
    assert response.headers["content-disposition"] == 'attachment; filename="protokoll.jsonl"'
    assert response.headers["cache-control"] == "no-store"


def test_the_filters_of_the_page_restrict_it(answers: AnswerLog) -> None:
    response = client(answers, "evaluator").get("/protokoll.jsonl", params={"status": "refused", "since": "", "text": "uva"})
    assert [json.loads(line)["metadata"]["request_id"] for line in response.text.splitlines()] == ["r-2"]


def test_a_day_that_does_not_exist_is_refused(answers: AnswerLog) -> None:
    with pytest.raises(BadInput):
        client(answers, "evaluator").get("/protokoll.jsonl", params={"since": "31.04.2026"})


@pytest.mark.parametrize("roles", [(), ("analyst",)])
def test_who_is_no_evaluator_gets_nothing(answers: AnswerLog, roles: tuple[Role, ...]) -> None:
    with pytest.raises(Forbidden):
        client(answers, *roles).get("/protokoll.jsonl")
