"""The login and the guard of the page, over the API of a small index with a page that says who came."""

import re

import pytest
from pydantic import SecretStr

from app.access.attempts import PER_NAME
from app.store.accounts import Accounts
from tests.app.api.port import wait_for

PASSWORD = "vier lange Wörter hier"
SAME = {"Origin": "http://127.0.0.1:7860"}


@pytest.fixture(scope="module")
def data_with_account(tmp_path_factory):
    """A data folder with the account of Maria, an editor; hashing passwords takes its time."""
    from app.store.database import Database

    root = tmp_path_factory.mktemp("accounts")
    database = Database(root)
    Accounts(database).add("maria", PASSWORD, ["editor"])
    database.close()
    return root


@pytest.fixture
def closed(serve_with, data_with_account):
    return serve_with(data_dir=data_with_account, ready=False)


@pytest.fixture
def visitor(closed):
    with closed.client() as client:
        client.follow_redirects = False
        yield client


def log_in(client, name="maria", password=PASSWORD, **headers):
    return client.post("/login", data={"name": name, "password": password}, headers={**SAME, **headers})


def test_without_an_account_the_local_person_uses_the_page(client):
    assert client.get("/who").text == "lokal:admin,analyst,editor,evaluator"


def test_from_the_first_account_on_the_page_asks_for_a_login(visitor):
    opened = visitor.get("/")
    assert (opened.status_code, opened.headers["location"]) == (303, "/login")
    calls = [("GET", "/who"), ("POST", "/upload"), ("POST", "/gradio_api/queue/join"), ("GET", "/gradio_api/queue/data")]
    calls += [("GET", "/config"), ("GET", "/login/"), ("GET", "/LOGIN"), ("POST", "/"), ("GET", "/theme.css")]
    assert [visitor.request(*call).status_code for call in calls] == [401] * len(calls)
    assert visitor.get("/", headers={"Cookie": "pv_session=made-up"}).status_code == 303


def test_an_account_that_is_made_while_the_service_runs_closes_the_page(serve_with, tmp_path):
    served = serve_with(data_dir=tmp_path / "data", ready=False)
    with served.client() as client:
        assert client.get("/who").status_code == 200
        Accounts(served.assembly.database).add("maria", PASSWORD, ["analyst"])
        wait_for(lambda: client.get("/who").status_code == 401)


def test_a_login_opens_the_page_for_its_person_and_a_logout_closes_it(visitor):
    form = visitor.get("/login")
    assert (form.status_code, form.headers["content-type"]) == (200, "text/html; charset=utf-8")
    answer = log_in(visitor)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert re.fullmatch(r"pv_session=[\w-]{43}; HttpOnly; Max-Age=43200; Path=/; SameSite=strict", cookie)
    assert visitor.get("/who").text == "maria:editor"
    assert visitor.get("/login").headers["location"] == "/"
    kept = visitor.cookies["pv_session"]
    out = visitor.post("/logout", headers=SAME)
    assert (out.status_code, out.headers["location"]) == (303, "/login")
    assert visitor.get("/who", headers={"Cookie": f"pv_session={kept}"}).status_code == 401


def test_the_cookie_is_for_https_alone_when_the_browser_speaks_https(visitor):
    answer = log_in(visitor, **{"X-Forwarded-Proto": "https"})
    assert answer.headers["set-cookie"].endswith("; Secure")


def test_a_failed_login_says_neither_what_was_wrong_nor_what_was_typed(visitor, caplog):
    texts = set()
    for name, password in (("maria", "falsches-Passwort-1"), ("niemand", PASSWORD), ("", ""), ("maria", "")):
        answer = log_in(visitor, name, password)
        assert (answer.status_code, answer.headers.get("set-cookie")) == (401, None)
        texts.add(re.sub(r'value="[^"]*"| autofocus', "", answer.text))
        assert not password or password not in answer.text
    assert len(texts) == 1
    assert "Name oder Passwort stimmt nicht." in texts.pop()
    assert not any(secret in caplog.text for secret in (PASSWORD, "falsches-Passwort-1", "niemand"))


