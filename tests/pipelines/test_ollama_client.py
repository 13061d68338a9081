import threading
import time
from collections.abc import Iterator

import pytest

from pipelines.errors import GenerationCancelled, ModelFailed, ModelUnavailable
from pipelines.installed_models import InstalledModel, ModelDetails
from pipelines.ollama_client import ChatEnd, ChatOptions, ChatPiece, ChatRequest, OllamaGateway
from tests.fake_models import endless, fails, says, slow, with_reply
from tests.fake_ollama import FakeOllama
from tests.fake_wire import FakeModel, Reply

NAME = "qwen3.8:27b"
OPTIONS = ChatOptions(num_ctx=8192, num_predict=256, temperature=0.1, seed=7, keep_alive="30m")
REQUEST = ChatRequest(NAME, "System äöü", "Frage €", OPTIONS, schema={"type": "object"})
HELLO = says({"text": "Grüß Gott\u2028 \x85 Ende"})


@pytest.fixture
def server() -> Iterator[FakeOllama]:
    with FakeOllama([FakeModel(NAME, HELLO)]) as fake:
        yield fake


@pytest.fixture
def gateway(server: FakeOllama) -> Iterator[OllamaGateway]:
    with OllamaGateway(server.url, timeout_seconds=5.0) as connected:
        yield connected


def answer(gateway: OllamaGateway, request: ChatRequest = REQUEST) -> tuple[str, list[ChatEnd]]:
    pieces = list(gateway.chat(request))
    return "".join(p.text for p in pieces if isinstance(p, ChatPiece)), [p for p in pieces if isinstance(p, ChatEnd)]


def hung_up(server: FakeOllama, within_seconds: float = 1.0) -> bool:
    until = time.monotonic() + within_seconds
    while time.monotonic() < until:
        if server.of("/api/chat")[-1].hung_up_at is not None:
            return True
        time.sleep(0.01)
    return False


def test_pieces_arrive_and_one_end(gateway):
    text, ends = answer(gateway)
    assert text == '{"text": "Grüß Gott\u2028 \x85 Ende"}'
    assert ends == [ChatEnd("stop", prompt_tokens=7, output_tokens=5, tokens_per_second=pytest.approx(50.0, rel=1e-3))]


def test_request_says_everything_that_decides_the_answer(server, gateway):
    answer(gateway)
    assert server.chats[0].body == {
        "model": NAME,
        "messages": [{"role": "system", "content": "System äöü"}, {"role": "user", "content": "Frage €"}],
        "tools": [],
        "stream": True,
        "format": {"type": "object"},
        "think": False,
        "truncate": False,
        "shift": False,
        "keep_alive": "30m",
        "options": {"temperature": 0.1, "num_ctx": 8192, "num_predict": 256, "seed": 7},
    }


def test_environment_changes_neither_address_nor_headers(monkeypatch):
    with FakeOllama([FakeModel(NAME, HELLO)]) as server, FakeOllama() as other:
        monkeypatch.setenv("OLLAMA_HOST", other.url)
        monkeypatch.setenv("OLLAMA_API_KEY", "geheim")
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, other.url)
        with OllamaGateway(server.url) as gateway:
            gateway.models()
            answer(gateway)
        assert other.requests == []
        assert {r.path for r in server.requests} == {"/api/tags", "/api/chat"}
        assert not any("geheim" in str(r.headers) or "authorization" in map(str.lower, r.headers) for r in server.requests)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_redirect_is_not_followed(status):
    with FakeOllama([FakeModel(NAME, HELLO)]) as other, FakeOllama() as server:
        server.models = [FakeModel(NAME, fails(status, location=f"{other.url}/api/chat"))]
        with OllamaGateway(server.url) as gateway, pytest.raises(ModelUnavailable, match="nicht gefolgt"):
            answer(gateway)
        assert other.requests == []


def test_path_of_the_configured_address_is_kept():
    with FakeOllama() as server:
        with OllamaGateway(f"{server.url}/proxy") as gateway, pytest.raises(ModelUnavailable):
            gateway.models()
        assert [r.path for r in server.requests] == ["/proxy/api/tags"]


