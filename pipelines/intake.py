"""From what somebody typed to a `Question`: the one door for chat, API, command line and evaluation."""

from collections.abc import Sequence

from pydantic import ValidationError

from custom_postprocessors.evidence import Scope
from custom_postprocessors.privacy import normalise_question
from pipelines.contracts import Mode, Question, Turn
from pipelines.errors import BadInput
from pipelines.review_context import ReviewContext

MAX_QUESTION_CHARACTERS = 2000
MAX_HISTORY_TURNS = 6


def read_question(
    raw: str,
    *,
    mode: Mode = "knowledge",
    as_of: str | None = None,
    scopes: Sequence[Scope] = (),
    topics: Sequence[str] = (),
    model: str | None = None,
    history: Sequence[Turn] = (),
    client_request_id: str | None = None,
    context: ReviewContext | None = None,
) -> Question:
    """Normalises a question and its history; personal data becomes placeholders, which `notices` tells.

    Only the newest six turns of the history are kept, and of them only the questions.

    Raises:
        BadInput: nothing is left of the question, it is longer than 2,000 characters, or one of the other values is not valid.
    """
    clean = normalise_question(raw)
    if not clean.text:
        raise BadInput("Die Frage ist leer.", hint="Bitte eine Frage mit 1 bis 2.000 Zeichen stellen.")
    if len(clean.text) > MAX_QUESTION_CHARACTERS:
        raise BadInput(
            f"Die Frage hat {len(clean.text)} Zeichen, erlaubt sind {MAX_QUESTION_CHARACTERS}.",
            hint="Bitte kürzer fragen oder in mehrere Fragen teilen.",
        )
    turns = tuple(
        Turn(question=normalise_question(turn.question).text, request_id=turn.request_id)
        for turn in list(history)[-MAX_HISTORY_TURNS:]
    )
    try:
        return Question(
            text=clean.text,
            notices=clean.notices,
            mode=mode,
            as_of=as_of,
            scopes=tuple(dict.fromkeys(scopes)),
            topics=tuple(dict.fromkeys(topics)),
            model=model,
            history=tuple(turn for turn in turns if turn.question),
            client_request_id=client_request_id,
            context=context,
        )
    except ValidationError as exc:
        names = ", ".join(str(error["loc"][0]) for error in exc.errors())
        raise BadInput(f"Diese Angaben zur Frage sind nicht gültig: {names}.", hint="Ein Monat hat die Form JJJJ-MM.") from exc
