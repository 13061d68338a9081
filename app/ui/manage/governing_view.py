"""What administrators govern: index versions with the way back, guidance of the prompts, Ollama endpoints."""

from app.endpoint_test import EndpointTest
from app.store.endpoints import Endpoint
from app.store.guidance import MAX_GUIDANCE_CHARACTERS, PURPOSES, GuidanceVersion, Purpose
from app.ui.html import escape
from app.ui.manage.desk import Desk
from app.ui.manage.parts import (
    NONE,
    action,
    area,
    code,
    confirmed,
    facts,
    form,
    heading,
    pill,
    section,
    table,
    text_field,
    when,
)

ROLE_TEXT = {"current": ("dient den Antworten", "good"), "previous": ("davor", "plain")}
PURPOSE_TEXT = {"answer": "Antworten", "review": "Plausibilitätsprüfung"}


def index_view(desk: Desk, *, may_govern: bool) -> str:
    """The served version and the one before, and the way back."""
    versions = desk.index_versions()
    rows = [
        (
            code(meta.index_version),
            pill(*ROLE_TEXT[role]),
            when(meta.created_at),
            str(meta.entries),
            str(meta.nodes),
            str(meta.conflicts),
            escape(meta.embedding_model),
            code(meta.knowledge_base_hash[:12]),
        )
        for role, meta in versions
    ]
    columns = ("Fassung", "Rolle", "Gebaut", "Einträge", "Abschnitte", "Widersprüche", "Einbettung", "Stand der Wissensbasis")
    lead = "Der Index wird daneben gebaut, geprüft und in einem Schritt getauscht. Die Fassung davor bleibt erhalten."
    shown = heading("Indexfassungen", lead) + table("Indexfassungen", columns, rows, empty="Es gibt noch keinen Index.")
    if len(versions) < 2:
        return shown
    if not may_govern:
        return shown + '<p class="pv-mg-soft">Zurückschalten kann, wer die Rolle „admin“ hat.</p>'
    text = (
        "Geantwortet wird dann sofort aus der Fassung davor. Die Dokumente bleiben, wie sie sind; der nächste Indexbau "
        "dient wieder dem, was aktiv ist."
    )
    return shown + confirmed("Zur Fassung davor zurückschalten …", text, action("Zurückschalten", "rollback"))


def prompts_view(desk: Desk) -> str:
    """For each purpose: what is used now, the versions, a new one."""
    lead = (
        "Hier ergänzt Ihre Organisation, wie geschrieben wird. Die Regeln, die jede Aussage an einen Beleg binden, stehen davor, "
        "gehören zum Programm und können nicht geändert werden."
    )
    return heading("Prompts", lead) + "".join(_purpose(desk, purpose) for purpose in PURPOSES)


def endpoints_view(desk: Desk, tested: tuple[str, EndpointTest] | None = None) -> str:
    """The endpoints with the one that is asked now, a test of each, a new one; `tested` is what a test of one gave."""
    active = desk.endpoints.active()
    default = desk.default_endpoint.model_copy(update={"active": active is None})
    rows = [_endpoint_row(one, tested) for one in (default, *desk.endpoints.list())]
    lead = (
        "Fragen und Abschnitte der Wissensbasis gehen an den Ollama-Server, der hier aktiv ist, und an keine andere Adresse. "
        "Ein Wechsel gilt ab der nächsten Frage."
    )
    columns = ("Endpunkt", "Adresse", "Modell", "Von", "Notiz", "Prüfung", "")
    added = form(
        "endpoint-add",
        text_field("pv-mg-endpoint-name", "Name", "name", most=40, required=True),
        text_field("pv-mg-endpoint-url", "Adresse", "url", most=300, required=True, hint="http://rechner:11434"),
        text_field("pv-mg-endpoint-model", "Modell (leer: laut Einstellung)", "model", most=100),
        text_field("pv-mg-endpoint-note", "Notiz", "note", wide=True, most=500),
        submit="Anlegen",
        primary=True,
    )
    new = f'<details class="pv-mg-upload"><summary>Endpunkt anlegen</summary>{added}</details>'
    return heading("Endpunkte", lead) + new + table("Endpunkte", columns, rows, empty="") + _endpoint_history(desk)


