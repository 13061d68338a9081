import pytest

from app.store.jobs import Jobs
from pipelines.jobs import JobProgress
from pipelines.process_identity import this_process
from tests.app.api.conftest import ENTRIES, QUESTION


def test_health_of_a_ready_service_names_index_and_model(client):
    health = client.get("/v1/health")
    shown = health.json()
    assert (health.status_code, shown["status"], shown["live"], shown["ready"]) == (200, "ready", True, True)
    assert (shown["index"]["entries"], shown["model"]["name"], shown["model"]["available"]) == (7, "extractive", True)
    assert "11434" not in health.text


def test_a_missing_model_degrades_and_names_no_address(serve_with):
    served = serve_with(llm_model="qwen3.8:27b", ollama_url="http://127.0.0.1:9")
    with served.client() as client:
        health = client.get("/v1/health")
        while "geprüft" in health.text:
            health = client.get("/v1/health")
    assert (health.status_code, health.json()["status"], health.json()["degraded"]) == (200, "degraded", ["model"])
    assert "127.0.0.1" not in health.text


def test_before_the_first_index_nothing_is_answered_and_health_says_why(serve_with):
    served = serve_with(ready=False)
    served.readiness.building("Der erste Index wird gebaut.", 1)
    with served.client() as client:
        health = client.get("/v1/health")
        calls = [
            client.post("/v1/ask", json={"question": QUESTION}),
            client.post("/v1/ask/stream", json={"question": QUESTION}),
            client.get("/v1/search", params={"query": "Pension"}),
            client.get("/v1/entries/pv-sv-05"),
        ]
    assert health.status_code == 503
    assert health.json() == {
        "status": "not_ready",
        "live": True,
        "ready": False,
        "reason": "Der erste Index wird gebaut.",
        "degraded": [],
        "job_id": 1,
    }
    assert [(answer.status_code, answer.json()["code"]) for answer in calls] == [(503, "not_ready")] * 4
    assert int(calls[0].headers["Retry-After"]) > 0


def test_a_reindex_is_a_job_and_equal_requests_join(serve_with):
    served = serve_with()
    with served.client() as client:
        first = client.post("/v1/reindex")
        second = client.post("/v1/reindex", json={"full": True, "reason": "neue Werte"})
        third = client.post("/v1/reindex", json={"evaluate": True})
        job = client.get(first.headers["Location"]).json()
        (asked,) = served.assembly.jobs.list(kind="ingest")
    assert (third.json()["id"], asked.arguments["full"], asked.arguments["evaluate"]) == (job["id"], True, True)
    assert (first.status_code, second.status_code) == (202, 202)
    assert first.json()["id"] == second.json()["id"] == job["id"]
    assert (job["kind"], job["state"], job["reason"]) == ("ingest", "QUEUED", "neue Werte")
    assert served.started == ["next"] * 3
    assert str(served.assembly.settings.kb_dir) not in first.text


@pytest.mark.parametrize("body", [{"full": "yes"}, {"folder": "/etc"}, {"reason": "x" * 201}, []])
def test_a_malformed_reindex_is_rejected(client, body):
    assert client.post("/v1/reindex", json=body).status_code == 422


def test_jobs_are_listed_newest_first_and_filtered(client):
    client.post("/v1/reindex", json={"reason": "liste"})
    jobs = client.get("/v1/jobs", params={"state": "QUEUED", "limit": 5}).json()["jobs"]
    assert {job["state"] for job in jobs} == {"QUEUED"}
    assert [job["id"] for job in jobs] == sorted((job["id"] for job in jobs), reverse=True)
    assert client.get("/v1/jobs", params={"state": "SLEEPING"}).status_code == 422
    assert client.get("/v1/jobs", params={"limit": 0}).status_code == 422


@pytest.mark.parametrize("job_id", ["999999", str(2**31 - 1)])
def test_an_unknown_job_is_not_found(client, job_id):
    assert client.get(f"/v1/jobs/{job_id}").status_code == 404


@pytest.mark.parametrize("job_id", ["0", "-1", "x", "1.5", str(2**80)])
def test_what_is_no_number_of_a_job_is_rejected(client, job_id):
    assert client.get(f"/v1/jobs/{job_id}").status_code == 422


