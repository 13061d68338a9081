import json
import threading

import pytest
from pydantic import TypeAdapter

from pipelines.contracts import Outcome
from tests.app.api.conftest import QUESTION

OUTCOME = TypeAdapter(Outcome)


def events_of(text: str) -> list[tuple[str, dict]]:
    blocks = [block.split("\n") for block in text.split("\n\n") if block.startswith("event:")]
    return [(lines[0].removeprefix("event: "), json.loads(lines[1].removeprefix("data: "))) for lines in blocks]


def without_times(outcome: dict) -> dict:
    return {name: value for name, value in outcome.items() if name not in ("request_id", "created_at", "timings_ms")}


def test_an_answer_is_the_outcome_and_is_in_the_audit_log(client, served):
    answer = client.post("/v1/ask", json={"question": f"  {QUESTION} "}, headers={"X-Request-ID": "odoo-4711"})
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert answer.headers["X-Request-ID"] == "odoo-4711"
    outcome = OUTCOME.validate_json(answer.content)
    assert (outcome.status, outcome.question, outcome.client_request_id) == ("answered", QUESTION, "odoo-4711")
    assert "551,10 €" in outcome.answer
    assert served.assembly.audit.get(outcome.request_id).outcome == outcome


def test_a_refusal_is_an_answer_too(client):
    answer = client.post("/v1/ask", json={"question": "Wie wird das Wetter morgen in Graz?"})
    assert (answer.status_code, answer.json()["status"]) == (200, "refused")


def test_every_answer_has_its_own_id_whatever_the_caller_sends(client):
    sent = {"X-Request-ID": "same"}
    ids = {client.post("/v1/ask", json={"question": QUESTION}, headers=sent).json()["request_id"] for _ in range(3)}
    assert len(ids) == 3


@pytest.mark.parametrize("given", ["", "a b", "x" * 101, "<script>", "-a", "ä".encode()])
def test_a_malformed_client_id_is_neither_kept_nor_echoed(client, given):
    answer = client.post("/v1/ask", json={"question": QUESTION}, headers={"X-Request-ID": given})
    assert answer.json()["client_request_id"] is None
    assert "X-Request-ID" not in answer.headers


def test_the_stream_is_plan_sources_claims_and_the_same_outcome(client):
    whole = client.post("/v1/ask", json={"question": QUESTION}).json()
    answer = client.post("/v1/ask/stream", json={"question": QUESTION})
    assert (answer.status_code, answer.headers["content-type"].partition(";")[0]) == (200, "text/event-stream")
    events = events_of(answer.text)
    names = [name for name, _ in events]
    assert names == ["plan", "sources", *["claim"] * len(whole["claims"]), "final"]
    assert [value for name, value in events if name == "claim"] == [
        {"index": index, "claim": claim} for index, claim in enumerate(whole["claims"])
    ]
    assert events[0][1] == whole["plan"]
    assert events[1][1] == {"sources": whole["sources"]}
    assert without_times(events[-1][1]) == without_times(whole)


REFUSED = {
    "empty": {"question": ""},
    "only blanks": {"question": " \u200b\n"},
    "too long": {"question": "x" * 2001},
    "no question": {},
    "not text": {"question": 5},
    "employee data": {"question": QUESTION, "employee": {"name": "Erika Muster", "salary": 2500}},
    "review mode": {"question": QUESTION, "mode": "review"},
    "review context": {"question": QUESTION, "context": {"facts": []}},
    "month": {"question": QUESTION, "as_of": "2026-13"},
    "scope": {"question": QUESTION, "scopes": ["internet"]},
    "old sources": {"question": QUESTION, "history": [{"question": "Und?", "request_id": "a", "sources": []}]},
    "long history": {"question": QUESTION, "history": [{"question": "Und?", "request_id": "a"}] * 7},
    "half a character": {"question": "\ud800"},
    "half a character in a name": {"question": QUESTION, "\ud800": 1},
    "a list": [QUESTION],
}


@pytest.mark.parametrize("path", ["/v1/ask", "/v1/ask/stream"])
@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_a_german_problem_and_makes_no_answer(client, served, path, name):
    before = served.assembly.audit.count()
    answer = client.post(path, content=json.dumps(REFUSED[name]), headers={"Content-Type": "application/json"})
    problem = answer.json()
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    assert (problem["status"], problem["code"], problem["title"]) == (422, "invalid", "Die Anfrage ist nicht gültig")
    assert len(problem["request_id"]) == 32
    assert served.assembly.audit.count() == before


def test_a_problem_names_the_field_and_never_repeats_its_value(client):
    problem = client.post("/v1/ask", json={"question": QUESTION, "svnr": "1237 010180"}).json()
    assert problem["errors"] == [{"field": "svnr", "message": "Dieses Feld ist nicht bekannt."}]
    assert "1237" not in json.dumps(problem)


def test_a_question_of_the_greatest_length_passes_with_blanks_around_it(client):
    long = (QUESTION + " ") * 40 + "x" * 2000
    answer = client.post("/v1/ask", json={"question": "   " + long[:2000].strip() + " " * 50})
    assert answer.status_code == 200


@pytest.mark.parametrize("body", [b"{", b"\xff\xfe", b'{"question": ' + b"1" * 5000 + b"}", b"[" * 100_000])
def test_a_broken_body_is_a_problem(client, body):
    answer = client.post("/v1/ask", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422)
    assert answer.headers["content-type"] == "application/problem+json"


def test_an_unknown_model_is_unavailable_and_never_an_answer(client, served):
    answer = client.post("/v1/ask", json={"question": QUESTION, "model": "qwen3.8:27b"})
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (503, "model_unavailable")
    assert int(answer.headers["Retry-After"]) > 0
    assert served.assembly.audit.get(problem["request_id"]).metadata["status"] == "unavailable"
    assert "127.0.0.1" not in answer.text
    events = events_of(client.post("/v1/ask/stream", json={"question": QUESTION, "model": "qwen3.8:27b"}).text)
    assert (events[-1][0], events[-1][1]["code"]) == ("error", "model_unavailable")


def test_many_threads_get_the_answers_of_one(client):
    questions = [QUESTION, "Wie hoch ist der Beitragssatz in der Pensionsversicherung?", "Was ist die betriebliche Vorsorge?"]
    alone = {question: without_times(client.post("/v1/ask", json={"question": question}).json()) for question in questions}
    wrong: list[str] = []

    def work(number: int) -> None:
        question = questions[number % len(questions)]
        if without_times(client.post("/v1/ask", json={"question": question}).json()) != alone[question]:
            wrong.append(question)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
