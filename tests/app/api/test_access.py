import pytest
from pydantic import SecretStr

from app.store.keys import KeyStore
from tests.app.api.conftest import PAGE_POLICY, QUESTION
from tests.app.api.port import wait_for

SERVICE, ADMIN = "service-key-0001", "admin-key-0001"
ASK = ("POST", "/v1/ask", {"question": QUESTION})
SEARCH = ("GET", "/v1/search?query=Pension&k=1", None)
REINDEX = ("POST", "/v1/reindex", {})
ACTIVATE = ("POST", "/v1/documents/pv-sv-05/versions/1/activate", {})
HEALTH = ("GET", "/v1/health", None)
OLD_ASK, OLD_REINDEX = ("POST", "/ask", {"question": QUESTION}), ("POST", "/reindex", {})


def keyed(serve_with, *, service=None, admin=None, **changes):
    return serve_with(api_key=SecretStr(service) if service else None, admin_key=SecretStr(admin) if admin else None, **changes)


def status(served, call, key=None):
    method, path, body = call
    with served.client(key) as client:
        return client.request(method, path, json=body).status_code


def test_without_keys_the_local_user_may_do_everything(served):
    assert [status(served, call) for call in (SEARCH, REINDEX, ACTIVATE, HEALTH)] == [200, 202, 202, 200]


def test_from_the_first_service_key_on_every_call_but_health_needs_one(serve_with):
    served = keyed(serve_with, service=SERVICE)
    calls = (
        ASK,
        SEARCH,
        REINDEX,
        ACTIVATE,
        OLD_ASK,
        OLD_REINDEX,
        ("GET", "/v1/nothing", None),
        ("GET", "/v1/openapi.json", None),
    )
    assert [status(served, call) for call in calls] == [401] * len(calls)
    assert [status(served, call, "wrong") for call in calls] == [401] * len(calls)
    assert [status(served, call, SERVICE) for call in (ASK, SEARCH, OLD_ASK)] == [200] * 3
    assert status(served, HEALTH) == 200


def test_admin_endpoints_refuse_a_service_key_also_when_there_is_no_admin_key(serve_with):
    only_service = keyed(serve_with, service=SERVICE)
    both = keyed(serve_with, service=SERVICE, admin=ADMIN)
    for served in (only_service, both):
        assert [status(served, call, SERVICE) for call in (REINDEX, ACTIVATE, OLD_REINDEX)] == [403] * 3
    assert [status(both, call, ADMIN) for call in (REINDEX, ACTIVATE, OLD_REINDEX, SEARCH)] == [202, 202, 202, 200]


def test_an_admin_key_alone_guards_what_only_admins_may(serve_with):
    served = keyed(serve_with, admin=ADMIN)
    assert [status(served, call) for call in (SEARCH, REINDEX, ACTIVATE, OLD_REINDEX)] == [200, 401, 401, 401]
    assert [status(served, call, "wrong") for call in (SEARCH, REINDEX)] == [401, 401]
    assert status(served, REINDEX, ADMIN) == 202


def test_a_missing_key_is_asked_for_and_never_shown(serve_with):
    served = keyed(serve_with, service=SERVICE, admin=ADMIN)
    with served.client("wrong-key") as client:
        answer = client.get("/v1/jobs")
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert answer.headers["content-type"] == "application/problem+json"
    assert not any(secret in answer.text for secret in (SERVICE, ADMIN, "wrong-key"))


def test_health_tells_only_its_state_without_a_key(serve_with):
    served = keyed(serve_with, service=SERVICE)
    with served.client() as client:
        assert client.get("/v1/health").json() == {"status": "ready", "live": True, "ready": True, "degraded": []}
    with served.client(SERVICE) as client:
        assert client.get("/v1/health").json()["index"]["entries"] == 7


@pytest.mark.parametrize("key", ["", "Bearer", "Basic abc", "Bearer  ", "bearer " + SERVICE + "x"])
def test_malformed_authorisation_is_none(serve_with, key):
    served = keyed(serve_with, service=SERVICE)
    with served.client() as client:
        assert client.get("/v1/jobs", headers={"Authorization": key}).status_code == 401


