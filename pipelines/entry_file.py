"""One file: from its bytes to a valid entry, or to everything that is wrong with it."""

import hashlib
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from pipelines.body import instruction_fault, read_body
from pipelines.entry_schema import MAX_FILE_BYTES, WORKS, Entry, Fault
from pipelines.frontmatter import read_frontmatter, split
from pipelines.instructions import find_instructions
from pipelines.normalisation import Decoded, NotUtf8, decode, printable
from pipelines.yaml_values import FrontmatterReading, Location, field_name, invisible_fault

SUFFIX = ".md"
MAX_FAULTS_PER_CODE = 25
"""So that one broken file does not bury the report; the last one says how many more there are."""


@dataclass(frozen=True, slots=True)
class FileReading:
    """What became of one file.

    `entry` is None when it is rejected; `entry_id` is what the file is about all the same: its name without `.md`.
    """

    file: str
    entry_id: str
    entry: Entry | None
    faults: tuple[Fault, ...]
    claimed_id: str | None = None
    """The id that the frontmatter has, valid or not."""
    references: tuple[tuple[str, int], ...] = ()
    """What `cross_refs` names, valid or not, each once with its line."""

    @property
    def accepted(self) -> bool:
        """Whether the file is taken over, with or without warnings."""
        return self.entry is not None


def parse_entry(file_name: str, data: bytes) -> FileReading:
    """Checks the content of one file. Looks at nothing but `data`: references are checked with the folder.

    `file_name` is the name inside `dokumente/`; without `.md` it has to be the entry's id.
    """
    file, stem = shown_name(file_name), file_name.removesuffix(SUFFIX)
    if len(data) > MAX_FILE_BYTES:
        return rejected(file, too_large(file, len(data)))
    try:
        decoded = decode(data)
    except NotUtf8 as exc:
        message = f"Das Byte 0x{exc.byte:02X} ist kein UTF-8. Die Datei im Editor als UTF-8 speichern."
        return rejected(file, Fault(file, exc.line, "not_utf8", "error", message))
    if b"\x00" in data:
        line = data[: data.index(0)].count(b"\n") + 1
        message = "Die Datei enthält NUL-Bytes und ist keine Textdatei. Als Text in UTF-8 speichern."
        return rejected(file, Fault(file, line, "not_text", "error", message))
    return _parse_text(file, stem, decoded)


def _parse_text(file: str, stem: str, decoded: Decoded) -> FileReading:
    faults = list(_form_faults(file, decoded))
    parts = split(file, decoded.text)
    if isinstance(parts, Fault):
        return rejected(file, *faults, *_invisible_faults(file, decoded, FrontmatterReading(), 0), parts)
    reading = read_frontmatter(file, parts.frontmatter, stem)
    work = reading.text("work")
    body = read_body(
        file,
        parts.body,
        parts.body_line,
        work=work if work in WORKS else None,
        title=None if any(fault.field == "title" for fault in reading.faults) else reading.text("title"),
    )
    faults += [*_invisible_faults(file, decoded, reading, parts.body_line), *reading.faults, *body.faults]
    faults += _addressed_fields(file, reading)
    fields = reading.fields
    claimed = reading.text("id")
    if fields is None or any(fault.severity == "error" for fault in faults):
        return FileReading(file, stem, None, in_order(faults), claimed, _references(reading))
    entry = Entry(
        id=fields.id,
        title=fields.title,
        stand=fields.stand,
        work=fields.work,
        topic=fields.topic,
        tags=tuple(dict.fromkeys(fields.tags)),
        legal_bases=tuple(dict.fromkeys(fields.legal_bases)),
        cross_refs=tuple(dict.fromkeys(fields.cross_refs)),
        sources=tuple(dict.fromkeys(fields.sources)),
        body=parts.body,
        sections=body.sections,
        source_text=body.source_text,
        text=decoded.text,
        content_hash=hashlib.sha256(decoded.text.encode("utf-8")).hexdigest(),
    )
    return FileReading(file, stem, entry, in_order(faults), claimed, _references(reading))


