"""What callers send: strict models, unknown fields are errors."""

from datetime import date
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.store.tags import TagKind
from custom_postprocessors.evidence import Scope
from pipelines.contracts import Mode, Question, Turn
from pipelines.entry_schema import MAX_FILE_BYTES
from pipelines.errors import BadInput
from pipelines.intake import MAX_HISTORY_TURNS, MAX_QUESTION_CHARACTERS, read_question
from pipelines.review_context import KEY, MOST_CHARACTERS, MOST_COMPONENTS, MOST_FACTS, ReviewContext, require_impersonal

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


class ContextFact(Body):
    """One transmitted value."""

    key: Annotated[str, Field(pattern=KEY, examples=["geringfuegigkeitsgrenze_monatlich"])]
    value: Annotated[str, Field(max_length=MOST_CHARACTERS, examples=["551,10 €"])]
    note: Annotated[str, Field(max_length=MOST_CHARACTERS)] = ""


class ContextComponent(Body):
    """One line of a calculation; numbers are text."""

    key: Annotated[str, Field(pattern=KEY)]
    base: Annotated[str | None, Field(max_length=MOST_CHARACTERS)] = None
    rate: Annotated[str | None, Field(max_length=MOST_CHARACTERS)] = None
    amount: Annotated[str | None, Field(max_length=MOST_CHARACTERS)] = None


class ContextComputation(Body):
    """The caller's calculation."""

    result: Annotated[str, Field(max_length=MOST_CHARACTERS)]
    basis: Annotated[str, Field(max_length=MOST_CHARACTERS)] = ""
    components: Annotated[list[ContextComponent], Field(max_length=MOST_COMPONENTS)] = []


class ContextBody(Body):
    """What a planned payment is checked by. No employee data: keys and values that name a person are refused."""

    facts: Annotated[list[ContextFact], Field(max_length=MOST_FACTS)] = []
    computation: ContextComputation | None = None

    def to_context(self, today: date) -> ReviewContext:
        """The context as it is checked and kept: one line each, without invisible characters.

        Raises:
            BadInput: it names a person.
        """
        try:
            context = ReviewContext.model_validate(self.model_dump())
        except ValidationError as exc:
            raise BadInput("Der Kontext ist nach dem Bereinigen seiner Zeichen nicht gültig.", hint="Bitte kürzen.") from exc
        require_impersonal(context, today)
        return context


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
    mode: Annotated[
        Mode,
        Field(description="`knowledge`: answers from the knowledge base alone. `review` (where it is switched on): also checks."),
    ] = "knowledge"
    context: Annotated[ContextBody | None, Field(description="Only with `mode` review, and needed there.")] = None
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

    def to_question(self, client_request_id: str | None, *, review_mode: bool, today: date) -> Question:
        """The question after normalising.

        Raises:
            BadInput: nothing is left of it, or it is too long; a context without `mode` review, a review without context,
                or any of them where the review mode is off; employee data in the context.
        """
        if (self.mode == "review" or self.context is not None) and not review_mode:
            raise BadInput("Der Prüfmodus (mode=review, context) ist nicht eingeschaltet.")
        if (self.mode == "review") != (self.context is not None):
            raise BadInput("mode=review und context gehören zusammen.", hint="Beides senden oder keines.")
        return read_question(
            self.question,
            mode=self.mode,
            context=None if self.context is None else self.context.to_context(today),
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
    evaluate: Annotated[
        bool, Field(description="Then compare the new index version with the one before over the goldset, as a job of its own.")
    ] = False
    reason: Annotated[str, Field(max_length=200)] = ""


class DocumentBody(Body):
    """One entry of the knowledge base; its id is in its frontmatter and must be the file's name."""

    file_name: Annotated[str, Field(min_length=1, max_length=200, examples=["pv-sv-05.md"])]
    content: Annotated[str, Field(max_length=MAX_FILE_BYTES, description="The whole file: frontmatter and Markdown.")]
    note: Annotated[str, Field(max_length=500)] = ""
    activate: Annotated[bool, Field(description="Make it the active version and queue the job that builds its index.")] = True


class TagBody(Body):
    """A managed tag or topic, and entries that get it."""

    name: Annotated[str, Field(min_length=1, max_length=100)]
    kind: TagKind = "tag"
    entries: Annotated[list[Annotated[str, Field(max_length=100)]], Field(max_length=1000)] = []
    note: Annotated[str, Field(max_length=500)] = ""


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
