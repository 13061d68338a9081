"""Documents: the list with its filters, one document with its versions, the difference between two of them, the upload."""

from collections.abc import Mapping, Sequence

from app.document_changes import LineChange, changed_lines
from app.store.documents import Document, DocumentVersion
from app.ui import strings
from app.ui.html import escape
from app.ui.manage.commands import Find
from app.ui.manage.desk import Desk
from app.ui.manage.parts import (
    NONE,
    action,
    area,
    choice,
    code,
    confirmed,
    facts,
    form,
    heading,
    link,
    pill,
    section,
    table,
    text_field,
    tick,
    unbroken,
    when,
)
from pipelines.entry_file import parse_entry
from pipelines.entry_schema import MAX_FILE_BYTES
from pipelines.node_file import EntryInfo

PAGE_ROWS = 50
ORIGIN_TEXT = {"folder": "Ordner", "upload": "hochgeladen", "edit": "bearbeitet"}
_STATES = (
    ("", "alle"),
    ("active", "aktiv"),
    ("removed", "herausgenommen"),
    ("diverged", "weicht vom Ordner ab"),
    ("unserved", "aktiv, aber nicht im Index"),
)
_SIGN_TEXT = {"same": "unverändert", "removed": "entfallen", "added": "neu"}
_SIGNS = {"same": " ", "removed": "−", "added": "+"}