def test_server_that_is_down_is_unavailable_for_every_call(server, gateway):
    server.down()
    for call in (gateway.models, gateway.loaded, gateway.version, lambda: answer(gateway), lambda: gateway.details(NAME)):
        with pytest.raises(ModelUnavailable, match="nicht erreichbar") as caught:
            call()
        assert "127.0.0.1" not in str(caught.value)
    server.up()
    assert answer(gateway)[1]


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "http://[::1", "http://127.0.0.1:99999", "http://"])
def test_bad_address_is_unavailable(url):
    with OllamaGateway(url) as gateway, pytest.raises(ModelUnavailable):
        gateway.models()


def test_missing_model_is_unavailable(gateway):
    with pytest.raises(ModelUnavailable, match="'fehlt:7b' ist in Ollama nicht installiert"):
        answer(gateway, ChatRequest("fehlt:7b", "s", "u", OPTIONS))


@pytest.mark.parametrize(
    ("behaviour", "error", "says_what"),
    [
        (fails(500), ModelFailed, "meldet einen Fehler"),
        (fails(400, "model requires more system memory"), ModelFailed, "meldet einen Fehler"),
        (fails(400, "the request exceeds the available context size"), ModelFailed, "Kontextfenster"),
        (fails(503), ModelUnavailable, "überlastet"),
        (with_reply(HELLO, error_after_pieces=2), ModelFailed, "meldet einen Fehler"),
        (with_reply(HELLO, cut_after_pieces=2), ModelFailed, "brach ab"),
        (with_reply(HELLO, cut_after_pieces=0), ModelFailed, "brach ab"),
        (with_reply(HELLO, without_last_line=True), ModelFailed, "brach ab"),
        (with_reply(HELLO, remote_host="https://ollama.com"), ModelUnavailable, "Cloud"),
        (endless(), ModelFailed, "ohne Ende"),
        (lambda call: Reply(raw_lines=(b"<html>Gateway</html>\n",)), ModelFailed, "meldet einen Fehler"),
        (lambda call: Reply(raw_lines=(b"[1]\n",)), ModelFailed, "meldet einen Fehler"),
        (lambda call: Reply(raw_lines=(b'{"done": true}\n',)), ModelFailed, "meldet einen Fehler"),
        (lambda call: Reply(raw_lines=(b'{"message": {"role": "assistant", "content": 5}}\n',)), ModelFailed, "meldet"),
        (lambda call: Reply(raw_lines=(b"x" * 900_000, b"x" * 900_000)), ModelFailed, "meldet einen Fehler"),
        (lambda call: Reply(raw_lines=(b'{"message": \xff}\n',)), ModelFailed, "meldet einen Fehler"),
    ],
)
def test_misbehaviour_is_a_named_error_and_the_gateway_lives_on(server, gateway, behaviour, error, says_what):
    server.models = [FakeModel(NAME, behaviour)]
    with pytest.raises(error, match=says_what) as caught:
        answer(gateway)
    assert type(caught.value) is error
    assert "10.0.0.7" not in str(caught.value)
    server.models = [FakeModel(NAME, HELLO)]
    assert answer(gateway)[1]


def test_silence_longer_than_the_timeout_is_a_failure(server):
    server.models = [FakeModel(NAME, slow(HELLO, first_seconds=30))]
    with OllamaGateway(server.url, timeout_seconds=0.2) as gateway, pytest.raises(ModelFailed, match="nicht rechtzeitig"):
        answer(gateway)
    assert hung_up(server)


def test_slow_pieces_within_the_timeout_are_no_failure(server):
    server.models = [FakeModel(NAME, slow(HELLO, first_seconds=0.3, piece_seconds=0.1))]
    with OllamaGateway(server.url, timeout_seconds=0.6) as gateway:
        assert answer(gateway)[1]


def test_cancelling_while_the_prompt_is_read_closes_the_connection(server, gateway):
    server.models = [FakeModel(NAME, slow(HELLO, first_seconds=30))]
    begun = time.monotonic()
    with pytest.raises(GenerationCancelled):
        list(gateway.chat(REQUEST, cancelled=lambda: bool(server.chats)))
    assert hung_up(server)
    assert time.monotonic() - begun < 1.0


def test_closing_the_iterator_in_the_middle_closes_the_connection(server, gateway):
    server.models = [FakeModel(NAME, slow(HELLO, piece_seconds=0.5))]
    pieces = gateway.chat(REQUEST)
    assert isinstance(next(pieces), ChatPiece)
    pieces.close()
    assert hung_up(server)