def test_what_is_typed_stays_text(visitor):
    assert "<script>" not in log_in(visitor, '"><script>alert(1)</script>', "x").text


def test_guessing_the_password_of_a_name_is_limited_and_leaves_other_names_alone(visitor):
    guesses = [log_in(visitor, "opfer", f"Versuch Nummer {number}") for number in range(PER_NAME.amount + 1)]
    assert [answer.status_code for answer in guesses] == [401] * PER_NAME.amount + [429]
    assert 1 <= int(guesses[-1].headers["Retry-After"]) <= 600
    assert "Zu viele Versuche" in guesses[-1].text
    assert log_in(visitor).status_code == 303


@pytest.mark.parametrize(
    "headers",
    [{"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site", "Origin": "https://e.at"}],
)
@pytest.mark.parametrize("path", ["/login", "/logout"])
def test_no_other_page_can_log_anybody_in_or_out(visitor, path, headers):
    answer = visitor.post(path, data={"name": "maria", "password": PASSWORD}, headers=headers)
    assert (answer.status_code, answer.headers.get("set-cookie")) == (403, None)


def test_an_image_cannot_end_a_session(visitor):
    log_in(visitor)
    kept = {"Cookie": f"pv_session={visitor.cookies['pv_session']}"}
    visitor.get("/logout", headers={"Sec-Fetch-Dest": "image", "Sec-Fetch-Site": "same-origin"})
    assert visitor.get("/who", headers=kept).text == "maria:editor"
    visitor.get("/logout", headers={"Sec-Fetch-Dest": "document", "Sec-Fetch-Site": "same-origin", **kept})
    assert visitor.get("/who", headers=kept).status_code == 401


def test_a_malformed_form_is_a_failed_login(visitor):
    bodies = [b"", b"name=%FF%FE&password=%C3", b"\xff\xfe", b"name=" + b"x" * 10_000, b"&" * 100]
    form = {**SAME, "Content-Type": "application/x-www-form-urlencoded"}
    assert [visitor.post("/login", content=body, headers=form).status_code for body in bodies] == [401] * len(bodies)
    assert visitor.put("/login", headers=SAME).status_code == 405


@pytest.mark.parametrize(
    "cookie", ["pv_session", "pv_session=", "pv_session=;", "=;=", "pv_session=" + "x" * 5000, 'pv_session="']
)
def test_a_malformed_cookie_is_none(visitor, cookie):
    assert visitor.get("/who", headers={"Cookie": cookie}).status_code == 401


def test_an_account_closes_what_only_admins_may_do_in_the_api_too(closed):
    with closed.client() as client:
        assert client.get("/v1/jobs").status_code == 200
        assert client.post("/v1/reindex", json={}).status_code == 401


def test_beyond_this_machine_nobody_comes_in_without_key_and_account(serve_with, tmp_path):
    served = serve_with(data_dir=tmp_path / "data", ready=False, host="0.0.0.0")
    with served.client() as client:
        client.follow_redirects = False
        assert [client.get(path).status_code for path in ("/v1/jobs", "/v1/openapi.json", "/who", "/")] == [401, 401, 401, 303]
    keyed = serve_with(data_dir=tmp_path / "data", ready=False, host="0.0.0.0", admin_key=SecretStr("admin-key"))
    with keyed.client() as client:
        assert client.get("/v1/jobs").status_code == 401


def test_the_login_page_is_guarded_by_headers_and_is_not_stored(visitor):
    headers = visitor.get("/login").headers
    assert headers["content-security-policy"].startswith("default-src 'none'")
    assert (headers["cache-control"], headers["x-frame-options"]) == ("no-store", "DENY")
    assert headers["referrer-policy"] == "same-origin"