def _purpose(desk: Desk, purpose: Purpose) -> str:
    versions = desk.guidance.versions(purpose)
    active = next(version for version in versions if version.active)
    used = facts(
        (
            ("Im Einsatz", f"Fassung {active.number}" if active.number else "nur die Regeln des Programms"),
            ("Kennung in Antworten", code(desk.prompt_of(purpose).version)),
        )
    )
    rows = [_prompt_row(version) for version in versions]
    columns = ("Fassung", "Zeit", "Von", "Notiz", "Text", "")
    listed = table(f"Fassungen für {PURPOSE_TEXT[purpose]}", columns, rows, empty="")
    added = form(
        "prompt-add",
        area(
            f"pv-mg-guidance-{purpose}",
            "Hinweise",
            "guidance",
            active.guidance,
            rows=6,
            most=MAX_GUIDANCE_CHARACTERS,
            required=True,
        ),
        text_field(f"pv-mg-guidance-note-{purpose}", "Notiz", "note", wide=True, most=500),
        submit="Als neue Fassung einsetzen",
        primary=True,
        purpose=purpose,
    )
    new = f'<details class="pv-mg-upload"><summary>Neue Fassung schreiben</summary>{added}</details>'
    whole = (
        "<details><summary>Ganzen Prompt anzeigen</summary>"
        f'<pre class="pv-mg-log" tabindex="0" aria-label="Prompt für {PURPOSE_TEXT[purpose]}">'
        f"{escape(desk.prompt_of(purpose).text)}</pre></details>"
    )
    return section(PURPOSE_TEXT[purpose], used + new + listed + whole)


def _prompt_row(version: GuidanceVersion) -> tuple[str, ...]:
    use = (
        pill("im Einsatz", "good")
        if version.active
        else action(
            "Einsetzen",
            "prompt-activate",
            aria=f"Fassung {version.number}",
            purpose=version.purpose,
            number=version.number,
        )
    )
    text = version.guidance if len(version.guidance) < 160 else version.guidance[:160] + " …"
    return (
        str(version.number),
        when(version.created_at),
        escape(version.author) or NONE,
        escape(version.note) or NONE,
        escape(text) or "nur die Regeln des Programms",
        use,
    )


def _endpoint_row(endpoint: Endpoint, tested: tuple[str, EndpointTest] | None) -> tuple[str, ...]:
    name, number = endpoint.name, endpoint.number
    use = (
        pill("aktiv", "good")
        if endpoint.active
        else action("Aktivieren", "endpoint-activate", aria=endpoint.label, name=name, number=number)
    )
    result = ""
    if tested is not None and tested[0] == endpoint.label:
        css = "good" if tested[1].ok else "bad"
        models = f"<br><span class='pv-mg-soft'>{escape(', '.join(tested[1].models))}</span>" if tested[1].models else ""
        result = f'<p class="pv-mg-notice pv-mg-notice-{css}" role="status">{escape(tested[1].message)}{models}</p>'
    return (
        escape(endpoint.label),
        code(endpoint.url),
        escape(endpoint.model) or "laut Einstellung",
        escape(endpoint.author) or "Einstellungen",
        escape(endpoint.note) or NONE,
        action("Verbindung prüfen", "endpoint-test", aria=endpoint.label, name=name, number=number) + result,
        use,
    )


def _endpoint_history(desk: Desk) -> str:
    rows = [
        (when(step.created_at), escape(step.author), escape(step.label), escape(step.note) or NONE)
        for step in desk.endpoints.history()[:20]
    ]
    return section("Verlauf", table("Verlauf", ("Zeit", "Von", "Aktiv wurde", "Notiz"), rows, empty="Noch kein Wechsel."))
