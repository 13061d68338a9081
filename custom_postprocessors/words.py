"""The content words of a text: stems, parts of compounds, rarity, and where each stands."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from custom_postprocessors.data_files import read_yaml
from custom_postprocessors.evidence import TextAnalyzer
from custom_postprocessors.word_families import roots

_WORD = re.compile(
    r"(?<![\w-])[A-ZÄÖÜ]{1,3}\d{1,3}[a-z]?(?![\w-])|[^\W\d_]+(?:-[^\W\d_]+)*\.?(?=[^\w]|$)|[^\W\d_]+(?:-[^\W\d_]+)*"
)
_HALF_COMPOUND = re.compile(
    r"(?<![\w-])[^\W\d_]{3,}(?=-(?:\s?/\s?|,?\s(?:und|oder|bzw\.|sowie)\s)(?P<other>[^\W\d_]{7,})(?!\w|-))"
)
_PARTICIPLE = re.compile(r"(?:Ab|An|Auf|Aus|Ein|Her|Mit|Nach|Vor|Weg|Zurück|Zusammen)ge[a-zäöüß]+t$")
"""„Eingelöst werden kann …“: at the beginning of a sentence a participle is written like a noun."""
_DATA = Path(__file__).parent / "data"
_LEAST_WEIGHT = 0.5
_LEAST_AFFIX = 6
"""Letters of a stem from which it is looked for inside of compounds."""
_LEAST_ENDING = 4
_MOST_WEIGHT = 6.0
_CODE_WEIGHT = 4.0
_CACHED_SECTIONS = 256
_EMPTY_HEADS = frozenset(("variant", "modell", "fall", "form"))
"""Stems of what a compound may end with without saying more („Blockvariante“ is the Block)."""


@dataclass(frozen=True, slots=True)
class Word:
    """One content word: its slice, its stem `whole`, the stems of its compound `parts` (empty: not split), its weight > 0."""

    start: int
    end: int
    text: str
    whole: str
    parts: tuple[str, ...]
    weight: float

    @property
    def stems(self) -> tuple[str, ...]:
        """The stem and those of the parts."""
        return (self.whole, *self.parts)

    @property
    def is_noun(self) -> bool:
        """Written with a capital, as German nouns are (also any word that begins a sentence)."""
        return self.text[0].isupper()


@dataclass(frozen=True, slots=True)
class _Form:
    whole: str
    parts: tuple[str, ...]
    weight: float


class WordReader:
    """Reads content words with one analyser; synonyms have one stem. Safe to use from several threads.

    Args:
        analyzer: the index's analysis.
        synonyms: groups of words that say the same in payroll; None takes the bundled list.
    """

    def __init__(self, analyzer: TextAnalyzer, synonyms: Iterable[Iterable[str]] | None = None) -> None:
        self._analyzer = analyzer
        self._unknown = analyzer.rarity("\x00")
        self._forms: dict[str, _Form | None] = {}
        self._canonical: dict[str, str] = {}
        self._canonical = self._read_synonyms(bundled_synonyms() if synonyms is None else synonyms)
        self._forms.clear()
        self._neutral_words: dict[str, bool] = {}
        self.section_stems = lru_cache(_CACHED_SECTIONS)(self.stems)
        self._neutral = frozenset(tokens[0] for word in bundled_neutral_words() if (tokens := analyzer.tokens(word)))

    def words(self, text: str) -> tuple[Word, ...]:
        """The content words in order; numbers and stop words are left out."""
        found = []
        halves = {match.start(): match["other"] for match in _HALF_COMPOUND.finditer(text)} if "-" in text else {}
        for match in _WORD.finditer(text):
            written = match.group().rstrip(".")
            form = self._whole_form(written, halves[match.start()]) if match.start() in halves else self._form(written)
            if form is not None:
                found.append(Word(match.start(), match.end(), match.group(), form.whole, form.parts, form.weight))
        return tuple(found)

    def stems(self, text: str) -> frozenset[str]:
        """All stems and parts of the text's content words."""
        return frozenset(stem for word in self.words(text) for stem in word.stems)

    def is_neutral(self, word: Word) -> bool:
        """Whether a word carries no content (gilt, beträgt, somit): it needs no support."""
        known = self._neutral_words.get(word.text)
        if known is None:
            tokens = self._analyzer.tokens(word.text)
            known = self._neutral_words[word.text] = not self._neutral.isdisjoint((word.whole, *tokens[:1]))
        return known

    def weight(self, stem: str) -> float:
        """The weight of a stem, as of a word of its own."""
        return min(max(self._analyzer.rarity(stem), _LEAST_WEIGHT), _MOST_WEIGHT)

    def _form(self, word: str) -> _Form | None:
        if word not in self._forms:
            if len(self._forms) > 50_000:
                self._forms.clear()
                self._neutral_words.clear()
            self._forms[word] = self._read_form(word)
        return self._forms[word]

    def _whole_form(self, half: str, other: str) -> _Form | None:
        """„Weihnachts-“ before „und Urlaubsgeld“ as Weihnachtsgeld; the half alone when the other word has no known end."""
        for start in range(3, len(other) - 3):
            head, end = other[:start], other[start:]
            if self._is_known(end) and any(map(self._is_known, (head, head.removesuffix("s"), half + end))):
                whole, first, last = self._form(half + end), self._form(half), self._form(end)
                if whole is None or first is None or last is None or whole.parts:
                    return whole or first
                return _Form(whole.whole, (first.whole, last.whole), whole.weight)
        return self._form(half)

    def _is_known(self, word: str) -> bool:
        tokens = self._analyzer.tokens(word)
        return bool(tokens) and self._analyzer.rarity(tokens[0]) < self._unknown

    def _read_form(self, word: str) -> _Form | None:
        if word[-1].isdigit() or (word[0].isupper() and any(map(str.isdigit, word))):
            return _Form(word.lower(), (), _CODE_WEIGHT)  # a group of a wage table (A5) is a name
        tokens = self._analyzer.tokens(word)
        if not tokens:
            return None
        if "-" in word:  # of „Ist-Löhne“ the analysis leaves the first half out, as if Löhne were all it says
            tokens += [part.lower() for part in word.split("-") if not self._analyzer.tokens(part)]
        tokens = [self._root(token, is_noun=word[0].isupper() and not _PARTICIPLE.match(word)) for token in tokens]
        rarities = [self._analyzer.rarity(token) for token in tokens]
        weight = rarities[0] if len(tokens) == 1 else min(rarities[0], max(rarities[1:]))
        stems = tuple(dict.fromkeys(self._canonical.get(token, token) for token in tokens))
        parts = tuple(stem for stem in stems[1:] if stem not in _EMPTY_HEADS) or stems[1:]
        return _Form(stems[0], parts, min(max(weight, _LEAST_WEIGHT), _MOST_WEIGHT))

    def _root(self, token: str, *, is_noun: bool) -> str:
        """The known stem that a stem is derived from („gemeldet“, „Meldung“: „meld“), itself when there is none."""
        if token in self._canonical:
            return token
        return next((root for root in roots(token, is_noun=is_noun) if self._analyzer.rarity(root) < self._unknown), token)

    def _read_synonyms(self, groups: Iterable[Iterable[str]]) -> dict[str, str]:
        canonical: dict[str, str] = {}
        for group in groups:
            stems = [tokens[0] for word in group if (tokens := self._analyzer.tokens(word))]
            for stem in stems:
                canonical.setdefault(stem, canonical.get(stems[0], stems[0]))
        return canonical


