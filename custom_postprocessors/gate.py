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
    entry_id: str | None = None
    """The best supported entry; None when nothing was found."""


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

    def features(self, question: str, hits: Sequence[NodeWithScore]) -> tuple[EvidenceFeatures, str | None]:
        """Features and id of the best supported of the eight best ranked entries; those of nothing when nothing was found."""
        by_entry: dict[str, list[NodeWithScore]] = {}
        for hit in hits:
            by_entry.setdefault(entry_of(hit), []).append(hit)
        entries = [self._terms.entry(found) for found in list(by_entry.values())[:TOP_ENTRIES]]
        said = self._said.said(question)
        if not entries or not said:
            return EvidenceFeatures(), None
        best = max(entries, key=lambda entry: support_of(said, entry))
        similarities = [score for hit in hits if (score := scores_of(hit).similarity) is not None]
        features = EvidenceFeatures(
            support=support_of(said, best),
            missing=missing_in(said, names_of(question), best),
            outside=1.0 if of_other_agreement(question, said, best) else self._outside.unsaid(question, best),
            similarity=max(similarities, default=None),
        )
        return features, best.entry_id

    def judge(self, question: str, hits: Sequence[NodeWithScore]) -> GateVerdict:
        """The verdict on the sections that retrieval returned for the question, best first."""
        features, entry_id = self.features(question, hits)
        score = self._model.score(features)
        too_far = self._floor is not None and features.similarity is not None and features.similarity < self._floor
        if score >= self._model.threshold and not too_far:
            return GateVerdict(score, features, None, entry_id)
        silent = not hits or features.support < _SILENT_SUPPORT or features.outside == 1.0
        return GateVerdict(score, features, "kb_silent" if silent else "weak_evidence", entry_id)


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