def documents_view(desk: Desk, wanted: Find) -> str:
    """The list of documents that fit the filters, 50 at once, with the upload above."""
    entries = desk.entries()
    found = [document for document in desk.catalogue.documents() if _fits(document, entries.get(document.entry_id), wanted)]
    pages = max(1, -(-len(found) // PAGE_ROWS))
    page = min(wanted.page, pages)
    rows = [_row(document, entries.get(document.entry_id)) for document in found[(page - 1) * PAGE_ROWS : page * PAGE_ROWS]]
    head = heading("Dokumente", "Was die Wissensbasis enthält. Jede Änderung ist eine neue Fassung; genau eine ist aktiv.")
    columns = ("Eintrag", "Titel", "Thema", "Stand", "Fassung", "Zustand", "Geändert")
    shown = table("Dokumente", columns, rows, empty="Kein Dokument passt zu diesen Filtern.")
    return head + _upload() + _filters(wanted, entries) + _count(len(found), page, pages, wanted) + shown


def document_view(desk: Desk, entry_id: str) -> str:
    """One document with all its versions.

    Raises:
        NotFound: there is no such document.
    """
    document, versions = desk.catalogue.document(entry_id), desk.catalogue.versions(entry_id)
    info = desk.entries().get(entry_id)
    title = info.title if info else _title_of(desk, document, versions)
    tags = [link(tag.name, "tag", kind=tag.kind, name=tag.name) for tag in desk.tags.of_entry(entry_id)]
    known = facts(
        (
            ("Eintrag", code(entry_id)),
            ("Zustand", _pills(document, info)),
            ("Stand", escape(info.stand) if info else NONE),
            ("Thema", escape(info.topic) if info else NONE),
            ("Schlagworte laut Eintrag", escape(", ".join(info.tags)) if info and info.tags else NONE),
            ("Verwaltete Schlagworte", ", ".join(tags) or NONE),
        )
    )
    rows = [_version_row(version, versions) for version in versions]
    columns = ("Fassung", "Zeit", "Von", "Herkunft", "Notiz", "Vergleich", "")
    history = section("Fassungen", table(f"Fassungen von {entry_id}", columns, rows, empty="Keine Fassung."))
    back = action("← Alle Dokumente", "view", css="pv-link pv-mg-back", view="documents")
    return heading(title, back=back) + known + history + _take_out(document)


def diff_view(desk: Desk, entry_id: str, old: int, new: int) -> str:
    """What differs between two versions, line by line; values that changed are marked.

    Raises:
        NotFound: there is no such document or version.
    """
    catalogue = desk.catalogue
    changes = changed_lines(catalogue.content(entry_id, old), catalogue.content(entry_id, new))
    back = action(f"← {entry_id}", "document", css="pv-link pv-mg-back", entry=entry_id)
    head = heading(f"Fassung {old} und {new} im Vergleich", "Geänderte Werte sind markiert.", back=back)
    if not changes:
        return head + '<p class="pv-mg-empty">Die beiden Fassungen sind gleich.</p>'
    lines = "".join(_line(change, previous) for previous, change in zip((None, *changes[:-1]), changes, strict=True))
    return (
        f'{head}<div class="pv-mg-wrap" role="region" tabindex="0" aria-label="Unterschiede"><table class="pv-mg-diff">'
        f'<caption class="pv-hidden">Unterschiede zwischen Fassung {old} und {new}</caption><thead class="pv-hidden"><tr>'
        '<th scope="col">Zeile</th><th scope="col">Änderung</th><th scope="col">Text</th></tr></thead>'
        f"<tbody>{lines}</tbody></table></div>"
    )


def _line(change: LineChange, previous: LineChange | None) -> str:
    gap = previous is not None and change.kind == "same" and previous.kind == "same" and change.number > previous.number + 1
    text, end = "", 0
    for start, stop in change.values:
        text += f'{escape(change.text[end:start])}<mark class="pv-hit">{escape(change.text[start:stop])}</mark>'
        end = stop
    text += escape(change.text[end:])
    skipped = '<tr class="pv-mg-gap"><td></td><td></td><td>…</td></tr>' if gap else ""
    sign = f'<span aria-hidden="true">{_SIGNS[change.kind]}</span><span class="pv-hidden">{_SIGN_TEXT[change.kind]}</span>'
    return f'{skipped}<tr class="pv-mg-{change.kind}"><td>{change.number}</td><td>{sign}</td><td>{text or "&nbsp;"}</td></tr>'


def _upload() -> str:
    limit = f"{MAX_FILE_BYTES // 1024 // 1024} MB"
    picker = (
        '<div class="pv-field"><label for="pv-mg-file">Datei (Markdown, UTF-8)</label>'
        f'<input type="file" id="pv-mg-file" accept=".md,text/markdown" data-into="data" data-most="{MAX_FILE_BYTES}" required>'
        '<input type="hidden" name="file"><input type="hidden" name="data"></div>'
    )
    body = form(
        "upload",
        picker,
        text_field("pv-mg-upload-note", "Notiz", "note", wide=True, most=500, hint="Was ist neu, und warum?"),
        tick("pv-mg-upload-activate", "sofort aktivieren", "activate", on=True),
        submit="Hochladen",
        primary=True,
    )
    lead = f"Der Dateiname ist die Kennung, z. B. pv-sv-05.md; höchstens {limit}. Geprüft wird wie beim Übernehmen des Ordners."
    return f'<details class="pv-mg-upload"><summary>Dokument hochladen</summary><p>{escape(lead)}</p>{body}</details>'


def _filters(wanted: Find, entries: Mapping[str, EntryInfo]) -> str:
    topics = sorted({info.topic for info in entries.values()})
    return form(
        "find",
        text_field("pv-mg-find-text", "Suchen", "text", wanted.text, hint="Kennung oder Wort im Titel"),
        choice("pv-mg-find-topic", "Thema", "topic", [("", "alle"), *((topic, topic) for topic in topics)], wanted.topic),
        choice("pv-mg-find-state", "Zustand", "state", _STATES, wanted.state),
        submit="Anzeigen",
    )


def _count(found: int, page: int, pages: int, wanted: Find) -> str:
    counted = strings.counted(found, "Dokument", "Dokumente")
    if pages == 1:
        return f'<p class="pv-mg-count">{counted}</p>'
    same = {"text": wanted.text, "topic": wanted.topic, "state": wanted.state}
    earlier = action("← Zurück", "find", page=page - 1, **same) if page > 1 else ""
    later = action("Weiter →", "find", page=page + 1, **same) if page < pages else ""
    return f'<p class="pv-mg-count">{counted} · Seite {page} von {pages} <span class="pv-mg-pager">{earlier}{later}</span></p>'


def _fits(document: Document, info: EntryInfo | None, wanted: Find) -> bool:
    words = wanted.text.casefold().split()
    text = f"{document.entry_id} {info.title if info else ''}".casefold()
    return (
        all(word in text for word in words)
        and (not wanted.topic or (info is not None and info.topic == wanted.topic))
        and {
            "": True,
            "active": document.active_version is not None,
            "removed": document.active_version is None,
            "diverged": document.diverged,
            "unserved": document.active_version is not None and info is None,
        }[wanted.state]
    )


def _row(document: Document, info: EntryInfo | None) -> tuple[str, ...]:
    return (
        link(document.entry_id, "document", entry=document.entry_id),
        escape(info.title) if info else NONE,
        escape(info.topic) if info else NONE,
        unbroken(info.stand) if info else NONE,
        f"{document.active_version or NONE} <span class='pv-mg-soft'>von {document.versions}</span>",
        _pills(document, info),
        when(document.changed_at),
    )


def _pills(document: Document, info: EntryInfo | None) -> str:
    if document.active_version is None:
        return pill("herausgenommen")
    pills = [pill("aktiv", "good") if info else pill("wartet auf den Index", "warn")]
    if document.diverged:
        pills.append(pill("weicht vom Ordner ab", "warn"))
    return " ".join(pills)


def _version_row(version: DocumentVersion, versions: Sequence[DocumentVersion]) -> tuple[str, ...]:
    active = next((other.number for other in versions if other.active), None)
    compared = []
    if version.number > 1:
        compared.append(link("mit der davor", "diff", entry=version.entry_id, old=version.number - 1, new=version.number))
    if active is not None and active not in (version.number, version.number - 1):
        compared.append(link("mit der aktiven", "diff", entry=version.entry_id, old=version.number, new=active))
    serve = (
        pill("aktiv", "good")
        if version.active
        else action(
            "Aktivieren",
            "activate",
            aria=f"Fassung {version.number}",
            entry=version.entry_id,
            number=version.number,
        )
    )
    return (
        str(version.number),
        when(version.created_at),
        escape(version.author),
        ORIGIN_TEXT.get(version.origin, version.origin),
        escape(version.note) or NONE,
        "<br>".join(compared) or NONE,
        serve,
    )


def _take_out(document: Document) -> str:
    if document.active_version is None:
        return ""
    body = form(
        "take-out",
        area("pv-mg-take-out-note", "Grund", "note", rows=2, most=500),
        submit="Herausnehmen",
        entry=document.entry_id,
    )
    text = "Es wird dann nicht mehr daraus geantwortet. Die Fassungen bleiben und können wieder aktiviert werden."
    return confirmed("Dokument herausnehmen …", text, body)


def _title_of(desk: Desk, document: Document, versions: Sequence[DocumentVersion]) -> str:
    """The title of a document that the index does not have: read from its active or newest version."""
    number = document.active_version or versions[0].number
    content = desk.catalogue.content(document.entry_id, number)
    entry = parse_entry(f"{document.entry_id}.md", content.encode("utf-8")).entry
    return entry.title if entry else document.entry_id
