"""Text cut into words, numbers, norms, dates and case numbers: the first step of the German analysis."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Literal, NamedTuple, cast

from pipelines.vocabulary import fold

PieceKind = Literal["word", "number", "norm", "case", "date"]

HYPHEN = re.compile(r"[-–‑]")
_TOKEN = re.compile(
    r"(?P<norm>(?:§{1,2}|\bparagra(?:ph|f))\s*\d+[a-z]?\b(?:\s*abs\.?\s*\d+[a-z]?\b)?(?:\s*z\.?\s*\d+[a-z]?\b)?)"
    r"|(?P<case>\b[a-z]{1,3}[-/]\d{1,7}/\d{2,4}\b|\b\d{4}/\d{2}/\d{4}\b|\b\d{1,2}\s?ob[a-z]?\s?\d+/\d+[a-z]\b)"
    r"|(?P<date>\b\d{1,2}\.\d{1,2}\.(?:\d{4}|\d{2})\b)"
    r"|(?P<number>\d{1,3}(?:[.\u00a0\u202f ]\d{3})+(?:,\d+)?(?!\d)|\d+(?:,\d+)?)(?:\s?(?:%|prozent\b))?"
    r"|(?P<word>[^\W\d_]+(?:[-–‑][^\W\d_]+)*)",
    re.IGNORECASE,
)
_GENDER = re.compile(r"(?<=[^\W\d_])(?:[:*_/]-?innen|Innen|[:*_/]-?in)\b")
_GENDER_SIGNS = ("Innen", ":i", "*i", "_i", "/i", "-i")
_NORM_NUMBER = re.compile(r"\d+[a-z]?")
_NOT_NUMBER = re.compile(r"[^\d,]")
_SPACES = re.compile(r"\s+")


class Piece(NamedTuple):
    """One piece as written (a tuple, because a large knowledge base has millions)."""

    kind: PieceKind
    text: str


def pieces(text: str) -> Iterator[Piece]:
    """The pieces of a text in order; gender endings (Mitarbeiter:innen) are dropped, a word may have hyphens inside."""
    for match in _TOKEN.finditer(_without_gender(text)):
        yield Piece(cast(PieceKind, match.lastgroup), match.group())


def count_pieces(text: str) -> dict[Piece, int]:
    """How often each piece of a text occurs, in order of first appearance."""
    found = Counter((match.lastgroup, match.group()) for match in _TOKEN.finditer(_without_gender(text)))
    return {Piece(cast(PieceKind, kind), piece): count for (kind, piece), count in found.items()}


def _without_gender(text: str) -> str:
    # Looking behind every letter takes as long as half of the cutting; few texts have one of the signs at all.
    return _GENDER.sub("", text) if any(sign in text for sign in _GENDER_SIGNS) else text


def fixed_tokens(piece: Piece) -> list[str]:
    """The tokens of a piece that is no word.

    `6.930,00` gives `6930`; `1,53 %` gives `1,53` and `1,53%`; `§ 49 Abs 3` gives `§49` and `§49/3`; a date itself and its
    year; a case number without its spaces.
    """
    match piece.kind:
        case "norm":
            numbers = _NORM_NUMBER.findall(piece.text.lower())
            return [f"§{numbers[0]}"] + ([f"§{'/'.join(numbers)}"] if len(numbers) > 1 else [])
        case "case":
            return [_SPACES.sub("", fold(piece.text))]
        case "date":
            return [piece.text, piece.text.rpartition(".")[2]]
        case _:
            return _number_tokens(piece.text)


def _number_tokens(text: str) -> list[str]:
    digits = _NOT_NUMBER.sub("", text)
    if "," in digits:
        digits = digits.rstrip("0").rstrip(",")
    number = digits.lstrip("0") or "0"
    number = f"0{number}" if number.startswith(",") else number
    return [number] if text[-1].isdigit() else [number, f"{number}%"]
