"""YAML as plain values with the line of each: no objects, no aliases, no depth, nothing invisible."""

import unicodedata
from dataclasses import dataclass, field
from typing import cast

import yaml

from pipelines.entry_schema import EntryFrontmatter, Fault, NotText
from pipelines.normalisation import is_invisible, printable, remove_invisible

MAX_DEPTH = 8
"""The format nests three levels; anything deeper is not worth reading on."""
FIRST_YAML_LINE = 2

Location = tuple[str | int, ...]
Value = object
"""What YAML holds here: str, NotText, an Alias, a tuple or a dict of the same."""


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


def field_name(location: Location) -> str:
    """A location as editors read it: `sources[0].url`."""
    name = ""
    for part in location:
        name += f"[{part}]" if isinstance(part, int) else f".{part}" if name else str(part)
    return printable(name, 60)


class TooDeep(Exception):
    """The values are nested deeper than `MAX_DEPTH`; `line` is where."""

    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


class Alias:
    """Stands for an alias that was not followed; its own fault was reported."""


class Composer:
    """Builds plain values from YAML events, so that nothing is constructed, expanded or recursed into unchecked."""

    def __init__(self, file: str, reading: FrontmatterReading) -> None:
        self.file = file
        self.reading = reading
        self.is_mapping = True
        self._loader = yaml.SafeLoader("")
        self._alias_reported = False

    def read(self, text: str) -> None:
        """Fills the reading with the values, lines and faults of a YAML text.

        Raises:
            TooDeep: the values are nested too deep.
            yaml.YAMLError: the text is not YAML.
            ValueError: an escape names no character.
            OverflowError: the same.
        """
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
            raise TooDeep(line)
        self.reading.lines.setdefault(location, line)
        if isinstance(event, yaml.AliasEvent):
            self._alias(event)
            return Alias()
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
    return 1 if event.start_mark is None else event.start_mark.line + FIRST_YAML_LINE


def invisible_fault(file: str, line: int, characters: tuple[str, ...], name: str | None = None) -> Fault:
    """The warning that characters nobody sees were removed."""
    message = (
        f"Unsichtbare Zeichen ({', '.join(characters)}) wurden beim Einlesen entfernt. "
        "Die Zeile neu eintippen, damit die Datei sie nicht mehr enthält."
    )
    return Fault(file, line, "invisible_characters", "warning", message, field=name, characters=characters)
