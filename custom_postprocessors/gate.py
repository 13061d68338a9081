"""Whether the knowledge base can answer at all, judged from raw evidence before anything is generated."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle

from custom_postprocessors.entry_terms import TermReader
from custom_postprocessors.gate_features import (
    EvidenceFeatures,
    SaidReader,
    missing_in,
    names_of,
    support_of,
)
from custom_postprocessors.outside import OutsideSubjects, of_other_agreement
from custom_postprocessors.sections import entry_of, scores_of

TOP_ENTRIES = 8
_SILENT_SUPPORT = 0.1
_WORDS_SUFFICE = 0.9
"""An entry that says this much of the question, and misses nothing of it, is close to it whatever the encoder makes of a question
of few or unusual words („was ist die hbg heuer“)."""
_NEARLY_AS_GOOD = 0.8


@dataclass(frozen=True, slots=True)
class GateModel:
    """A logistic model over the features; a question passes when its score reaches `threshold`.

    The values are those that `python -m evaluation gate` finds by cross-validation. `outside` is set by hand, so that a named
    outside subject outweighs good evidence but not overwhelming evidence. `similarity_floors` holds, for each encoder that was
    measured, the cosine below which nothing is an answer; for any other encoder similarity has no part.
    """

    intercept: float = -0.7
    support: float = 13.9
    missing: float = -3.6
    outside: float = -5.0
    threshold: float = 0.5
    similarity_floors: tuple[tuple[str, float], ...] = (("embedded", 0.15),)

    def score(self, features: EvidenceFeatures) -> float:
        """In [0, 1]: how likely it is that the best entry answers."""
        raw = self.intercept + self.support * features.support + self.missing * features.missing + self.outside * features.outside
        return 1.0 / (1.0 + math.exp(-raw))

    def floor(self, encoder: str | None) -> float | None:
        """The lowest similarity of an answer with this encoder; None when it was not measured."""
        return dict(self.similarity_floors).get(encoder or "")


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """Whether a question may be answered; `reason` is None when it passes."""

    score: float
    features: EvidenceFeatures
    reason: Literal["kb_silent", "weak_evidence"] | None = None
    rivals: tuple[str, ...] = ()
    """The best supported entry, and those that say nearly as much of the question; empty when nothing was found."""

    @property
    def entry_id(self) -> str | None:
        """The best supported entry; None when nothing was found."""
        return self.rivals[0] if self.rivals else None


class Gate:
    """Judges the raw evidence for a question; safe for many threads."""

    def __init__(
        self,
        said: SaidReader,
        terms: TermReader,
        outside: OutsideSubjects,
        model: GateModel | None = None,
        *,
        encoder: str | None = None,
    ) -> None:
        self._said = said
        self._terms = terms
        self._outside = outside
        self._model = model or GateModel()
        self._floor = self._model.floor(encoder)

    def _evidence(self, question: str, hits: Sequence[NodeWithScore]) -> tuple[EvidenceFeatures, tuple[str, ...]]:
        """The features of the best supported of the eight best ranked entries, and the ids of it and of those nearly as good.

        Those of nothing when nothing was found.
        """
        by_entry: dict[str, list[NodeWithScore]] = {}
        for hit in hits:
            by_entry.setdefault(entry_of(hit), []).append(hit)
        entries = [self._terms.entry(found) for found in list(by_entry.values())[:TOP_ENTRIES]]
        said = self._said.said(question)
        if not entries or not said:
            return EvidenceFeatures(), ()
        supports = {entry.entry_id: support_of(said, entry) for entry in entries}
        entries.sort(key=lambda entry: supports[entry.entry_id], reverse=True)
        best = entries[0]
        similarities = [score for hit in hits if (score := scores_of(hit).similarity) is not None]
        features = EvidenceFeatures(
            support=supports[best.entry_id],
            missing=missing_in(said, names_of(question), best),
            outside=1.0 if of_other_agreement(question, said, best) else self._outside.unsaid(question, best),
            similarity=max(similarities, default=None),
        )
        least = _NEARLY_AS_GOOD * features.support
        return features, tuple(entry.entry_id for entry in entries if supports[entry.entry_id] >= least)

    def judge(self, question: str, hits: Sequence[NodeWithScore]) -> GateVerdict:
        """The verdict on the sections that retrieval returned for the question, best first."""
        features, rivals = self._evidence(question, hits)
        score = self._model.score(features)
        if score >= self._model.threshold and not self._is_too_far(features):
            return GateVerdict(score, features, None, rivals)
        silent = not hits or features.support < _SILENT_SUPPORT or features.outside == 1.0
        return GateVerdict(score, features, "kb_silent" if silent else "weak_evidence", rivals)

    def _is_too_far(self, features: EvidenceFeatures) -> bool:
        """Whether nothing that was found is similar enough, and the words alone do not suffice either."""
        if self._floor is None or features.similarity is None or features.similarity >= self._floor:
            return False
        return features.support < _WORDS_SUFFICE or features.missing > 0.0 or features.outside > 0.0


class EvidenceGate(BaseNodePostprocessor):
    """Lets the hits through unchanged, or none of them."""

    _gate: Gate = PrivateAttr()

    def __init__(self, gate: Gate, **data: Any) -> None:
        super().__init__(**data)
        self._gate = gate

    @classmethod
    def class_name(cls) -> str:
        """Name in LlamaIndex's serialisation."""
        return "EvidenceGate"

    def _postprocess_nodes(self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None) -> list[NodeWithScore]:
        question = query_bundle.query_str if query_bundle is not None else ""
        return nodes if self._gate.judge(question, nodes).reason is None else []
