"""The Beweisblatt: everything that proves one outcome, as JSON, Markdown, or one HTML page that can be printed."""

from collections.abc import Mapping, Sequence
from html import escape

from markdown_it import MarkdownIt

from app.store.audit import AuditRecord, SectionProof
from custom_postprocessors.evidence import Citation, Claim
from pipelines.contracts import Outcome
from pipelines.errors import NotFound

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:48rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}"
    "h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:1.8rem}blockquote{margin:.4rem 0;padding:.2rem 1rem;"
    "border-left:3px solid #7a8ca0;white-space:pre-wrap}table{border-collapse:collapse}td,th{border:1px solid #ccd;"
    "padding:.2rem .6rem;text-align:left;overflow-wrap:anywhere}code{overflow-wrap:anywhere}"
    "@media print{body{margin:0}h2{break-after:avoid}blockquote{break-inside:avoid}}"
)


def sheet_json(record: AuditRecord) -> dict[str, object]:
    """Outcome, sections with their hashes, and the row's place in the chain.

    Raises:
        NotFound: the content of this outcome was deleted or never kept.
    """
    outcome = _outcome(record)
    return {
        "request_id": record.request_id,
        "sequence": record.sequence,
        "row_hash": record.row_hash,
        "sections": [section.model_dump(mode="json") for section in record.sections],
        "checks": list(checks_passed(outcome)),
        "outcome": outcome.model_dump(mode="json"),
    }


def sheet_markdown(record: AuditRecord) -> str:
    """The sheet as Markdown; quotes stand in block quotes, character by character.

    Raises:
        NotFound: the content of this outcome was deleted or never kept.
    """
    outcome = _outcome(record)
    parts = [
        "# Beweisblatt",
        _table(_facts(record, outcome)),
        "## Frage",
        _quote(outcome.question),
        "## Antwort",
        outcome.answer,
    ]
    if outcome.claims:
        parts.append("## Belege je Aussage")
        hashes = _hashes(record.sections)
        for number, claim in enumerate(outcome.claims, start=1):
            parts.append(_claim(number, claim, hashes))
    parts += ["## Geprüft", "\n".join(f"- {check}" for check in checks_passed(outcome))]
    return "\n\n".join(parts) + "\n"


def sheet_html(record: AuditRecord) -> str:
    """The sheet as one HTML page that loads nothing; everything from entries, questions and models is escaped.

    Raises:
        NotFound: the content of this outcome was deleted or never kept.
    """
    # js-default escapes HTML in the text, and links and images are switched off: a sheet leads nowhere.
    renderer = MarkdownIt("js-default", {"html": False, "linkify": False}).disable(["image", "link", "autolink"])
    body = renderer.render(sheet_markdown(record))
    return (
        '<!doctype html>\n<html lang="de"><head><meta charset="utf-8"><title>Beweisblatt '
        f"{escape(record.request_id)}</title><style>{_STYLE}</style></head><body>\n{body}</body></html>\n"
    )


def checks_passed(outcome: Outcome) -> tuple[str, ...]:
    """Which checks the shown claims passed; German; for a refusal, why nothing is shown."""
    if not outcome.claims:
        return (f"Keine Aussage gezeigt ({outcome.refusal_reason}).",)
    checks = [
        "Jede zitierte Kennung wurde dem Modell vorgelegt.",
        "Jedes Zitat steht wörtlich an der angegebenen Stelle.",
        "Jeder Wert einer Aussage steht in einem ihrer Zitate oder ist als berechnet ausgewiesen.",
        "Stand und Kennung stammen aus den Angaben des Eintrags.",
    ]
    if outcome.grounding.dropped_claims:
        checks.append(f"{outcome.grounding.dropped_claims} Aussagen des Entwurfs wurden verworfen.")
    return tuple(checks)


def _outcome(record: AuditRecord) -> Outcome:
    if record.outcome is None:
        raise NotFound(
            f"Der Inhalt der Antwort {record.request_id!r} wurde gelöscht oder nie gespeichert.",
            hint="Aufbewahrt werden nur Kennungen, Prüfsummen und Fassungen.",
        )
    return record.outcome


def _facts(record: AuditRecord, outcome: Outcome) -> list[tuple[str, str]]:
    model = outcome.model
    return [
        ("Anfrage", record.request_id),
        ("Zeitpunkt", outcome.created_at.isoformat(timespec="seconds")),
        ("Ergebnis", outcome.status if outcome.refusal_reason is None else f"{outcome.status} ({outcome.refusal_reason})"),
        ("Gilt für", outcome.as_of),
        ("Indexfassung", outcome.index.version),
        ("Modell", "Zitatmodus" if outcome.grounding.mode == "extractive" else model.name),
        ("Modell-Prüfsumme", model.digest or "–"),
        ("Prompt-Fassung", model.prompt_version or "–"),
        ("Protokollzeile", f"{record.sequence} · {record.row_hash}"),
    ]


def _claim(number: int, claim: Claim, hashes: Mapping[str, Sequence[str]]) -> str:
    lines = [f"**{number}.** {claim.text}"]
    if claim.formula is not None:
        lines.append(f"Berechnet: `{claim.formula.expression} = {claim.formula.result}`")
    for citation in claim.citations:
        proof = ", ".join(hashes.get(citation.entry_id, ())) or "–"
        lines.append(f"[{citation.entry_id}] {citation.section} (Stand {citation.stand}), {_place(citation)}, SHA-256 {proof}:")
        lines.append(_quote(citation.quote))
    return "\n\n".join(lines)


def _place(citation: Citation) -> str:
    return f"Zeichen {citation.start} bis {citation.end}"


def _hashes(sections: Sequence[SectionProof]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for section in sections:
        entry_id, _, slug = section.node_id.partition("#")
        found.setdefault(entry_id, []).append(f"{slug}: {section.text_hash}")
    return found


def _quote(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.split("\n"))


def _table(rows: Sequence[tuple[str, str]]) -> str:
    return "\n".join(["| | |", "|---|---|", *(f"| {name} | {value.replace('|', chr(92) + '|')} |" for name, value in rows)])