def test_cancelled_before_the_start_sends_nothing(server, gateway):
    with pytest.raises(GenerationCancelled):
        list(gateway.chat(REQUEST, cancelled=lambda: True))
    assert server.requests == []


def test_closing_the_gateway_ends_a_running_chat(server):
    server.models = [FakeModel(NAME, slow(HELLO, first_seconds=30))]
    gateway = OllamaGateway(server.url)
    errors = []

    def ask() -> None:
        try:
            answer(gateway)
        except ModelFailed as exc:
            errors.append(exc)

    thread = threading.Thread(target=ask)
    thread.start()
    while not server.chats:
        time.sleep(0.01)
    gateway.close()
    thread.join(5)
    assert [type(error) for error in errors] == [GenerationCancelled]


def test_closed_gateway_connects_again_and_closing_twice_is_harmless(server):
    gateway = OllamaGateway(server.url)
    gateway.close()
    assert gateway.version() == "0.15.0"
    gateway.close()
    gateway.close()


def test_many_threads_share_one_gateway(server, gateway):
    results: list[str] = []
    threads = [threading.Thread(target=lambda: results.append(answer(gateway)[0])) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert results == ['{"text": "Grüß Gott\u2028 \x85 Ende"}'] * 8


def test_models_are_listed_with_cloud_ones_marked(server, gateway):
    server.models = [
        FakeModel(NAME, HELLO, digest="d" * 64, size=5),
        FakeModel("gpt:120b-cloud"),
        FakeModel("heimlich", remote_host="https://x"),
    ]
    assert gateway.models()[0] == InstalledModel(NAME, "d" * 64, 5, None)
    assert [(m.name, m.is_cloud) for m in gateway.models()] == [(NAME, False), ("gpt:120b-cloud", True), ("heimlich", True)]


@pytest.mark.parametrize("name", ["gpt:120b-cloud", "kimi:cloud", "heimlich", "HEIMLICH:Cloud"])
def test_cloud_model_is_refused_before_anything_is_sent(server, gateway, name):
    server.models = [
        FakeModel("gpt:120b-cloud", HELLO),
        FakeModel("kimi:cloud", HELLO),
        FakeModel("heimlich", HELLO, remote_host="https://x"),
    ]
    with pytest.raises(ModelUnavailable, match="Cloud-Modell"):
        gateway.local_model(name)
    assert server.chats == []


@pytest.mark.parametrize("name", ["gpt:120b-cloud", "kimi:cloud"])
def test_chat_itself_refuses_cloud_names(server, gateway, name):
    with pytest.raises(ModelUnavailable, match="Cloud-Modell"):
        answer(gateway, ChatRequest(name, "s", "u", OPTIONS))
    assert server.requests == []


def test_name_without_tag_means_latest(server, gateway):
    server.models = [FakeModel("llama3:latest", HELLO)]
    assert gateway.local_model("llama3").name == "llama3:latest"


def test_something_that_is_not_ollama_is_unavailable(server, gateway, monkeypatch):
    monkeypatch.setattr(FakeModel, "tag", property(lambda self: {"x": 1}))
    assert gateway.models() == ()
    server.listing = {"status": "ok"}
    with pytest.raises(ModelUnavailable, match="kein Ollama"):
        gateway.models()


def test_broken_listing_is_unavailable(server, gateway):
    server.tags_status = 500
    with pytest.raises(ModelUnavailable, match="nicht wie erwartet"):
        gateway.models()


def test_loaded_models_and_unloading(server, gateway):
    answer(gateway)
    assert [(m.name, m.context_length, m.size_vram_bytes) for m in gateway.loaded()] == [(NAME, 8192, 17_000_000_000)]
    gateway.unload(NAME)
    assert gateway.loaded() == ()


def test_details_tell_what_a_model_can_do(server, gateway):
    assert gateway.details(NAME) == ModelDetails(frozenset({"completion", "tools", "thinking"}), 262_144, 256, None)
    server.models = [FakeModel("alt", HELLO, capabilities=None), FakeModel("bge-m3", capabilities=("embedding",))]
    assert (gateway.details("alt").can_answer, gateway.details("alt").can_embed) == (True, True)
    assert (gateway.details("bge-m3").can_answer, gateway.details("bge-m3").can_embed) == (False, True)
