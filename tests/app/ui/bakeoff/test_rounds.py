"""What the tab sends before and after a vote, event by event, without a browser."""

import asyncio
import json
from collections.abc import Iterator

import gradio as gr
import pytest
from starlette.requests import Request

from app.access.person import LOCAL_PERSON, NOBODY, Person
from app.bakeoff import Candidate
from app.bakeoff_desk import BakeoffDesk, Round
from app.ui.bakeoff import round_handlers
from app.ui.bakeoff.list_handlers import ListHandlers
from app.ui.bakeoff.round_handlers import RoundHandlers
from app.ui.bakeoff.rounds import BakeoffPage, Comparison
from evaluation.ballots import Ballot
from evaluation.metering import Usage
from pipelines.answering import Prepared
from pipelines.contracts import Cancelled, ClaimEvent, Event, FinalEvent, Plan, PlanEvent, Question
from pipelines.errors import BadInput, ModelFailed
from tests.evaluation.test_answer_metrics import GIVEN, cited, outcome

NAMES = ("alpha:1b", "beta:1b", "gamma:1b", "delta:1b")
QUESTION = "Wie hoch ist die Grenze?"
ANALYST = Person("anna", frozenset({"analyst"}))


class FakeDesk(BakeoffDesk):
    """Answers with the model's number of claims; `failing` models raise, `unavailable` ones say so with their name."""

    def __init__(self, *, failing: tuple[str, ...] = (), unavailable: tuple[str, ...] = ()) -> None:
        self.failing, self.unavailable = failing, unavailable
        self.asked: list[str] = []
        self.given: list[tuple[str, tuple[Ballot, ...], bool, str]] = []

    def candidates(self) -> tuple[Candidate, ...]:
        return tuple(Candidate(name) for name in NAMES)

    def begin(self, question: str, models: tuple[str, ...]) -> Round:  # type: ignore[override]
        if len(set(models)) < 2:
            raise BadInput("Gewählt ist zu wenig.")
        prepared = Prepared(
            Question(text=question),
            Plan(type="value", queries=(question,), as_of="2026-01"),
            (),
            None,
            1.0,
            1.0,  # type: ignore[arg-type]
        )
        return Round(prepared, "v1", self._events)

    def vote(self, comparison_id: str, ballots: tuple[Ballot, ...], *, blind: bool, round_: Round, author: str) -> None:
        self.given.append((comparison_id, ballots, blind, author))

    def _events(self, model: str, usage: Usage, cancelled: Cancelled) -> Iterator[Event]:
        self.asked.append(model)
        yield PlanEvent(Plan(type="value", queries=("q",), as_of="2026-01"))
        if model in self.failing:
            raise ModelFailed(f"Das Modell {model!r} brach ab.")
        if model in self.unavailable:
            yield FinalEvent(outcome(status="unavailable", answer=f"Das Modell {model!r} ist nicht da."))
            return
        claims = [cited(f"Satz {n} der Antwort: 551,10 €.") for n in range(NAMES.index(model) + 1)]
        for n, claim in enumerate(claims):
            yield ClaimEvent(n, claim)
        yield FinalEvent(outcome(*claims, total=1234.0))


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(round_handlers, "RELEASE_SECONDS", 0.0)


def request_of(person: Person) -> gr.Request:
    return gr.Request(request=Request({"type": "http", "headers": [], "state": {"person": person}}))


def form(*models: str, blind: bool = True, question: str = QUESTION) -> str:
    boxes = {f"model-{n}": model for n, model in enumerate(models)}
    return json.dumps({"do": "ask", "question": question, **boxes, **({"blind": "on"} if blind else {})})


def ask(desk: FakeDesk, page: BakeoffPage, raw: str, person: Person = LOCAL_PERSON) -> list[tuple[object, object, object]]:
    async def collected() -> list[tuple[object, object, object]]:
        return [sent async for sent in RoundHandlers(desk).ask(raw, page, request_of(person))]

    return asyncio.run(collected())


