"""The vocabulary of proof: what was found, what a draft claims, what could be shown to hold.

Every value here is frozen; a stage returns new values and changes none. Offsets (`start`, `end`) always count Unicode
code points in the *section text*: the Markdown below the H2 heading line, NFC, LF, as stored in `nodes.ndjson`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

Work = Literal["pv", "ris", "kv", "rj"]
Scope = Literal["gesetz", "kv", "rechtsprechung", "briefing"]
ValueKind = Literal["amount", "rate", "period", "date", "count", "norm", "case"]
Mark = Literal["outdated", "superseded", "secondary_source"]
ConflictStatus = Literal["open", "explained", "dismissed"]
Stand = Annotated[str, Field(pattern=r"^\d{4}-(0[1-9]|1[0-2])$")]
"""The month an entry's facts were last checked for, `YYYY-MM`; compares as text in time order."""

SCOPE_OF_WORK: dict[Work, Scope] = {"ris": "gesetz", "kv": "kv", "rj": "rechtsprechung", "pv": "briefing"}


class Frozen(BaseModel):
    """Base of every value that leaves the process: frozen, and unknown fields are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Citation(Frozen):
    """One place in the knowledge base that proves a claim; `quote` is exactly `section_text[start:end]`."""

    entry_id: str
    section: str
    stand: str
    quote: str
    start: int
    end: int


class Value(Frozen):
    """A value found in a claim: as written, its kind, its normal form, and the entry one of whose quotes holds it.

    `entry_id` is None only for a value of a `derived` claim that was calculated or comes from the question.
    """

    text: str
    kind: ValueKind
    normalized: str
    entry_id: str | None = None


class Operand(Frozen):
    """One input of a calculation; `entry_id` is the entry that proves it, or the word "question"."""

    value: str
    entry_id: str


class Formula(Frozen):
    """A calculation whose arithmetic was checked: `expression` uses only + - * / ( ) and decimal numbers."""

    expression: str
    operands: tuple[Operand, ...]
    result: str


class Claim(Frozen):
    """A statement that passed every check, with the places that prove it. `text` carries neither Stand nor marks."""

    text: str
    derived: bool = False
    formula: Formula | None = None
    marks: tuple[Mark, ...] = ()
    citations: tuple[Citation, ...]
    values: tuple[Value, ...] = ()


class Violation(Frozen):
    """Why a drafted claim may not be shown.

    `kind` is a stable code: unknown_source · uncited · value_not_in_source · value_wrong_role · value_only_in_question ·
    norm_not_in_source · unsupported · negation · subject · merged · arithmetic · quote_mismatch · conflict_hidden · malformed.
    `message` is German and is what the model is told when it tries again.
    """

    kind: str
    message: str
    claim: str = ""
    entry_id: str | None = None
    value: str | None = None


class ConflictSide(Frozen):
    """What one entry says about a quantity that another entry contradicts."""

    entry_id: str
    section: str
    stand: str
    value: str
    quote: str
    start: int
    end: int


class Conflict(Frozen):
    """A quantity on which two or more entries disagree; never resolved by the program."""

    id: str
    quantity: str
    status: ConflictStatus = "open"
    note: str = ""
    sides: tuple[ConflictSide, ...]


class ChannelScores(Frozen):
    """Raw evidence of each retrieval channel for one section; None: the channel did not find it (or failed).

    `bm25` ≥ 0 (unbounded), `similarity` is the cosine in [-1, 1], `ngram` in [0, 1], `fused` the reciprocal rank fusion
    sum, which ranks and says nothing about relevance.
    """

    bm25: float | None = None
    similarity: float | None = None
    ngram: float | None = None
    fused: float = 0.0


@dataclass(frozen=True, slots=True)
class Validity:
    """Half-open time `[start, end)` in which a value holds; None is open. `known` is False when `raw` could not be read."""

    raw: str
    start: date | None = None
    end: date | None = None
    known: bool = False
    condition: str | None = None

    def covers(self, day: date) -> bool | None:
        """Whether the value holds on `day`; None when the validity is unknown."""
        if not self.known:
            return None
        return (self.start is None or self.start <= day) and (self.end is None or day < self.end)


@dataclass(frozen=True, slots=True)
class Fact:
    """One row of „Kernwerte & Fristen“ (or one remark inside a row's cell, which is a fact of its own)."""

    fact_id: str
    node_id: str
    entry_id: str
    section: str
    stand: str
    quantity: str
    value: str
    valid: str
    basis: str
    start: int
    end: int
    validity: Validity


@dataclass(frozen=True, slots=True)
class Passage:
    """A section that is given to the model.

    `block_id` is what the model cites: the entry id, or `entry#slug` where the entry contributes several sections.
    `shown` are the half-open parts of `text` that are given (one part, the whole, unless the section is long).
    `role` says why it is here: found by retrieval, linked from a top hit, or the other side of a conflict.
    """

    block_id: str
    node_id: str
    entry_id: str
    section: str
    title: str
    stand: str
    work: Work
    topic: str
    text: str
    shown: tuple[tuple[int, int], ...]
    scores: ChannelScores
    role: Literal["hit", "cross_ref", "conflict"] = "hit"
    legal_bases: tuple[str, ...] = ()
    secondary_source: bool = False

    def shown_text(self) -> str:
        """The parts that are given, gaps marked „[…]“ on a line of their own."""
        return "\n\n[…]\n\n".join(self.text[start:end].strip("\n") for start, end in self.shown)


@dataclass(frozen=True, slots=True)
class GroundedContext:
    """What an answer may rest on, best passage first, with the conflicts that touch it. Never empty."""

    passages: tuple[Passage, ...]
    conflicts: tuple[Conflict, ...] = ()
    facts: tuple[Fact, ...] = ()
    """The facts of the passages' sections, in the order of the passages and their rows."""
    notices: tuple[str, ...] = ()
    """German remarks for the reader, e.g. that no value for the month asked about was found."""

    def passage(self, block_id: str) -> Passage | None:
        """The passage with this block id, or None."""
        return next((p for p in self.passages if p.block_id == block_id), None)

    def of_entry(self, entry_id: str) -> tuple[Passage, ...]:
        """All passages of one entry, best first."""
        return tuple(p for p in self.passages if p.entry_id == entry_id)


@dataclass(frozen=True, slots=True)
class DraftFormula:
    """A calculation as the model wrote it; `operands` are the numbers as text. Unchecked."""

    expression: str
    result: str
    operands: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DraftClaim:
    """A statement as the model wrote it, unchecked. `sources` are block ids as written (they may be invented).

    `quotes` (block id, start, end) are given by the extractive engine, which knows its places; models leave it empty.
    """

    text: str
    sources: tuple[str, ...]
    derived: bool = False
    formula: DraftFormula | None = None
    quotes: tuple[tuple[str, int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Rejected:
    """A draft claim that failed, with everything that is wrong with it (at least one violation)."""

    draft: DraftClaim
    violations: tuple[Violation, ...]


class TextAnalyzer(Protocol):
    """German analysis as the index and the query see it (implemented in `pipelines.german`)."""

    def tokens(self, text: str) -> list[str]:
        """Folded stems, with the parts of compounds, without stop words, in order; numbers and norms are tokens."""
        ...

    def rarity(self, token: str) -> float:
        """Inverse document frequency over sections, ≥ 0; a token the index does not know has the highest value."""
        ...


class ConflictRegister(Protocol):
    """The conflicts of one index version that were not dismissed."""

    def touching(self, entry_ids: Sequence[str]) -> tuple[Conflict, ...]:
        """Conflicts with at least one side in one of these entries, in the register's order."""
        ...
