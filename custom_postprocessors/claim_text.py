"""What a model wrote as a statement, made plain: no marks, no Stand, no markup; or the reasons why it cannot be used."""

import re
import unicodedata
from dataclasses import dataclass

from custom_postprocessors.evidence import GroundedContext, Passage, Violation
from custom_postprocessors.sentences import plain_markdown

MAX_CLAIM_CHARACTERS = 1500

_STAND = re.compile(r"[(\[]\s*(?:alle\s+)?Stand(?::|\s+per|\s+vom)?\s*[^()\[\]]{0,40}[)\]]", re.IGNORECASE)
_PROGRAM_STAND = re.compile(r"\d{4}-\d{2}")
_STAND_TAIL = re.compile(r"[,;]?\s*\bStand:?\s+\d{4}-\d{2}\b", re.IGNORECASE)
_BRACKETS = re.compile(
    r"[\[【〔(]+\s*(?P<inside>[A-Za-z]{2,4}(?:-[A-Za-z0-9]+){2,}(?:#[\w-]+)?(?:\s*[,;]\s*[A-Za-z]{2,4}(?:-[A-Za-z0-9]+){2,}(?:#[\w-]+)?)*)\s*[\]】〕)]+(?:\([^)]*\))?"
)
_ID = re.compile(
    r"(?<![\w-])[A-Za-z]{2,4}-[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*-\d+[a-z]?(?:#[\w-]+)?(?![\w-])|(?<![\w-])[a-z]{2,4}(?:-[a-z0-9]+){2,}#[\w-]+"
)
_NUMBERED_MARK = re.compile(
    r"\[\s*\^?\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*\s*\]|【[^】]*】|\[(?:Quelle|Block|Source|Beleg)[^\]]*\]", re.IGNORECASE
)
_FOREIGN = re.compile(
    r"!\[[^\]]*\]|</?[A-Za-z!][^>]*>?|\b(?:https?|ftp|data|javascript|file)\s*:|\bwww\.|\[[^\]]*\]\s*\(|&(?:#\d+|#x[0-9a-f]+|lt|gt|amp);",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class PlainClaim:
    """A claim's text without anything the program writes itself, and what was wrong with the raw text."""

    text: str
    violations: tuple[Violation, ...]


def plain_claim(raw: str, sources: tuple[str, ...], context: GroundedContext) -> PlainClaim:
    """Strips citation marks of given sources, Stand, emphasis and ⚠; reports foreign ids, links, images and HTML.

    An id in the text that is not among the claim's own `sources` is a violation in every form: bracketed, linked, bare.
    """
    text = _visible(raw)
    violations: list[Violation] = []
    allowed = _allowed_ids(sources, context)
    unknown = sorted({match.group() for match in _ID.finditer(text) if match.group().lower() not in allowed})
    for written in unknown:
        violations.append(
            Violation(kind="unknown_source", message=f"Die Quelle „{written}“ wurde nicht angegeben.", value=written)
        )
    for match in _NUMBERED_MARK.finditer(text):
        violations.append(Violation(kind="unknown_source", message=f"„{match.group()}“ ist keine Quelle.", value=match.group()))
    without_marks = _BRACKETS.sub(" ", text)
    if _FOREIGN.search(without_marks):
        violations.append(Violation(kind="malformed", message="Die Aussage enthält Verweise, Bilder oder HTML."))
    said = " ".join(passage.shown_text() for passage in _cited(sources, context))
    kept = _STAND.sub(lambda match: _validity(match.group(), said), without_marks)
    plain = _STAND_TAIL.sub("", kept).replace("⚠", " ")
    plain = plain_markdown(re.sub(r"^\s*(?:[-*+]|#{1,6})\s+", "", plain))
    if not re.search(r"\w", plain):
        violations.append(Violation(kind="malformed", message="Die Aussage ist leer."))
    if len(plain) > MAX_CLAIM_CHARACTERS:
        violations.append(Violation(kind="malformed", message="Die Aussage ist zu lang; bitte in mehrere teilen."))
    return PlainClaim(plain, tuple(violations))


def _validity(written: str, said: str) -> str:
    """A validity that the source words as „Stand Mitte 2018“, behind a dash; a blank for a Stand, which the program writes."""
    text = written.strip("([ )]")
    return f" – {text}" if text in said and not _PROGRAM_STAND.search(text) else " "


def _cited(sources: tuple[str, ...], context: GroundedContext) -> list[Passage]:
    return [passage for passage in context.passages if {passage.block_id, passage.entry_id} & set(sources)]


def _visible(raw: str) -> str:
    """NFC without control, bidi and zero-width characters, on one line."""
    normal = unicodedata.normalize("NFC", raw)
    kept = "".join(
        " " if char.isspace() else char
        for char in normal
        if char.isspace() or unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Co")
    )
    return re.sub(r" +", " ", kept).strip()


def _allowed_ids(sources: tuple[str, ...], context: GroundedContext) -> set[str]:
    given = {passage.block_id for passage in context.passages} | {passage.entry_id for passage in context.passages}
    own = {source for source in sources if source in given}
    return own | {source.partition("#")[0] for source in own}
