"""What a question is about: its words that titles and tags of the knowledge base know."""

import re
from collections.abc import Iterable
from typing import Protocol

from custom_postprocessors.evidence import TextAnalyzer
from pipelines.rule_text import fold

_WORD = re.compile(r"[^\W_]+(?:[-/.][^\W_]+)*\.?-?", re.UNICODE)
_NOT_A_SUBJECT = frozenset(
    fold(word)
    for word in (
        "Jahr Jahre Jahren Monat Monate Monaten Woche Wochen Tag Tage Tagen Stunde Stunden Euro EUR Prozent Betrag "
        "Höhe Satz Frist Wert Werte Firma Betrieb Arbeitgeber Dienstgeber Arbeitnehmer Dienstnehmer Mitarbeiter "
        "Mitarbeiterin Angestellte Angestellter Person Personen fällig Fälligkeit gelten gültig zahlen rechnen "
        "melden Meldung Anspruch Unterschied Beispiel anfallen beachten ohne nicht kein steuerfrei beitragsfrei "
        "frei pflichtig erste zweite dritte letzte ganze halbe Beginn Ende Dauer Ausmaß Höchstbetrag danke DN DG "
        "AN AG MA Chef wir ich bei ab bis neu alt ältere mehr voll frei Recht Österreich heuer aktuell Überblick "
        "Kosten"
    ).split()
)


class EntryHeading(Protocol):
    """What the planner knows of an entry."""

    @property
    def title(self) -> str:
        """One line, German."""
        ...

    @property
    def topic(self) -> str:
        """Slug of the topic."""
        ...

    @property
    def tags(self) -> tuple[str, ...]:
        """Search words."""
        ...


class SubjectFinder:
    """Finds the words of a question that name a subject of the knowledge base; keeps only the vocabulary."""

    def __init__(self, analyzer: TextAnalyzer, entries: Iterable[EntryHeading]) -> None:
        self._analyzer = analyzer
        generic = {token for word in _NOT_A_SUBJECT for token in analyzer.tokens(word)}
        self._known: set[str] = set()
        for entry in entries:
            for text in (entry.title, *entry.tags):
                self._known.update(analyzer.tokens(text))
        self._known -= generic

    def words(self, text: str) -> tuple[str, ...]:
        """The subject words of the text as written, in order, without repeats; empty when it names none."""
        found: dict[str, str] = {}
        for word in _WORD.findall(text):
            bare = word.rstrip(".-")
            if fold(bare) not in _NOT_A_SUBJECT and self._rarity(bare) > 0:
                found.setdefault(fold(bare), bare)
        return tuple(found.values())

    def rarest(self, text: str, most: int) -> tuple[str, ...]:
        """At most `most` of the subject words, those that the fewest sections share, in the order of the text."""
        words = self.words(text)
        kept = set(sorted(words, key=lambda word: (-self._rarity(word), words.index(word)))[:most])
        return tuple(word for word in words if word in kept)

    def _rarity(self, word: str) -> float:
        """The rarity of the rarest known token of a word; 0 when titles and tags know none of them, or it is a number."""
        if any(char.isdigit() for char in word):
            return 0.0
        return max((self._analyzer.rarity(token) for token in self._analyzer.tokens(word) if token in self._known), default=0.0)