def _references(reading: FrontmatterReading) -> tuple[tuple[str, int], ...]:
    members = reading.values.get("cross_refs")
    lines: dict[str, int] = {}
    for position, member in enumerate(members if isinstance(members, tuple) else ()):
        if isinstance(member, str) and member.strip():
            lines.setdefault(member.strip(), reading.line("cross_refs", position))
    return tuple(lines.items())


def _form_faults(file: str, decoded: Decoded) -> Iterator[Fault]:
    if decoded.had_bom:
        message = "Die Datei beginnt mit einer Bytereihenfolge-Marke (BOM); sie wurde entfernt. Als UTF-8 ohne BOM speichern."
        yield Fault(file, 1, "bom", "warning", message)
    if decoded.had_carriage_returns:
        yield Fault(file, 1, "crlf", "info", "Die Zeilenenden sind nicht LF; sie wurden vereinheitlicht.")
    if not decoded.was_nfc:
        yield Fault(
            file, 1, "not_nfc", "info", "Umlaute sind aus zwei Zeichen zusammengesetzt; sie wurden vereinheitlicht (NFC)."
        )
    if decoded.replacement_line is not None:
        message = "Das Ersatzzeichen U+FFFD steht für ein verlorenes Zeichen. Den Text aus der Quelle neu übernehmen."
        yield Fault(file, decoded.replacement_line, "replacement_character", "error", message)


def _invisible_faults(file: str, decoded: Decoded, reading: FrontmatterReading, body_line: int) -> Iterator[Fault]:
    for line, characters in decoded.invisible:
        name = reading.field_at(line) if line < body_line else None
        yield invisible_fault(file, line, characters, name)


def _addressed_fields(file: str, reading: FrontmatterReading) -> Iterator[Fault]:
    """Fields whose text speaks to a model; they are shown beside the sections."""
    texts: list[tuple[Location, object]] = [((name,), value) for name, value in reading.values.items()]
    for location, value in texts:
        if isinstance(value, str) and find_instructions(value):
            yield instruction_fault(file, reading.line(*location), field=field_name(location))
        elif isinstance(value, tuple | dict):
            members = value.items() if isinstance(value, dict) else enumerate(value)
            texts.extend(((*location, name), member) for name, member in members)


def too_large(file: str, size: int) -> Fault:
    """The fault of a file that is not read because of its size."""
    message = f"Die Datei hat {size} Bytes, erlaubt sind {MAX_FILE_BYTES}. Auf mehrere Einträge aufteilen."
    return Fault(file, 1, "file_too_large", "error", message, found=size, expected=MAX_FILE_BYTES)


def rejected(file: str, *faults: Fault) -> FileReading:
    """A file that is not taken over, before anything of it could be read as an entry."""
    return FileReading(file, file.removesuffix(SUFFIX), None, in_order(list(faults)))


def in_order(faults: list[Fault]) -> tuple[Fault, ...]:
    """By line; of one code in one file only the first, with a word on how many more there are."""
    kept: list[Fault] = []
    counts = Counter(fault.fault for fault in faults)
    seen: Counter[str] = Counter()
    for fault in sorted(faults, key=lambda fault: fault.line):
        seen[fault.fault] += 1
        if seen[fault.fault] == MAX_FAULTS_PER_CODE and counts[fault.fault] > MAX_FAULTS_PER_CODE:
            more = counts[fault.fault] - MAX_FAULTS_PER_CODE
            fault = replace(fault, message=f"{fault.message} (Und {more} weitere dieser Art in der Datei.)")
        if seen[fault.fault] <= MAX_FAULTS_PER_CODE:
            kept.append(fault)
    return tuple(kept)


def shown_name(name: str) -> str:
    """A file's name for reports: valid Unicode, nothing invisible."""
    return printable(os.fsencode(name).decode("utf-8", "replace"), 200)
