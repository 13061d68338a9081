"""The word from which another is derived: „gemeldet“, „zu melden“ and „Meldung“ from „melden“."""

import re
from collections.abc import Iterator

_PREFIXES = (
    "ab|an|auf|aus|bei|dar|ein|fest|frei|fort|heran|herab|hin|los|mit|nach|teil|uber|um|unter|vor|weg|weiter|zu|zuruck|zusammen"
)
_INFIX = re.compile(rf"({_PREFIXES})(?:ge|zu)(?=[a-z]{{4}})")
_PARTICIPLE = re.compile(r"ge(?=[a-z]{4,}t$)")
_ENDINGS = ("ete", "et", "te", "t", "end")
_LEAST_ROOT = 4


def roots(stem: str, *, is_noun: bool) -> Iterator[str]:
    """Stems that a folded stem may be derived from, the likeliest first; not the stem itself.

    Of a noun only „-ung“ is taken away, so that a person (Versicherte, Arbeiter) is never the matter; of other words also the
    endings and marks of finite verbs and participles. Whoever asks takes the first that is a word: „verzich“ is none.
    """
    if stem.endswith("ung") and len(stem) >= _LEAST_ROOT + 3:
        yield stem[:-3]
    if is_noun:
        return
    bases = [_INFIX.sub(r"\1", stem, count=1), _PARTICIPLE.sub("", stem, count=1), stem]
    for base in dict.fromkeys(bases):
        for ending in _ENDINGS:
            if base.endswith(ending) and len(base) - len(ending) >= _LEAST_ROOT:
                yield base[: -len(ending)]
    if bases[0] != stem and len(bases[0]) >= _LEAST_ROOT:
        yield bases[0]
