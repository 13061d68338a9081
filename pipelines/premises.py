"""What a question takes for granted and the cited places contradict: a value that they give otherwise. Rules, no model."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from custom_postprocessors.evidence import Claim
from custom_postprocessors.values import FoundValue, find_values, proves
from pipelines.rule_text import fold, rule

_ASSUMES = rule(
    r"^(?:stimmt|trifft es zu|ist es (?:richtig|wahr|korrekt)|richtig, dass|wieso|warum|weshalb)\b|"
    r"\b(?:oder|richtig|gell|stimmts?|nicht wahr|korrekt)\s*\?\s*$|\bdoch\b"
)
_IS = r"(?:betr[aä]gt|betragen|liegt|liegen|ist|sind|macht|machen|gilt|gelten|gebühren|gebührt|bleibt|bleiben)"
_BETWEEN = (
    r"(?:\d{4}|im|in|bei|auf|mit|um|jahr|monatlich|jährlich|täglich|brutto|nur|doch|noch|also|immer|schon|wieder|"
    r"höchstens|mindestens)"
)
_SAYS_IS = re.compile(rf"\b{_IS}\b(?:\s+(?:die|der|das|ein|eine)\s+\w+)?(?:\s+{_BETWEEN})*\s*$", re.IGNORECASE)
_IS_LAST = re.compile(rf"\s*(?:[^\W\d]+\s+){{0,3}}?(?:{_IS}|ausmach(?:t|en))\b\s*(?:[,?.]|$)", re.IGNORECASE)
_KINDS = ("amount", "rate", "period")


@dataclass(frozen=True, slots=True)
class FalsePremise:
    """`stated` stands in the question and in no quote; `proven` is what the first claim about such a value says."""

    stated: str
    proven: str


def false_premise(question: str, claims: Sequence[Claim]) -> FalsePremise | None:
    """The value that a question affirms („Stimmt es, dass … 500 € beträgt?“) and the claims' quotes give otherwise.

    None when it affirms none, when a quote says the same, or when the first claims give several values of its kind.
    """
    if not _ASSUMES.search(fold(question)):
        return None
    quoted = [value for claim in claims for citation in claim.citations for value in find_values(citation.quote)]
    for value in find_values(question):
        if value.kind in _KINDS and _is_affirmed(question, value) and not any(proves(found, value) for found in quoted):
            others = dict.fromkeys(
                other.text for claim in claims[:1] for other in find_values(claim.text) if _same_kind(other, value)
            )
            if len(others) == 1:
                return FalsePremise(value.text, next(iter(others)))
    return None


def premise_text(premise: FalsePremise) -> str:
    """The sentence that goes before the claims that prove the other value."""
    return f"**Die Frage geht von {premise.stated} aus; das belegt keine Fundstelle. Belegt ist {premise.proven}:**"


def _is_affirmed(question: str, value: FoundValue) -> bool:
    return bool(_SAYS_IS.search(question[: value.start]) or _IS_LAST.match(question[value.end :]))


def _same_kind(one: FoundValue, other: FoundValue) -> bool:
    return one.kind == other.kind and one.unit == other.unit
