"""An entry's frontmatter: found by its fences, read as YAML with the line of every value, checked by the strict model."""

import difflib
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from typing import cast

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from pipelines.entry_schema import FIELDS, MAX_FRONTMATTER_CHARACTERS, WORKS, EntryFrontmatter, Fault, NotText
from pipelines.normalisation import is_invisible, printable, remove_invisible

FENCE = "---"
MAX_DEPTH = 8
"""The format nests three levels; anything deeper is not worth reading on."""
_KINDS = {
    "bool": "ein Wahrheitswert",
    "int": "eine Zahl",
    "float": "eine Zahl",
    "null": "leer",
    "timestamp": "ein Datum",
    "list": "eine Liste",
    "mapping": "eine Zuordnung",
}
_FIRST_YAML_LINE = 2

Location = tuple[str | int, ...]
Value = object
"""What YAML holds here: str, NotText, a tuple or a dict of the same."""


@dataclass(frozen=True, slots=True)
class Split:
    """The two parts of a file. `body_line` is the line of the file, from 1, with which the body begins."""

    frontmatter: str
    body: str
    body_line: int


@dataclass(slots=True)
class FrontmatterReading:
    """What was found: the valid fields or None, the values as read, and every fault. Lines are those of the file."""

    fields: EntryFrontmatter | None = None
    values: dict[str, Value] = field(default_factory=dict)
    lines: dict[Location, int] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)

    def text(self, name: str) -> str | None:
        """The value of a field if it is text, valid or not."""
        value = self.values.get(name)
        return value if isinstance(value, str) else None

    def field_at(self, line: int) -> str | None:
        """The field whose value stands in a line of the file, as far as one begins there."""
        deepest = [location for location, found in self.lines.items() if found == line and location and "" not in location]
        return field_name(max(deepest, key=len)) if deepest else None

    def line(self, *location: str | int) -> int:
        """The line of a value, or of the nearest thing around it that has one; 1 for what is nowhere."""
        while location:
            if location in self.lines:
                return self.lines[location]
            location = location[:-1]
        return 1


def split(file: str, text: str) -> Split | Fault:
    """Separates frontmatter and body. The fences are lines of three hyphens; the first has to be the first line."""
    lines = text.split("\n")
    if lines[0].rstrip() != FENCE:
        message = "Die Datei beginnt nicht mit dem Frontmatter. In die erste Zeile --- schreiben, darunter die Felder."
        return Fault(file, 1, "frontmatter_missing", "error", message)
    for number, line in enumerate(lines[1:], start=1):
        if line.rstrip() == FENCE:
            return Split("\n".join(lines[1:number]), "\n".join(lines[number + 1 :]), number + 2)
    return _unclosed(file)


def read_frontmatter(file: str, text: str, file_stem: str) -> FrontmatterReading:
    """Reads and checks the text between the fences. Reports every fault; never expands an alias, never builds an object."""
    reading = FrontmatterReading()
    if len(text) > MAX_FRONTMATTER_CHARACTERS:
        message = f"Das Frontmatter hat {len(text)} Zeichen, erlaubt sind {MAX_FRONTMATTER_CHARACTERS}. Kürzen."
        reading.faults.append(Fault(file, 1, "frontmatter_too_large", "error", message))
        return reading
    composer = _Composer(file, reading)
    try:
        composer.read(text)
    except (yaml.YAMLError, ValueError, OverflowError) as exc:
        reading.faults.append(_syntax_fault(file, text, exc))
        return reading
    except _TooDeep as exc:
        message = f"Das Frontmatter ist tiefer als {MAX_DEPTH} Ebenen verschachtelt. Auf die Felder des Formats beschränken."
        reading.faults.append(Fault(file, exc.line, "yaml_too_deep", "error", message))
        return reading
    if not composer.is_mapping:
        message = "Das Frontmatter besteht nicht aus Feldern der Form „name: wert“. Die Felder des Formats eintragen."
        reading.faults.append(Fault(file, _FIRST_YAML_LINE, "frontmatter_not_fields", "error", message))
        return reading
    _validate(file, reading, file_stem)
    return reading


def field_name(location: Location) -> str:
    """A location as editors read it: `sources[0].url`."""
    name = ""
    for part in location:
        name += f"[{part}]" if isinstance(part, int) else f".{part}" if name else str(part)
    return printable(name, 60)


class _TooDeep(Exception):
    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


class _Alias:
    """Stands for an alias that was not followed; its own fault was reported."""


