"""Health and jobs: the state of the service."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from app.api.bodies import ReindexBody
from app.api.parts import AccessOf, Admin, ApiParts, CallerOf, Parts
from app.api.views import Health, JobList, JobView, ModelView
from app.job_work import ingest_arguments
from app.readiness import ReadinessView
from pipelines.contracts import Channel, IndexInfo
from pipelines.errors import IndexFault
from pipelines.jobs import Job, JobState

MOST_JOBS = 200
HIGHEST_NUMBER = 2**31 - 1
JobId = Annotated[int, Path(ge=1, le=HIGHEST_NUMBER)]
EntryId = Annotated[str, Path(max_length=100)]
router = APIRouter(tags=["Betrieb"])


@router.get(
    "/v1/health",
    summary="Zustand des Dienstes",
    response_model_exclude_none=True,
    responses={503: {"model": Health, "description": "Der Dienst läuft, ist aber noch nicht bereit."}},
)
def health(parts: Parts, access: AccessOf, response: Response) -> Health:
    """`ready`; `degraded`: answers, but a channel or the model is missing; `not_ready` (503): no index yet."""
    found = _health(parts)
    response.status_code = 200 if found.ready else 503
    if access.caller is not None:
        return found
    return Health(status=found.status, ready=found.ready)


@router.post("/v1/reindex", status_code=202, summary="Ordner der Wissensbasis übernehmen und Index bauen")
def reindex(parts: Parts, caller: Admin, response: Response, body: ReindexBody | None = None) -> JobView:
    """Queues the job, or joins the one that waits for the same; it runs in a process of its own."""
    wanted = body or ReindexBody()
    arguments = ingest_arguments(
        parts.kb_dir,
        full=wanted.full,
        decision="report",
        allow_removals=wanted.allow_removals,
        evaluate=wanted.evaluate,
    )
    job = parts.jobs.request("ingest", requested_by=caller.name, reason=wanted.reason, arguments=arguments)
    return started(parts, job, response)


@router.get("/v1/jobs", summary="Aufträge, neueste zuerst")
def jobs(
    parts: Parts,
    caller: CallerOf,
    state: Annotated[JobState | None, Query()] = None,
    limit: Annotated[int, Query(ge=1, le=MOST_JOBS)] = 20,
) -> JobList:
    """The newest jobs."""
    found = parts.jobs.list(limit=limit, state=state)
    return JobList(jobs=tuple(JobView.of(job, in_full=caller.role != "service") for job in found))


@router.get("/v1/jobs/{job_id}", summary="Ein Auftrag")
def job(job_id: JobId, parts: Parts, caller: CallerOf) -> JobView:
    """One job with its progress and, at the end, its result."""
    return JobView.of(parts.jobs.get(job_id), in_full=caller.role != "service")


def started(parts: ApiParts, job: Job, response: Response) -> JobView:
    """The view of a job that was asked for, started if none runs; `Location` names its address."""
    parts.start_jobs()
    response.headers["Location"] = f"/v1/jobs/{job.id}"
    return JobView.of(job, in_full=True)


def _health(parts: ApiParts) -> Health:
    view = parts.readiness.view
    if view.state != "ready":
        return _not_ready(view)
    try:
        engine = parts.service.engine
    except IndexFault:
        return _not_ready(ReadinessView("failed", "Der Index kann nicht gelesen werden."))
    meta = engine.index.meta
    name, reason, unavailable = parts.models.current()
    missing: tuple[Channel, ...] = engine.missing_channels
    return Health(
        status="degraded" if missing or unavailable else "ready",
        ready=True,
        degraded=(*missing, *(("model",) if unavailable else ())),
        index=IndexInfo(version=meta.index_version, embedding_model=meta.embedding_model, entries=meta.entries, nodes=meta.nodes),
        review_mode=parts.review_mode,
        model=ModelView(name=name, reason=unavailable or reason, available=unavailable is None),
        notices=parts.notices(),
    )


def _not_ready(view: ReadinessView) -> Health:
    return Health(status="not_ready", ready=False, reason=view.reason or None, job_id=view.job_id)
