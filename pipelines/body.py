"""What an entry's body must look like: its title, its sections and their order, its table of key values."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pipelines.entry_schema import (
    CASE_LAW_SECTIONS,
    KEY_VALUE_COLUMNS,
    KEY_VALUES,
    MAX_SECTION_CHARACTERS,
    MAX_SECTIONS,
    SECTION_ORDER,
    SECTIONS,
    SUMMARY,
    Fault,
    Section,
    Severity,
)
from pipelines.headings import (
    MAX_PARSED_CHARACTERS,
    Heading,
    Outline,
    has_more_headings,
    is_ambiguous,
    read_outline,
    slugs,
    without_outer_blank_lines,
)
from pipelines.instructions import find_instructions
from pipelines.normalisation import printable
from pipelines.tables import Row, find_tables

_HTML = re.compile(r"<(?:/?[A-Za-z][A-Za-z0-9-]{0,30}(?=[\s/>])|!--)")


@dataclass(frozen=True, slots=True)
class BodyReading:
    """The sections of a body in order, whether it is a source text, and every fault."""

    sections: tuple[Section, ...]
    source_text: bool
    faults: tuple[Fault, ...]


def read_body(file: str, body: str, first_line: int, *, work: str | None, title: str | None) -> BodyReading:
    """Reads the Markdown below the frontmatter; `first_line` is its line in the file.

    `work` and `title` are those of the frontmatter, None if it has no usable ones; the rules that need them are skipped.
    """
    if not body.strip():
        message = "Unter dem Frontmatter steht kein Text. Mindestens „## Zusammenfassung“ mit Inhalt schreiben."
        return BodyReading((), False, (Fault(file, first_line, "empty_body", "error", message),))
    if (excess := _excess_fault(file, body, first_line)) is not None:
        return BodyReading((), False, (excess,))
    outline = read_outline(body)
    sections = _sections(body, outline, first_line)
    known = set(SECTIONS) | (set(CASE_LAW_SECTIONS) if work in ("rj", None) else set())
    source_text = work in ("ris", "kv", "rj") and any(
        section.heading not in SECTIONS and section.heading not in CASE_LAW_SECTIONS for section in sections
    )
    faults = [
        *_title_faults(file, body, outline.headings, first_line, title),
        *_section_faults(file, sections, first_line),
        *(_order_faults(file, sections, source_text)),
        *([] if source_text or work is None else _unknown_sections(file, sections, known)),
        *(fault for section in sections for fault in _content_faults(file, section)),
        *_html_fault(file, body, first_line),
        *_unclosed_fault(file, outline, first_line),
    ]
    return BodyReading(sections, source_text, tuple(faults))


def _excess_fault(file: str, body: str, first_line: int) -> Fault | None:
    """What makes a body too much work to read on."""
    if has_more_headings(body, MAX_SECTIONS):
        message = f"Der Eintrag hat mehr als {MAX_SECTIONS} Abschnitte. Auf mehrere Einträge aufteilen."
        return Fault(file, first_line, "too_many_sections", "error", message, expected=MAX_SECTIONS)
    if len(body) > MAX_PARSED_CHARACTERS and is_ambiguous(body):
        message = (
            f"Der Eintrag hat {len(body)} Zeichen; mit HTML oder eingerückten Codeblöcken sind {MAX_PARSED_CHARACTERS} erlaubt. "
            "Das HTML entfernen, Codeblöcke an den Zeilenanfang rücken oder den Eintrag aufteilen."
        )
        return Fault(file, first_line, "markup_too_large", "error", message, found=len(body), expected=MAX_PARSED_CHARACTERS)
    return None


def _sections(body: str, outline: Outline, first_line: int) -> tuple[Section, ...]:
    lines = body.split("\n")
    found = outline.sections(body)
    sections = []
    for (heading, end), slug in zip(found, slugs([heading.text for heading, _ in found]), strict=True):
        skipped, text = without_outer_blank_lines(lines[heading.line + 1 : end])
        line = heading.line + first_line
        instructions = find_instructions(text) if len(text) <= MAX_SECTION_CHARACTERS else ()
        sections.append(Section(heading.text, slug, text, line, line + 1 + skipped, instructions))
    return tuple(sections)


def _title_faults(file: str, body: str, headings: tuple[Heading, ...], first_line: int, title: str | None) -> Iterator[Fault]:
    lines = body.split("\n")
    titles = [heading for heading in headings if heading.level == 1]
    first_section = next((heading.line for heading in headings if heading.level == 2), len(lines))
    if not titles or titles[0].line > first_section:
        message = "Vor dem ersten Abschnitt fehlt die Überschrift „# Titel“. Den Titel des Frontmatters als Überschrift einfügen."
        yield Fault(file, first_line, "h1_missing", "warning", message)
    elif title is not None and " ".join(titles[0].text.split()) != " ".join(title.split()):
        message = "Die Überschrift ist nicht der Titel des Frontmatters. Beide gleich schreiben."
        yield Fault(file, titles[0].line + first_line, "h1_differs", "warning", message, value=printable(titles[0].text))
    for extra in titles[1:] if titles and titles[0].line <= first_section else titles:
        message = "Eine weitere Überschrift erster Ebene; ihr Text gehört zu keinem Abschnitt. Als ### in einen Abschnitt setzen."
        yield Fault(file, extra.line + first_line, "second_h1", "error", message, value=printable(extra.text))
    start = titles[0].line + 1 if titles and titles[0].line < first_section else 0
    end = min([first_section, *(extra.line for extra in titles[1:])])
    skipped, text = without_outer_blank_lines(lines[start:end])
    if text and first_section < len(lines):
        message = "Text vor dem ersten Abschnitt wird weder gefunden noch zitiert. In die Zusammenfassung verschieben."
        yield Fault(file, start + skipped + first_line, "text_outside_sections", "warning", message)


def _section_faults(file: str, sections: tuple[Section, ...], first_line: int) -> Iterator[Fault]:
    if not any(section.heading == SUMMARY for section in sections):
        message = f"Der Abschnitt „{SUMMARY}“ fehlt. „## {SUMMARY}“ als ersten Abschnitt einfügen."
        yield Fault(file, sections[0].line if sections else first_line, "missing_section", "error", message, section=SUMMARY)
    seen: dict[str, int] = {}
    for section in sections:
        name = " ".join(section.heading.split())
        shown = printable(section.heading)
        if name in seen:
            message = f"Den Abschnitt „{shown}“ gibt es schon in Zeile {seen[name]}. Zusammenführen oder umbenennen."
            yield Fault(file, section.line, "duplicate_section", "error", message, section=shown)
        seen.setdefault(name, section.line)
        if not name:
            message = "Eine Überschrift ohne Text. Den Abschnitt benennen."
            yield Fault(file, section.line, "empty_heading", "error", message)
        if not section.text:
            severity: Severity = "error" if section.heading == SUMMARY else "warning"
            message = f"Der Abschnitt „{shown}“ ist leer. Inhalt ergänzen oder die Überschrift entfernen."
            yield Fault(file, section.line, "empty_section", severity, message, section=shown)
        if len(section.text) > MAX_SECTION_CHARACTERS:
            message = (
                f"Der Abschnitt „{shown}“ hat {len(section.text)} Zeichen, erlaubt sind {MAX_SECTION_CHARACTERS}. "
                "Auf mehrere Abschnitte oder Einträge aufteilen."
            )
            yield Fault(
                file,
                section.line,
                "section_too_large",
                "error",
                message,
                section=shown,
                found=len(section.text),
                expected=MAX_SECTION_CHARACTERS,
            )


def _order_faults(file: str, sections: tuple[Section, ...], source_text: bool) -> Iterator[Fault]:
    if source_text:
        for section in sections[1:]:
            if section.heading == SUMMARY:
                message = f"„{SUMMARY}“ muss der erste Abschnitt sein. Nach oben verschieben."
                yield Fault(file, section.line, "section_order", "warning", message, section=SUMMARY)
        return
    highest = -1
    for section in sections:
        if section.heading not in SECTION_ORDER:
            continue
        place = SECTION_ORDER.index(section.heading)
        if place < highest:
            message = f"„{section.heading}“ muss vor „{SECTION_ORDER[highest]}“ stehen. Verschieben."
            yield Fault(file, section.line, "section_order", "warning", message, section=section.heading)
        highest = max(highest, place)


def _unknown_sections(file: str, sections: tuple[Section, ...], known: set[str]) -> Iterator[Fault]:
    for section in sections:
        if section.heading and section.heading not in known:
            shown = printable(section.heading)
            message = (
                f"Den Abschnitt „{shown}“ gibt es in diesem Werk nicht. Als ### in einen der Abschnitte setzen oder umbenennen."
            )
            yield Fault(file, section.line, "unknown_section", "error", message, section=shown)


def _content_faults(file: str, section: Section) -> Iterator[Fault]:
    if len(section.text) > MAX_SECTION_CHARACTERS:
        return
    if section.heading == KEY_VALUES and section.text:
        yield from _key_value_faults(file, section)
    places = [section.text_line + section.text.count("\n", 0, start) for start, _ in section.instruction_spans]
    if find_instructions(section.heading):
        places.insert(0, section.line)
    for line in places:
        yield instruction_fault(file, line, section=printable(section.heading))


def instruction_fault(file: str, line: int, *, section: str | None = None, field: str | None = None) -> Fault:
    """The warning that a text speaks to the model."""
    message = (
        "Der Text wendet sich an das Sprachmodell statt an Leser; er wird nie als Beleg verwendet. "
        "Entfernen oder als Aussage über den Sachverhalt schreiben."
    )
    return Fault(file, line, "instruction_like_text", "warning", message, field=field, section=section)


def _key_value_faults(file: str, section: Section) -> Iterator[Fault]:
    tables = find_tables(section.text)
    if not tables:
        message = f"„{KEY_VALUES}“ enthält keine Tabelle. Als | {' | '.join(KEY_VALUE_COLUMNS)} | schreiben."
        yield Fault(file, section.line, "table_missing", "warning", message, section=KEY_VALUES)
    for table in tables:
        line = section.text_line + table.header.line
        if table.header.cells != KEY_VALUE_COLUMNS:
            message = (
                f"Die Kopfzeile der Tabelle muss | {' | '.join(KEY_VALUE_COLUMNS)} | sein; so werden ihre Werte nicht gelesen."
            )
            shown = printable(" | ".join(table.header.cells))
            yield Fault(file, line, "table_header", "warning", message, section=KEY_VALUES, value=shown)
        elif not table.delimited:
            message = "Unter der Kopfzeile fehlt die Trennzeile |---|---|---|---|. Einfügen."
            yield Fault(file, line, "table_delimiter", "warning", message, section=KEY_VALUES)
        else:
            yield from (fault for row in table.rows for fault in _row_faults(file, section, row))


def _row_faults(file: str, section: Section, row: Row) -> Iterator[Fault]:
    line, found, expected = section.text_line + row.line, len(row.cells), len(KEY_VALUE_COLUMNS)
    if found != expected:
        message = (
            f"Die Zeile hat {found} Zellen statt {expected}; ihre Werte werden nicht gelesen. "
            "Zellen ergänzen oder entfernen, einen senkrechten Strich im Text als \\| schreiben."
        )
        yield Fault(file, line, "table_columns", "warning", message, section=KEY_VALUES, found=found, expected=expected)
    elif not row.cells[0] or not row.cells[1]:
        name = KEY_VALUE_COLUMNS[0] if not row.cells[0] else KEY_VALUE_COLUMNS[1]
        message = f"Die Zelle „{name}“ ist leer; die Zeile wird nicht als Wert gelesen. Ausfüllen oder die Zeile entfernen."
        yield Fault(file, line, "table_empty_cell", "warning", message, section=KEY_VALUES, field=name)


def _unclosed_fault(file: str, outline: Outline, first_line: int) -> Iterator[Fault]:
    if outline.unclosed is not None:
        message = "Ein Codeblock oder Kommentar ist bis zum Ende offen; Überschriften darin sind keine. Schließen oder entfernen."
        yield Fault(file, outline.unclosed + first_line, "unclosed_block", "warning", message)


def _html_fault(file: str, body: str, first_line: int) -> Iterator[Fault]:
    places = [match.start() for match in _HTML.finditer(body)]
    if places:
        line = first_line + body.count("\n", 0, places[0])
        message = f"Der Text enthält HTML ({len(places)}-mal); es wird überall nur als Text gezeigt. Besser Markdown verwenden."
        yield Fault(file, line, "html_in_body", "info", message)
