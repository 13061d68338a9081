"""What the handlers work with."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated

from fastapi import Depends, FastAPI, Request

from app.access.keys import OPEN, Access, Caller
from app.api.gate import key_required
from app.api.problems import ApiProblem
from app.readiness import Readiness
from app.service import Service
from app.store.audit import AuditLog
from app.store.documents import Catalogue
from app.store.feedback import Feedback
from app.store.jobs import Jobs
from app.store.tags import Tags
from app.ui.model_status import ModelStatus
from pipelines.errors import IndexMissing


@dataclass(frozen=True, slots=True)
class ApiParts:
    """The product behind the API; everything may be called from any thread.

    `start_jobs` starts the process of the next job that waits, if none runs; `kb_dir` is the folder that a reindex reads;
    `today` is the settings' day; `review_mode` says whether planned payments are checked.
    """

    service: Service
    audit: AuditLog
    feedback: Feedback
    catalogue: Catalogue
    tags: Tags
    jobs: Jobs
    start_jobs: Callable[[], None]
    models: ModelStatus
    readiness: Readiness
    kb_dir: Path
    today: Callable[[], date]
    review_mode: bool
    notices: Callable[[], tuple[str, ...]] = tuple

    def ready_service(self) -> Service:
        """The service, once the index is there.

        Raises:
            IndexMissing: it is not yet.
        """
        if self.readiness.view.state != "ready":
            raise IndexMissing("The service is not ready yet.")
        return self.service


def attach(api: FastAPI, parts: ApiParts) -> None:
    """Gives the handlers of an application what they work with."""
    api.state.parts = parts


def _parts(request: Request) -> ApiParts:
    parts: ApiParts = request.app.state.parts
    return parts


def _access(request: Request) -> Access:
    access: Access = getattr(request.state, "access", OPEN)
    return access


AccessOf = Annotated[Access, Depends(_access)]


def _caller(access: AccessOf) -> Caller:
    if access.caller is None:
        raise key_required()
    return access.caller


def _admin(access: AccessOf) -> Caller:
    if access.caller is None or (access.caller.role is None and not access.open):
        raise key_required()
    if not access.may_administer:
        raise ApiProblem(403, "Dafür ist ein Administrationsschlüssel nötig.", code="admin_key_required")
    return access.caller


def _client_request_id(request: Request) -> str | None:
    given: str | None = getattr(request.state, "client_request_id", None)
    return given


Parts = Annotated[ApiParts, Depends(_parts)]
CallerOf = Annotated[Caller, Depends(_caller)]
Admin = Annotated[Caller, Depends(_admin)]
"""The caller, if it may change what is served: 403 for a service key, 401 without a key where there are any."""
ClientRequestId = Annotated[str | None, Depends(_client_request_id)]
