import json
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from custom_postprocessors.evidence import DraftClaim, Rejected, Violation
from pipelines.contracts import ClaimGenerator, DraftEnd, ModelInfo
from pipelines.errors import GenerationCancelled, ModelFailed, ModelUnavailable
from pipelines.generation import OllamaGenerator
from pipelines.ollama_client import ChatOptions, OllamaGateway
from pipelines.prompts import load_prompt
from tests import fake_models as fake
from tests.fake_ollama import FakeOllama
from tests.fake_wire import Behaviour, FakeModel, Reply
from tests.model_context import CONTEXT, LIMIT, LIMITS, PLAN, QUESTION, passage

NAME = "qwen3.8:27b"
OPTIONS = ChatOptions(num_ctx=8192, num_predict=256)
CLAIM = DraftClaim(LIMIT, ("pv-sv-05",))
TWO = fake.says(fake.draft((LIMIT, ["pv-sv-05"]), ("Die Dienstgeberabgabe beträgt 19,4 %.", ["pv-sv-07"])))
SECOND = DraftClaim("Die Dienstgeberabgabe beträgt 19,4 %.", ("pv-sv-07",))


@pytest.fixture
def server() -> Iterator[FakeOllama]:
    with FakeOllama() as started:
        yield started


@pytest.fixture
def generator(server: FakeOllama) -> Iterator[OllamaGenerator]:
    with OllamaGateway(server.url, timeout_seconds=5.0) as gateway:
        yield OllamaGenerator(gateway, NAME, options=OPTIONS, prompt=load_prompt(), digest="d" * 64)


def answering(server: FakeOllama, behaviour: Behaviour) -> None:
    server.models = [FakeModel(NAME, behaviour)]


def drafted(generator: ClaimGenerator) -> tuple[list[DraftClaim], DraftEnd]:
    *claims, end = generator.draft(PLAN, QUESTION, CONTEXT)
    assert isinstance(end, DraftEnd)
    return [claim for claim in claims if isinstance(claim, DraftClaim)], replace(
        end, prompt_tokens=None, output_tokens=None, tokens_per_second=None
    )


def test_honest_model_gives_cited_claims_and_one_end(server, generator):
    answering(server, fake.honest())
    assert drafted(generator) == ([CLAIM], DraftEnd())
    assert len(server.chats) == 1


def test_info_says_what_answers_exactly(generator):
    assert generator.info() == ModelInfo(
        name=NAME,
        digest="d" * 64,
        prompt_version=load_prompt().version,
        options={"temperature": 0.1, "num_ctx": 8192, "num_predict": 256, "seed": 20260101, "think": False},
    )


def test_counts_of_the_server_are_told(server, generator):
    answering(server, fake.honest())
    *_, end = generator.draft(PLAN, QUESTION, CONTEXT)
    assert (end.prompt_tokens, end.output_tokens) == (server.chats[0].tokens, 26)
    assert end.tokens_per_second == pytest.approx(50.0, rel=1e-3)


def test_schema_of_the_request_allows_only_the_ids_given(server, generator):
    answering(server, fake.honest())
    drafted(generator)
    items = server.chats[0].body["format"]["properties"]["claims"]["items"]
    assert items["properties"]["sources"]["items"]["enum"] == ["pv-sv-05", "pv-sv-07"]


def test_system_prompt_is_the_same_for_every_question(server, generator):
    answering(server, fake.honest())
    drafted(generator)
    list(generator.draft(replace_question("Wie hoch ist der BV-Beitrag?"), "Wie hoch ist der BV-Beitrag?", CONTEXT))
    assert {chat.system for chat in server.chats} == {load_prompt().text}


def replace_question(question: str):
    return PLAN.model_copy(update={"queries": (question,)})


def test_claims_are_visible_while_the_model_still_writes(server, generator):
    answering(server, fake.slow(TWO, piece_seconds=0.02))
    draft = generator.draft(PLAN, QUESTION, CONTEXT)
    assert next(draft) == CLAIM
    first = time.monotonic()
    assert next(draft) == SECOND
    assert time.monotonic() - first > 0.1
    assert isinstance(next(draft), DraftEnd)


def test_lies_are_handed_on_as_written_for_the_verifier(server, generator):
    answering(server, fake.citing(fake.altering(fake.honest(), "551,10", "511,10"), "pv-xx-99"))
    assert drafted(generator) == ([DraftClaim(LIMIT.replace("551", "511"), ("pv-xx-99",))], DraftEnd())


def test_silent_model_is_silent(server, generator):
    answering(server, fake.says(fake.SILENT))
    assert drafted(generator) == ([], DraftEnd(silent=True))


def test_remarks_beside_the_claims_are_in_the_end(server, generator):
    answering(server, fake.says(fake.draft((LIMIT, ["pv-sv-05"]), unanswered=("das Jahr 2027",), follow_up="Welcher KV gilt?")))
    assert drafted(generator) == ([CLAIM], DraftEnd(follow_up="Welcher KV gilt?", unanswered=("das Jahr 2027",)))


