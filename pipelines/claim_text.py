"""The text of a drafted claim as it may be checked, stored and shown: a plain sentence, its marks turned into sources.

What the program writes itself from metadata (Stand, citation marks, ⚠, the remark on a secondary source) is taken off, so
that whatever looks like a citation in an answer was written by the program. An id anywhere in the text becomes a source:
an invented one is then seen by the verifier instead of by the reader.
"""

import re
import unicodedata
from dataclasses import dataclass

from pipelines.normalisation import remove_invisible

_ID = r"[a-z]{2,4}(?:-[a-z0-9]+)+-[a-z]?\d{1,3}(?:#[\w-]+)?"
_LEAD_IN = r"(?:(?:Quellen?|Beleg|Block|Eintrag|siehe|vgl\.?)\s*:?\s*)?"
_GROUP = re.compile(rf"\s*[(\[【{{⟦]\s*{_LEAD_IN}{_ID}(?:\s*[,;/·&]\s*{_ID})*\s*[)\]】}}⟧]", re.IGNORECASE)
_BARE = re.compile(rf"\s*(?:Quellen?:\s*)?(?<![\w-]){_ID}(?![\w-])", re.IGNORECASE)
_ANY_ID = re.compile(rf"(?<![\w-]){_ID}(?![\w-])", re.IGNORECASE)
_OTHER_MARK = re.compile(r"\s*\[([a-z]{2,4}(?:-[a-z0-9]+)+(?:#[\w-]+)?)\](?!\()", re.IGNORECASE)
_NUMBER_MARK = re.compile(r"\s*(?:\[\d{1,3}\]|【[^】\n]{0,40}】)")
_STAND = re.compile(r"\s*[(\[]Stand:? [^()\[\]]{4,20}[)\]]")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)")
_TAG = re.compile(r"</?[A-Za-z!][^<>]*>")
_URL = re.compile(r"\b(?:(?:https?|ftp|data|javascript|file):|www\.)\S+", re.IGNORECASE)
_WRITTEN_BY_THE_PROGRAM = re.compile(r"^\s*⚠\ufe0f?\s*|\s*\((?:laut Sekundärquelle|nichtamtliche Wiedergabe)\)", re.IGNORECASE)
_LINE_MARK = re.compile(r"^\s*(?:[-*•>]|#{1,6})\s+")
_ROUND = str.maketrans("[]", "()")


@dataclass(frozen=True, slots=True)
class ClaimText:
    """A plain sentence, and the ids that were written inside it, in order."""

    text: str
    ids: tuple[str, ...]


def claim_text(written: str) -> ClaimText:
    """Takes ids out of the text and everything off that the text of a claim must not carry. The text may become empty."""
    plain = plain_text(written)
    found = [match[1] or match[0] for match in re.finditer(f"{_OTHER_MARK.pattern}|{_ANY_ID.pattern}", plain, re.IGNORECASE)]
    for pattern in (_GROUP, _OTHER_MARK, _BARE, _NUMBER_MARK, _STAND, _LINE_MARK, _WRITTEN_BY_THE_PROGRAM):
        plain = pattern.sub("", plain)
    return ClaimText(" ".join(plain.translate(_ROUND).split()), tuple(dict.fromkeys(found)))


def plain_text(written: str) -> str:
    """`written` composed, with nothing invisible, no half surrogates, no tags, links, images or addresses; labels stay."""
    visible = remove_invisible(unicodedata.normalize("NFC", written))
    return _URL.sub("", _TAG.sub("", _LINK.sub(r"\1", visible)))


def source_id(written: str) -> str:
    """A source as the model wrote it, without brackets and blanks around it."""
    return remove_invisible(written).strip("[]() \n\t")


def remark(written: str) -> str | None:
    """A remark of the model as one plain line without ids, or None when nothing is left of it."""
    text = claim_text(written).text
    return text if text and text.lower().rstrip(".") not in {"null", "none", "keine", "-"} else None
