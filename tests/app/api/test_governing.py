"""Uploads and tags over the API."""

import pytest
from pydantic import SecretStr

from tests.app.test_ingest import entry

SERVICE, ADMIN = "service-key-0001", "admin-key-0001"


@pytest.fixture
def empty(serve_with, tmp_path):
    """An empty catalogue of its own."""
    return serve_with(data_dir=tmp_path / "data")


def put(served, name="pv-a-01.md", content=None, key=None, **more):
    with served.client(key) as client:
        return client.post("/v1/documents", json={"file_name": name, "content": content or entry("pv-a-01"), **more})


def test_an_upload_becomes_the_active_version_and_its_index_is_asked_for(empty):
    answer = put(empty, note="neu")
    body = answer.json()
    assert (answer.status_code, body["entry_id"], body["version"], body["is_new"]) == (201, "pv-a-01", 1, True)
    assert (body["job"]["kind"], body["job"]["state"], empty.started) == ("rebuild", "QUEUED", ["next"])
    with empty.client() as client:
        versions = client.get("/v1/documents/pv-a-01/versions").json()["versions"]
    assert [(v["number"], v["author"], v["note"], v["active"]) for v in versions] == [(1, "local", "neu", True)]


def test_the_same_content_makes_no_version_and_no_job(empty):
    put(empty)
    again = put(empty).json()
    assert (again["version"], again["is_new"], again["job"]) == (1, False, None)


def test_a_version_can_wait_for_its_activation(empty):
    put(empty)
    second = put(empty, content=entry("pv-a-01", stand="2026-02"), activate=False).json()
    assert (second["version"], second["job"]) == (2, None)
    with empty.client() as client:
        assert client.post("/v1/documents/pv-a-01/versions/2/activate", json={}).status_code == 202
        assert client.get("/v1/documents").json()["documents"][0]["active_version"] == 2


def test_an_invalid_file_is_refused_with_each_fault_and_its_line(empty):
    answer = put(empty, content=entry("pv-a-01", stand="2026-13"))
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (422, "rejected")
    assert problem["errors"][0]["field"].startswith("content.")
    with empty.client() as client:
        assert client.get("/v1/documents").json() == {"documents": []}


@pytest.mark.parametrize("name", ["../pv-a-01.md", "a/pv-a-01.md", "C:\\pv-a-01.md", "pv-a-02.md", "pv-a-01.txt", ".", "x" * 201])
def test_names_that_are_paths_or_another_entrys_are_refused(empty, name):
    assert put(empty, name).status_code == 422


def test_an_upload_has_a_limit_of_its_own(empty):
    assert put(empty, content="x" * 300_000).status_code == 422
    assert put(empty, content="x" * 9_000_000).status_code == 413


def test_only_admins_change_anything(serve_with, tmp_path):
    empty = serve_with(data_dir=tmp_path / "data", api_key=SecretStr(SERVICE), admin_key=SecretStr(ADMIN))
    assert [put(empty, key=key).status_code for key in (None, SERVICE, ADMIN)] == [401, 403, 201]
    with empty.client(SERVICE) as client:
        assert client.post("/v1/tags", json={"name": "Prämien"}).status_code == 403
        assert client.get("/v1/tags").json() == {"tags": []}


def test_a_tag_is_made_and_given_to_further_entries(empty):
    put(empty)
    put(empty, "pv-a-02.md", entry("pv-a-02"))
    with empty.client() as client:
        first = client.post("/v1/tags", json={"name": "Prämien", "entries": ["pv-a-01"]})
        second = client.post("/v1/tags", json={"name": "prämien", "entries": ["pv-a-02"]}).json()
        listed = client.get("/v1/tags").json()["tags"]
        unknown = client.post("/v1/tags", json={"name": "Zulagen", "entries": ["pv-zz-99"]})
        jobs = [job["kind"] for job in client.get("/v1/jobs").json()["jobs"]]
    assert (first.status_code, second["entries"], unknown.status_code) == (201, ["pv-a-01", "pv-a-02"], 404)
    assert [(tag["name"], tag["kind"], tag["entries"]) for tag in listed] == [("Prämien", "tag", ["pv-a-01", "pv-a-02"])]
    assert "tags" in jobs


def test_tags_of_a_question_come_from_the_path_of_questions(client):
    assert client.get("/v1/tags", params={"query": "Was ist eine Prämie?"}).json() == {"tags": []}
    assert client.get("/v1/tags", params={"query": ""}).status_code == 422
