"""The product's path of a question as a LlamaIndex query engine, so that a notebook can call `.query("…")`."""

import asyncio
from typing import Protocol

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import RESPONSE_TYPE, Response
from llama_index.core.prompts.mixin import PromptMixinType
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from pipelines.contracts import Outcome, Question
from pipelines.intake import read_question


class Answers(Protocol):
    """The pipeline, as far as the engine needs it."""

    def answer(self, question: Question) -> Outcome:
        """The answer or refusal to one question."""
        ...


class CitationEngine(BaseQueryEngine):
    """Asks the pipeline; a refusal is a response whose text says so and whose `metadata["status"]` is `refused`.

    The response's text is the answer's Markdown, its source nodes are what was given to the model (score: the fused score,
    which ranks and says nothing about relevance), its metadata the whole outcome as JSON values.
    """

    def __init__(self, pipeline: Answers) -> None:
        super().__init__(callback_manager=None)
        self._pipeline = pipeline

    def _query(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        outcome = self._pipeline.answer(read_question(query_bundle.query_str))
        return Response(response=outcome.answer, source_nodes=_source_nodes(outcome), metadata=outcome.model_dump(mode="json"))

    async def _aquery(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        return await asyncio.to_thread(self._query, query_bundle)

    def _get_prompt_modules(self) -> PromptMixinType:
        return {}


def _source_nodes(outcome: Outcome) -> list[NodeWithScore]:
    quotes: dict[tuple[str, str], list[str]] = {}
    for claim in outcome.claims:
        for citation in claim.citations:
            quotes.setdefault((citation.entry_id, citation.section), []).append(citation.quote)
    return [
        NodeWithScore(
            node=TextNode(
                id_=f"{source.entry_id}#{source.section}",
                text="\n\n".join(quotes.get((source.entry_id, source.section), ())),
                metadata=source.model_dump(mode="json", exclude={"scores"}),
            ),
            score=source.scores.fused,
        )
        for source in outcome.sources
    ]
