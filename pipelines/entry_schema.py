"""The format of one entry: its frontmatter as one strict model, its sections, its limits, and what can be wrong with it."""

import re
from dataclasses import dataclass
from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from custom_postprocessors.evidence import Work

Severity = Literal["error", "warning", "info"]

SUMMARY = "Zusammenfassung"
KEY_VALUES = "Kernwerte & Fristen"
LEGAL_BASES = "Rechtsgrundlagen"
PAYROLL = "Payroll-Relevanz (Odoo)"
REFERENCES = "Verweise"
SECTIONS = (SUMMARY, KEY_VALUES, LEGAL_BASES, PAYROLL, REFERENCES)
CASE_LAW_SECTIONS = (SUMMARY, "Sachverhalt", "Rechtssatz", LEGAL_BASES, PAYROLL, REFERENCES)
SECTION_ORDER = (SUMMARY, "Sachverhalt", "Rechtssatz", KEY_VALUES, LEGAL_BASES, PAYROLL, REFERENCES)
"""Both lists in one order, for entries of case law that mix them."""
KEY_VALUE_COLUMNS = ("Kennzahl", "Wert", "Gültig", "Grundlage")

MAX_FILE_BYTES = 4 * 1024 * 1024
"""Largest file that is read at all; the largest statutes in one file stay below a third of it."""
MAX_SECTION_CHARACTERS = 200_000
"""Longest section; source texts reach some 80,000 characters."""
MAX_SECTIONS = 10_000
"""Most sections of one entry; the longest code of law has some 2,400 articles."""
MAX_FRONTMATTER_CHARACTERS = 100_000

