"""From what a model writes, piece by piece, to complete draft claims: never a half-open one."""

import re
from dataclasses import dataclass, replace
from typing import Any

from custom_postprocessors.evidence import DraftClaim, DraftFormula
from pipelines.claim_text import claim_text, plain_text, remark, source_id
from pipelines.contracts import SILENT_SENTENCE, GenerationMode
from pipelines.free_text import read_free_text
from pipelines.json_scan import ClaimScanner, MalformedJson

MOST_CLAIM_CHARACTERS = 2000
_THINKING = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_OPEN_THINKING = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_CLOSE_THINKING = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_FENCE = re.compile(r"^```[a-zA-Z]*\s*")
_JSON_IN_TEXT = re.compile(r"\{\s*\"|\[\s*\{")


@dataclass(frozen=True, slots=True)
class DraftReading:
    """A finished draft: the claims not handed out before, and what the model said beside them.

    `empty`: nothing was written but thinking or white space.
    """

    claims: tuple[DraftClaim, ...] = ()
    silent: bool = False
    follow_up: str | None = None
    unanswered: tuple[str, ...] = ()
    mode: GenerationMode = "structured"
    empty: bool = False


@dataclass(slots=True)
class ClaimStream:
    """Reads one draft. Text that does not begin as JSON is held back until its end, because it may be leaked thinking."""

    _held: str = ""
    _scanner: ClaimScanner | None = None
    _silent: bool | None = None
    _silent_claim: bool = False

    def feed(self, piece: str) -> tuple[DraftClaim, ...]:
        """The claims whose last character is in `piece`.

        Raises:
            MalformedJson: what was written so far can no longer become a draft.
        """
        if self._scanner is None:
            self._held = without_thinking(self._held + piece)
            start = _FENCE.sub("", self._held.lstrip())
            if not start or start[0] not in "{[" or not _JSON_IN_TEXT.match(start):
                return ()
            self._scanner, piece = ClaimScanner(), start
        return self._claims(self._scanner.feed(piece), self._scanner)

    def finish(self) -> DraftReading:
        """What is known when the stream has ended.

        Raises:
            MalformedJson: JSON was begun and not completed, or does not have the form of a draft.
        """
        if self._scanner is not None:
            return self._structured(self._scanner)
        text = _OPEN_THINKING.split(without_thinking(self._held))[0].strip()
        if not text:
            return DraftReading(empty=True)
        if _FENCE.sub("", text).startswith("{"):
            raise MalformedJson("the JSON ends before it is complete")
        found = _JSON_IN_TEXT.search(text)
        if found and ('"claims"' in text or '"text"' in text):
            scanner = ClaimScanner()
            claims = self._claims(scanner.feed(text[found.start() :]), scanner)
            return self._structured(scanner, claims)
        free = read_free_text(text)
        claims = tuple(_cleaned(claim) for claim in free.claims)
        return DraftReading(claims, free.silent, free.follow_up, free.unanswered, mode="text")

    def _claims(self, elements: list[Any], scanner: ClaimScanner) -> tuple[DraftClaim, ...]:
        if not elements:
            return ()
        if self._silent is None:
            self._silent = scanner.head().get("silent") is True
        drafts = [] if self._silent else [draft_claim(element) for element in elements]
        spoken = tuple(draft for draft in drafts if not _says_silent(draft.text))
        self._silent_claim |= len(spoken) < len(drafts)
        return spoken

    def _structured(self, scanner: ClaimScanner, claims: tuple[DraftClaim, ...] = ()) -> DraftReading:
        whole = scanner.whole()
        if isinstance(whole, list):
            return DraftReading(claims, silent=not whole or self._silent_claim)
        if not isinstance(whole, dict) or not ({"claims", "silent"} & whole.keys()):
            raise MalformedJson("the JSON has neither claims nor silent")
        listed = whole.get("claims") or []
        if not isinstance(listed, list) or not all(isinstance(element, dict) for element in listed):
            raise MalformedJson("claims is not a list of objects")
        follow_up = whole.get("follow_up")
        return DraftReading(
            claims=claims,
            silent=whole.get("silent") is True or self._silent_claim or not listed,
            follow_up=remark(follow_up) if isinstance(follow_up, str) else None,
            unanswered=_remarks(whole.get("unanswered")),
        )


def without_thinking(text: str) -> str:
    """`text` without `<think>…</think>`; a lone closing tag ends thinking whose opening tag was never sent."""
    text = _THINKING.sub("", text)
    opened = _OPEN_THINKING.search(text)
    closed = list(_CLOSE_THINKING.finditer(text))
    if closed and (opened is None or opened.start() > closed[-1].start()):
        return text[closed[-1].end() :]
    return text


def draft_claim(element: Any) -> DraftClaim:
    """A claim from its JSON object; also understands one `source` instead of a list.

    Raises:
        MalformedJson: it is not an object with a text and sources of the right types.
    """
    if not isinstance(element, dict):
        raise MalformedJson("a claim is not an object")
    text, sources = element.get("text"), element.get("sources", element.get("source", []))
    sources = [sources] if isinstance(sources, str) else sources
    if not isinstance(text, str) or not isinstance(sources, list) or not all(isinstance(s, str) for s in sources):
        raise MalformedJson("a claim has no text or no list of sources")
    if len(text) > MOST_CLAIM_CHARACTERS:
        raise MalformedJson("a claim is longer than any statement")
    formula = _formula(element.get("formula"))
    derived = formula is not None or element.get("derived") is True
    return _cleaned(DraftClaim(text, tuple(sources), derived=derived, formula=formula))


def _remarks(value: Any) -> tuple[str, ...]:
    texts = [remark(item) for item in value if isinstance(item, str)] if isinstance(value, list) else []
    return tuple(dict.fromkeys(text for text in texts if text))


def _cleaned(claim: DraftClaim) -> DraftClaim:
    read = claim_text(claim.text)
    sources = tuple(dict.fromkeys(filter(None, map(source_id, (*claim.sources, *read.ids)))))
    return replace(claim, text=read.text, sources=sources)


def _formula(value: Any) -> DraftFormula | None:
    if not isinstance(value, dict):
        return None
    expression, result, operands = (value.get(key) for key in ("expression", "result", "operands"))
    if not str(expression or "").strip():
        return None
    return DraftFormula(
        expression=plain_text(str(expression)),
        result=plain_text(str(result if result is not None else "")),
        operands=tuple(plain_text(str(operand)) for operand in operands) if isinstance(operands, list) else (),
    )


def _says_silent(text: str) -> bool:
    return SILENT_SENTENCE.rstrip(".").lower() in text.lower()