def test_the_reason_of_a_failed_job_is_for_admins(serve_with):
    served = serve_with(api_key="service-key", admin_key="admin-key")
    with served.client("admin-key") as admin, served.client("service-key") as service:
        job_id = admin.post("/v1/reindex", json={"reason": "scheitert"}).json()["id"]
        store = Jobs(served.assembly.database)
        store.start(job_id, this_process())
        store.report(job_id, JobProgress(stage="folder"))
        store.finish(job_id, error="'/data/kb' cannot be read.")
        assert admin.get(f"/v1/jobs/{job_id}").json()["error"] == "'/data/kb' cannot be read."
        assert "/data" not in service.get(f"/v1/jobs/{job_id}").text
        assert "/data" not in service.get("/v1/jobs").text


def test_documents_and_their_versions_are_listed(client):
    documents = client.get("/v1/documents").json()["documents"]
    assert {document["entry_id"] for document in documents} == set(ENTRIES)
    versions = client.get("/v1/documents/pv-sv-05/versions").json()["versions"]
    assert [(version["number"], version["active"], version["origin"]) for version in versions] == [(1, True, "folder")]
    assert client.get("/v1/documents/pv-xx-99/versions").status_code == 404


def test_activating_a_version_queues_the_index_of_it(serve_with):
    served = serve_with()
    with served.client() as client:
        answer = client.post("/v1/documents/pv-sv-05/versions/1/activate", json={"note": "zurück"})
        missing = client.post("/v1/documents/pv-sv-05/versions/99/activate")
    assert (answer.status_code, answer.json()["kind"]) == (202, "rebuild")
    assert served.started == ["next"]
    assert missing.status_code == 404


def test_search_ranks_sections_with_every_score(client):
    found = client.get("/v1/search", params={"query": QUESTION, "k": 3}).json()
    assert (found["entries"][0], len(found["results"])) == ("pv-sv-05", 3)
    assert set(found["results"][0]["scores"]) == {"bm25", "similarity", "ngram", "fused"}


@pytest.mark.parametrize(
    "params",
    [{}, {"query": ""}, {"query": "x", "k": 0}, {"query": "x", "k": 201}, {"query": "x", "name": "Muster"}, {"query": " "}],
)
def test_a_malformed_search_is_rejected(client, params):
    assert client.get("/v1/search", params=params).status_code == 422


def test_an_entry_holds_the_texts_that_citations_count_in(client, answered):
    citation = answered["claims"][0]["citations"][0]
    entry = client.get(f"/v1/entries/{citation['entry_id']}").json()
    section = next(section for section in entry["sections"] if section["section"] == citation["section"])
    assert section["text"][citation["start"] : citation["end"]] == citation["quote"]
    assert entry["sources"][0]["publisher"]
    assert entry["index_version"] == answered["index"]["version"]
    assert client.get("/v1/entries/pv-xx-99").status_code == 404


def test_conflicts_are_those_of_the_served_index(client, served):
    listed = client.get("/v1/conflicts").json()
    assert listed["index_version"] == served.assembly.service.engine.index.version
    assert [conflict["id"] for conflict in listed["conflicts"]] == [
        conflict.id for conflict in served.assembly.service.engine.index.conflicts if conflict.status != "dismissed"
    ]


def test_unversioned_addresses_answer_and_say_that_they_are_deprecated(client):
    for alias, path, body in (("/ask", "/v1/ask", {"question": QUESTION}), ("/reindex", "/v1/reindex", {})):
        answer = client.post(alias, json=body)
        assert answer.status_code == client.post(path, json=body).status_code
        assert answer.headers["Deprecation"].startswith("@")
        assert answer.headers["Link"] == f'<{path}>; rel="successor-version"'
    assert client.get("/health").headers["Deprecation"].startswith("@")
    assert client.post("/ask", json={}).headers["Deprecation"].startswith("@")
    assert "Deprecation" not in client.get("/v1/health").headers


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/nothing", 404),
        ("GET", "/v1", 404),
        ("GET", "/v1/ask", 405),
        ("DELETE", "/v1/jobs", 405),
        ("GET", "/v1/ask/", 404),
    ],
)
def test_unknown_addresses_and_methods_are_problems(client, method, path, status):
    answer = client.request(method, path)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert answer.json()["title"]


def test_swagger_is_off_and_the_document_is_served(client):
    assert [client.get(path).status_code for path in ("/v1/docs", "/v1/redoc", "/docs", "/redoc")] == [404] * 4
    assert client.get("/v1/openapi.json").json()["openapi"].startswith("3.1")
