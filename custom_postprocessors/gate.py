"""Whether the knowledge base can answer at all, judged from raw evidence before anything is generated."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle

from custom_postprocessors.entry_terms import TermReader
from custom_postprocessors.gate_features import EvidenceFeatures, QuestionAnalyzer, features_of, said_in
from custom_postprocessors.sections import entry_of

TOP_ENTRIES = 8
_SILENT_COVERAGE = 0.15


@dataclass(frozen=True, slots=True)
class GateModel:
    """A logistic model over the features; a question passes when its score reaches `threshold`.

    The weights are those that `python -m evaluation gate` finds by cross-validation over the goldsets.
    """

    intercept: float = -1.5
    coverage: float = 2.0
    heading_coverage: float = 3.0
    missing: float = -1.5
    margin: float = 2.0
    section_share: float = 0.0
    threshold: float = 0.22

    def score(self, features: EvidenceFeatures) -> float:
        """In [0, 1]: how likely it is that the best entry answers."""
        raw = (
            self.intercept
            + self.coverage * features.coverage
            + self.heading_coverage * features.heading_coverage
            + self.missing * features.missing
            + self.margin * features.margin
            + self.section_share * features.section_share
        )
        return 1.0 / (1.0 + math.exp(-raw))


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """Whether a question may be answered; `reason` is None when it passes."""

    score: float
    features: EvidenceFeatures
    reason: Literal["kb_silent", "weak_evidence"] | None = None


class Gate:
    """Judges the raw evidence for a question; safe for many threads."""

    def __init__(self, analyzer: QuestionAnalyzer, terms: TermReader, model: GateModel | None = None) -> None:
        self._analyzer = analyzer
        self._terms = terms
        self._model = model or GateModel()

    def features(self, question: str, hits: Sequence[NodeWithScore]) -> EvidenceFeatures:
        """The features of the best of the eight best ranked entries."""
        by_entry: dict[str, list[NodeWithScore]] = {}
        for hit in hits:
            by_entry.setdefault(entry_of(hit), []).append(hit)
        entries = [self._terms.entry(found) for found in list(by_entry.values())[:TOP_ENTRIES]]
        return features_of(said_in(question, self._analyzer), entries)

    def judge(self, question: str, hits: Sequence[NodeWithScore]) -> GateVerdict:
        """The verdict on the sections that retrieval returned for the question, best first."""
        features = self.features(question, hits)
        score = self._model.score(features)
        if score >= self._model.threshold:
            return GateVerdict(score, features)
        silent = not hits or features.coverage < _SILENT_COVERAGE
        return GateVerdict(score, features, "kb_silent" if silent else "weak_evidence")


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
