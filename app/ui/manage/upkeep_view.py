"""Conflicts of the register and gaps that readers reported: who looks after each, how far that is, what was noted."""

from app.store.conflicts import ConflictCare
from app.store.feedback import Gap
from app.ui.html import escape, stand_text
from app.ui.manage.desk import Desk
from app.ui.manage.parts import NONE, area, choice, form, heading, link, pill, text_field, when
from custom_postprocessors.evidence import Conflict

VERDICT_TEXT = {"open": ("ungeklärt", "warn"), "explained": ("erklärt", "plain"), "dismissed": ("verworfen", "plain")}
CARE_TEXT = {"open": "offen", "in_progress": "in Arbeit", "done": "erledigt"}
GAP_TEXT = {"open": "offen", "accepted": "angenommen", "done": "erledigt", "dismissed": "verworfen"}
_TONES = {"open": "warn", "in_progress": "accent", "accepted": "accent", "done": "good", "dismissed": "plain"}


def conflicts_view(desk: Desk) -> str:
    """The register of the served index, each conflict with its sides and its care."""
    found, cares = desk.conflicts(), desk.cares.all()
    shown = "".join(_conflict(one, cares.get(one.id, ConflictCare(conflict_id=one.id))) for one in found)
    lead = (
        "Einträge, die für dieselbe Größe Verschiedenes sagen. Antworten zeigen immer beide Seiten, bis jemand entscheidet, dass "
        "es kein Widerspruch ist. Urteile stehen in conflicts.yaml der Wissensbasis, Zuständigkeit und Notiz hier."
    )
    return heading("Widersprüche", lead) + (shown or '<p class="pv-mg-empty">Das Register ist leer.</p>')


def gaps_view(desk: Desk) -> str:
    """Every reported gap, newest first."""
    gaps = desk.feedback.gaps()
    lead = "Fragen, zu denen Leserinnen und Leser eine Antwort in der Wissensbasis vermissen."
    shown = "".join(_gap(gap) for gap in gaps)
    return heading("Lücken", lead) + (shown or '<p class="pv-mg-empty">Es wurde noch keine Lücke gemeldet.</p>')


def _conflict(conflict: Conflict, care: ConflictCare) -> str:
    verdict, tone = VERDICT_TEXT[conflict.status]
    sides = "".join(
        f"<li><strong class='pv-side-value'>{escape(side.value)}</strong> "
        f"{link(side.entry_id, 'document', entry=side.entry_id)} · "
        f"{escape(stand_text(side.stand))} · {escape(side.section)}</li>"
        for side in conflict.sides
    )
    note = f'<p class="pv-mg-soft">{escape(conflict.note)}</p>' if conflict.note else ""
    fields = form(
        "care",
        text_field(f"pv-mg-owner-{conflict.id}", "Zuständig", "owner", care.owner, most=100),
        choice(f"pv-mg-care-{conflict.id}", "Bearbeitung", "status", tuple(CARE_TEXT.items()), care.status),
        area(f"pv-mg-note-{conflict.id}", "Notiz", "note", care.note, rows=2),
        submit="Speichern",
        conflict=conflict.id,
    )
    judge = form(
        "judge",
        choice(
            f"pv-mg-verdict-{conflict.id}",
            "Urteil",
            "verdict",
            (("open", "ungeklärt"), ("explained", "erklärt, beide Seiten zeigen"), ("dismissed", "kein Widerspruch")),
            conflict.status,
        ),
        text_field(
            f"pv-mg-why-{conflict.id}", "Begründung (steht bei beiden Seiten)", "note", conflict.note, wide=True, most=500
        ),
        submit="Urteil speichern",
        conflict=conflict.id,
    )
    touched = f"{escape(care.changed_by)}, {when(care.changed_at)}" if care.changed_at else ""
    head = (
        f'<h3>{escape(conflict.quantity)}</h3><p class="pv-mg-row">{pill(verdict, tone)}'
        f"{pill(CARE_TEXT[care.status], _TONES[care.status])}<span class='pv-mg-soft'>{escape(care.owner or 'niemand zuständig')}"
        f"{f' · zuletzt {touched}' if touched else ''}</span></p>"
    )
    return (
        f'<article class="pv-mg-card">{head}<ul class="pv-mg-sides">{sides}</ul>{note}'
        f"<details><summary>Bearbeiten</summary>{fields}{judge}</details></article>"
    )


def _gap(gap: Gap) -> str:
    question = gap.question or "(Inhalt gelöscht)"
    reported = f"gemeldet von {escape(gap.reported_by) or NONE}, {when(gap.created_at)}"
    note = f'<p class="pv-mg-soft">Anmerkung der Meldung: {escape(gap.note)}</p>' if gap.note else ""
    remark = f"<p>{escape(gap.remark)}</p>" if gap.remark else ""
    fields = form(
        "gap",
        text_field(f"pv-mg-gap-owner-{gap.id}", "Zuständig", "owner", gap.owner, most=100),
        choice(f"pv-mg-gap-status-{gap.id}", "Bearbeitung", "status", tuple(GAP_TEXT.items()), gap.status),
        area(f"pv-mg-gap-remark-{gap.id}", "Notiz", "remark", gap.remark, rows=2),
        submit="Speichern",
        gap=gap.id,
    )
    head = (
        f'<h3>{escape(question)}</h3><p class="pv-mg-row">{pill(GAP_TEXT[gap.status], _TONES[gap.status])}'
        f"<span class='pv-mg-soft'>{escape(gap.owner or 'niemand zuständig')} · {reported}</span></p>"
    )
    return (
        f'<article class="pv-mg-card">{head}{note}{remark}<details><summary>Zuständigkeit und Notiz</summary>{fields}'
        "</details></article>"
    )
