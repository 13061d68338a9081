"""Answers that were given: the row of the audit log, its Beweisblatt, and what readers say of it."""

from typing import Annotated, Literal

from fastapi import APIRouter, Header, Path, Query, Response
from fastapi.responses import JSONResponse

from app.api.bodies import REQUEST_ID, CommentBody, GapBody, RatingBody
from app.api.parts import CallerOf, Parts
from app.api.problems import ApiProblem
from app.api.views import StoredAnswer
from app.evidence_sheet import sheet_html, sheet_json, sheet_markdown
from app.store.feedback import Comment, Gap, Rating
from pipelines.errors import NotFound

SheetFormat = Literal["json", "markdown", "html"]
PathRequestId = Annotated[str, Path(pattern=REQUEST_ID)]
SHEET_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
router = APIRouter(tags=["Antworten"])


@router.get("/v1/answers/{request_id}", summary="Eine gegebene Antwort mit Bewertung und Kommentaren")
def answer(request_id: PathRequestId, parts: Parts) -> StoredAnswer:
    """The row of the audit log, with the rating and the comments that belong to it."""
    stored = parts.audit.get(request_id).to_json()
    return StoredAnswer.model_validate(
        {**stored, "rating": parts.feedback.rating(request_id), "comments": parts.feedback.comments(request_id)}
    )


@router.get(
    "/v1/answers/{request_id}/evidence",
    summary="Das Beweisblatt einer Antwort",
    response_class=Response,
    responses={
        200: {
            "description": "Beweisblatt als JSON, Markdown oder druckbares HTML.",
            "content": {"application/json": {}, "text/markdown": {}, "text/html": {}},
        }
    },
)
def evidence(
    request_id: PathRequestId,
    parts: Parts,
    format: Annotated[SheetFormat | None, Query(description="Wins over the Accept header.")] = None,
    accept: Annotated[str, Header(include_in_schema=False)] = "",
) -> Response:
    """Everything that proves an answer: quotes, places, hashes, index version, model, place in the audit chain."""
    record = parts.audit.get(request_id)
    try:
        match format or _accepted(accept):
            case "html":
                return Response(sheet_html(record), media_type="text/html", headers={"Content-Security-Policy": SHEET_POLICY})
            case "markdown":
                return Response(sheet_markdown(record), media_type="text/markdown")
            case _:
                return JSONResponse(sheet_json(record))
    except NotFound as exc:
        raise ApiProblem(410, "Der Inhalt dieser Antwort wurde gelöscht oder nie gespeichert.") from exc


@router.post("/v1/ratings", status_code=201, summary="Eine Antwort bewerten")
def rate(body: RatingBody, parts: Parts, caller: CallerOf) -> Rating:
    """A thumb, at most one for an answer."""
    return parts.feedback.rate(body.request_id, up=body.up, text=body.text, author=caller.name)


@router.post("/v1/comments", status_code=201, summary="Eine Antwort kommentieren")
def comment(body: CommentBody, parts: Parts, caller: CallerOf) -> Comment:
    """A dated comment."""
    return parts.feedback.comment(body.request_id, body.text, author=caller.name)


@router.post("/v1/gaps", status_code=201, summary="Eine Lücke der Wissensbasis melden")
def report_gap(body: GapBody, parts: Parts, caller: CallerOf) -> Gap:
    """Puts the question of an answer or refusal on the editors' list; the question is taken from the audit log."""
    outcome = parts.audit.get(body.request_id).outcome
    return parts.feedback.report_gap(body.request_id, outcome.question if outcome else "", body.note, author=caller.name)


def _accepted(accept: str) -> SheetFormat:
    """The first format that an Accept header names; JSON when it names none."""
    for named in accept.lower().split(","):
        match named.partition(";")[0].strip():
            case "text/html":
                return "html"
            case "text/markdown":
                return "markdown"
            case "application/json":
                return "json"
    return "json"