def coverage(word: Word, stems: frozenset[str]) -> float:
    """How far `stems` contain a word, in [0, 1]: 1 for its stem or all of its parts, else at most 0.7 for some parts."""
    if word.whole in stems:
        return 1.0
    if not word.parts:
        return 0.0
    share = sum(part in stems for part in word.parts) / len(word.parts)
    return 1.0 if share == 1 else 0.7 * share


def reach(word: Word, stems: frozenset[str]) -> float:
    """As `coverage`; a word that ends a compound in `stems` counts in full, one that begins a compound for 0.8.

    A short one (Kind in Kinderbetreuung) counts for 0.5. For claims that write a compound apart
    („Vorbehalt des Widerrufs“ for Widerrufsvorbehalt) when no part of it is known.
    """
    found = coverage(word, stems)
    if found == 1.0 or len(word.whole) < _LEAST_ENDING:
        return found
    if len(word.whole) < _LEAST_AFFIX:
        return max(found, 0.5) if any(stem.startswith(word.whole) for stem in stems) else found
    if any(stem.endswith(word.whole) for stem in stems):
        return 1.0
    short = word.whole.removesuffix("ig")  # the stem of Reinigung; of Gebäudereinigung the ending is gone
    if short != word.whole and any(stem.endswith(short) and len(stem) >= len(short) + _LEAST_ENDING for stem in stems):
        return max(found, 0.5)
    if not word.parts and any(len(stem) >= _LEAST_AFFIX and word.whole.endswith(stem) for stem in stems):
        return max(found, 0.5)  # Essensgutscheine where the source says Gutscheine; what begins it names nothing it knows
    return max(found, 0.8) if any(stem.startswith(word.whole) for stem in stems) else found


def weighted_coverage(words: Iterable[Word], stems: frozenset[str]) -> float:
    """The share of the words' weight that `stems` cover, in [0, 1]; 1 for no words."""
    total = covered = 0.0
    for word in words:
        total += word.weight
        covered += word.weight * coverage(word, stems)
    return covered / total if total else 1.0


@lru_cache(maxsize=1)
def bundled_synonyms() -> tuple[tuple[str, ...], ...]:
    """The groups of `data/synonyms.yaml`."""
    return tuple(tuple(group) for group in read_yaml(_DATA / "synonyms.yaml"))


def bundled_neutral_words() -> tuple[str, ...]:
    """The words that prove and refute nothing in a statement."""
    return (*neutral_nowhere_subjects(), *_listed("neutral_subjects.yaml"))


def neutral_nowhere_subjects() -> tuple[str, ...]:
    """Those of them that are no subject of an entry either."""
    return _listed("neutral_words.yaml")


@lru_cache(maxsize=2)
def _listed(file_name: str) -> tuple[str, ...]:
    lines = read_yaml(_DATA / file_name)
    return tuple(word for line in lines for word in line)
