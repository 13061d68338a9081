"""What the tab Fragen does for whom, without a browser."""

import asyncio
import json

import gradio as gr
import pytest

from app.ui.chat_handlers import ChatHandlers
from app.ui.search_tab import SearchHandlers
from app.ui.turns import Conversation
from tests.app.ui.fake_service import FakeService
from tests.app.ui.protocol.test_handlers import request_of

FORBIDDEN = "Dafür fehlt Ihnen die Berechtigung."


async def asked(service: FakeService, request: gr.Request, model: str = "") -> list[str]:
    events = ChatHandlers(service).ask("Wie hoch ist die Grenze?", "", [], model, Conversation(), request)
    return [str(text) async for text, _ in events]


def test_who_has_no_role_is_not_answered() -> None:
    service = FakeService()
    assert FORBIDDEN in asyncio.run(asked(service, request_of()))[-1]
    assert service.asked == []


@pytest.mark.parametrize(
    "command",
    [
        {"do": "open", "entry": "pv-sv-05"},
        {"do": "rate", "request": "r-1", "thumb": "up"},
        {"do": "comment", "request": "r-1", "text": "x"},
        {"do": "gap", "request": "r-1"},
        {"do": "evidence", "request": "r-1"},
    ],
)
def test_who_has_no_role_opens_and_says_nothing(command: dict[str, str]) -> None:
    service = FakeService()
    told = ChatHandlers(service).command(json.dumps(command), request_of())
    assert FORBIDDEN in told
    assert "551,10" not in told
    assert (service.ratings, service.comments, service.gaps) == ([], [], [])


def test_who_has_no_role_searches_nothing_and_is_offered_no_models() -> None:
    service = FakeService()
    assert FORBIDDEN in SearchHandlers(service).search("Grenze", "", [], request_of())
    assert "qwen" not in str(asyncio.run(ChatHandlers(service).models(request_of())).choices)  # type: ignore[attr-defined]


def test_ratings_comments_and_gaps_carry_the_persons_name() -> None:
    service = FakeService()
    handlers = ChatHandlers(service)
    for command in (
        {"do": "rate", "request": "r-1", "thumb": "down"},
        {"do": "comment", "request": "r-1", "text": "x"},
        {"do": "gap", "request": "r-1"},
    ):
        handlers.command(json.dumps(command), request_of("analyst"))
    assert service.authors == ["anna", "anna", "anna"]


def test_the_installed_models_are_offered_after_the_two_that_are_always_there() -> None:
    offered = asyncio.run(ChatHandlers(FakeService()).models(request_of("analyst")))
    assert offered.choices == [  # type: ignore[attr-defined]
        ("Automatisch", ""),
        ("Zitatmodus", "extractive"),
        ("qwen3.8:27b", "qwen3.8:27b"),
        ("gemma4:12b", "gemma4:12b"),
    ]


def test_models_that_are_not_known_yet_are_waited_for() -> None:
    told = iter([None, ("a:1b",)])

    class Slow(FakeService):
        def models(self) -> tuple[str, ...] | None:
            return next(told)

    offered = asyncio.run(ChatHandlers(Slow()).models(request_of("analyst")))
    assert offered.choices[2:] == [("a:1b", "a:1b")]  # type: ignore[attr-defined]


def test_the_chosen_model_is_asked() -> None:
    service = FakeService()
    asyncio.run(asked(service, request_of("analyst"), "gemma4:12b"))
    assert service.asked[-1].model == "gemma4:12b"
