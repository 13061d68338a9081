"""An entry's frontmatter: found by its fences, read as YAML with the line of every value, checked by the strict model."""

import difflib
from collections import Counter
from dataclasses import dataclass

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from pipelines.entry_schema import FIELDS, MAX_FRONTMATTER_CHARACTERS, WORKS, EntryFrontmatter, Fault, NotText
from pipelines.normalisation import printable
from pipelines.yaml_values import (
    FIRST_YAML_LINE,
    MAX_DEPTH,
    Alias,
    Composer,
    FrontmatterReading,
    Location,
    TooDeep,
    Value,
    field_name,
)

FENCE = "---"
_KINDS = {
    "bool": "ein Wahrheitswert",
    "int": "eine Zahl",
    "float": "eine Zahl",
    "null": "leer",
    "timestamp": "ein Datum",
    "list": "eine Liste",
    "mapping": "eine Zuordnung",
}


@dataclass(frozen=True, slots=True)
class Split:
    """The two parts of a file. `body_line` is the line of the file, from 1, with which the body begins."""

    frontmatter: str
    body: str
    body_line: int


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
    composer = Composer(file, reading)
    try:
        composer.read(text)
    except (yaml.YAMLError, ValueError, OverflowError) as exc:
        reading.faults.append(_syntax_fault(file, text, exc))
        return reading
    except TooDeep as exc:
        message = f"Das Frontmatter ist tiefer als {MAX_DEPTH} Ebenen verschachtelt. Auf die Felder des Formats beschränken."
        reading.faults.append(Fault(file, exc.line, "yaml_too_deep", "error", message))
        return reading
    if not composer.is_mapping:
        message = "Das Frontmatter besteht nicht aus Feldern der Form „name: wert“. Die Felder des Formats eintragen."
        reading.faults.append(Fault(file, FIRST_YAML_LINE, "frontmatter_not_fields", "error", message))
        return reading
    _validate(file, reading, file_stem)
    return reading


def _validate(file: str, reading: FrontmatterReading, file_stem: str) -> None:
    try:
        reading.fields = EntryFrontmatter.model_validate(reading.values, context={"file_stem": file_stem})
    except ValidationError as exc:
        for error in exc.errors(include_url=False):
            if not isinstance(error["input"], Alias):
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
    line = mark.line + FIRST_YAML_LINE if mark is not None else FIRST_YAML_LINE
    problem = str(getattr(exc, "problem", None) or exc)
    lines = text.split("\n")
    number = min(line - FIRST_YAML_LINE, len(lines) - 1)
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
