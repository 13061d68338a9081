"""Jobs: what runs, what waits and what was, one job with its log, and what can be asked for."""

from collections.abc import Mapping

from app.ui.html import escape
from app.ui.manage.desk import Desk
from app.ui.manage.parts import (
    NONE,
    action,
    choice,
    facts,
    form,
    heading,
    link,
    pill,
    poll,
    section,
    state_pill,
    table,
    tick,
    unbroken,
    when,
)
from pipelines.jobs import Job, JobKind

KIND_TEXT: Mapping[JobKind, str] = {
    "ingest": "Ordner übernehmen",
    "rebuild": "Index bauen",
    "tags": "Schlagwortindex bauen",
    "evaluation": "Auswertung",
}
STAGE_TEXT = {
    "": "beginnt",
    "folder": "Ordner lesen",
    "nodes": "Abschnitte schreiben",
    "facts": "Werte lesen",
    "analysis": "Wörter zählen",
    "vocabulary": "Wortschatz lernen",
    "lexical": "Wortsuche bauen",
    "typo": "Schreibfehlersuche bauen",
    "embed": "Bedeutung berechnen",
    "vectors": "Vektoren schreiben",
    "conflicts": "Widersprüche suchen",
    "check": "Prüfen",
    "switch": "Umschalten",
    "evaluate": "Fragen auswerten",
}
JOBS_PLACE, JOB_PLACE, STATUS_PLACE = "pv-manage-jobs", "pv-manage-job", "pv-manage-status"
_SHOWN_JOBS = 30
_COUNTS = (
    ("added", "neu"),
    ("changed", "geändert"),
    ("removed", "entfernt"),
    ("unchanged", "unverändert"),
    ("rejected", "abgelehnt"),
    ("diverged", "abweichend"),
    ("left_out", "nicht im Index"),
)
_FIGURES = (
    ("recall_at_k", "Trefferquote (Recall@8)"),
    ("hit_rate", "mindestens ein Treffer"),
    ("mrr", "MRR"),
    ("ndcg_at_k", "nDCG@8"),
)


def jobs_view() -> str:
    """The frame of the view; the list itself is a place of its own, because it changes while it is looked at."""
    head = heading("Aufträge", "Lange Arbeiten laufen in eigenen Prozessen. Gefragt werden kann währenddessen wie immer.")
    asked = form(
        "ingest",
        choice(
            "pv-mg-decision",
            "Wenn Ordner und Verwaltung verschieden sind",
            "decision",
            (("report", "nur melden"), ("take_folder", "der Ordner gilt"), ("keep_catalogue", "die Verwaltung gilt")),
        ),
        tick("pv-mg-removals", "auch wenn mehr als 20 % wegfallen", "removals"),
        tick("pv-mg-full", "alles neu bauen", "full"),
        tick("pv-mg-evaluate", "danach auswerten", "evaluate"),
        submit="Ordner übernehmen",
        primary=True,
    )
    more = action("Index bauen", "rebuild") + action("Auswertung starten", "evaluate")
    start = f'<details class="pv-mg-upload"><summary>Auftrag starten</summary>{asked}<p class="pv-mg-row">{more}</p></details>'
    return f'{head}{start}<div id="{JOBS_PLACE}"></div>'


def jobs_table(desk: Desk) -> str:
    """The newest jobs."""
    rows = [_row(job) for job in desk.jobs.list(limit=_SHOWN_JOBS)]
    columns = ("Auftrag", "Art", "Zustand", "Von", "Grund", "Angefordert", "Dauer", "Ergebnis")
    return table("Aufträge, neueste zuerst", columns, rows, empty="Es gab noch keinen Auftrag.")


def job_frame(job_id: int) -> str:
    """The frame of one job."""
    back = action("← Alle Aufträge", "view", css="pv-link pv-mg-back", view="jobs")
    return heading(f"Auftrag {job_id}", back=back) + f'<div id="{JOB_PLACE}"></div>'


def job_view(desk: Desk, job_id: int) -> str:
    """One job as it is now, with the end of its log.

    Raises:
        NotFound: there is no such job.
    """
    job = desk.jobs.get(job_id)
    known = facts(
        (
            ("Art", escape(KIND_TEXT[job.kind])),
            ("Zustand", state_pill(job.state) + progress_bar(job)),
            ("Von", escape(job.requested_by)),
            ("Grund", escape(job.reason) or NONE),
            ("Angefordert", when(job.created_at)),
            ("Begonnen", when(job.started_at)),
            ("Beendet", when(job.finished_at)),
            ("Dauer", _duration(job)),
        )
    )
    error = f'<p class="pv-mg-notice pv-mg-notice-bad">{escape(job.error)}</p>' if job.error else ""
    log = desk.log_of(job_id)
    shown = (
        f'<pre class="pv-mg-log" tabindex="0" aria-label="Protokoll des Auftrags">{escape(log)}</pre>'
        if log
        else '<p class="pv-mg-empty">Noch kein Protokoll.</p>'
    )
    live = poll("live", job=job_id) if job.state in ("QUEUED", "RUNNING") else ""
    return known + error + _result(job) + section("Protokoll", shown) + live


def status_strip(desk: Desk) -> str:
    """What runs now, above every view; and remarks that editors should know."""
    parts = [f'<p class="pv-mg-notice pv-mg-notice-warn">{escape(text)}</p>' for text in desk.folder.notices()]
    if not desk.tags_are_current():
        text = "Die Schlagworte wurden geändert; wirksam werden sie mit dem nächsten Bau des Schlagwortindex."
        parts.append(f'<p class="pv-mg-notice pv-mg-notice-warn">{escape(text)}</p>')
    running = desk.open_jobs()
    for job in running:
        name = link(f"Auftrag {job.id}: {KIND_TEXT[job.kind]}", "job", job=job.id)
        parts.append(f'<p class="pv-mg-running">{name} {state_pill(job.state)}{progress_bar(job)}</p>')
    return "".join(parts) + (poll("live") if running else "")


