"""What callers send: strict models, unknown fields are errors."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from custom_postprocessors.evidence import Scope
from pipelines.contracts import Question, Turn
from pipelines.intake import MAX_HISTORY_TURNS, MAX_QUESTION_CHARACTERS, read_question

REQUEST_ID = r"^[A-Za-z0-9-]{1,64}$"
MONTH = r"^\d{4}-(0[1-9]|1[0-2])$"
MAX_RAW_CHARACTERS = 4 * MAX_QUESTION_CHARACTERS
"""Longest text that is looked at at all: blanks and invisible characters around a question do not count."""

RequestId = Annotated[str, Field(pattern=REQUEST_ID, description="The `request_id` of an answer.")]
Month = Annotated[str, Field(pattern=MONTH, examples=["2026-01"])]


class Body(BaseModel):
    """Base of every request body."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class HistoryTurn(Body):
    """One earlier question of the conversation, and the id of its answer."""

    question: Annotated[str, Field(min_length=1, max_length=MAX_RAW_CHARACTERS)]
    request_id: RequestId


class AskBody(Body):
    """A question. Personal data has no place in it; what has the form of such data is replaced before anything is done."""

    question: Annotated[
        str,
        Field(
            min_length=1,
            max_length=MAX_RAW_CHARACTERS,
            description=f"German; 1 to {MAX_QUESTION_CHARACTERS} characters after normalising.",
            examples=["Wie hoch ist die Geringfügigkeitsgrenze 2026?"],
        ),
    ]
    mode: Annotated[Literal["knowledge"], Field(description="Answers from the knowledge base alone.")] = "knowledge"
    as_of: Annotated[Month | None, Field(description="Month that the answer speaks for; default: this month.")] = None
    scopes: Annotated[list[Scope], Field(max_length=4, description="Only these kinds of entries; empty: all.")] = []
    topics: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=80)]], Field(max_length=10, description="Topics to prefer.")
    ] = []
    model: Annotated[
        str | None,
        Field(min_length=1, max_length=100, description="A model on Ollama, or `extractive`; default: the configured one."),
    ] = None
    history: Annotated[list[HistoryTurn], Field(max_length=MAX_HISTORY_TURNS, description="Oldest first.")] = []

    def to_question(self, client_request_id: str | None) -> Question:
        """The question after normalising.

        Raises:
            BadInput: nothing is left of it, or it is too long.
        """
        return read_question(
            self.question,
            as_of=self.as_of,
            scopes=self.scopes,
            topics=self.topics,
            model=self.model,
            history=[Turn(question=turn.question, request_id=turn.request_id) for turn in self.history],
            client_request_id=client_request_id,
        )


class RatingBody(Body):
    """A thumb for an answer, once."""

    request_id: RequestId
    up: bool
    text: Annotated[str | None, Field(max_length=2000)] = None


class CommentBody(Body):
    """A comment on an answer; any number."""

    request_id: RequestId
    text: Annotated[str, Field(min_length=1, max_length=2000)]


class GapBody(Body):
    """Reports that the knowledge base should answer a question and does not."""

    request_id: RequestId
    note: Annotated[str, Field(max_length=2000)] = ""


class ReindexBody(Body):
    """How the folder of the knowledge base is taken over."""

    full: Annotated[bool, Field(description="Build the whole index anew, also when nothing changed.")] = False
    allow_removals: Annotated[bool, Field(description="Also when more than a fifth of the documents is gone.")] = False
    reason: Annotated[str, Field(max_length=200)] = ""


class ActivateBody(Body):
    """Why a version becomes the active one."""

    note: Annotated[str, Field(max_length=500)] = ""


class SearchQuery(BaseModel):
    """The parameters of a search."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    query: Annotated[str, Field(min_length=1, max_length=MAX_RAW_CHARACTERS)]
    k: Annotated[int, Field(ge=1, le=200, description="How many sections.")] = 8
    as_of: Month | None = None
    scopes: Annotated[list[Scope], Field(max_length=4)] = []
