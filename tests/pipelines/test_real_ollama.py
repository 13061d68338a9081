"""The seam against a real server: `PV_TEST_OLLAMA_URL` names it, `PV_TEST_OLLAMA_MODEL` the model (default: smallest qwen)."""

import os
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from custom_postprocessors.evidence import DraftClaim
from pipelines.contracts import DraftEnd
from pipelines.errors import GenerationCancelled, ModelFailed
from pipelines.generation import OllamaGenerator
from pipelines.model_choice import choose_model
from pipelines.ollama_client import ChatOptions, ChatRequest, OllamaGateway
from pipelines.prompts import load_prompt, user_message
from pipelines.token_estimate import TEMPLATE_TOKENS, prompt_tokens_estimate
from tests.model_context import CONTEXT, PLAN, QUESTION

URL = os.environ.get("PV_TEST_OLLAMA_URL", "")
OPTIONS = ChatOptions(num_ctx=4096, num_predict=300)

pytestmark = [pytest.mark.ollama, pytest.mark.skipif(not URL, reason="PV_TEST_OLLAMA_URL names no server")]


@pytest.fixture
def gateway() -> Iterator[OllamaGateway]:
    with OllamaGateway(URL, timeout_seconds=1200.0) as connected:
        yield connected


@pytest.fixture
def model(gateway: OllamaGateway) -> str:
    answering = [m for m in gateway.models() if not m.is_cloud and gateway.details(m.name).can_answer]
    qwen = [m for m in answering if "qwen" in m.name] or answering
    return os.environ.get("PV_TEST_OLLAMA_MODEL") or min(qwen, key=lambda m: m.size_bytes).name


def test_draft_cites_only_what_was_given_and_the_prompt_was_read_whole(gateway, model):
    generator = OllamaGenerator(gateway, choose_model(model, gateway).name, options=OPTIONS, prompt=load_prompt())
    *claims, end = generator.draft(PLAN, QUESTION, CONTEXT)
    assert isinstance(end, DraftEnd)
    assert end.mode == "structured"
    assert {source for claim in claims if isinstance(claim, DraftClaim) for source in claim.sources} <= {"pv-sv-05", "pv-sv-07"}
    text = load_prompt().text + user_message(PLAN, QUESTION, CONTEXT)
    assert end.prompt_tokens is not None
    assert 0.75 < end.prompt_tokens / (prompt_tokens_estimate(text) + TEMPLATE_TOKENS) < 1.25


def test_cancelling_while_the_prompt_is_read_returns_at_once(gateway, model):
    generator = OllamaGenerator(
        gateway, model, options=OPTIONS, prompt=replace(load_prompt(), text=f"{time.time()} {load_prompt().text}")
    )
    begun = time.monotonic()
    with pytest.raises(GenerationCancelled):
        list(generator.draft(PLAN, QUESTION, CONTEXT, cancelled=lambda: time.monotonic() - begun > 2.0))
    assert time.monotonic() - begun < 3.5


def test_prompt_that_does_not_fit_is_an_error(gateway, model):
    text = "Die Geringfügigkeitsgrenze beträgt 551,10 € monatlich. " * 250
    with pytest.raises(ModelFailed, match="Kontextfenster"):
        list(gateway.chat(ChatRequest(model, load_prompt().text, text, OPTIONS)))
