"""The API as one application: routers, errors, the OpenAPI document."""

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Depends, FastAPI, Response
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.types import ASGIApp

from app.access.guards import Guards
from app.access.origins import AllowedHosts
from app.access.pages import PageGate
from app.access.rate import RateLimit
from app.api import answers, asking, governing, operating, reading
from app.api.edge import ALIASES, METRICS_PATH, Edge
from app.api.gate import Gate
from app.api.problems import MEDIA_TYPE, Problem, answer_defects, answer_errors
from app.metrics import Counted, Metrics
from app.settings import Settings

VERSION = "1"
_PROBLEMS: dict[int | str, dict[str, Any]] = {
    400: {"description": "Der Inhalt ist nicht lesbar."},
    401: {"description": "Ein gültiger Schlüssel fehlt."},
    403: {"description": "Host, Herkunft oder Schlüssel ist dafür nicht zugelassen."},
    404: {"description": "Unter dieser Kennung gibt es nichts."},
    409: {"description": "Ein anderer Auftrag steht dem entgegen."},
    410: {"description": "Der Inhalt wurde gelöscht oder nie gespeichert."},
    413: {"description": "Der Inhalt ist zu groß."},
    422: {"description": "Die Anfrage ist nicht gültig."},
    429: {"description": "Zu viele Anfragen; siehe Retry-After."},
    500: {"description": "Interner Fehler."},
    503: {"description": "Derzeit nicht verfügbar; siehe Retry-After."},
}
_DESCRIPTION = (
    "Fragen zur österreichischen Personalverrechnung, beantwortet nur aus der eigenen Wissensbasis, jede Aussage belegt. "
    "Fehler sind Problemdokumente (RFC 9457)."
)


def make_api() -> FastAPI:
    """The application; `app.api.parts.attach` gives its handlers what they work with."""
    api = FastAPI(
        title="pv-agent",
        version=VERSION,
        description=_DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
    )
    answer_errors(api)
    answer_defects(api)
    bearer = HTTPBearer(auto_error=False, description="Dienst- oder Administrationsschlüssel; siehe docs/api.md.")
    for router in (asking.router, reading.router, answers.router, governing.router, operating.router):
        api.include_router(router, responses=_problems(), dependencies=[Depends(bearer)])
    _add_aliases(api, bearer)
    api.add_api_route("/v1/openapi.json", lambda: api.openapi(), methods=["GET"], include_in_schema=False)
    api.openapi = _openapi(api)  # type: ignore[method-assign]
    return api


def guarded(
    api: FastAPI,
    settings: Settings,
    guards: Guards,
    page: ASGIApp,
    page_policy: str,
    metrics: Metrics | None = None,
) -> Edge:
    """The API and the page, each behind its gate, behind one edge: what the port serves.

    `/metrics` is there when there are `metrics`; from the first service key on it needs one as well.

    Args:
        api: from `make_api`, attached.
        settings: limits and names of hosts.
        guards: who may call, and who may use the page.
        page: answers everything that is not the API.
        page_policy: content security policy of the page.
        metrics: where requests are counted; None: nowhere.
    """
    gate: ASGIApp = Gate(api, guards.keys, RateLimit(settings.rate_limit_per_minute))
    if metrics is not None:
        api.add_api_route(METRICS_PATH, lambda: _figures(metrics), methods=["GET"], include_in_schema=False)
        gate = Counted(gate, metrics)
    return Edge(
        gate, PageGate(page, guards.login, guards.visitors), AllowedHosts(settings.host, settings.allowed_hosts), page_policy
    )


def _figures(metrics: Metrics) -> Response:
    return Response(metrics.text(), media_type=CONTENT_TYPE_LATEST)


def _problems() -> dict[int | str, dict[str, Any]]:
    return {status: {**described, "model": Problem} for status, described in _PROBLEMS.items()}


def _add_aliases(api: FastAPI, bearer: HTTPBearer) -> None:
    """The unversioned addresses: the same handlers, marked as deprecated."""
    originals = {route.path: route for route in (*asking.router.routes, *operating.router.routes) if isinstance(route, APIRoute)}
    aliases = APIRouter(tags=["Veraltet"])
    for alias, path in ALIASES.items():
        route = originals[path]
        aliases.add_api_route(
            alias,
            route.endpoint,
            methods=list(route.methods or ()),
            status_code=route.status_code,
            response_model=route.response_model,
            response_model_exclude_none=route.response_model_exclude_none,
            responses=route.responses,
            summary=route.summary,
            deprecated=True,
        )
    api.include_router(aliases, responses=_problems(), dependencies=[Depends(bearer)])


def _openapi(api: FastAPI) -> Callable[[], dict[str, Any]]:
    """Makes the document once; errors have the media type of problem documents."""
    made: dict[str, Any] = {}

    def openapi() -> dict[str, Any]:
        if not made:
            made.update(get_openapi(title=api.title, version=api.version, description=api.description, routes=api.routes))
            for operations in made["paths"].values():
                for operation in operations.values():
                    _type_problems(operation["responses"])
        return made

    return openapi


def _type_problems(responses: dict[str, Any]) -> None:
    for answer in responses.values():
        content = answer.get("content", {})
        schema = content.get("application/json", {}).get("schema", {})
        if schema.get("$ref", "").endswith("/Problem"):
            answer["content"] = {MEDIA_TYPE: content.pop("application/json")}
