"""Drafts of models that ignore the schema: sentences that end with `[id]` marks."""

import re
from dataclasses import dataclass

from custom_postprocessors.evidence import DraftClaim
from pipelines.contracts import SILENT_SENTENCE

_MARK = r"\[[A-Za-z]{2,4}(?:-[A-Za-z0-9]+)+(?:#[\w-]+)?\]"
_CITED = re.compile(rf"(?P<text>.*?)(?P<marks>{_MARK}(?:[\s,;]*{_MARK})*)(?P<end>[.!?]?)", re.DOTALL)
_BULLET = re.compile(r"^\s*(?:[-*•+]|\d{1,2}[.)])\s+")
_FOLLOW_UP = re.compile(r"^(?:Rückfrage|Gegenfrage)\s*:\s*", re.IGNORECASE)
_UNANSWERED = re.compile(r"^(?:Offen|Nicht beantwortet|Unbeantwortet)\s*:\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FreeText:
    """A draft in free text. Text without a mark is a claim without sources: it will be seen, and rejected."""

    claims: tuple[DraftClaim, ...]
    silent: bool = False
    follow_up: str | None = None
    unanswered: tuple[str, ...] = ()


def read_free_text(text: str) -> FreeText:
    """Reads `text` line by line; headings and lines that only introduce („…:“, without a figure) say nothing and are left out."""
    claims: list[DraftClaim] = []
    unanswered: list[str] = []
    follow_up = None
    silent = False
    for raw in text.splitlines():
        line = _BULLET.sub("", raw).strip()
        if SILENT_SENTENCE.rstrip(".").lower() in line.lower():
            silent = True
        elif _FOLLOW_UP.match(line):
            follow_up = _FOLLOW_UP.sub("", line)
        elif _UNANSWERED.match(line):
            unanswered.append(_UNANSWERED.sub("", line))
        elif not _only_introduces(line):
            claims.extend(_claims(line))
    return FreeText(tuple(claims), silent and not claims, follow_up, tuple(unanswered))


def _claims(line: str) -> list[DraftClaim]:
    claims, at = [], 0
    for match in _CITED.finditer(line):
        at = match.end()
        claims.append(DraftClaim(_sentence(match["text"], match["end"]), tuple(re.findall(r"\[([^\]]+)\]", match["marks"]))))
    rest = line[at:].strip(" .;,")
    if rest:
        claims.append(DraftClaim(line[at:].strip(), ()))
    return [claim for claim in claims if claim.text]


def _sentence(text: str, end: str) -> str:
    sentence = text.strip().strip(";,").strip()
    return sentence if not sentence or sentence[-1] in ".!?" else sentence + (end or ".")


def _only_introduces(line: str) -> bool:
    plain = line.strip("*_ ")
    return not plain or plain.startswith("#") or (plain.endswith(":") and not any(c.isdigit() for c in plain))
