"""Small stand-ins for tests of proof: an analyser without an index, passages and contexts from plain text."""

import re

import Stemmer

from custom_postprocessors.evidence import ChannelScores, GroundedContext, Passage

_UMLAUTS = str.maketrans({"ä": "a", "ö": "o", "ü": "u", "ß": "ss"})
_STOP = frozenset(
    "der die das den dem des ein eine einen einem einer und oder in im am an auf von vom zu zum zur für ist es mit bei".split()
)


class StemAnalyzer:
    """Stems of words; every word is equally rare. No compounds."""

    def tokens(self, text: str) -> list[str]:
        stemmer = Stemmer.Stemmer("german")
        words = [word for word in re.findall(r"\w+", text.lower()) if word not in _STOP]
        return [stemmer.stemWord(word).translate(_UMLAUTS) for word in words]

    def rarity(self, token: str) -> float:
        return 3.0


def passage(entry_id: str, text: str, *, section: str = "Zusammenfassung", title: str = "", stand: str = "2026-01") -> Passage:
    return Passage(
        block_id=f"{entry_id}#{section.lower()}",
        node_id=f"{entry_id}#{section.lower()}",
        entry_id=entry_id,
        section=section,
        title=title,
        stand=stand,
        work="pv",
        topic="test",
        text=text,
        shown=((0, len(text)),),
        scores=ChannelScores(bm25=1.0),
    )


def context(*passages: Passage) -> GroundedContext:
    return GroundedContext(passages)
