"""Rules of the planner: patterns written in ordinary German, searched in folded text."""

import re

from custom_postprocessors.folding import fold, fold_digraphs, fold_letters

__all__ = ["fold", "rule"]


def rule(pattern: str) -> re.Pattern[str]:
    """A pattern written in ordinary German, to be searched in text that went through `fold`.

    The pattern must not use the negated classes of regular expressions (those in upper case), because it is folded too.
    """
    return re.compile(fold_digraphs(fold_letters(pattern)))
