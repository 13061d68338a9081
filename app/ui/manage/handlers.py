"""What happens on the tab Verwaltung: every event is checked for its person, and answers with the places it changes."""

import logging
from collections.abc import Mapping
from typing import get_args

import gradio as gr

from app.access.person import Person, require_role
from app.endpoint_test import EndpointTest, run_endpoint_test
from app.ui import messages
from app.ui.html import escape
from app.ui.manage import texts
from app.ui.manage.actions import change, govern
from app.ui.manage.commands import (
    Activate,
    Care,
    Changing,
    Diff,
    EndpointActivate,
    EndpointAdd,
    EndpointTry,
    Evaluate,
    Find,
    Governing,
    Ingest,
    Judge,
    Live,
    Looking,
    OpenDocument,
    OpenJob,
    OpenTag,
    PromptActivate,
    PromptAdd,
    Rebuild,
    Rollback,
    SetGap,
    Show,
    TagAdopt,
    TagAssign,
    TagCreate,
    TagMerge,
    TagRemove,
    TagsRebuild,
    TagUnassign,
    TakeOut,
    Upload,
    View,
    read_manage_command,
)
from app.ui.manage.desk import Desk
from app.ui.manage.documents_view import diff_view, document_view, documents_view
from app.ui.manage.governing_view import endpoints_view, index_view, prompts_view
from app.ui.manage.jobs_view import (
    JOB_PLACE,
    JOBS_PLACE,
    STATUS_PLACE,
    job_frame,
    job_view,
    jobs_table,
    jobs_view,
    status_strip,
)
from app.ui.manage.parts import notice
from app.ui.manage.tags_view import tag_view, tags_view
from app.ui.manage.upkeep_view import conflicts_view, gaps_view
from app.ui.messages import Part
from app.ui.person import person_of
from pipelines.errors import BadInput, Forbidden, IndexBusy, IndexFault, NotFound, PvAgentError, StoreError

NAV_PLACE, NOTICE_PLACE, MAIN_PLACE = "pv-manage-nav", "pv-manage-notice", "pv-manage-main"
_log = logging.getLogger(__name__)