def test_a_key_is_limited_and_told_when_to_come_again(serve_with):
    served = keyed(serve_with, service=SERVICE, admin=ADMIN, rate_limit_per_minute=3)
    with served.client(SERVICE) as client:
        answers = [client.get("/v1/jobs") for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert 1 <= int(answers[-1].headers["Retry-After"]) <= 60
    assert answers[-1].json()["code"] == "rate_limited"
    assert status(served, ("GET", "/v1/jobs", None), ADMIN) == 200
    assert status(served, HEALTH) == 200


def test_guessing_keys_is_limited_and_does_not_lock_others_out(serve_with):
    served = keyed(serve_with, service=SERVICE, rate_limit_per_minute=3)
    guesses = [status(served, ("GET", "/v1/jobs", None), f"guess-{number}") for number in range(5)]
    assert guesses == [401, 401, 401, 429, 429]
    assert status(served, ("GET", "/v1/jobs", None), SERVICE) == 200


def test_the_local_user_is_not_limited(serve_with):
    served = keyed(serve_with, rate_limit_per_minute=1)
    assert [status(served, ("GET", "/v1/jobs", None)) for _ in range(3)] == [200] * 3


FOREIGN = [
    {"Host": "evil.example"},
    {"Host": "evil.example:7860"},
    {"Host": ""},
    {"Host": "127.0.0.1.evil.example"},
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://127.0.0.1:8000"},
    {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
    {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"},
]


@pytest.mark.parametrize("headers", FOREIGN)
@pytest.mark.parametrize("path", ["/v1/jobs", "/"])
def test_no_web_page_can_use_the_port(client, headers, path):
    answer = client.get(path, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (403, "foreign_origin")
    assert client.options(path, headers={"Origin": "https://evil.example", **headers}).status_code == 403


@pytest.mark.parametrize("host", ["127.0.0.1:7860", "localhost:7860", "LOCALHOST", "[::1]:7860"])
def test_names_of_this_machine_are_served_with_their_own_origin(client, host):
    own = {"Host": host, "Origin": f"http://{host.lower()}", "Sec-Fetch-Site": "same-origin"}
    assert client.get("/v1/jobs", headers=own).status_code == 200


def test_a_link_from_another_site_opens_the_page_but_not_the_api(client):
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert client.get("/", headers=link).text == "page"
    assert client.get("/v1/jobs", headers=link).status_code == 403


def test_a_name_that_the_operator_allows_is_served(serve_with):
    served = keyed(serve_with, allowed_hosts="pv.example.at, other.example")
    with served.client() as client:
        headers = {"Host": "pv.example.at", "Origin": "https://pv.example.at"}
        assert client.get("/v1/jobs", headers=headers).status_code == 200


def test_security_headers_are_on_every_answer(client):
    for path, policy in (("/v1/jobs", "default-src 'none'"), ("/v1/nothing", "default-src 'none'"), ("/", PAGE_POLICY)):
        headers = client.get(path).headers
        assert headers["Content-Security-Policy"].startswith(policy)
        assert (headers["X-Content-Type-Options"], headers["X-Frame-Options"]) == ("nosniff", "DENY")
        assert headers["Referrer-Policy"] == "no-referrer"
    assert client.get("/v1/jobs").headers["Cache-Control"] == "no-store"


def test_a_large_body_is_refused_whether_announced_or_not(client):
    large = b'{"question": "' + b"x" * 300_000 + b'"}'
    announced = client.post("/v1/ask", content=large, headers={"Content-Type": "application/json"})
    streamed = client.post(
        "/v1/ask", content=iter([large[:200_000], large[200_000:]]), headers={"Content-Type": "application/json"}
    )
    assert [answer.status_code for answer in (announced, streamed)] == [413, 413]
    assert streamed.json()["code"] == "too_large"
    assert client.post("/upload", content=b"x" * 300_000).text == "300000"
    assert client.post("/upload", content=b"x" * 9_000_000).status_code == 413


def test_a_defect_is_answered_with_an_id_and_nothing_else(client, caplog):
    answer = client.get("/defect")
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (500, "internal")
    assert "secret" not in answer.text
    assert problem["request_id"] in caplog.text
    assert "secret internals" in caplog.text
    assert answer.headers["Content-Security-Policy"] == PAGE_POLICY


def test_a_key_that_is_made_while_the_service_runs_closes_it_and_lets_its_holder_in(serve_with, tmp_path):
    served = serve_with(data_dir=tmp_path / "data", ready=False)
    jobs = ("GET", "/v1/jobs", None)
    with served.client() as client:
        assert client.get("/v1/jobs").status_code == 200
        secret = KeyStore(served.assembly.database).add("odoo", "service")
        wait_for(lambda: client.get("/v1/jobs").status_code == 401)
    assert status(served, jobs, secret) == 200
    assert status(served, REINDEX, secret) == 403
