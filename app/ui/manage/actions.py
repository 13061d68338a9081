"""What editors and administrators change here; each returns the German sentence that says what became of it."""

import base64
import binascii
import re
from typing import assert_never

from app.access.person import Person
from app.document_upload import RejectedDocument, upload
from app.job_work import ingest_arguments
from app.store.documents import Change
from app.store.tags import TagKind, tag_key
from app.ui.manage.commands import (
    Activate,
    Care,
    Changing,
    EndpointActivate,
    EndpointAdd,
    EndpointTry,
    Evaluate,
    Governing,
    Ingest,
    Judge,
    PromptActivate,
    PromptAdd,
    Rebuild,
    Rollback,
    SetGap,
    TagAdopt,
    TagAssign,
    TagCreate,
    TagMerge,
    TagRemove,
    TagsRebuild,
    TagUnassign,
    TakeOut,
    Upload,
)
from app.ui.manage.desk import Desk
from app.verdicts import write_verdict
from custom_postprocessors.conflicts import Verdict, VerdictSide
from custom_postprocessors.evidence import Conflict
from pipelines.entry_schema import MAX_FILE_BYTES
from pipelines.errors import BadInput, NotFound
from pipelines.index import go_back
from pipelines.jobs import Job

_SEPARATORS = re.compile(r"[\s,;]+")


def change(desk: Desk, person: Person, command: Changing) -> str:
    """Does what an editor asked for.

    Raises:
        PvAgentError: it could not be done; nothing was changed.
    """
    match command:
        case Upload() | Activate() | TakeOut():
            return _change_document(desk, person, command)
        case Ingest() | Rebuild() | Evaluate() | TagsRebuild():
            return _asked(_request(desk, person, command))
        case Care(conflict=conflict_id, owner=owner, status=care_status, note=note):
            quantity = _conflict(desk, conflict_id).quantity
            desk.cares.set(conflict_id, quantity, by=person.name, owner=owner, status=care_status, note=note)
            return "Gespeichert."
        case Judge(conflict=conflict_id, verdict=status, note=note):
            conflict = _conflict(desk, conflict_id)
            sides = tuple(VerdictSide(entry=side.entry_id, section=side.section, value=side.value) for side in conflict.sides)
            write_verdict(desk.kb_dir, Verdict(quantity=conflict.quantity, status=status, note=note.strip(), sides=sides))
            return f"Das Urteil ist gespeichert. {_asked(desk.request('rebuild', person, f'Urteil zu {conflict_id}'))}"
        case SetGap(gap=gap, owner=owner, status=status, remark=remark):
            desk.feedback.set_gap(gap, owner=owner, status=status, remark=remark)
            return "Gespeichert."
        case _:
            return _change_tag(desk, person, command)


def govern(desk: Desk, person: Person, command: Governing) -> str:
    """Does what an administrator asked for; a test of an endpoint changes nothing and is not done here.

    Raises:
        PvAgentError: it could not be done; nothing was changed.
    """
    by = Change(person.name)
    match command:
        case Rollback():
            meta = go_back(desk.data_dir)
            desk.folder.look_again()
            return f"Geantwortet wird jetzt aus der Indexfassung {meta.index_version}."
        case PromptAdd(purpose=purpose, guidance=guidance, note=note):
            version = desk.guidance.add(purpose, guidance, Change(person.name, note))
            return f"Fassung {version.number} gilt ab der nächsten Frage."
        case PromptActivate(purpose=purpose, number=number):
            desk.guidance.activate(purpose, number, by)
            return f"Fassung {number} gilt ab der nächsten Frage."
        case EndpointAdd(name=name, url=url, model=model, note=note):
            added = desk.endpoints.add(name, url, Change(person.name, note), model=model)
            return f"{added.label} ist angelegt. Prüfen Sie die Verbindung, bevor Sie ihn aktivieren."
        case EndpointActivate(name=name, number=number):
            desk.endpoints.activate(name, by, number or None)
            return "Der Endpunkt gilt ab der nächsten Frage."
        case EndpointTry():
            return ""
        case _:
            assert_never(command)


def _change_document(desk: Desk, person: Person, command: Upload | Activate | TakeOut) -> str:
    match command:
        case Upload():
            return _upload(desk, person, command)
        case Activate(entry=entry_id, number=number, note=note):
            desk.catalogue.activate(entry_id, number, Change(person.name, note))
            job = desk.request("rebuild", person, f"{entry_id} Fassung {number} aktiviert")
            return f"Fassung {number} von {entry_id} ist aktiv. {_asked(job)}"
        case TakeOut(entry=entry_id, note=note):
            desk.catalogue.remove(entry_id, Change(person.name, note))
            job = desk.request("rebuild", person, f"{entry_id} herausgenommen")
            return f"{entry_id} ist herausgenommen. {_asked(job)}"


