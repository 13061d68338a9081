"""What editors change: documents, their versions, tags. All of it needs an admin key."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from app.api.bodies import MAX_RAW_CHARACTERS, ActivateBody, DocumentBody, TagBody
from app.api.operating import HIGHEST_NUMBER, EntryId, started
from app.api.parts import Admin, Parts
from app.api.problems import ApiProblem, FieldProblem
from app.api.views import DocumentList, DocumentView, FaultView, JobView, TagList, UploadView, VersionList, VersionView
from app.document_upload import RejectedDocument, upload
from app.store.documents import Change
from app.store.tags import Tag
from pipelines.errors import BadInput, NotFound
from pipelines.intake import read_question

router = APIRouter(tags=["Wissensbasis verwalten"])


@router.get("/v1/documents", summary="Dokumente und ihre aktive Fassung")
def documents(parts: Parts) -> DocumentList:
    """Every document of the catalogue, by id."""
    return DocumentList(
        documents=tuple(
            DocumentView(entry_id=d.entry_id, active_version=d.active_version, content_hash=d.content_hash, versions=d.versions)
            for d in parts.catalogue.documents()
        )
    )


@router.post("/v1/documents", status_code=201, summary="Einen Eintrag als neue Fassung übernehmen")
def add_document(body: DocumentBody, parts: Parts, caller: Admin) -> UploadView:
    """Stores a file as a new version, checked by the code that takes folders over; 422 names each fault and its line."""
    try:
        data = body.content.encode("utf-8")
    except UnicodeEncodeError as exc:
        raise BadInput("Der Inhalt ist kein gültiger Unicode-Text.") from exc
    try:
        done = upload(parts.catalogue, body.file_name, data, Change(caller.name, body.note), activate=body.activate)
    except RejectedDocument as exc:
        errors = tuple(
            FieldProblem(field=f"content.{fault.line}", message=f"{fault.fault}: {fault.message}")
            for fault in exc.faults
            if fault.severity == "error"
        )
        raise ApiProblem(422, "Die Datei ist kein gültiger Eintrag.", code="rejected", errors=errors) from exc
    job = None
    if done.is_new and body.activate:
        reason = f"{done.entry_id} version {done.version}"
        job = JobView.of(parts.jobs.request("rebuild", requested_by=caller.name, reason=reason), in_full=True)
        parts.start_jobs()
    faults = tuple(FaultView.model_validate(fault, from_attributes=True) for fault in done.faults)
    return UploadView(entry_id=done.entry_id, version=done.version, is_new=done.is_new, faults=faults, job=job)


@router.get("/v1/documents/{entry_id}/versions", summary="Fassungen eines Dokuments, neueste zuerst")
def versions(entry_id: EntryId, parts: Parts) -> VersionList:
    """Every version with its author, time and note."""
    found = parts.catalogue.versions(entry_id)
    return VersionList(versions=tuple(VersionView.model_validate(version, from_attributes=True) for version in found))


@router.post("/v1/documents/{entry_id}/versions/{number}/activate", status_code=202, summary="Eine Fassung zur aktiven machen")
def activate(
    entry_id: EntryId,
    number: Annotated[int, Path(ge=1, le=HIGHEST_NUMBER)],
    parts: Parts,
    caller: Admin,
    response: Response,
    body: ActivateBody | None = None,
) -> JobView:
    """Makes a version (also an older one) the active one, and queues the job that builds its index."""
    parts.catalogue.activate(entry_id, number, Change(caller.name, (body or ActivateBody()).note))
    reason = f"{entry_id} version {number}"
    return started(parts, parts.jobs.request("rebuild", requested_by=caller.name, reason=reason), response)


@router.get("/v1/tags", summary="Verwaltete Schlagworte und Themen")
def tags(
    parts: Parts,
    query: Annotated[
        str | None, Query(min_length=1, max_length=MAX_RAW_CHARACTERS, description="Only those that this question is about.")
    ] = None,
) -> TagList:
    """Every tag with its entries, or those that a question would be routed by."""
    found = parts.tags.list()
    if query is None:
        return TagList(tags=found)
    meant = parts.ready_service().engine.planner.plan(read_question(query)).tags
    by_name = {tag.name: tag for tag in found}
    return TagList(tags=tuple(by_name[name] for name in meant if name in by_name))


@router.post("/v1/tags", status_code=201, summary="Ein Schlagwort oder Thema anlegen oder Einträgen geben")
def tag(body: TagBody, parts: Parts, caller: Admin) -> Tag:
    """Makes a tag, or gives an existing one to further entries, and queues the job that builds the tag index."""
    change = Change(caller.name, body.note)
    try:
        parts.tags.get(body.name, kind=body.kind)
    except NotFound:
        done = parts.tags.create(body.name, change, kind=body.kind, entries=body.entries)
    else:
        done = parts.tags.assign(body.name, body.entries, change, kind=body.kind)
    parts.jobs.request("tags", requested_by=caller.name, reason=f"{done.kind} {done.name}")
    parts.start_jobs()
    return done
