"""Subjects beside the knowledge base that a question names: other fields of law, other countries, other branches' agreements."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from custom_postprocessors.data_files import read_yaml
from custom_postprocessors.entry_terms import EntryTerms
from custom_postprocessors.evidence import Frozen, TextAnalyzer
from custom_postprocessors.folding import fold
from custom_postprocessors.gate_features import Said

DATA = Path(__file__).parent / "data"
Kind = Literal["subjects", "places", "branches"]
KINDS: tuple[Kind, ...] = ("subjects", "places", "branches")

SAID_IN_TEXT_ONLY = 0.4
_ANYWHERE_LETTERS = 8
_WORD_START_LETTERS = 6
_GAPS = re.compile(r"[\s‐-–-]+")
_OF_LAW = (
    r"(?:\w+ )?\w*(?:recht|lohn|gehalt|steur\w*|versicherung|gesetz\w*|amt|geld|tarif\w*|kasse|pension|rente|urlaub|"
    r"beitrag\w*|regel\w*)\b"
)
_ASKS_AGREEMENT = re.compile(
    r"\bkvs?\b|kollektiv ?vertrag|mindest ?(?:lohn|gehalt)|berufsjahr|stundenlohn|lohntafel|gehaltstafel|lohntabelle"
)
_OF_BRANCH = (
    re.compile(r"\b([a-z]{6,})[ -]kv\b"),
    re.compile(r"\b(?:kv|kollektivvertrags?)(?: (?:fur|der|des|das|die|den|im|in|bei|von))+ ([a-z]{5,})(?: ([a-z]{5,}))?"),
)
_SAID_AS_A_WHOLE = 0.5


class WordGroup(Frozen):
    """Words of one field, and why the field is listed."""

    field: str
    reason: Annotated[str, Field(min_length=1)]
    words: Annotated[tuple[str, ...], Field(min_length=1)]
    before_law: bool = False
    """Whether a word counts only before a word of law („deutscher Mindestlohn“, not „deutscher Musiker“)."""


@dataclass(frozen=True, slots=True)
class _Term:
    pattern: re.Pattern[str]
    squeezed: bool
    tokens: tuple[str, ...]


class OutsideSubjects:
    """Finds named outside subjects in a question and tells whether an entry speaks of them; immutable.

    A word of eight letters or more is found anywhere, also written in two words; one of six at the start of a
    word; a shorter one only alone. A place after „aus“ is where someone comes from and is no subject; branches count only where
    the question asks for an agreement.
    """

    def __init__(self, groups: dict[Kind, Iterable[WordGroup]], analyzer: TextAnalyzer) -> None:
        self._terms = {
            kind: tuple(_term(word, kind, group, analyzer) for group in groups.get(kind, ()) for word in group.words)
            for kind in KINDS
        }

    @classmethod
    def bundled(cls, analyzer: TextAnalyzer) -> "OutsideSubjects":
        """Those of the files beside the code."""
        return cls({kind: read_groups(DATA / f"outside_{kind}.yaml") for kind in KINDS}, analyzer)

    def unsaid(self, question: str, entry: EntryTerms) -> float:
        """In [0, 1]: 1 when the entry does not speak of a named subject, 0.4 when only its text mentions it, 0 otherwise."""
        worst = 0.0
        for term in self._named(question):
            if any(token in entry.heading for token in term.tokens):
                continue
            worst = max(worst, SAID_IN_TEXT_ONLY if any(token in entry.everything for token in term.tokens) else 1.0)
        return worst

    def _named(self, question: str) -> Sequence[_Term]:
        folded = fold(question)
        squeezed = _GAPS.sub("", folded)
        kinds = [kind for kind in KINDS if kind != "branches" or _ASKS_AGREEMENT.search(folded)]
        return [
            term for kind in kinds for term in self._terms[kind] if term.pattern.search(squeezed if term.squeezed else folded)
        ]


def of_other_agreement(question: str, said: Sequence[Said], entry: EntryTerms) -> bool:
    """Whether the question names the branch of a collective agreement („KV der Friseure“) that the entry does not speak of.

    A part of a compound is not enough: „Bewachungsgewerbe“ is not said by an entry on another „Gewerbe“.
    """
    folded = fold(question)
    named = {word for pattern in _OF_BRANCH for hit in pattern.finditer(folded) for word in hit.groups() if word}
    branches = [one for one in said if one.source in named]
    return bool(branches) and all(one.found_in(entry.everything) < _SAID_AS_A_WHOLE for one in branches)


def read_groups(path: Path) -> tuple[WordGroup, ...]:
    """The groups of a file.

    Raises:
        pydantic.ValidationError: the file is not a list of groups.
    """
    return TypeAdapter(tuple[WordGroup, ...]).validate_python(read_yaml(path))


def _term(word: str, kind: Kind, group: WordGroup, analyzer: TextAnalyzer) -> _Term:
    folded = fold(word)
    bare = re.escape(_GAPS.sub("", folded))
    letters = len(_GAPS.sub("", folded))
    tokens = tuple(analyzer.tokens(word)[:1])
    if group.before_law:
        return _Term(re.compile(rf"(?<!\w){re.escape(folded)} {_OF_LAW}"), False, tokens)
    if kind == "places":
        return _Term(re.compile(rf"(?<!aus )(?<!aus der )(?<!\w){re.escape(folded)}(?!\w)"), False, tokens)
    if letters >= _ANYWHERE_LETTERS:
        return _Term(re.compile(bare), True, tokens)
    end = "" if letters >= _WORD_START_LETTERS else r"(?!\w)"
    return _Term(re.compile(rf"(?<!\w){re.escape(folded)}{end}"), False, tokens)
