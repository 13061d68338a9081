"""How much is given to the model: blocks, characters, tokens."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from custom_postprocessors.evidence import Passage

HEAD_CHARACTERS = 160
"""Room for the head of a block: id, title, Stand, topic, work."""


@dataclass(frozen=True, slots=True)
class ContextBudget:
    """Upper limits of a context. `tokens` is what the blocks may take, `estimate` counts the tokens of a text."""

    estimate: Callable[[str], int]
    tokens: int
    blocks: int = 12
    survey_blocks: int = 16
    characters: int = 90_000

    def most_blocks(self, survey: bool) -> int:
        """The most blocks for a question."""
        return self.survey_blocks if survey else self.blocks

    def fit(self, passages: Sequence[Passage], *, survey: bool, protected: frozenset[str] = frozenset()) -> tuple[Passage, ...]:
        """The passages that fit, in their order; never empty for a non-empty sequence.

        Where they are too many, the last ones that are not `protected` (node ids) go first. A first passage that alone is too
        long is cut to its first shown parts, and as a last resort to its beginning.
        """
        kept = list(passages)
        while len(kept) > self.most_blocks(survey):
            _drop_last(kept, protected)
        while len(kept) > 1 and not self._fits(kept):
            _drop_last(kept, protected)
        if kept and not self._fits(kept):
            kept = [self._cut(kept[0])]
        return tuple(kept)

    def _fits(self, passages: Sequence[Passage]) -> bool:
        shown = [passage.shown_text() for passage in passages]
        characters = sum(len(text) + HEAD_CHARACTERS for text in shown)
        if characters > self.characters:
            return False
        heads = self.estimate("x" * HEAD_CHARACTERS) * len(shown)
        return heads + sum(self.estimate(text) for text in shown) <= self.tokens

    def _cut(self, passage: Passage) -> Passage:
        parts = passage.shown
        while len(parts) > 1 and not self._fits([replace(passage, shown=parts)]):
            parts = parts[:-1]
        start, end = parts[0]
        while end - start > 200 and not self._fits([replace(passage, shown=parts)]):
            end = start + (end - start) * 3 // 4
            parts = ((start, end),)
        return replace(passage, shown=parts)


def _drop_last(kept: list[Passage], protected: frozenset[str]) -> None:
    for index in range(len(kept) - 1, 0, -1):
        if kept[index].node_id not in protected:
            del kept[index]
            return
    del kept[-1]
