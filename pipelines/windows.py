"""The parts of a section that get a vector: its head, and the windows that differ most from what was already taken."""

import math
import re
from collections import Counter

from pipelines.nodes import SectionNode

WINDOW_CHARACTERS = 700
MOST_VECTORS = 4
WINDOWING_VERSION = "windows-1"
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_WORDS = re.compile(r"[^\W\d_]{3,}")


def section_windows(node: SectionNode) -> tuple[str, ...]:
    """The texts to embed for a section, one to four, the head first; each names the section's title.

    Long text is averaged by an encoder until nothing stands out, hence windows of about 700 characters. They differ by
    their words, not by vectors: so a section of 80,000 characters costs four embeddings, not a hundred.
    """
    windows = split_windows(node.evidence_text)
    head = f"{node.title}\n{node.section}\n\n{windows[0] if windows else ''}".strip()
    return (head, *(f"{node.title}\n\n{window}" for window in most_different(windows, MOST_VECTORS)[1:]))


def split_windows(text: str) -> list[str]:
    """Whole paragraphs of about 700 characters together; a longer paragraph is cut at lines, then sentences, then words."""
    windows: list[str] = []
    current = ""
    for block in _BLANK_LINE.split(text.strip()):
        for piece in _pieces(block):
            if current and len(current) + len(piece) > WINDOW_CHARACTERS:
                windows.append(current)
                current = ""
            current = f"{current}\n{piece}" if current else piece
    return [*windows, current] if current else windows


def most_different(windows: list[str], limit: int) -> list[str]:
    """The first window, and then again and again the one least like all taken so far; at most `limit`, in order of choice."""
    if len(windows) <= limit:
        return windows
    bags = [Counter(_WORDS.findall(window.lower())) for window in windows]
    norms = [math.sqrt(sum(count * count for count in bag.values())) or 1.0 for bag in bags]
    taken = [0]
    nearest = [_cosine(bags[0], bag) / (norms[0] * norm) for bag, norm in zip(bags, norms, strict=True)]
    while len(taken) < limit:
        new = min((i for i in range(len(windows)) if i not in taken), key=lambda i: (nearest[i], i))
        taken.append(new)
        nearest = [
            max(known, _cosine(bags[new], bag) / (norms[new] * norm))
            for known, bag, norm in zip(nearest, bags, norms, strict=True)
        ]
    return [windows[i] for i in taken]


def _cosine(one: Counter[str], other: Counter[str]) -> float:
    """The dot product; the caller divides by the norms."""
    small, large = (one, other) if len(one) < len(other) else (other, one)
    return float(sum(count * large[word] for word, count in small.items() if word in large))


def _pieces(block: str) -> list[str]:
    for cut in (r"\n", r"(?<=[.;:!?])\s+", r"\s+"):
        if len(block) <= WINDOW_CHARACTERS:
            break
        parts = re.split(cut, block)
        if max(map(len, parts)) <= WINDOW_CHARACTERS:
            return parts
    else:
        return [block[start : start + WINDOW_CHARACTERS] for start in range(0, len(block), WINDOW_CHARACTERS)]
    return [block]