class _Composer:
    """Builds plain values from YAML events, so that nothing is constructed, expanded or recursed into unchecked."""

    def __init__(self, file: str, reading: FrontmatterReading) -> None:
        self.file = file
        self.reading = reading
        self.is_mapping = True
        self._loader = yaml.SafeLoader("")
        self._alias_reported = False

    def read(self, text: str) -> None:
        self._loader = yaml.SafeLoader(text)
        documents = 0
        while not isinstance(event := self._next(), yaml.StreamEndEvent):
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    message = "Das Frontmatter enthält mehrere YAML-Dokumente. Nur eines stehen lassen."
                    self._fault("yaml_multiple_documents", event, message)
                    return
            elif isinstance(event, yaml.NodeEvent):
                value = self._value(event, ())
                if isinstance(value, dict):
                    self.reading.values = value
                else:
                    self.is_mapping = isinstance(value, NotText) and value.kind == "null"

    def _next(self) -> yaml.Event:
        event = self._loader.get_event()  # type: ignore[no-untyped-call]
        return cast(yaml.Event, event)

    def _value(self, event: yaml.Event, location: Location) -> Value:
        line = _line(event)
        if len(location) > MAX_DEPTH:
            raise _TooDeep(line)
        self.reading.lines.setdefault(location, line)
        if isinstance(event, yaml.AliasEvent):
            self._alias(event)
            return _Alias()
        if isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent):
            if event.anchor is not None:
                self._alias(event)
            if event.tag is not None:
                shown = printable(str(event.tag))
                message = f"Der YAML-Typ {shown} ist nicht erlaubt. Den Typ weglassen und den Wert als Text schreiben."
                self._fault("yaml_tag_not_allowed", event, message)
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event, location)
        return self._mapping(location) if isinstance(event, yaml.MappingStartEvent) else self._sequence(location)

    def _sequence(self, location: Location) -> Value:
        members: list[Value] = []
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            members.append(self._value(event, (*location, len(members))))
        return tuple(members)

    def _mapping(self, location: Location) -> Value:
        members: dict[str, Value] = {}
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            key = self._value(event, (*location, ""))
            name = key if isinstance(key, str) else key.text if isinstance(key, NotText) else "?"
            inside = (*location, name)
            value_event = self._next()
            if name in members:
                message = f"Das Feld „{printable(name)}“ steht doppelt. Eines der beiden entfernen."
                self._fault("duplicate_field", event, message, field_name(inside))
                self._value(value_event, inside)
                continue
            self.reading.lines[inside] = _line(event)
            members[name] = self._value(value_event, inside)
        return members

    def _scalar(self, event: yaml.ScalarEvent, location: Location) -> Value:
        written = event.value
        resolved = self._loader.resolve(yaml.ScalarNode, written, event.implicit)  # type: ignore[no-untyped-call]
        kind = "str" if event.tag is not None else str(resolved).removeprefix("tag:yaml.org,2002:")
        # An escape such as "\u202E" brings back what was removed from the file's text.
        characters = dict.fromkeys(f"U+{ord(character):04X}" for character in written if is_invisible(character))
        if characters:
            name = field_name(location)
            self.reading.faults.append(invisible_fault(self.file, _line(event), tuple(characters), name))
        text = unicodedata.normalize("NFC", remove_invisible(written))
        return text if kind in ("str", "merge", "value") else NotText(kind, text)

    def _alias(self, event: yaml.Event) -> None:
        if not self._alias_reported:
            self._alias_reported = True
            message = "Anker (&) und Verweise (*) von YAML sind nicht erlaubt. Den Wert an jeder Stelle ausschreiben."
            self._fault("yaml_alias_not_allowed", event, message)

    def _fault(self, code: str, event: yaml.Event, message: str, name: str | None = None) -> None:
        self.reading.faults.append(Fault(self.file, _line(event), code, "error", message, field=name))


def _line(event: yaml.Event) -> int:
    return 1 if event.start_mark is None else event.start_mark.line + _FIRST_YAML_LINE


def invisible_fault(file: str, line: int, characters: tuple[str, ...], name: str | None = None) -> Fault:
    """The warning that characters nobody sees were removed."""
    message = (
        f"Unsichtbare Zeichen ({', '.join(characters)}) wurden beim Einlesen entfernt. "
        "Die Zeile neu eintippen, damit die Datei sie nicht mehr enthält."
    )
    return Fault(file, line, "invisible_characters", "warning", message, field=name, characters=characters)


def _validate(file: str, reading: FrontmatterReading, file_stem: str) -> None:
    try:
        reading.fields = EntryFrontmatter.model_validate(reading.values, context={"file_stem": file_stem})
    except ValidationError as exc:
        for error in exc.errors(include_url=False):
            if not isinstance(error["input"], _Alias):
                reading.faults.append(_model_fault(file, reading, error))
    for name in ("tags", "legal_bases", "cross_refs", "sources"):
        reading.faults.extend(_repeated_members(file, reading, name))
    if any(fault.severity == "error" for fault in reading.faults):
        reading.fields = None