def texts(sent: list[tuple[object, object, object]]) -> str:
    return "\n".join(part for event in sent for part in event if isinstance(part, str))


def command(desk: FakeDesk, page: BakeoffPage, person: Person = LOCAL_PERSON, **fields: str) -> str:
    return RoundHandlers(desk).command(json.dumps(fields), page, request_of(person))


VOTE = {"do": "vote", "correctness": "A", "citations": "tie", "completeness": "none"}


def test_nothing_sent_before_the_vote_names_a_model_or_a_time():
    desk, page = FakeDesk(failing=(NAMES[0],), unavailable=(NAMES[1],)), BakeoffPage()
    sent = ask(desk, page, form(*NAMES))
    assert sorted(desk.asked) == sorted(NAMES)
    said = texts(sent) + command(desk, page, do="open") + command(desk, page, **(VOTE | {"citations": ""}))
    assert "551,10" in said
    for secret in (*NAMES, *(name.split(":")[0] for name in NAMES), "1,23 s", "Token/s", "Zeit:"):
        assert secret not in said, secret
    assert said.count("Dieses Modell hat keine Antwort geliefert.") >= 2
    revealed = command(desk, page, **VOTE)
    assert all(name in revealed for name in NAMES)
    assert "1,23 s" in revealed


def test_blind_round_also_takes_the_names_from_everything_else_on_the_page():
    page = BakeoffPage()
    first = ask(FakeDesk(), page, form(*NAMES[:2]))[0]
    assert all(isinstance(part, str) and "alpha" not in part for part in first)
    for place in ("start-run", "runs", "compare", "report"):
        assert f'"slot": "pv-bakeoff-{place}", "html": ""' in str(first[2])
    for do in ("runs", "poll"):
        listed = ListHandlers(FakeDesk()).command(json.dumps({"do": do}), page, request_of(LOCAL_PERSON))
        assert "erscheinen nach der Abstimmung" in listed
        assert "alpha" not in listed


def test_blind_claims_appear_at_one_pace_when_every_answer_is_there():
    page = BakeoffPage()
    sent = [event[0] for event in ask(FakeDesk(), page, form(NAMES[0], NAMES[2]))]
    counts = [str(one).count('class=\\"pv-claim\\"') for one in sent]
    assert counts == [0, 2, 3, 4, 4], "one of each at a time, and the last message has the end"


def test_places_and_the_order_of_asking_are_drawn_independently():
    places, asked = set(), set()
    for _ in range(60):
        desk, page = FakeDesk(), BakeoffPage()
        ask(desk, page, form(*NAMES[:2]))
        assert page.comparison is not None
        first = page.comparison.columns[0].model
        places.add(first)
        asked.add(desk.asked[0] == first)
    assert (places, asked) == (set(NAMES[:2]), {True, False})


def test_vote_is_kept_with_the_models_behind_the_labels():
    desk, page = FakeDesk(), BakeoffPage()
    ask(desk, page, form(*NAMES[:3]))
    assert page.comparison is not None
    best = page.comparison.columns[0].model
    command(desk, page, **VOTE)
    comparison_id, ballots, blind, author = desk.given[0]
    assert (comparison_id, blind, author) == (page.comparison.id, True, "lokal")
    assert [(one.models, one.criterion, one.outcome, one.best) for one in ballots] == [
        (tuple(sorted(NAMES[:3])), "correctness", "best", best),
        (tuple(sorted(NAMES[:3])), "citations", "tie", None),
        (tuple(sorted(NAMES[:3])), "completeness", "none", None),
    ]
    command(desk, page, **VOTE)
    assert len(desk.given) == 1, "a second vote is none"


