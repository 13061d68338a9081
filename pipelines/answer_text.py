"""The Markdown of an outcome. Stand and citation marks are written here, from metadata, never by a model."""

import re
from collections.abc import Iterable, Mapping, Sequence

from custom_postprocessors.evidence import Citation, Claim, Conflict, Mark
from pipelines.contracts import SILENT_SENTENCE, Plan, RefusalReason

MARK_TEXT: dict[Mark, str] = {
    "outdated": "Stand älter als die eingestellte Grenze",
    "superseded": "für den gefragten Monat überholt",
    "secondary_source": "laut Sekundärquelle",
}

STATUS_TEXT: dict[str, str] = {
    "answered": "beantwortet",
    "partial": "Teilantwort",
    "clarification": "Rückfrage",
    "refused": "abgelehnt",
    "unavailable": "Störung",
}
"""What a status is called in lists and reports."""
REASON_TEXT: dict[RefusalReason, str] = {
    "kb_silent": "Wissensbasis schweigt",
    "weak_evidence": "Belege zu schwach",
    "verification_failed": "Prüfung nicht bestanden",
    "out_of_period": "kein Wert für diesen Zeitraum",
    "model_unavailable": "Ollama nicht erreichbar",
    "model_failed": "Modell ohne brauchbare Antwort",
}
"""Why nothing was answered, as lists and reports say it."""

_SCOPE_TEXT = {"gesetz": "Gesetz", "kv": "Kollektivvertrag", "rechtsprechung": "Rechtsprechung", "briefing": "Briefings"}

_MONTHS = (
    "Jänner",
    "Februar",
    "März",
    "April",
    "Mai",
    "Juni",
    "Juli",
    "August",
    "September",
    "Oktober",
    "November",
    "Dezember",
)

_REASON_TEXT: dict[RefusalReason, str] = {
    "kb_silent": SILENT_SENTENCE,
    "weak_evidence": f"{SILENT_SENTENCE} Die Fundstellen tragen keine Antwort.",
    "verification_failed": f"{SILENT_SENTENCE} Ein Entwurf lag vor, seine Aussagen ließen sich aber nicht belegen.",
    "out_of_period": f"{SILENT_SENTENCE} Für den gefragten Zeitraum liegt kein gültiger Wert vor.",
    "model_unavailable": "Das Sprachmodell ist nicht erreichbar. Es wurde keine Antwort erstellt.",
    "model_failed": "Das Sprachmodell hat keine verwertbare Antwort geliefert. Es wurde keine Antwort erstellt.",
}

_DATE_AT_END = re.compile(r"(?<!\d)\d{1,2}\.\d{1,2}\.$")
"""A date without its year, whose last full stop belongs to it."""


def citation_marks(citations: Sequence[Citation]) -> str:
    """`(Stand 2026-01) [pv-sv-05]` for every cited entry once, in order; entries of one Stand share it."""
    stands: dict[str, list[str]] = {}
    for citation in citations:
        ids = stands.setdefault(citation.stand, [])
        if citation.entry_id not in ids:
            ids.append(citation.entry_id)
    return " ".join(f"(Stand {stand}) " + " ".join(f"[{entry_id}]" for entry_id in ids) for stand, ids in stands.items())


def claim_text(claim: Claim, *, conflicting: bool = False) -> str:
    """One claim as a sentence that ends with its citations and a full stop; a colon or comma at its end goes."""
    text = claim.text.strip()
    end = text[-1] if text.endswith(("?", "!")) else "."
    date = _DATE_AT_END.search(text)
    body = text if date else text.rstrip(".!?:;, ")
    notes = [MARK_TEXT[mark] for mark in claim.marks]
    if claim.derived:
        notes.insert(0, f"berechnet: {claim.formula.expression} = {claim.formula.result}" if claim.formula else "berechnet")
    remark = f" ({'; '.join(notes)})" if notes else ""
    warning = "⚠ " if conflicting else ""
    return f"{warning}{body}{remark} {citation_marks(claim.citations)}{end}"


def conflict_text(conflict: Conflict) -> str:
    """Both (or all) sides of a conflict, each with value, Stand and entry id, each marked with ⚠."""
    head = f"⚠ **Widersprüchliche Angaben: {conflict.quantity}**"
    if conflict.note:
        head += f" ({conflict.note})"
    sides = [f"- ⚠ {side.value} (Stand {side.stand}) [{side.entry_id}]" for side in conflict.sides]
    return "\n".join([f"{head}:", "", *sides])


def answer_text(
    claims: Sequence[Claim],
    conflicts: Sequence[Conflict] = (),
    *,
    unanswered: Sequence[str] = (),
    follow_up: str | None = None,
    heading: str | None = None,
    titles: Mapping[str, str] | None = None,
) -> str:
    """The whole answer: claims in order, then conflicts, open parts and the question back, as Markdown paragraphs.

    With `titles` (entry id → title) claims of one entry that follow each other stand under its title, as in an overview.
    """
    disputed = {(side.entry_id, side.section, side.start) for conflict in conflicts for side in conflict.sides}
    parts = [heading] if heading else []
    entry = ""
    for claim in claims:
        if titles is not None and claim.citations and claim.citations[0].entry_id != entry:
            entry = claim.citations[0].entry_id
            parts.append(f"**{titles.get(entry, entry)}**")
        touched = any((c.entry_id, c.section, c.start) in disputed for c in claim.citations)
        parts.append(claim_text(claim, conflicting=touched))
    parts.extend(conflict_text(conflict) for conflict in conflicts)
    if unanswered:
        parts.append("Nicht belegt beantwortet: " + "; ".join(unanswered) + ".")
    if follow_up:
        parts.append(f"Rückfrage: {follow_up}")
    return "\n\n".join(parts)


def grouped_by_entry(claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """The claims with those of one entry together, entries in the order in which they first come."""
    order = {claim.citations[0].entry_id: None for claim in claims if claim.citations}
    places = {entry_id: place for place, entry_id in enumerate(order)}
    return tuple(sorted(claims, key=lambda claim: places[claim.citations[0].entry_id] if claim.citations else len(places)))


def month_name(month: str) -> str:
    """`2026-01` as „Jänner 2026“."""
    year, number = month.split("-")
    return f"{_MONTHS[int(number) - 1]} {year}"


def plan_heading(plan: Plan) -> str | None:
    """Which month the answer speaks for, when the question or the caller named it, and what a calculation assumes."""
    lines = [f"**Zeitraum: {month_name(plan.as_of)}**"] if plan.as_of_named else []
    if plan.assumptions:
        lines.append(f"**Annahmen, soweit die Frage nichts anderes sagt: {'; '.join(plan.assumptions)}**")
    return "\n\n".join(lines) or None


def refusal_text(
    reason: RefusalReason, *, plan: Plan, sections: int, nearest: Iterable[tuple[str, str]] = (), detail: str = ""
) -> str:
    """Why there is no answer, what was searched, and which entries are nearest (id and title)."""
    parts = [_REASON_TEXT[reason] + (f" {detail}" if detail else "")]
    if reason not in ("model_unavailable", "model_failed"):
        scope = ", ".join(_SCOPE_TEXT[s] for s in plan.scopes) or "alle Bereiche"
        looked_up = " · ".join(f"„{query}“" for query in plan.queries)
        parts.append(f"Gesucht wurde nach {looked_up} (für {month_name(plan.as_of)}; {scope}; {sections} Abschnitte).")
        near = [f"- {title} [{entry_id}]" for entry_id, title in nearest]
        if near:
            parts.append("Am nächsten liegen:\n\n" + "\n".join(near))
    return "\n\n".join(parts)
