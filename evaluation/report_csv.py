"""A bake-off as a table for a spreadsheet: one row per model and question."""

import csv
import io
from collections.abc import Iterable, Sequence

from evaluation.model_report import BakeoffReport

COLUMNS = (
    "Modell",
    "Frage-ID",
    "Art",
    "Frage",
    "Ergebnis",
    "Grund",
    "Verweigerung korrekt",
    "Werte korrekt",
    "erwartete Quelle",
    "Aussagen im Entwurf",
    "davon bestanden",
    "neu geschrieben",
    "verworfen",
    "Sekunden",
    "erste Aussage (Sekunden)",
    "erwartet",
    "zitiert",
    "Mängel",
    "Antwort",
)
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def csv_report(report: BakeoffReport) -> str:
    """Semicolons and decimal commas, as spreadsheets here expect them; no cell can start a formula."""
    rows = [
        (
            model.name,
            one.id,
            one.kind,
            one.question,
            one.status,
            one.refusal_reason or "",
            one.refusal_correct,
            one.values_correct,
            one.found_expected if one.answerable else None,
            one.draft_total,
            one.draft_passed,
            one.regenerated,
            one.dropped_claims,
            one.latency_ms / 1000,
            None if one.first_claim_ms is None else one.first_claim_ms / 1000,
            " ".join(one.expected_ids),
            " ".join(one.cited_ids),
            " | ".join((*one.faults, *one.violations, *filter(None, (one.error,)))),
            one.answer,
        )
        for model in report.models
        for one in model.per_question
    ]
    return csv_text(COLUMNS, rows)


def csv_text(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table as CSV text."""
    target = io.StringIO()
    writer = csv.writer(target, delimiter=";", lineterminator="\r\n")
    writer.writerow(head)
    writer.writerows([[_cell(value) for value in row] for row in rows])
    return target.getvalue()


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "ja" if value else "nein"
        case float():
            return f"{value:.3f}".replace(".", ",")
        case int():
            return str(value)
        case _:
            text = str(value)
            return f"'{text}" if text.startswith(_FORMULA_STARTS) else text