@pytest.mark.parametrize(
    "behaviour",
    [fake.fenced(TWO), fake.fenced(TWO, before="Gerne:\n"), fake.stray_think(TWO), fake.stray_think(TWO, opened=True)],
)
def test_wrapped_json_is_read_with_one_call(server, generator, behaviour):
    answering(server, behaviour)
    assert drafted(generator) == ([CLAIM, SECOND], DraftEnd())
    assert len(server.chats) == 1


def test_model_that_ignores_the_schema_is_read_as_text(server, generator):
    answering(server, fake.free_text(TWO))
    assert drafted(generator) == ([replace(CLAIM, text=LIMIT + "."), SECOND], DraftEnd(mode="text"))


def test_length_is_repeated_once_with_twice_the_budget(server, generator):
    answering(server, fake.too_long(TWO, until_budget=512))
    assert drafted(generator) == ([CLAIM, SECOND], DraftEnd())
    assert [chat.options["num_predict"] for chat in server.chats] == [256, 512]
    assert len({chat.options["num_ctx"] for chat in server.chats}) == 1


def test_length_twice_is_a_failure(server, generator):
    answering(server, fake.too_long(TWO, until_budget=99_999))
    with pytest.raises(ModelFailed, match="nicht fertig"):
        drafted(generator)
    assert len(server.chats) == 2


def test_twice_the_budget_never_leaves_the_window(server):
    answering(server, fake.too_long(TWO, until_budget=99_999))
    with OllamaGateway(server.url) as gateway, pytest.raises(ModelFailed, match="nicht fertig"):
        drafted(OllamaGenerator(gateway, NAME, options=ChatOptions(num_ctx=2048, num_predict=500), prompt=load_prompt()))
    first, second = (int(chat.options["num_predict"]) for chat in server.chats)
    assert first == 500
    assert 500 < second < 1000
    assert second + server.chats[1].tokens < 2048


def test_no_room_for_a_larger_budget_is_a_failure_at_once(server):
    answering(server, fake.too_long(TWO, until_budget=99_999))
    with OllamaGateway(server.url) as gateway, pytest.raises(ModelFailed, match="nicht fertig"):
        drafted(OllamaGenerator(gateway, NAME, options=ChatOptions(num_ctx=2048, num_predict=1000), prompt=load_prompt()))
    assert len(server.chats) == 1


@pytest.mark.parametrize("nothing", [fake.empty(), fake.only_thinking(), lambda call: Reply("<think>hm</think>")])
def test_nothing_or_only_thinking_is_repeated_once_without_thinking(server, generator, nothing):
    answering(server, fake.in_turn(nothing, TWO))
    assert drafted(generator) == ([CLAIM, SECOND], DraftEnd())
    first, second = server.chats
    assert (first.body["think"], second.body["think"]) == (False, False)
    assert second.user == first.user + "\n\n/no_think"
    assert second.options["seed"] != first.options["seed"]


def test_nothing_twice_is_a_failure_and_not_silence(server, generator):
    answering(server, fake.only_thinking())
    with pytest.raises(ModelFailed, match="nichts geantwortet"):
        drafted(generator)
    assert len(server.chats) == 2


@pytest.mark.parametrize("broken", [fake.broken_json(TWO), fake.duplicate_keys()])
def test_what_is_no_draft_is_repeated_once(server, generator, broken):
    answering(server, fake.in_turn(broken, TWO))
    assert drafted(generator)[0][-2:] == [CLAIM, SECOND]
    assert len(server.chats) == 2


@pytest.mark.parametrize("broken", [fake.broken_json(TWO), fake.duplicate_keys()])
def test_no_draft_twice_is_a_failure(server, generator, broken):
    answering(server, broken)
    with pytest.raises(ModelFailed, match="verlangte Form"):
        drafted(generator)
    assert len(server.chats) == 2


def test_claim_given_before_a_repetition_is_not_given_twice(server, generator):
    text = json.loads(TWO(None).content)  # type: ignore[arg-type]
    half = json.dumps(text, ensure_ascii=False).partition('}, {"text"')[0] + "}"
    answering(server, fake.in_turn(lambda call: Reply(half), TWO))
    assert drafted(generator) == ([CLAIM, SECOND], DraftEnd())


@pytest.mark.parametrize(
    ("behaviour", "message"),
    [
        (fake.cut_stream(TWO), "brach ab"),
        (fake.with_reply(TWO, without_last_line=True), "brach ab"),
        (fake.fails(500), "meldet einen Fehler"),
        (fake.endless(), "ohne Ende"),
    ],
)
def test_failures_of_the_server_are_failures_not_answers(server, generator, behaviour, message):
    answering(server, behaviour)
    with pytest.raises(ModelFailed, match=message) as caught:
        drafted(generator)
    assert "127.0.0.1" not in str(caught.value)
    assert "10.0.0.7" not in str(caught.value)


