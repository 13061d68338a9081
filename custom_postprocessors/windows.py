"""The passages of a long section that are given: whole paragraphs around those that say most about the question."""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

WHOLE_UP_TO_CHARACTERS = 4_000
_LONGEST_PIECE_CHARACTERS = 1_200
_BLANK = re.compile(r"\n[ \t]*\n\s*")
_SENTENCE_END = re.compile(r"(?<=[.;:!?])\s+(?=[A-ZÄÖÜ§„(\d])")

Span = tuple[int, int]


def shown_parts(
    text: str, worth: Callable[[str], float], *, excluded: Sequence[Span] = (), limit: int = WHOLE_UP_TO_CHARACTERS
) -> tuple[Span, ...]:
    """The half-open parts of `text` to give, in order, at most about `limit` characters; never empty for a text with content.

    A text up to `limit` is given whole. Of a longer one the paragraphs of the highest `worth` are taken, best first, each with
    its neighbours while there is room; of a table the head comes along. `excluded` parts are never given.
    """
    parts: tuple[Span, ...] = ((0, len(text)),)
    if len(text) > limit:
        parts = _windows(text, worth, limit)
    return _without(text, parts, excluded)


def _windows(text: str, worth: Callable[[str], float], limit: int) -> tuple[Span, ...]:
    pieces = paragraphs(text)
    values = [worth(text[start:end]) for start, end in pieces]
    chosen: set[int] = set()
    room = limit
    for index in sorted(range(len(pieces)), key=lambda at: (-values[at], at)):
        if values[index] <= 0 and chosen:
            break
        for near in (index, index - 1, index + 1):
            if 0 <= near < len(pieces) and near not in chosen:
                size = pieces[near][1] - pieces[near][0]
                if size <= room or not chosen:
                    chosen.add(near)
                    room -= size
        if room < _LONGEST_PIECE_CHARACTERS // 4:
            break
    chosen |= {head for at in chosen for head in _table_head(text, pieces, at)}
    return _merged([pieces[at] for at in sorted(chosen)], text)


def paragraphs(text: str) -> list[Span]:
    """The paragraphs of a text as half-open spans in order; a long one is cut at lines, a long line after sentences."""
    spans: list[Span] = []
    start = 0
    for gap in _BLANK.finditer(text):
        spans.extend(_lines(text, start, gap.start()))
        start = gap.end()
    spans.extend(_lines(text, start, len(text)))
    return [span for span in spans if text[span[0] : span[1]].strip()]


def _lines(text: str, start: int, end: int) -> list[Span]:
    if end - start <= _LONGEST_PIECE_CHARACTERS:
        return [(start, end)]
    cuts = [start, *(start + hit.end() for hit in re.finditer(r"\n", text[start:end])), end]
    return [span for a, b in pairwise(cuts) for span in _sentences(text, a, b)]


def _sentences(text: str, start: int, end: int) -> list[Span]:
    if end - start <= _LONGEST_PIECE_CHARACTERS:
        return [(start, end)]
    spans: list[Span] = []
    at = start
    for hit in _SENTENCE_END.finditer(text, start, end):
        if hit.end() - at >= _LONGEST_PIECE_CHARACTERS // 2:
            spans.append((at, hit.end()))
            at = hit.end()
    return [*spans, (at, end)] if at < end else spans


def _table_head(text: str, pieces: Sequence[Span], at: int) -> tuple[int, ...]:
    """The pieces with the first two lines of the table that a row belongs to; empty outside tables."""
    if not _is_row(text, pieces[at]):
        return ()
    head = at
    while head > 0 and _is_row(text, pieces[head - 1]) and not text[pieces[head - 1][1] : pieces[head][0]].strip(" "):
        head -= 1
    return (head, head + 1) if head < at else (head,)


def _is_row(text: str, piece: Span) -> bool:
    return text[piece[0] : piece[1]].lstrip().startswith("|")


def _merged(spans: Sequence[Span], text: str) -> tuple[Span, ...]:
    """Neighbouring spans as one, when nothing but space is between them."""
    merged: list[Span] = []
    for start, end in spans:
        if merged and not text[merged[-1][1] : start].strip():
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    return tuple(merged)


def _without(text: str, parts: Sequence[Span], excluded: Sequence[Span]) -> tuple[Span, ...]:
    kept = list(parts)
    for cut in excluded:
        kept = [rest for span in kept for rest in _minus(span, cut)]
    return tuple((start, end) for start, end in kept if text[start:end].strip())


def _minus(span: Span, cut: Span) -> list[Span]:
    if cut[1] <= span[0] or span[1] <= cut[0]:
        return [span]
    return [rest for rest in ((span[0], cut[0]), (cut[1], span[1])) if rest[0] < rest[1]]
