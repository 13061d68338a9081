"""Managed tags and topics: the list, what the frontmatter suggests, one tag with its entries, what was done."""

from collections.abc import Sequence

from app.store.tags import TagSuggestion
from app.ui.html import escape
from app.ui.manage.desk import Desk
from app.ui.manage.parts import NONE, action, area, choice, confirmed, form, heading, link, pill, section, table, text_field, when

KIND_TEXT = {"tag": "Schlagwort", "topic": "Thema"}
ACTION_TEXT = {
    "create": "angelegt",
    "assign": "vergeben an",
    "unassign": "entzogen von",
    "remove": "gelöscht, war vergeben an",
    "merge": "zusammengeführt mit",
}
_KINDS = (("tag", "Schlagwort"), ("topic", "Thema"))
_SHOWN_SUGGESTIONS = 40
_SHOWN_STEPS = 20


def tags_view(desk: Desk) -> str:
    """Everything about tags on one page."""
    lead = "Sie lenken die Suche sanft: Einträge mit einem passenden Schlagwort rücken etwas nach vorn, keiner fällt weg."
    rows = [
        (
            link(tag.name, "tag", kind=tag.kind, name=tag.name),
            pill(KIND_TEXT[tag.kind]),
            str(len(tag.entries)),
            escape(tag.created_by),
            when(tag.created_at),
        )
        for tag in desk.tags.list()
    ]
    columns = ("Name", "Art", "Einträge", "Angelegt von", "Angelegt")
    listed = table(
        "Verwaltete Schlagworte", columns, rows, empty="Noch keine. Legen Sie eines an oder übernehmen Sie Vorschläge."
    )
    build = "" if desk.tags_are_current() else action("Schlagwortindex bauen", "tags-rebuild", css="pv-primary")
    return heading("Schlagworte", lead) + _create() + build + listed + _suggested(desk.suggestions()) + _history(desk)


def tag_view(desk: Desk, name: str, kind: str) -> str:
    """One tag with its entries.

    Raises:
        NotFound: there is no such tag.
    """
    tag = next((one for one in desk.tags.list() if (one.kind, one.name.casefold()) == (kind, name.casefold())), None)
    if tag is None:
        tag = desk.tags.get(name, kind="topic" if kind == "topic" else "tag")
    entries = desk.entries()
    rows = [
        (
            link(entry_id, "document", entry=entry_id),
            escape(entries[entry_id].title) if entry_id in entries else NONE,
            action(
                "Entziehen",
                "tag-unassign",
                aria=f"{tag.name}, {entry_id}",
                kind=tag.kind,
                name=tag.name,
                entry=entry_id,
            ),
        )
        for entry_id in tag.entries
    ]
    back = action("← Alle Schlagworte", "view", css="pv-link pv-mg-back", view="tags")
    head = heading(tag.name, f"{KIND_TEXT[tag.kind]}, vergeben an {len(tag.entries)} Einträge.", back=back)
    assign = form(
        "tag-assign",
        area(
            "pv-mg-assign", "An Einträge vergeben (Kennungen, durch Komma oder Zeilen getrennt)", "entries", rows=2, required=True
        ),
        submit="Vergeben",
        kind=tag.kind,
        name=tag.name,
    )
    others = [(one.name, one.name) for one in desk.tags.list() if one.kind == tag.kind and one.name != tag.name]
    merge = (
        confirmed(
            "Mit einem anderen zusammenführen …",
            "Alle Einträge erhalten das andere; dieses gibt es danach nicht mehr.",
            form(
                "tag-merge", choice("pv-mg-into", "Ziel", "into", others), submit="Zusammenführen", kind=tag.kind, name=tag.name
            ),
        )
        if others
        else ""
    )
    remove = confirmed(
        f"{KIND_TEXT[tag.kind]} löschen …",
        "Es wird allen Einträgen entzogen. Die Einträge selbst bleiben, wie sie sind.",
        action("Löschen", "tag-remove", kind=tag.kind, name=tag.name),
    )
    return head + table("Einträge", ("Eintrag", "Titel", ""), rows, empty="An keinen Eintrag vergeben.") + assign + merge + remove


def _create() -> str:
    body = form(
        "tag-create",
        text_field("pv-mg-tag-name", "Name", "name", most=80, required=True),
        choice("pv-mg-tag-kind", "Art", "kind", _KINDS),
        text_field("pv-mg-tag-entries", "Einträge (Kennungen, durch Komma getrennt)", "entries", wide=True, most=2000),
        submit="Anlegen",
        primary=True,
    )
    return f'<details class="pv-mg-upload"><summary>Schlagwort anlegen</summary>{body}</details>'


def _suggested(found: Sequence[TagSuggestion]) -> str:
    rows = [
        (
            escape(one.name),
            pill(KIND_TEXT[one.kind]),
            str(len(one.entries)),
            action("Übernehmen", "tag-adopt", aria=one.name, kind=one.kind, name=one.name),
        )
        for one in found[:_SHOWN_SUGGESTIONS]
    ]
    lead = f"Themen und Schlagworte in den Einträgen, die noch nicht verwaltet werden, häufigste zuerst ({len(found)} insgesamt)."
    listed = table("Vorschläge aus den Einträgen", ("Name", "Art", "Einträge", ""), rows, empty="Keine.")
    return section("Vorschläge aus den Einträgen", f'<p class="pv-mg-lead">{escape(lead)}</p>{listed}')


def _history(desk: Desk) -> str:
    rows = [
        (when(step.created_at), escape(step.author), escape(f"{_named(step.tag)} {ACTION_TEXT.get(step.action, step.action)}"),
         escape(step.detail if len(step.detail) < 120 else step.detail[:120] + " …") or NONE)
        for step in desk.tags.history(limit=_SHOWN_STEPS)
    ]  # fmt: skip
    return section("Verlauf", table("Verlauf", ("Zeit", "Von", "Was", "Womit"), rows, empty="Noch nichts."))


def _named(tag: str) -> str:
    kind, _, name = tag.partition(": ")
    return f"{KIND_TEXT.get(kind, kind)} „{name}“"