class ManageHandlers:
    """One instance for all pages; every command says itself which view it is about."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def command(self, raw: str, request: gr.Request) -> str:
        """Answers a click or a form of the page; what cannot be done is said at its place."""
        person = person_of(request)
        command: Looking | Changing | Governing | Live | None = None
        try:
            require_role(person, "editor")
            command = read_manage_command(raw)
            if isinstance(command, get_args(Governing)):
                require_role(person, "admin")
            return messages.message(*self._answered(person, command))
        except PvAgentError as exc:
            _log.warning("%s of %r failed: %s", command.do if command else "A command", person.name, exc)
            done = messages.slot(NOTICE_PLACE, notice(failure_text(exc, command.do if command else ""), ok=False))
            return messages.message(done, messages.slot(STATUS_PLACE, self._status(person)))

    def live(self, raw: str, request: gr.Request) -> str:
        """How far the jobs are, for a page that asks again and again."""
        person = person_of(request)
        require_role(person, "editor")
        command = read_manage_command(raw)
        parts = [messages.slot(STATUS_PLACE, status_strip(self._desk)), messages.slot(JOBS_PLACE, jobs_table(self._desk))]
        if isinstance(command, Live) and command.job is not None:
            parts.append(messages.slot(JOB_PLACE, job_view(self._desk, command.job)))
        return messages.message(*parts)

    def _status(self, person: Person) -> str:
        return status_strip(self._desk) if person.has("editor") else ""

    def _answered(self, person: Person, command: Looking | Changing | Governing | Live) -> list[Part]:
        said, tested = "", None
        if isinstance(command, get_args(Changing)):
            said = change(self._desk, person, command)
        elif isinstance(command, EndpointTry):
            tested = self._tested(command)
        elif isinstance(command, get_args(Governing)):
            said = govern(self._desk, person, command)
        if isinstance(command, get_args(Changing) + get_args(Governing)):
            _log.info("%s: %s", person.name, command.do)
        return [
            messages.slot(NOTICE_PLACE, notice(said) if said else ""),
            messages.slot(NAV_PLACE, nav(_view_of(command))),
            messages.slot(STATUS_PLACE, status_strip(self._desk)),
            *self._shown(person, command, tested),
        ]

    def _tested(self, command: EndpointTry) -> tuple[str, EndpointTest]:
        known = [self._desk.default_endpoint, *self._desk.endpoints.list()]
        found = next((one for one in known if (one.name, one.number) == (command.name, command.number)), None)
        if found is None:
            raise NotFound(f"There is no endpoint {command.name!r} version {command.number}.")
        return found.label, run_endpoint_test(found)

    def _shown(
        self, person: Person, command: Looking | Changing | Governing | Live, tested: tuple[str, EndpointTest] | None
    ) -> list[Part]:
        desk = self._desk
        match command:
            case Find():
                return [messages.slot(MAIN_PLACE, documents_view(desk, command))]
            case OpenDocument(entry=entry) | Activate(entry=entry) | TakeOut(entry=entry):
                return [messages.slot(MAIN_PLACE, document_view(desk, entry))]
            case Diff(entry=entry, old=old, new=new):
                return [messages.slot(MAIN_PLACE, diff_view(desk, entry, old, new))]
            case OpenJob(job=job):
                return [messages.slot(JOB_PLACE, job_view(desk, job)), messages.slot(MAIN_PLACE, job_frame(job))]
            case OpenTag(kind=kind, name=name) | TagAssign(kind=kind, name=name) | TagUnassign(kind=kind, name=name):
                return [messages.slot(MAIN_PLACE, tag_view(desk, name, kind))]
            case _:
                return self._view(person, _view_of(command), tested)

    def _view(self, person: Person, view: View, tested: tuple[str, EndpointTest] | None) -> list[Part]:
        desk, governs = self._desk, person.has("admin")
        if view == "jobs":
            return [messages.slot(JOBS_PLACE, jobs_table(desk)), messages.slot(MAIN_PLACE, jobs_view())]
        match view:
            case "documents":
                html = documents_view(desk, Find(do="find"))
            case "tags":
                html = tags_view(desk)
            case "conflicts":
                html = conflicts_view(desk)
            case "gaps":
                html = gaps_view(desk)
            case "index":
                html = index_view(desk, may_govern=governs)
            case "prompts":
                html = prompts_view(desk) if governs else texts.ADMIN_ONLY
            case "endpoints":
                html = endpoints_view(desk, tested) if governs else texts.ADMIN_ONLY
        return [messages.slot(MAIN_PLACE, html)]


def nav(view: View) -> str:
    """The views of the tab, with the one that is open."""
    groups = []
    for title, views in texts.GROUPS:
        items = "".join(
            f'<li><button type="button" class="pv-mg-nav" id="pv-mg-nav-{name}" data-do="tab" data-channel="manage" '
            f'data-command="view" data-view="{name}"{" aria-current=page" if name == view else ""}>{escape(text)}</button></li>'
            for name, text in views
        )
        groups.append(f"<li><span>{escape(title)}</span><ul>{items}</ul></li>")
    return f'<nav aria-label="{texts.TITLE}"><ul>{"".join(groups)}</ul></nav>'


def failure_text(error: PvAgentError, command: str) -> str:
    """What an editor is told: what could not be done and what to do, without internals."""
    match error:
        case Forbidden():
            return texts.FORBIDDEN
        case NotFound():
            return texts.GONE if command not in texts.WITH_ENTRIES else texts.UNKNOWN_ENTRY
        case StoreError():
            return texts.NOT_STORED
        case IndexBusy():
            return texts.BUSY
        case BadInput():
            return texts.BAD_INPUT.get(command, str(error))
        case IndexFault():
            return texts.NO_INDEX
        case _:
            return texts.FAILED


_VIEWS: Mapping[type[Looking | Changing | Governing | Live], View] = {
    Find: "documents",
    OpenDocument: "documents",
    Diff: "documents",
    Upload: "documents",
    Activate: "documents",
    TakeOut: "documents",
    Ingest: "jobs",
    Rebuild: "jobs",
    Evaluate: "jobs",
    OpenJob: "jobs",
    Live: "jobs",
    OpenTag: "tags",
    TagCreate: "tags",
    TagAssign: "tags",
    TagUnassign: "tags",
    TagRemove: "tags",
    TagMerge: "tags",
    TagAdopt: "tags",
    TagsRebuild: "tags",
    Care: "conflicts",
    Judge: "conflicts",
    SetGap: "gaps",
    Rollback: "index",
    PromptAdd: "prompts",
    PromptActivate: "prompts",
    EndpointAdd: "endpoints",
    EndpointActivate: "endpoints",
    EndpointTry: "endpoints",
}


def _view_of(command: Looking | Changing | Governing | Live) -> View:
    return command.view if isinstance(command, Show) else _VIEWS[type(command)]