def progress_bar(job: Job) -> str:
    """How far a running job is; empty for any other."""
    if job.state != "RUNNING":
        return ""
    done, total = job.progress.done, job.progress.total
    stage = STAGE_TEXT.get(job.progress.stage, job.progress.stage)
    counted = f"{stage}, {done} von {total}" if total and done else stage
    value = f' value="{min(done, total)}" max="{total}"' if total and done else ""
    return (
        f'<span class="pv-mg-progress"><progress{value} aria-label="Fortschritt von Auftrag {job.id}"></progress>'
        f"<span>{escape(counted)}</span></span>"
    )


def _row(job: Job) -> tuple[str, ...]:
    return (
        link(str(job.id), "job", job=job.id),
        escape(KIND_TEXT[job.kind]),
        state_pill(job.state) + progress_bar(job),
        escape(job.requested_by),
        escape(job.reason) or NONE,
        when(job.created_at),
        _duration(job),
        _summary(job),
    )


def _duration(job: Job) -> str:
    if job.started_at is None or job.finished_at is None:
        return NONE
    seconds = max(0.0, (job.finished_at - job.started_at).total_seconds())
    text = f"{seconds:.1f} s".replace(".", ",") if seconds < 60 else f"{int(seconds // 60)} min {int(seconds % 60)} s"
    return unbroken(text)


def _summary(job: Job) -> str:
    if job.error:
        return escape(job.error if len(job.error) < 100 else job.error[:100] + " …")
    result = job.result or {}
    counts = [f"{len(ids)} {text}" for name, text in _COUNTS if name != "unchanged" and (ids := _ids(result.get(name)))]
    if job.kind == "ingest" and job.state == "COMPLETED":
        return escape(", ".join(counts) or "keine Änderung")
    if job.kind == "evaluation" and job.state == "COMPLETED":
        return escape(f"Recall@8 {_figure(result.get('recall_at_k'))}{_signed(result, 'recall_at_k')}")
    if job.kind == "tags" and job.state == "COMPLETED":
        return escape(f"{result.get('tags')} Schlagworte")
    return escape(str(result.get("index_version") or NONE))


def _result(job: Job) -> str:
    result = job.result or {}
    if job.state != "COMPLETED":
        return ""
    if job.kind == "evaluation":
        return section("Ergebnis", _evaluation(result))
    pairs = []
    for name, text in _COUNTS:
        ids = _ids(result.get(name))
        if name == "unchanged":
            pairs.append((text, str(len(ids))))
        elif ids:
            named = ", ".join(ids[:30]) + (" …" if len(ids) > 30 else "")
            pairs.append((text, f"{len(ids)}: {escape(named)}"))
    if job.kind != "ingest":
        pairs = []
    for name, text in (("index_version", "Index"), ("tag_index_version", "Schlagwortindex"), ("tags", "Schlagworte")):
        if result.get(name) is not None:
            pairs.append((text, escape(str(result[name]))))
    return section("Ergebnis", facts(pairs) + _faults(result))


def _evaluation(result: Mapping[str, object]) -> str:
    before = result.get("before")
    earlier: Mapping[str, object] = before if isinstance(before, dict) else {}
    rows = [
        (
            escape(text),
            _figure(result.get(name)),
            _figure(earlier.get(name)) if earlier else NONE,
            _signed(result, name).strip(" ()") or NONE,
        )
        for name, text in _FIGURES
    ]
    versions = f"{result.get('questions')} Fragen, Index {result.get('index_version')}"
    if earlier:
        versions += f", verglichen mit {earlier.get('index_version')}"
    shown = table("Kennzahlen", ("Kennzahl", "jetzt", "davor", "Unterschied"), rows, empty="")
    changed = result.get("changed_questions")
    questions = [
        (escape(str(one["id"])), escape(str(one["question"])), _figure(one["before"]), _figure(one["now"]))
        for one in (changed if isinstance(changed, list) else [])
        if isinstance(one, dict)
    ]
    listed = section(
        "Fragen, die jetzt anders ausgehen",
        table("Geänderte Fragen", ("Kennung", "Frage", "davor", "jetzt"), questions, empty="Keine."),
    )
    note = result.get("not_compared")
    return f"<p>{escape(versions)}</p>{shown}" + (f"<p>{escape(str(note))}</p>" if note else listed if earlier else "")


def _faults(result: Mapping[str, object]) -> str:
    faults = result.get("faults")
    if not isinstance(faults, list) or not faults:
        return ""
    tones = {"error": ("Fehler", "bad"), "warning": ("Warnung", "warn"), "info": ("Hinweis", "plain")}
    rows = []
    for fault in faults[:200]:
        text, tone = tones.get(str(fault.get("severity")), ("Hinweis", "plain"))
        place = f"{fault.get('file')}:{fault.get('line')}"
        rows.append((escape(place), pill(text, tone), escape(str(fault.get("message")))))
    return table("Befunde", ("Datei und Zeile", "Schwere", "Befund"), rows, empty="")


def _ids(value: object) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else []


def _figure(value: object) -> str:
    return f"{value:.3f}".replace(".", ",") if isinstance(value, (int, float)) else NONE


def _signed(result: Mapping[str, object], name: str) -> str:
    difference = result.get("difference")
    value = difference.get(name) if isinstance(difference, dict) else None
    return f" ({value:+.3f})".replace(".", ",") if isinstance(value, (int, float)) else ""