def _model_fault(file: str, reading: FrontmatterReading, error: ErrorDetails) -> Fault:
    location, kind = error["loc"], error["type"]
    value = None if kind == "missing" else _shown(error["input"])
    line = reading.line(*location)
    name = field_name(location)
    entry_id = reading.text("id") if kind in ("id_filename_mismatch", "id_work_mismatch", "bad_id") else None
    code, message = _code_and_message(location, error)
    return Fault(
        file,
        line,
        code,
        "error",
        message,
        field=name,
        value=value,
        id=None if entry_id is None else printable(entry_id),
    )


def _code_and_message(location: Location, error: ErrorDetails) -> tuple[str, str]:
    kind, name = error["type"], field_name(location)
    if kind == "missing":
        return "missing_field", f"Das Feld „{name}“ fehlt. Im Frontmatter ergänzen."
    if kind == "extra_forbidden":
        near = difflib.get_close_matches(str(location[-1])[:60], FIELDS, n=1) if len(location) == 1 else []
        advice = f"Meinten Sie „{near[0]}“?" if near else "Das Feld entfernen."
        return "unknown_field", f"Das Feld „{name}“ gibt es nicht. {advice}"
    if location == ("stand",):
        advice = 'Als Monat im Format "JJJJ-MM" in Anführungszeichen schreiben, zum Beispiel "2026-01".'
        return "bad_stand", f"Der Stand {_shown(error['input'])} ist kein Monat. {advice}"
    if location == ("work",) and kind == "literal_error":
        return "unknown_work", f"Das Werk {_shown(error['input'])} gibt es nicht. Eines von {', '.join(WORKS)} eintragen."
    if kind in ("string_type", "tuple_type", "model_type", "model_attributes_type", "dict_type"):
        return "wrong_type", _wrong_type(name, kind, error["input"])
    return kind, error["msg"]


def _wrong_type(name: str, kind: str, given: Value) -> str:
    is_kind = given.kind if isinstance(given, NotText) else "list" if isinstance(given, tuple) else "mapping"
    found = "Text" if isinstance(given, str) else _KINDS.get(is_kind, is_kind)
    if kind == "string_type":
        advice = "Einen Text eintragen" if is_kind == "null" else "Den Wert als einen Text in Anführungszeichen schreiben"
        return f"Im Feld „{name}“ muss ein Text stehen, hier steht: {found}. {advice}."
    if kind == "tuple_type":
        return (
            f"Im Feld „{name}“ muss eine Liste stehen, hier steht: {found}. Je Zeile „- Wert“ schreiben, für eine leere Liste []."
        )
    return f"In „{name}“ müssen publisher, title, url und as_of stehen, hier steht: {found}."


def _repeated_members(file: str, reading: FrontmatterReading, name: str) -> list[Fault]:
    members = reading.values.get(name)
    if not isinstance(members, tuple):
        return []
    code = "duplicate_cross_ref" if name == "cross_refs" else "duplicate_member"
    seen: Counter[str] = Counter()
    faults = []
    for position, member in enumerate(members):
        key = repr(member)
        seen[key] += 1
        if seen[key] == 2:
            shown = _shown(member)
            message = f"{shown} steht in „{name}“ mehrmals; es zählt einmal. Die Wiederholung entfernen."
            target = shown if name == "cross_refs" else None
            line = reading.line(name, position)
            faults.append(Fault(file, line, code, "warning", message, field=name, value=shown, target=target))
    return faults


def _syntax_fault(file: str, text: str, exc: Exception) -> Fault:
    if any(line.startswith("## ") for line in text.split("\n")):
        return _unclosed(file)
    mark = getattr(exc, "problem_mark", None) or getattr(exc, "context_mark", None)
    line = mark.line + _FIRST_YAML_LINE if mark is not None else _FIRST_YAML_LINE
    problem = str(getattr(exc, "problem", None) or exc)
    lines = text.split("\n")
    number = min(line - _FIRST_YAML_LINE, len(lines) - 1)
    if "\\t" in problem or "\t" in lines[number]:
        advice = "Die Zeile enthält einen Tabulator (tab). Mit Leerzeichen einrücken."
    else:
        advice = "Anführungszeichen, Doppelpunkte und Einrückung dieser und der Zeilen davor prüfen."
    message = f"Das Frontmatter ist kein gültiges YAML ({printable(problem)}). {advice}"
    return Fault(file, line, "yaml_syntax", "error", message)


def _unclosed(file: str) -> Fault:
    message = "Das Frontmatter ist nicht abgeschlossen. Nach dem letzten Feld eine Zeile --- einfügen."
    return Fault(file, 1, "frontmatter_unclosed", "error", message)


def _shown(value: Value) -> str:
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, NotText):
        return printable(value.text)
    return "[…]" if isinstance(value, tuple) else "{…}"