def _upload(desk: Desk, person: Person, command: Upload) -> str:
    try:
        data = base64.b64decode(command.data, validate=True)
    except binascii.Error as exc:
        raise BadInput("Die Datei kam nicht vollständig an.", hint="Bitte noch einmal wählen.") from exc
    activate = command.activate == "on"
    try:
        added = upload(desk.catalogue, command.file, data, Change(person.name, command.note), activate=activate)
    except RejectedDocument as exc:
        faults = [fault for fault in exc.faults if fault.severity == "error"]
        listed = " ".join(f"Zeile {fault.line}: {fault.message}" for fault in faults[:5])
        raise BadInput(f"{command.file} wurde nicht übernommen. {listed}") from exc
    except BadInput as exc:
        raise BadInput(
            f"{command.file} wurde nicht übernommen: Der Dateiname ist ein Pfad, oder die Datei ist größer als "
            f"{MAX_FILE_BYTES // 1024 // 1024} MB."
        ) from exc
    remarks = "".join(f" Zeile {fault.line}: {fault.message}" for fault in added.faults[:3])
    if not added.is_new:
        return f"{added.entry_id} ist unverändert; es entstand keine neue Fassung."
    if not activate:
        return f"{added.entry_id} Fassung {added.version} ist gespeichert und noch nicht aktiv.{remarks}"
    job = desk.request("rebuild", person, f"{added.entry_id} Fassung {added.version} hochgeladen")
    return f"{added.entry_id} Fassung {added.version} ist gespeichert und aktiv. {_asked(job)}{remarks}"


def _request(desk: Desk, person: Person, command: Ingest | Rebuild | Evaluate | TagsRebuild) -> Job:
    match command:
        case Ingest():
            arguments = ingest_arguments(
                desk.kb_dir,
                full=command.full == "on",
                decision=command.decision,
                allow_removals=command.removals == "on",
                evaluate=command.evaluate == "on",
            )
            return desk.request("ingest", person, "Verwaltung", arguments)
        case Rebuild():
            return desk.request("rebuild", person, "Verwaltung", {"full": command.full == "on"})
        case Evaluate():
            return desk.request("evaluation", person, "Verwaltung")
        case TagsRebuild():
            return desk.request("tags", person, "Verwaltung")


def _change_tag(
    desk: Desk, person: Person, command: TagCreate | TagAssign | TagUnassign | TagRemove | TagMerge | TagAdopt
) -> str:
    tags, by, kind = desk.tags, Change(person.name), command.kind
    match command:
        case TagCreate(name=name, entries=entries):
            tags.create(name, by, kind=kind, entries=_ids(entries))
            done = f"„{name.strip()}“ ist angelegt."
        case TagAdopt(name=name):
            tags.create(name, by, kind=kind, entries=_suggested(desk, name, kind))
            done = f"„{name}“ wird jetzt verwaltet."
        case TagAssign(name=name, entries=entries):
            tags.assign(name, _ids(entries), by, kind=kind)
            done = f"„{name}“ ist vergeben."
        case TagUnassign(name=name, entry=entry_id):
            tags.unassign(name, [entry_id], by, kind=kind)
            done = f"„{name}“ ist {entry_id} entzogen."
        case TagRemove(name=name):
            tags.remove(name, by, kind=kind)
            done = f"„{name}“ ist gelöscht."
        case TagMerge(name=name, into=into):
            tags.merge(name, into, by, kind=kind)
            done = f"„{name}“ ist mit „{into}“ zusammengeführt."
        case _:
            assert_never(command)
    return f"{done} {_asked(desk.request('tags', person, 'Schlagworte geändert'))}"


def _conflict(desk: Desk, conflict_id: str) -> Conflict:
    conflict = next((one for one in desk.conflicts() if one.id == conflict_id), None)
    if conflict is None:
        raise NotFound(f"The register has no conflict {conflict_id!r}.")
    return conflict


def _suggested(desk: Desk, name: str, kind: TagKind) -> tuple[str, ...]:
    wanted = tag_key(name, kind)
    found = next((one for one in desk.suggestions() if tag_key(one.name, one.kind) == wanted), None)
    if found is None:
        raise NotFound(f"No entry suggests the {kind} {name!r}.")
    return found.entries


def _ids(text: str) -> list[str]:
    return [part for part in _SEPARATORS.split(text) if part]


def _asked(job: Job) -> str:
    return f"Auftrag {job.id} ist angelegt."
