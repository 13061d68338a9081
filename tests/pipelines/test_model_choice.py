from collections.abc import Iterator

import pytest

from pipelines.errors import ModelUnavailable
from pipelines.model_choice import PREFERRED_MODEL, ModelChoice, RecentChoice, choose_model
from pipelines.ollama_client import OllamaGateway
from tests.fake_models import honest
from tests.fake_ollama import FakeOllama
from tests.fake_wire import FakeModel

OTHER = "qwen3.8:8b"


@pytest.fixture
def server() -> Iterator[FakeOllama]:
    with FakeOllama(
        [FakeModel(PREFERRED_MODEL, honest(), digest="d" * 64), FakeModel(OTHER, honest(), digest="e" * 64)]
    ) as started:
        yield started


@pytest.fixture
def gateway(server: FakeOllama) -> Iterator[OllamaGateway]:
    with OllamaGateway(server.url) as connected:
        yield connected


def test_auto_takes_the_preferred_model_where_it_is_installed(gateway):
    assert choose_model("auto", gateway) == ModelChoice(PREFERRED_MODEL, "qwen3.8:27b ist in Ollama installiert.", "d" * 64)


def test_auto_takes_no_other_model_but_says_why(server, gateway):
    server.models = [FakeModel(OTHER, honest())]
    choice = choose_model("auto", gateway)
    assert choice == ModelChoice(
        "extractive", "Das Modell 'qwen3.8:27b' ist in Ollama nicht installiert. Es antwortet der Zitatmodus."
    )
    assert choice.extractive


def test_auto_without_ollama_is_the_zitatmodus(server, gateway):
    server.down()
    assert choose_model("auto", gateway) == ModelChoice("extractive", "Ollama ist nicht erreichbar. Es antwortet der Zitatmodus.")


def test_auto_never_takes_a_cloud_model(server, gateway):
    server.models = [FakeModel(PREFERRED_MODEL, honest(), remote_host="https://ollama.com")]
    assert choose_model("auto", gateway).extractive


def test_extractive_asks_nobody(server, gateway):
    assert choose_model("extractive", gateway) == ModelChoice("extractive", "Der Zitatmodus ist eingestellt.")
    assert server.requests == []


def test_named_model_is_taken(gateway):
    assert choose_model(OTHER, gateway) == ModelChoice(OTHER, "Das Modell qwen3.8:8b ist gewählt.", "e" * 64)


def test_named_model_that_is_missing_is_never_exchanged(gateway):
    with pytest.raises(ModelUnavailable, match=r"'qwen3\.8:70b' ist in Ollama nicht installiert"):
        choose_model("qwen3.8:70b", gateway)


def test_named_model_without_ollama_is_unavailable(server, gateway):
    server.down()
    with pytest.raises(ModelUnavailable, match="nicht erreichbar"):
        choose_model(OTHER, gateway)


@pytest.mark.parametrize(
    "model", [FakeModel("gpt:120b-cloud", honest()), FakeModel("heimlich:1b", honest(), remote_host="https://x")]
)
def test_named_cloud_model_is_refused(server, gateway, model):
    server.models = [model]
    with pytest.raises(ModelUnavailable, match="Cloud-Modell"):
        choose_model(model.name, gateway)


def test_embedding_model_cannot_answer(server, gateway):
    server.models = [FakeModel("bge-m3:latest", capabilities=("embedding",))]
    with pytest.raises(ModelUnavailable, match="schreibt keine Antworten"):
        choose_model("bge-m3", gateway)


def test_the_automatic_choice_is_remembered_and_a_named_model_is_looked_up(server: FakeOllama, gateway: OllamaGateway) -> None:
    recent = RecentChoice()
    assert [recent.choose(setting, gateway).name for setting in ("auto", "auto", "", "auto")] == [PREFERRED_MODEL] * 4
    assert len(server.of("/api/tags")) == 1
    recent.choose(OTHER, gateway)
    assert len(server.of("/api/tags")) == 2


def test_a_remembered_choice_is_given_up_after_its_seconds(server: FakeOllama, gateway: OllamaGateway) -> None:
    remembering, forgetting = RecentChoice(60), RecentChoice(0)
    assert [recent.choose("auto", gateway).extractive for recent in (remembering, forgetting)] == [False, False]
    server.models = []
    assert [recent.choose("auto", gateway).extractive for recent in (remembering, forgetting)] == [False, True]
