"""The words a knowledge base uses: what is known, how compounds of known words split and join, what a typo may mean."""

import math
import re
import threading
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import Stemmer
from rapidfuzz import process
from rapidfuzz.distance import OSA

_UMLAUTS = str.maketrans({"ä": "a", "ö": "o", "ü": "u", "ß": "ss", "é": "e", "è": "e", "ê": "e", "á": "a", "à": "a", "â": "a"})
_UE = re.compile(r"(?<![aeq])ue")
_FEMININE = re.compile(r"(?<=[a-z]{3}er)(?:in|innen)$")
_LINKS = ("", "s", "es", "n", "en", "er", "e", "ns")
_JOINTS = ("", "s", "n", "es", "en")
_MIN_PART_LETTERS = 4
_MIN_TYPO_LETTERS = 5
_MIN_END_LETTERS = 5
_TWO_EDITS_FROM_LETTERS = 9
_MOST_CORRECTIONS = 4


def fold(text: str) -> str:
    """Lower case with one spelling for ä, ae and a (ö, ü likewise), ß and ss; the same for index and query.

    `ue` after a, e or q stays (Steuer, neue, Quelle). Two different words may fold to one form; that costs precision
    only where both occur, and German payroll text has none that matters.
    """
    lowered = unicodedata.normalize("NFC", text).lower().translate(_UMLAUTS)
    return _UE.sub("u", lowered.replace("ae", "a").replace("oe", "o"))


class Vocabulary:
    """Folded words with the number of sections that contain them. Safe to use from several threads.

    Args:
        counts: folded word → sections that contain it, ≥ 1.
        stop_words: folded words that are never part of a compound.
    """

    def __init__(self, counts: Mapping[str, int], stop_words: Iterable[str] = ()) -> None:
        self.counts = dict(sorted(counts.items()))
        stopped = frozenset(stop_words)
        self._part_counts = {
            word: count for word, count in self.counts.items() if len(word) >= _MIN_PART_LETTERS and word not in stopped
        }
        self._stemmer = Stemmer.Stemmer("german")
        self._lock = threading.Lock()  # PyStemmer objects must not be used by two threads at once
        self._stems: dict[str, str] = {}
        self._splits: dict[str, tuple[str, ...]] = {}
        self._by_start: dict[tuple[str, int], list[str]] = defaultdict(list)
        for word in self.counts:
            if len(word) >= _MIN_PART_LETTERS and word.isalpha():
                self._by_start[word[0], len(word)].append(word)
        self._known_stems = Counter[str]()
        for word, count in self.counts.items():
            self._known_stems[self.stem(word)] += count

    def stem(self, word: str) -> str:
        """The Snowball stem of a folded word; the feminine of a person's role counts as the role (Dienstnehmerin)."""
        found = self._stems.get(word)
        if found is None:
            with self._lock:
                found = self._stemmer.stemWord(_FEMININE.sub("", word))
            self._stems[word] = found
        return found

    def knows(self, word: str) -> bool:
        """Whether some section contains the folded word or another form of it."""
        return word in self.counts or self.stem(word) in self._known_stems

    def split(self, word: str) -> tuple[str, ...]:
        """The known words that the folded compound consists of, in order; empty when it is no compound of known words.

        Fewest parts win, then the parts that more sections use. Every part has at least four letters.
        """
        found = self._splits.get(word)
        if found is None:
            found = self._splits[word] = self._split(word)
        return found

    def _split(self, word: str) -> tuple[str, ...]:
        length = len(word)
        if length < 2 * _MIN_PART_LETTERS:
            return ()
        best: dict[int, tuple[int, float, tuple[str, ...]]] = {0: (0, 0.0, ())}
        for start in range(length - _MIN_PART_LETTERS + 1):
            if start not in best:
                continue
            parts, cost, words = best[start]
            for end, base, use in self._bases(word, start):
                candidate = (parts + 1, cost - math.log1p(use), (*words, base))
                if end not in best or candidate < best[end]:
                    best[end] = candidate
        return best[length][2] if length in best else ()

    def _bases(self, word: str, start: int) -> Iterable[tuple[int, str, int]]:
        """Known words that may stand at `start` in a compound: where each ends, linking letters included, and its count."""
        length, counts = len(word), self._part_counts
        for end in range(start + _MIN_PART_LETTERS, length):
            base = word[start:end]
            if base in counts:
                use = counts[base]
                for link in _LINKS:
                    if end + len(link) < length and word.startswith(link, end):
                        yield end + len(link), base, use
        if start:
            last = word[start:]
            use = self._use(last)
            if not use and len(last) > _MIN_PART_LETTERS and self.stem(last) in self._known_stems:
                use = 1
            if use:
                yield length, last, use

    def _use(self, word: str) -> int:
        return self._part_counts.get(word, 0)

    def join(self, words: Sequence[str]) -> str | None:
        """The known compound that two or three adjacent folded words form („kündigungs frist“), or None."""
        head, last = "".join(words[:-1]), words[-1]
        return next((joined for link in _JOINTS if (joined := f"{head}{link}{last}") in self.counts), None)

    def near(self, word: str, more: Iterable[str] = ()) -> tuple[str, ...]:
        """Known words (or words of `more`) that an unknown folded word is most likely a misspelling of, nearest first.

        At most one edit (a swap of neighbours counts as one) below nine letters, else two; the first letter is right;
        equally near words in order of how common they are. Empty below five letters.
        """
        if len(word) < _MIN_TYPO_LETTERS:
            return ()
        most = 1 if len(word) < _TWO_EDITS_FROM_LETTERS else 2
        choices = [choice for length in range(len(word) - most, len(word) + most + 1) for choice in self._like(word, length)]
        choices.extend(other for other in more if other[:1] == word[:1] and abs(len(other) - len(word)) <= most)
        found = process.extract(word, choices, scorer=OSA.distance, score_cutoff=most, limit=None)
        hits = sorted({(int(edits), -self.counts.get(choice, 0), choice) for choice, edits, _ in found})
        return tuple(choice for edits, _, choice in hits if edits == hits[0][0])[:_MOST_CORRECTIONS]

    def ends(self, word: str) -> tuple[str, ...]:
        """The longest known words that an unknown compound begins and ends with, at least five letters each; none, one or two."""
        length = len(word)
        first = next((word[:end] for end in range(length - 3, _MIN_END_LETTERS - 1, -1) if self._use(word[:end])), None)
        start = len(first) if first is not None else 3
        last = next((word[i:] for i in range(start, length - _MIN_END_LETTERS + 1) if self._use(word[i:])), None)
        return tuple(found for found in (first, last) if found is not None)

    def _like(self, word: str, length: int) -> list[str]:
        return self._by_start.get((word[:1], length), [])
