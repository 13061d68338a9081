"""Entries as files for the tests of reading: one good one, and ways to spoil it."""

from collections.abc import Mapping
from pathlib import Path

from pipelines.knowledge_base import FileReading, parse_entry

FRONTMATTER = {
    "id": "pv-tst-01",
    "title": '"Zuschlag für Probefahrten"',
    "stand": '"2026-01"',
    "work": "pv",
    "topic": "probe",
    "tags": '\n  - "Probefahrt"\n  - "Zuschlag"',
    "legal_bases": '\n  - "§ 49 ASVG"',
    "cross_refs": "[]",
    "sources": '\n  - publisher: "Prüfstelle"\n    title: "Quelle"\n    url: "https://example.org/probe"\n    as_of: "2026-01"',
}
SUMMARY = "## Zusammenfassung\n\nDer Zuschlag beträgt 1,11 € je Fahrt.\n"
KEY_VALUES = (
    "## Kernwerte & Fristen\n\n| Kennzahl | Wert | Gültig | Grundlage |\n"
    "|---|---|---|---|\n"
    "| Zuschlag | 1,11 € | 2026 | erfunden |\n"
)
LEGAL_BASES = "## Rechtsgrundlagen\n\n- § 49 ASVG: nur genannt.\n"
PAYROLL = "## Payroll-Relevanz (Odoo)\n\nKeine.\n"
REFERENCES = "## Verweise\n\n- [pv-tst-02] Anderer Eintrag\n"
TITLE = "# Zuschlag für Probefahrten\n"


def body(*sections: str) -> str:
    return "\n".join((TITLE, *sections))


GOOD_BODY = body(SUMMARY, KEY_VALUES, LEGAL_BASES, PAYROLL)


def frontmatter(changes: Mapping[str, str | None] | None = None) -> str:
    """The good frontmatter with fields replaced, added, or (None) left out."""
    fields = {**FRONTMATTER, **(changes or {})}
    return "".join(
        f"{name}:{value if value.startswith(chr(10)) else ' ' + value}\n" for name, value in fields.items() if value is not None
    )


def entry_text(changes: Mapping[str, str | None] | None = None, *, text: str = GOOD_BODY) -> str:
    return f"---\n{frontmatter(changes)}---\n\n{text}"


def read(text: str | bytes, name: str = "pv-tst-01.md") -> FileReading:
    return parse_entry(name, text.encode() if isinstance(text, str) else text)


def faults_of(reading: FileReading) -> list[tuple[str, str, int]]:
    return [(fault.fault, fault.severity, fault.line) for fault in reading.faults]


def write_folder(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    (folder / "dokumente").mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / "dokumente" / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def named(entry_id: str, changes: Mapping[str, str | None] | None = None) -> dict[str, str]:
    return {f"{entry_id}.md": entry_text({"id": entry_id, **(changes or {})})}
