"""Every error as a problem document (RFC 9457): German, with the request id, without internals."""

import logging
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import Field
from starlette.exceptions import HTTPException

from custom_postprocessors.evidence import Frozen
from pipelines.errors import BadInput, Forbidden, IndexBusy, IndexFault, ModelError, NotFound, PvAgentError, QueueFull, StoreError

MEDIA_TYPE = "application/problem+json"
RETRY_SECONDS = 10
_MOST_FIELDS = 20
_MOST_FIELD_CHARACTERS = 100
_log = logging.getLogger(__name__)


class FieldProblem(Frozen):
    """What is wrong with one field; `field` is its path with dots, e.g. `query.k`."""

    field: str
    message: str


class Problem(Frozen):
    """A problem document. `code` is stable and in English; `title` and `detail` are German and for people."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    code: str
    request_id: str = Field(description="Names this answer in the logs; of an `unavailable` outcome, the one in the audit log.")
    errors: tuple[FieldProblem, ...] = ()


_TITLES: Mapping[int, tuple[str, str]] = {
    400: ("bad_request", "Die Anfrage ist nicht lesbar"),
    401: ("key_required", "Schlüssel erforderlich"),
    403: ("forbidden", "Nicht erlaubt"),
    404: ("not_found", "Nicht gefunden"),
    405: ("method_not_allowed", "Methode nicht erlaubt"),
    409: ("conflict", "Nicht möglich"),
    410: ("gone", "Nicht mehr vorhanden"),
    413: ("too_large", "Die Anfrage ist zu groß"),
    415: ("unsupported_media_type", "Falscher Inhaltstyp"),
    422: ("invalid", "Die Anfrage ist nicht gültig"),
    429: ("too_many", "Zu viele Anfragen"),
    500: ("internal", "Interner Fehler"),
    503: ("unavailable", "Derzeit nicht verfügbar"),
}
_DETAILS: Mapping[int, str] = {
    400: "Der Inhalt der Anfrage konnte nicht gelesen werden.",
    404: "Unter dieser Adresse oder Kennung gibt es nichts.",
    405: "Diese Adresse kennt die verwendete HTTP-Methode nicht.",
    413: "Der Inhalt der Anfrage ist größer als erlaubt.",
    415: "Der Inhalt muss als application/json gesendet werden.",
}
_MESSAGES: Mapping[str, str] = {
    "missing": "Das Feld fehlt.",
    "extra_forbidden": "Dieses Feld ist nicht bekannt.",
    "json_invalid": "Der Inhalt ist kein gültiges JSON.",
    "string_too_short": "Der Text ist zu kurz.",
    "string_too_long": "Der Text ist zu lang.",
    "too_long": "Zu viele Einträge.",
    "literal_error": "Dieser Wert ist nicht erlaubt.",
    "string_pattern_mismatch": "Der Text hat nicht die verlangte Form.",
}


class ApiProblem(Exception):
    """An error that a handler or a guard answers with.

    Args:
        status: HTTP status.
        detail: German sentence for people.
        code: stable code; None takes that of the status.
        headers: further headers.
        request_id: of the outcome that failed; None takes that of the request.
        errors: what is wrong with which field.
    """

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        code: str | None = None,
        headers: Mapping[str, str] | None = None,
        request_id: str | None = None,
        errors: tuple[FieldProblem, ...] = (),
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.code = code
        self.headers = dict(headers or {})
        self.request_id = request_id
        self.errors = errors


def problem_of(error: ApiProblem, request_id: str, errors: tuple[FieldProblem, ...] = ()) -> Problem:
    """The document for an error."""
    code, title = _TITLES.get(error.status, ("error", "Fehler"))
    return Problem(
        title=title,
        status=error.status,
        detail=error.detail,
        code=error.code or code,
        request_id=error.request_id or request_id,
        errors=errors or error.errors,
    )


def problem_response(problem: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """The document as an HTTP answer."""
    return Response(problem.model_dump_json(), status_code=problem.status, headers=dict(headers or {}), media_type=MEDIA_TYPE)


def api_problem(error: PvAgentError) -> ApiProblem:
    """What an error of the product is to a caller; its own text goes to the log where it could name internals."""
    match error:
        case NotFound():
            return ApiProblem(404, "Unter dieser Kennung gibt es nichts.")
        case BadInput():
            return ApiProblem(422, f"{error.message} {error.hint}".strip())
        case Forbidden():
            return ApiProblem(403, "Dafür fehlt die Berechtigung.")
        case QueueFull():
            return ApiProblem(
                429, f"{error.message} {error.hint}".strip(), code="queue_full", headers={"Retry-After": str(RETRY_SECONDS)}
            )
        case IndexBusy():
            return ApiProblem(409, "Der Index wird gerade von einem anderen Auftrag geschrieben.")
        case IndexFault():
            detail, code = "Der Index ist noch nicht bereit oder kann nicht gelesen werden.", "not_ready"
        case StoreError():
            detail, code = "Der Speicher des Dienstes kann gerade nicht verwendet werden.", "store_unavailable"
        case ModelError():
            detail, code = "Das Modell antwortet gerade nicht.", "model_unavailable"
        case _:
            return defect()
    return ApiProblem(503, detail, code=code, headers={"Retry-After": str(RETRY_SECONDS)})


def request_id_of(request: Request) -> str:
    """The id that this process gave the request."""
    return str(getattr(request.state, "request_id", ""))


def answer_errors(api: FastAPI) -> None:
    """Makes an application answer every error with a problem document."""

    async def on_problem(request: Request, exc: Exception) -> Response:
        assert isinstance(exc, ApiProblem)
        return problem_response(problem_of(exc, request_id_of(request)), exc.headers)

    async def on_product_error(request: Request, exc: Exception) -> Response:
        assert isinstance(exc, PvAgentError)
        answer = api_problem(exc)
        if answer.status >= 500:
            _log.warning("Request %s: %s: %s", request_id_of(request), type(exc).__name__, exc)
        return await on_problem(request, answer)

    async def on_http_error(request: Request, exc: Exception) -> Response:
        assert isinstance(exc, HTTPException)
        detail = _DETAILS.get(exc.status_code, "Die Anfrage wurde nicht angenommen.")
        return await on_problem(request, ApiProblem(exc.status_code, detail, headers=exc.headers))

    async def on_invalid(request: Request, exc: Exception) -> Response:
        assert isinstance(exc, RequestValidationError)
        errors = tuple(_field_problem(error) for error in exc.errors()[:_MOST_FIELDS])
        problem = ApiProblem(422, "Mindestens ein Feld der Anfrage ist nicht gültig.")
        return problem_response(problem_of(problem, request_id_of(request), errors))

    api.add_exception_handler(ApiProblem, on_problem)
    api.add_exception_handler(PvAgentError, on_product_error)
    api.add_exception_handler(HTTPException, on_http_error)
    api.add_exception_handler(RequestValidationError, on_invalid)


def answer_defects(app: FastAPI) -> None:
    """Makes an application answer a defect with a problem document instead of its own words; it still raises it."""

    async def on_defect(request: Request, exc: Exception) -> Response:
        return problem_response(problem_of(defect(), request_id_of(request)))

    app.add_exception_handler(Exception, on_defect)


def defect() -> ApiProblem:
    """What a caller gets when the program is wrong."""
    return ApiProblem(500, "Der Dienst konnte die Anfrage nicht bearbeiten.")


def _field_problem(error: Mapping[str, Any]) -> FieldProblem:
    place = [str(part) for part in error["loc"]]
    field = ".".join(place[1:] if place[0] == "body" and len(place) > 1 else place)
    # A name that a caller made up may hold half a surrogate pair, which no answer could be encoded with.
    shown = field.encode("utf-8", "replace").decode("utf-8")[:_MOST_FIELD_CHARACTERS]
    return FieldProblem(field=shown, message=_MESSAGES.get(error["type"], "Der Wert ist nicht gültig."))