def test_cut_prompt_is_a_failure(server, generator):
    answering(server, fake.prompt_cut(TWO))
    with pytest.raises(ModelFailed, match=r"nur \d+ von rund \d+ Token der Belege gelesen"):
        drafted(generator)
    assert [chat.options["num_predict"] for chat in server.chats] == [256, 1]


def test_prompt_cache_that_lowers_the_count_is_no_failure(server, generator):
    answering(server, fake.prompt_cached(TWO))
    assert drafted(generator)[0] == [CLAIM, SECOND]
    assert len(server.chats) == 1
    assert drafted(generator)[0] == [CLAIM, SECOND]
    assert len(server.chats) == 3


def test_missing_count_is_looked_into_too(server, generator):
    answering(server, fake.with_reply(TWO, prompt_tokens=None))
    with pytest.raises(ModelFailed, match="nur 0 von"):
        drafted(generator)


def test_server_that_refuses_a_prompt_that_does_not_fit(server, generator):
    answering(server, TWO)
    drafted(generator)
    small = ChatOptions(num_ctx=server.chats[0].tokens - 10, num_predict=256)
    with OllamaGateway(server.url) as gateway, pytest.raises(ModelFailed, match="Kontextfenster"):
        drafted(OllamaGenerator(gateway, NAME, options=small, prompt=load_prompt()))
    assert len(server.chats) == 2


def test_prompt_that_cannot_fit_is_not_sent(server, generator):
    answering(server, TWO)
    long = passage("pv-sv-05", "Die Geringfügigkeitsgrenze beträgt 551,10 €. " * 1200)
    with pytest.raises(ModelFailed, match="zu lang für das Kontextfenster"):
        list(generator.draft(PLAN, QUESTION, replace(CONTEXT, passages=(long,))))
    assert server.chats == []


def test_second_draft_is_told_the_violations(server, generator):
    answering(server, fake.first_then(fake.altering(fake.honest(), "551,10", "511,10"), fake.honest()))
    (lie, _) = generator.draft(PLAN, QUESTION, CONTEXT)
    rejected = Rejected(lie, (Violation(kind="value_not_in_source", message="511,10 € steht in keinem genannten Block."),))
    claims = list(generator.draft(PLAN, QUESTION, CONTEXT, feedback=(rejected,)))
    assert claims[0] == CLAIM
    assert "511,10 € steht in keinem genannten Block." in server.chats[1].user
    assert server.chats[1].user.startswith(server.chats[0].user.partition("⟦FRAGE")[0])


@pytest.mark.parametrize(
    ("models", "message"), [([], "nicht installiert"), ([FakeModel(NAME, TWO, remote_host="https://x")], "Cloud")]
)
def test_missing_or_cloud_model_is_unavailable_and_nothing_is_sent(server, generator, models, message):
    server.models = models
    with pytest.raises(ModelUnavailable, match=message):
        drafted(generator)
    assert server.chats == []


def test_server_that_is_down_is_unavailable(server, generator):
    server.down()
    with pytest.raises(ModelUnavailable, match="nicht erreichbar"):
        drafted(generator)


def test_cancelling_while_the_prompt_is_read_closes_the_connection(server, generator):
    answering(server, fake.slow(TWO, first_seconds=30))
    begun = time.monotonic()
    with pytest.raises(GenerationCancelled):
        list(generator.draft(PLAN, QUESTION, CONTEXT, cancelled=lambda: bool(server.chats)))
    assert time.monotonic() - begun < 1.0
    while server.of("/api/chat")[-1].hung_up_at is None:
        assert time.monotonic() - begun < 2.0
        time.sleep(0.01)


def test_closing_the_draft_between_claims_closes_the_connection(server, generator):
    answering(server, fake.slow(TWO, piece_seconds=0.02))
    draft = generator.draft(PLAN, QUESTION, CONTEXT)
    next(draft)
    draft.close()
    begun = time.monotonic()
    while server.of("/api/chat")[-1].hung_up_at is None:
        assert time.monotonic() - begun < 1.0
        time.sleep(0.01)


def test_no_context_calls_no_model(server, generator):
    answering(server, TWO)
    with pytest.raises(ValueError, match="none"):
        list(generator.draft(PLAN, QUESTION, replace(CONTEXT, passages=())))
    assert server.chats == []


def test_block_of_a_long_section_is_cited_by_its_own_id(server, generator):
    answering(server, fake.honest())
    claims = list(
        generator.draft(PLAN, QUESTION, replace(CONTEXT, passages=(replace(LIMITS, block_id="pv-sv-05#kernwerte-fristen"),)))
    )
    assert claims[0] == DraftClaim(LIMIT, ("pv-sv-05#kernwerte-fristen",))
