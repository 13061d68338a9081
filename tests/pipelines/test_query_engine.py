import asyncio
from datetime import UTC, datetime

import pytest

from custom_postprocessors.evidence import ChannelScores, Citation, Claim
from pipelines.contracts import Answer, Grounding, IndexInfo, ModelInfo, Outcome, Question, Refusal, Source, Timings
from pipelines.errors import BadInput
from pipelines.query_engine import CitationEngine
from tests.model_context import LIMIT, PLAN

SOURCE = Source(
    entry_id="pv-sv-05",
    title="Geringfügige Beschäftigung",
    stand="2026-01",
    work="pv",
    topic="sozialversicherung",
    section="Kernwerte & Fristen",
    scores=ChannelScores(bm25=9.0, fused=0.1),
)
CITATION = Citation(entry_id="pv-sv-05", section="Kernwerte & Fristen", stand="2026-01", quote="| Zeile |", start=0, end=9)


class Scripted:
    """A pipeline that remembers its questions and gives one outcome."""

    def __init__(self, *, refused: bool = False) -> None:
        self.refused = refused
        self.questions: list[Question] = []

    def answer(self, question: Question) -> Outcome:
        self.questions.append(question)
        common = {
            "request_id": "r1",
            "created_at": datetime(2026, 1, 1, tzinfo=UTC),
            "question": question.text,
            "as_of": "2026-01",
            "plan": PLAN,
            "grounding": Grounding(verified=not self.refused, mode="structured"),
            "model": ModelInfo(name="m"),
            "index": IndexInfo(version="v1", embedding_model="embedded", entries=1, nodes=1),
            "timings_ms": Timings(),
        }
        if self.refused:
            return Refusal(
                status="refused", refusal_reason="kb_silent", answer="Dazu enthält die Wissensbasis keine Aussage.", **common
            )
        claim = Claim(text=LIMIT, citations=(CITATION,))
        return Answer(status="answered", answer=f"{LIMIT} [pv-sv-05].", claims=(claim,), sources=(SOURCE,), **common)


def test_answer_is_the_response_with_its_sources_and_the_whole_outcome():
    response = CitationEngine(Scripted()).query("Wie hoch ist die Grenze?")
    assert str(response) == f"{LIMIT} [pv-sv-05]."
    assert response.metadata["status"] == "answered"
    assert response.metadata["claims"][0]["citations"][0]["entry_id"] == "pv-sv-05"
    node = response.source_nodes[0]
    assert (node.node.metadata["entry_id"], node.node.metadata["section"]) == ("pv-sv-05", "Kernwerte & Fristen")
    assert (node.node.get_content(), node.score) == ("| Zeile |", 0.1)


def test_refusal_says_so_and_has_no_sources():
    response = CitationEngine(Scripted(refused=True)).query("Wann ist die UVA abzugeben?")
    assert str(response) == "Dazu enthält die Wissensbasis keine Aussage."
    assert response.metadata["refusal_reason"] == "kb_silent"
    assert response.source_nodes == []


def test_question_is_normalised_as_everywhere():
    pipeline = Scripted()
    CitationEngine(pipeline).query(" Wie hoch ist\u200b die Grenze? ")
    assert [question.text for question in pipeline.questions] == ["Wie hoch ist die Grenze?"]


def test_empty_question_is_refused_at_the_door():
    with pytest.raises(BadInput):
        CitationEngine(Scripted()).query("  ")


def test_asynchronous_query_gives_the_same():
    assert str(asyncio.run(CitationEngine(Scripted()).aquery("Wie hoch ist die Grenze?"))) == f"{LIMIT} [pv-sv-05]."