@pytest.mark.parametrize("choice", ["", "C", "alpha:1b", "best"])
def test_incomplete_or_invented_choice_keeps_nothing_and_reveals_nothing(choice):
    desk, page = FakeDesk(), BakeoffPage()
    ask(desk, page, form(*NAMES[:2]))
    said = command(desk, page, **(VOTE | {"citations": choice}))
    assert "Bitte in jedem Kriterium eine Wahl treffen." in said
    assert desk.given == []
    assert page.secret


def test_who_has_seen_the_names_has_no_blind_vote():
    desk, page = FakeDesk(), BakeoffPage()
    ask(desk, page, form(*NAMES[:2]))
    assert NAMES[0] in command(desk, page, do="reveal")
    command(desk, page, **VOTE)
    assert desk.given == []


def test_names_cannot_be_revealed_while_answers_are_written():
    page = BakeoffPage()
    round_ = FakeDesk().begin(QUESTION, NAMES[:2])
    page.comparison = Comparison.of(QUESTION, round_, NAMES[:2], blind=True)
    assert NAMES[0] not in command(FakeDesk(), page, do="reveal")
    assert page.secret


def test_open_round_streams_each_claim_as_it_comes_under_the_models_name():
    desk, page = FakeDesk(failing=(NAMES[1],)), BakeoffPage()
    sent = ask(desk, page, form(NAMES[1], NAMES[2], blind=False))
    assert desk.asked == [NAMES[1], NAMES[2]], "in the order of the boxes"
    last = str(sent[-1][0])
    assert "beta:1b" in last
    assert "Dieses Modell ist gescheitert" in last
    assert last.count('class=\\"pv-claim\\"') == 3
    assert "1,23 s" in last
    command(desk, page, **VOTE)
    assert desk.given[0][2] is False


def test_stopped_round_keeps_what_was_checked_and_forgets_the_rest():
    desk, page = FakeDesk(), BakeoffPage()
    page.comparison = Comparison.of(QUESTION, desk.begin(QUESTION, NAMES[:2]), NAMES[:2], blind=False)
    page.comparison.columns[0].take(ClaimEvent(0, cited("Satz 551,10 €.")))
    said = command(desk, page, do="stop")
    assert said.count('class=\\"pv-claim\\"') == 1
    assert page.comparison.ended
    assert all(column.cancelled.is_set() for column in page.comparison.columns)


@pytest.mark.parametrize("person", [NOBODY, ANALYST])
def test_others_than_evaluators_get_nothing(person):
    desk, page = FakeDesk(), BakeoffPage()
    assert desk.asked == []
    sent = ask(desk, page, form(*NAMES[:2]), person)
    assert desk.asked == []
    assert page.comparison is None
    page.comparison = Comparison.of(QUESTION, desk.begin(QUESTION, NAMES[:2]), NAMES[:2], blind=True)
    page.comparison.stop()
    said = texts(sent) + command(desk, page, person, **VOTE)
    said += ListHandlers(desk).command(json.dumps({"do": "start"}), page, request_of(person))
    assert desk.given == []
    assert page.secret
    assert "Grenze?" not in texts(sent) or "alpha" in texts(sent)


@pytest.mark.parametrize("raw", ["", "{}", "[]", '{"do": "ask"}', '{"do": "drop"}', '{"do": "ask", "question": "q", "x": 1}'])
def test_unknown_commands_are_refused_without_effect(raw):
    desk, page = FakeDesk(), BakeoffPage()
    said = texts(ask(desk, page, raw)) + RoundHandlers(desk).command(raw, page, request_of(LOCAL_PERSON))
    assert "unknown command" in said
    assert desk.asked == []


def test_question_and_model_names_are_escaped():
    desk, page = FakeDesk(), BakeoffPage()
    said = texts(ask(desk, page, form(*NAMES[:2], question="<img src=x onerror=alert(1)>")))
    assert "<img" not in said
    assert "&lt;img" in said


def test_fixtures_of_this_module_are_sound():
    assert {citation.entry_id for citation in cited("x").citations} == GIVEN
