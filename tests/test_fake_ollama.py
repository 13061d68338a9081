"""The fake server itself: what other tests rely on."""

import json

import httpx
import pytest

from pipelines.prompts import user_message
from tests import fake_models as fake
from tests.fake_ollama import FakeOllama
from tests.fake_wire import EMBEDDING_DIMENSION, ChatCall, FakeModel, Reply, embedding
from tests.model_context import CONTEXT, LIMIT, PLAN, QUESTION


def similarity(a: str, b: str) -> float:
    return sum(x * y for x, y in zip(embedding(a), embedding(b), strict=True))


def chat(user: str = "Hallo", **body: object) -> dict[str, object]:
    return {"model": "m", "messages": [{"role": "user", "content": user}], **body}


def test_embeddings_rank_by_common_words_and_word_parts():
    query = "Höhe der Geringfügigkeitsgrenze"
    near, far = "Die Geringfuegigkeitsgrenze beträgt 551,10 €", "Kündigungsfristen der Angestellten"
    assert similarity(query, near) > similarity(query, far) + 0.2
    assert similarity(near, near) == pytest.approx(1.0)
    assert len(embedding("")) == EMBEDDING_DIMENSION


def test_embeddings_are_served_for_one_text_and_for_many():
    with FakeOllama([FakeModel("bge-m3")]) as server:
        many = httpx.post(f"{server.url}/api/embed", json={"model": "bge-m3", "input": ["a", "b"]}, trust_env=False).json()
        one = httpx.post(f"{server.url}/api/embed", json={"model": "bge-m3", "input": "a"}, trust_env=False).json()
    assert many["embeddings"] == [embedding("a"), embedding("b")]
    assert one["embeddings"] == [embedding("a")]


def test_chat_without_streaming_gives_one_document():
    with FakeOllama([FakeModel("m", fake.says(fake.SILENT))]) as server:
        reply = httpx.post(f"{server.url}/api/chat", json=chat(stream=False), trust_env=False).json()
    assert json.loads(reply["message"]["content"]) == fake.SILENT
    assert (reply["done"], reply["done_reason"]) == (True, "stop")


def test_budget_ends_an_answer_with_length():
    with FakeOllama([FakeModel("m", lambda call: Reply("x" * 70))]) as server:
        reply = httpx.post(f"{server.url}/api/chat", json=chat(stream=False, options={"num_predict": 3}), trust_env=False).json()
    assert (reply["message"]["content"], reply["done_reason"], reply["eval_count"]) == ("x" * 21, "length", 3)


def test_long_prompt_is_cut_silently_unless_forbidden():
    with FakeOllama([FakeModel("m", lambda call: Reply("x"))]) as server:
        body = chat("wort " * 1000, stream=False, options={"num_ctx": 1024})
        cut = httpx.post(f"{server.url}/api/chat", json=body, trust_env=False).json()
        refused = httpx.post(f"{server.url}/api/chat", json={**body, "truncate": False}, trust_env=False)
    assert cut["prompt_eval_count"] == 514
    assert (refused.status_code, "exceeds the context length" in refused.json()["error"]) == (400, True)


def test_unknown_paths_and_models_are_404_as_in_ollama():
    with FakeOllama() as server:
        assert httpx.get(f"{server.url}/api/nothing", trust_env=False).status_code == 404
        reply = httpx.post(f"{server.url}/api/chat", json=chat(), trust_env=False)
    assert (reply.status_code, reply.json()) == (404, {"error": "model 'm' not found"})


def test_failing_behaviour_fails_the_test():
    def broken(call: ChatCall) -> Reply:
        raise KeyError("defect of the test")

    with pytest.raises(AssertionError, match="behaviour"), FakeOllama([FakeModel("m", broken)]) as server:
        with pytest.raises(httpx.HTTPError):
            httpx.post(f"{server.url}/api/chat", json=chat(), trust_env=False)


def draft_of(behaviour: object, user: str, number: int = 0) -> dict[str, object]:
    reply = behaviour(ChatCall({"model": "m", "options": {}, "messages": [{"role": "user", "content": user}]}, number))  # type: ignore[operator]
    return json.loads("".join(reply.pieces))


def test_honest_model_copies_the_best_row_and_is_silent_on_anything_else():
    from_blocks = user_message(PLAN, QUESTION, CONTEXT)
    assert draft_of(fake.honest(), from_blocks)["claims"] == [{"text": LIMIT, "sources": ["pv-sv-05"]}]
    assert draft_of(fake.honest(), user_message(PLAN, "Wann ist die Umsatzsteuer anzumelden?", CONTEXT)) == fake.SILENT


def test_models_that_go_wrong_do_so_as_told():
    user = user_message(PLAN, QUESTION, CONTEXT)
    assert draft_of(fake.citing_another_block(fake.honest()), user)["claims"] == [{"text": LIMIT, "sources": ["pv-sv-07"]}]
    assert draft_of(fake.citing(fake.honest(), "pv-xx-99"), user)["claims"] == [{"text": LIMIT, "sources": ["pv-xx-99"]}]
    assert draft_of(fake.over_refusing(fake.honest(), every=1), user) == fake.SILENT
    written = fake.draft(("Es sind 551,10 €.", ["pv-sv-05"]))
    assert draft_of(fake.by_question({QUESTION: written}, fake.says(fake.SILENT)), user) == written
    assert draft_of(fake.by_question({}, fake.says(fake.SILENT)), user) == fake.SILENT


def test_over_refusing_depends_on_the_question_alone():
    silent = [
        draft_of(fake.over_refusing(fake.honest(least_share=0.0)), user_message(PLAN, f"Frage {n}?", CONTEXT), number=n % 3)
        == fake.SILENT
        for n in range(60)
    ]
    again = [
        draft_of(fake.over_refusing(fake.honest(least_share=0.0)), user_message(PLAN, f"Frage {n}?", CONTEXT)) == fake.SILENT
        for n in range(60)
    ]
    assert silent == again
    assert 20 < sum(silent) < 40