ID_PATTERN = re.compile(r"[a-z]{2,4}(-[a-z0-9]+){2,}", re.ASCII)
_STAND_PATTERN = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])")
_SLUG_PATTERN = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_URL_PATTERN = re.compile(r"https?://[^\s/]\S*")


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with one place of the folder, and in German what to do about it.

    `file` is the name inside `dokumente/`, `line` counts from 1 in the file as it lies on disk. `fault` is a stable code.
    An `error` means that the file is not taken over; a `warning` or an `info` that it is. The further fields are set
    where the fault has them. No field holds invisible or control characters, so that a fault can be shown anywhere.
    """

    file: str
    line: int
    fault: str
    severity: Severity
    message: str
    field: str | None = None
    value: str | None = None
    section: str | None = None
    id: str | None = None
    other_file: str | None = None
    target: str | None = None
    found: int | None = None
    expected: int | None = None
    characters: tuple[str, ...] = ()

    def to_json(self) -> dict[str, str | int | list[str] | None]:
        """The fault as reported: the seven common fields always, the further ones where they are set."""
        common: dict[str, str | int | list[str] | None] = {
            "file": self.file,
            "line": self.line,
            "fault": self.fault,
            "severity": self.severity,
            "field": self.field,
            "value": self.value,
            "message": self.message,
        }
        further = {name: getattr(self, name) for name in ("section", "id", "other_file", "target", "found", "expected")}
        common.update({name: value for name, value in further.items() if value is not None})
        if self.characters:
            common["characters"] = list(self.characters)
        return common


@dataclass(frozen=True, slots=True)
class NotText:
    """A YAML scalar that is not a string; nothing is made of it but what it would be and how it is written."""

    kind: str
    text: str


def _filled(value: str) -> str:
    if not value.strip():
        raise PydanticCustomError("empty_value", "Das Feld ist leer. Einen Text eintragen.")
    return value


def _one_line(value: str) -> str:
    if "\n" in value:
        raise PydanticCustomError("not_one_line", "Der Text geht über mehrere Zeilen. In eine Zeile schreiben.")
    return value


Text = Annotated[str, StringConstraints(strip_whitespace=True), AfterValidator(_filled), AfterValidator(_one_line)]


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")


class SourceRef(_Strict):
    """Where facts of an entry were read. `as_of` is text: a month, a year, „o. D.“ or a remark."""

    publisher: Text
    title: Text
    url: Text
    as_of: Text

    @field_validator("url")
    @classmethod
    def _web_address(cls, value: str) -> str:
        if not _URL_PATTERN.fullmatch(value):
            raise PydanticCustomError(
                "bad_url", "Das ist keine Webadresse. Eine vollständige Adresse eintragen, die mit https:// beginnt."
            )
        return value


class EntryFrontmatter(_Strict):
    """The frontmatter, strictly: every field, no other field, no conversion between types.

    The validation context may carry `file_stem`, the file's name without `.md`, which the id has to equal. The type of
    each validation error is the fault's code where the schema has a rule of its own.
    """

    id: str
    title: Text
    stand: str
    work: Work
    topic: str
    tags: tuple[Text, ...]
    legal_bases: tuple[Text, ...]
    cross_refs: tuple[Text, ...]
    sources: tuple[SourceRef, ...]

    @field_validator("id")
    @classmethod
    def _well_formed_id(cls, value: str, info: ValidationInfo) -> str:
        if not ID_PATTERN.fullmatch(value):
            raise PydanticCustomError(
                "bad_id",
                "Die id muss aus Kleinbuchstaben, Ziffern und Bindestrichen bestehen wie „pv-sv-05“ "
                "(Werk mit 2 bis 4 Buchstaben, Cluster, Nummer).",
            )
        stem = (info.context or {}).get("file_stem")
        if stem is not None and stem != value:
            raise PydanticCustomError(
                "id_filename_mismatch", "Die id und der Dateiname sind verschieden. Die Datei umbenennen oder die id ändern."
            )
        return value

    @field_validator("stand")
    @classmethod
    def _month(cls, value: str) -> str:
        if not _STAND_PATTERN.fullmatch(value):
            raise PydanticCustomError(
                "bad_stand", 'Der Stand muss ein Monat im Format "JJJJ-MM" sein, in Anführungszeichen, zum Beispiel "2026-01".'
            )
        return value

    @field_validator("work")
    @classmethod
    def _work_of_id(cls, value: Work, info: ValidationInfo) -> Work:
        entry_id = info.data.get("id")
        if entry_id is not None and entry_id.split("-")[0] != value:
            raise PydanticCustomError(
                "id_work_mismatch", "Das Werk ist nicht der erste Teil der id. Eines von beiden richtigstellen."
            )
        return value

    @field_validator("topic")
    @classmethod
    def _topic_slug(cls, value: str) -> str:
        if not _SLUG_PATTERN.fullmatch(value):
            raise PydanticCustomError(
                "bad_topic", "Das Thema muss aus Kleinbuchstaben (ohne Umlaute), Ziffern und Bindestrichen bestehen."
            )
        return value

    @field_validator("sources")
    @classmethod
    def _at_least_one(cls, value: tuple[SourceRef, ...]) -> tuple[SourceRef, ...]:
        if not value:
            raise PydanticCustomError("no_sources", "Es ist keine Quelle angegeben. Mindestens eine Quelle eintragen.")
        return value


FIELDS = tuple(EntryFrontmatter.model_fields)
WORKS: tuple[Work, ...] = get_args(Work)


@dataclass(frozen=True, slots=True)
class Section:
    """One H2 section. `text` is the Markdown below the heading line, without outer blank lines.

    `line` is the heading's line in the file and `text_line` that of the first line of `text`, both counted from 1.
    `instruction_spans` are the half-open parts of `text` that address a model (see `pipelines.instructions`).
    """

    heading: str
    slug: str
    text: str
    line: int
    text_line: int
    instruction_spans: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """A valid entry. `body` is the Markdown below the frontmatter, NFC, LF, without invisible characters.

    `text` is the whole file in the same form, `content_hash` its SHA-256 (hex). `cross_refs` holds no reference to the
    entry itself and none twice, but may hold ids that do not exist: see `pipelines.knowledge_base.with_known_refs`.
    """

    id: str
    title: str
    stand: str
    work: Work
    topic: str
    tags: tuple[str, ...]
    legal_bases: tuple[str, ...]
    cross_refs: tuple[str, ...]
    sources: tuple[SourceRef, ...]
    body: str
    sections: tuple[Section, ...]
    source_text: bool
    text: str
    content_hash: str
