import pytest
from pydantic import TypeAdapter

from pipelines.contracts import Outcome
from tests.app.api.conftest import QUESTION

UNKNOWN = "0" * 32


def test_an_answer_is_found_with_its_rating_and_comments(client, answered):
    request_id = answered["request_id"]
    rated = client.post("/v1/ratings", json={"request_id": request_id, "up": False, "text": "Wert fehlt"})
    assert (rated.status_code, rated.json()["author"], rated.json()["up"]) == (201, "local", False)
    for text in ("Erster", "Zweiter"):
        assert client.post("/v1/comments", json={"request_id": request_id, "text": text}).status_code == 201
    stored = client.get(f"/v1/answers/{request_id}").json()
    assert stored["outcome"] == answered
    assert (stored["rating"]["text"], [comment["text"] for comment in stored["comments"]]) == (
        "Wert fehlt",
        ["Erster", "Zweiter"],
    )
    assert stored["metadata"]["sections"][0]["text_hash"]


def test_a_second_rating_and_a_repeated_comment_are_rejected(client, answered):
    rating = {"request_id": answered["request_id"], "up": True}
    comment = {"request_id": answered["request_id"], "text": "Gut"}
    gap = {"request_id": answered["request_id"]}
    for path, body in (("/v1/ratings", rating), ("/v1/comments", comment), ("/v1/gaps", gap)):
        assert client.post(path, json=body).status_code == 201
        again = client.post(path, json=body)
        assert (again.status_code, again.json()["code"]) == (422, "invalid")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/ratings", {"request_id": UNKNOWN, "up": True}),
        ("/v1/comments", {"request_id": UNKNOWN, "text": "x"}),
        ("/v1/gaps", {"request_id": UNKNOWN}),
    ],
)
def test_feedback_to_an_unknown_answer_is_rejected(client, path, body):
    answer = client.post(path, json=body)
    assert (answer.status_code, answer.json()["detail"]) == (404, "Unter dieser Kennung gibt es nichts.")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/ratings", {"up": True}),
        ("/v1/ratings", {"request_id": UNKNOWN, "up": "yes"}),
        ("/v1/comments", {"request_id": UNKNOWN, "text": ""}),
        ("/v1/comments", {"request_id": UNKNOWN, "text": "x" * 2001}),
        ("/v1/gaps", {"request_id": UNKNOWN, "question": "mine"}),
    ],
)
def test_malformed_feedback_is_rejected(client, path, body):
    assert client.post(path, json=body).status_code == 422


def test_a_gap_takes_its_question_from_the_audit_log(client, answered):
    gap = client.post("/v1/gaps", json={"request_id": answered["request_id"], "note": "KV fehlt"}).json()
    assert (gap["question"], gap["note"], gap["status"]) == (QUESTION, "KV fehlt", "open")


FORMATS = [
    ({"format": "json"}, "*/*", "application/json"),
    ({"format": "markdown"}, "text/html", "text/markdown"),
    ({"format": "html"}, "", "text/html"),
    ({}, "text/html,application/xhtml+xml,*/*;q=0.8", "text/html"),
    ({}, "text/markdown", "text/markdown"),
    ({}, "*/*", "application/json"),
]


@pytest.mark.parametrize(("params", "accept", "media_type"), FORMATS)
def test_the_evidence_sheet_comes_in_the_format_asked_for(client, answered, params, accept, media_type):
    path = f"/v1/answers/{answered['request_id']}/evidence"
    answer = client.get(path, params=params, headers={"Accept": accept})
    assert (answer.status_code, answer.headers["content-type"].partition(";")[0]) == (200, media_type)
    assert "551,10" in answer.text
    assert "script-src" not in answer.headers["Content-Security-Policy"]


def test_the_evidence_sheet_as_json_holds_the_whole_outcome(client, answered):
    sheet = client.get(f"/v1/answers/{answered['request_id']}/evidence").json()
    assert TypeAdapter(Outcome).validate_python(sheet["outcome"]).request_id == answered["request_id"]


@pytest.mark.parametrize("path", [f"/v1/answers/{UNKNOWN}", f"/v1/answers/{UNKNOWN}/evidence"])
def test_an_unknown_answer_is_not_found(client, path):
    assert client.get(path).status_code == 404


def test_without_content_the_sheet_is_gone_and_the_metadata_stay(client, serve_with):
    served = serve_with(audit_content="metadata")
    with served.client() as other:
        request_id = other.post("/v1/ask", json={"question": QUESTION}).json()["request_id"]
        assert other.get(f"/v1/answers/{request_id}/evidence").status_code == 410
        stored = other.get(f"/v1/answers/{request_id}").json()
    assert (stored["outcome"], stored["metadata"]["status"]) == (None, "answered")
