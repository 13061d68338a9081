"""The tab Verwaltung without a browser: who may do what, what is refused, and that nothing foreign becomes HTML."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import gradio as gr
import pytest
from starlette.requests import Request

from app.access.person import NOBODY, Person
from app.folder_state import FolderState
from app.service import EngineHolder, Service
from app.store.conflicts import ConflictCares
from app.store.database import Database
from app.store.documents import Catalogue, Change
from app.store.endpoints import Endpoint, Endpoints
from app.store.feedback import Feedback
from app.store.guidance import Guidance
from app.store.jobs import Jobs
from app.store.tags import Tags
from app.ui.manage import texts
from app.ui.manage.commands import Governing, read_manage_command
from app.ui.manage.desk import Desk
from app.ui.manage.handlers import MAIN_PLACE, NOTICE_PLACE, ManageHandlers
from app.ui.manage.jobs_view import JOB_PLACE, JOBS_PLACE
from pipelines.errors import BadInput, Forbidden, IndexMissing
from pipelines.jobs import JobProgress
from pipelines.process_identity import this_process
from pipelines.prompts import load_prompt
from tests.app.test_ingest import Folder, entry

ANALYST = Person("ada", frozenset({"analyst"}))
EDITOR = Person("anna", frozenset({"editor"}))
ADMIN = Person("otto", frozenset({"admin"}))
HOSTILE = "<img src=x onerror=alert(1)>"


def no_index() -> None:
    raise IndexMissing("Nothing was indexed yet.")


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    Folder(tmp_path / "kb").put("pv-a-01", entry("pv-a-01"))
    database = Database(tmp_path / "data")
    yield Desk(
        service=Service(EngineHolder(lambda: None, no_index), None),  # type: ignore[arg-type]
        catalogue=Catalogue(database),
        jobs=Jobs(database),
        start_jobs=lambda: None,
        tags=Tags(database),
        tags_are_current=lambda: True,
        guidance=Guidance(database),
        prompt_of=lambda purpose: load_prompt(),
        endpoints=Endpoints(database),
        default_endpoint=Endpoint(name="standard", number=0, url="http://127.0.0.1:9"),
        cares=ConflictCares(database),
        feedback=Feedback(database),
        folder=FolderState(tmp_path / "kb", database),
        data_dir=tmp_path / "data",
        kb_dir=tmp_path / "kb",
    )
    database.close()


def asked_by(person: Person) -> gr.Request:
    return gr.Request(Request({"type": "http", "headers": [], "state": {"person": person}}))


def answered(desk: Desk, person: Person, do: str, **fields: object) -> dict[str, str]:
    """What a command fills, by place."""
    sent = ManageHandlers(desk).command(json.dumps({"do": do, **fields}), asked_by(person))
    return {part["slot"]: part["html"] for part in json.loads(sent)["parts"]}


def uploaded(desk: Desk, text: str, **fields: object) -> dict[str, str]:
    data = base64.b64encode(text.encode()).decode()
    return answered(desk, EDITOR, "upload", file="pv-a-01.md", data=data, **fields)


GOVERNING = [
    {"do": "rollback"},
    {"do": "prompt-add", "purpose": "answer", "guidance": "Kurz."},
    {"do": "prompt-activate", "purpose": "answer", "number": 0},
    {"do": "endpoint-add", "name": "gpu", "url": "http://gpu"},
    {"do": "endpoint-activate", "name": "standard", "number": 0},
    {"do": "endpoint-test", "name": "standard", "number": 0},
]


def test_every_governing_command_is_refused_to_editors(desk: Desk) -> None:
    assert {type(read_manage_command(json.dumps(one))) for one in GOVERNING} == set(Governing.__args__)
    for one in GOVERNING:
        shown = answered(desk, EDITOR, **one)  # type: ignore[arg-type]
        assert texts.FORBIDDEN in shown[NOTICE_PLACE]
    assert (desk.guidance.active("answer").number, desk.endpoints.list()) == (0, ())


@pytest.mark.parametrize("person", [ANALYST, NOBODY])
def test_nothing_is_shown_or_done_without_the_role(desk: Desk, person: Person) -> None:
    for one in ({"do": "view", "view": "documents"}, {"do": "rebuild"}, {"do": "tag-create", "kind": "tag", "name": "x"}):
        shown = answered(desk, person, **one)  # type: ignore[arg-type]
        assert texts.FORBIDDEN in shown[NOTICE_PLACE]
        assert MAIN_PLACE not in shown
    with pytest.raises(Forbidden):
        ManageHandlers(desk).live('{"do": "live"}', asked_by(person))
    assert (desk.jobs.list(), desk.tags.list()) == ((), ())


@pytest.mark.parametrize(
    "raw", ["", "{}", "[]", '{"do": "drop"}', '{"do": "view", "view": "x"}', '{"do": "activate", "entry": "x", "number": -1}']
)
def test_an_unknown_command_is_refused(raw: str) -> None:
    with pytest.raises(BadInput):
        read_manage_command(raw)


def test_an_upload_is_a_version_in_the_persons_name_and_asks_for_the_index(desk: Desk) -> None:
    shown = uploaded(desk, entry("pv-a-01"), note="neu", activate="on")
    assert "pv-a-01 Fassung 1 ist gespeichert und aktiv. Auftrag 1 ist angelegt." in shown[NOTICE_PLACE]
    (version,) = desk.catalogue.versions("pv-a-01")
    assert (version.author, version.note, version.active) == ("anna", "neu", True)
    (job,) = desk.jobs.list()
    assert (job.kind, job.requested_by, job.reason) == ("rebuild", "anna", "pv-a-01 Fassung 1 hochgeladen")
    assert "wartet auf den Index" in shown[MAIN_PLACE]
    assert "unverändert" in uploaded(desk, entry("pv-a-01"), activate="on")[NOTICE_PLACE]
    shown = uploaded(desk, entry("pv-a-01", "560,00 €"))
    assert "noch nicht aktiv" in shown[NOTICE_PLACE]
    assert [version.active for version in desk.catalogue.versions("pv-a-01")] == [False, True]


@pytest.mark.parametrize(
    ("file", "data", "said"),
    [
        ("../pv-a-01.md", base64.b64encode(b"x").decode(), "ist ein Pfad"),
        ("pv-a-01.md", "kein Base64!", "nicht vollständig"),
        ("pv-a-01.md", base64.b64encode(b"---\n\xff").decode(), "UTF-8"),
        ("pv-a-01.md", base64.b64encode(entry("pv-a-01", stand="2026-13").encode()).decode(), "Zeile 4"),
    ],
)
def test_a_bad_upload_is_refused_and_changes_nothing(desk: Desk, file: str, data: str, said: str) -> None:
    shown = answered(desk, EDITOR, "upload", file=file, data=data, activate="on")
    assert said in shown[NOTICE_PLACE]
    assert 'role="alert"' in shown[NOTICE_PLACE]
    assert (desk.catalogue.documents(), desk.jobs.list()) == ((), ())


def test_what_is_gone_is_said_and_no_internals(desk: Desk) -> None:
    for one in (
        {"do": "document", "entry": "pv-x-01"},
        {"do": "job", "job": 99},
        {"do": "tag", "kind": "tag", "name": "x"},
        {"do": "care", "conflict": "cf-1"},
        {"do": "gap", "gap": 7},
    ):
        assert texts.GONE in answered(desk, EDITOR, **one)[NOTICE_PLACE]  # type: ignore[arg-type]


def test_names_notes_and_texts_of_others_stay_text(desk: Desk) -> None:
    hostile = Change(HOSTILE, HOSTILE)
    desk.catalogue.add_version("pv-a-01", entry("pv-a-01").replace("Grenze", HOSTILE), hostile, origin="upload")
    desk.catalogue.add_version("pv-a-01", entry("pv-a-01"), hostile, origin="edit")
    desk.tags.create(HOSTILE, hostile, entries=["pv-a-01"])
    desk.guidance.add("answer", HOSTILE, hostile)
    desk.endpoints.add(HOSTILE, "http://gpu", hostile, model=HOSTILE)
    job = desk.jobs.claim("rebuild", this_process(), requested_by=HOSTILE, reason=HOSTILE)
    desk.jobs.report(job.id, JobProgress(stage=HOSTILE, done=1, total=2))
    shown = [
        answered(desk, ADMIN, "view", view=view)
        for view in ("documents", "jobs", "tags", "conflicts", "gaps", "index", "prompts", "endpoints")
    ]
    shown += [
        answered(desk, ADMIN, "document", entry="pv-a-01"),
        answered(desk, ADMIN, "diff", entry="pv-a-01", old=1, new=2),
        answered(desk, ADMIN, "tag", kind="tag", name=HOSTILE),
        answered(desk, ADMIN, "job", job=job.id),
        answered(desk, ADMIN, "find", text=HOSTILE),
    ]
    html = "".join("".join(places.values()) for places in shown)
    assert "<img" not in html
    assert html.count("&lt;img") > 15


def test_a_running_job_is_polled_and_an_ended_one_is_not(desk: Desk) -> None:
    job = desk.jobs.claim("rebuild", this_process(), requested_by="anna")
    desk.jobs.report(job.id, JobProgress(stage="embed", done=30, total=120))
    sent = ManageHandlers(desk).live(json.dumps({"do": "live", "job": job.id}), asked_by(EDITOR))
    places = {part["slot"]: part["html"] for part in json.loads(sent)["parts"]}
    assert "Bedeutung berechnen, 30 von 120" in places[JOB_PLACE]
    assert 'value="30" max="120"' in places[JOBS_PLACE]
    assert 'class="pv-poll"' in places[JOB_PLACE]
    desk.jobs.finish(job.id, error="Die Platte ist voll.")
    sent = ManageHandlers(desk).live(json.dumps({"do": "live", "job": job.id}), asked_by(EDITOR))
    assert "pv-poll" not in sent
    assert "Die Platte ist voll." in sent


def test_a_change_of_tags_asks_for_the_tag_index(desk: Desk) -> None:
    desk.catalogue.add_version("pv-a-01", entry("pv-a-01"), Change("anna"), origin="upload")
    shown = answered(desk, EDITOR, "tag-create", kind="tag", name="Reise", entries="pv-a-01")
    assert "„Reise“ ist angelegt. Auftrag 1 ist angelegt." in shown[NOTICE_PLACE]
    assert [(tag.name, tag.entries, tag.created_by) for tag in desk.tags.list()] == [("Reise", ("pv-a-01",), "anna")]
    assert [(job.kind, job.requested_by) for job in desk.jobs.list()] == [("tags", "anna")]
    assert texts.UNKNOWN_ENTRY in answered(desk, EDITOR, "tag-assign", kind="tag", name="Reise", entries="pv-x-01")[NOTICE_PLACE]
    assert "schon vergeben" in answered(desk, EDITOR, "tag-create", kind="tag", name="reise")[NOTICE_PLACE]
    assert "„Reise“ ist gelöscht." in answered(desk, EDITOR, "tag-remove", kind="tag", name="Reise")[NOTICE_PLACE]


def test_administrators_govern_prompts_and_endpoints(desk: Desk) -> None:
    assert "Fassung 1 gilt" in answered(desk, ADMIN, "prompt-add", purpose="answer", guidance="Kurz.")[NOTICE_PLACE]
    assert answered(desk, ADMIN, "prompt-activate", purpose="answer", number="0")[NOTICE_PLACE]
    assert "gpu@1 ist angelegt" in answered(desk, ADMIN, "endpoint-add", name="gpu", url="http://127.0.0.1:9")[NOTICE_PLACE]
    refused = answered(desk, ADMIN, "endpoint-add", name="gpu", url="http://anna:geheim@gpu")[NOTICE_PLACE]
    assert "ohne Benutzer und Passwort" in refused
    assert "geheim" not in refused
    tested = answered(desk, ADMIN, "endpoint-test", name="gpu", number="1")
    assert "pv-mg-notice-bad" in tested[MAIN_PLACE]
    answered(desk, ADMIN, "endpoint-activate", name="gpu", number="1")
    active = desk.endpoints.active()
    assert active is not None
    assert (active.label, active.active) == ("gpu@1", True)
