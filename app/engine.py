"""One index version with everything that answers from it, put together."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date

from llama_index.core.postprocessor.types import BaseNodePostprocessor

from custom_postprocessors.authorities import load_authorities
from custom_postprocessors.budget import ContextBudget
from custom_postprocessors.conflict_register import Register
from custom_postprocessors.entailment import Entailment
from custom_postprocessors.evidence import GroundedContext
from custom_postprocessors.grounding import Grounder
from custom_postprocessors.verification import Verifier
from pipelines.answering import AnsweringPipeline
from pipelines.channels import DenseRetriever, LexicalRetriever, MissingChannel, SectionStubs, TypoRetriever
from pipelines.contracts import Channel, ClaimGenerator, IndexInfo
from pipelines.embeddings import SectionEncoder
from pipelines.extractive import ExtractiveGenerator
from pipelines.fusion import FusionOptions
from pipelines.index import OpenIndex
from pipelines.index_channels import Channels
from pipelines.outcomes import OutcomeWriter
from pipelines.planning import Planner
from pipelines.recipes import read_recipes
from pipelines.retrieval import HybridRetriever
from pipelines.review import Reviewer, WriterChoice
from pipelines.tag_index import TagIndex, TagRouter
from pipelines.token_estimate import evidence_budget_tokens, prompt_tokens_estimate
from pipelines.whole_entries import with_whole_entries

SURVEY_EXTRA_BLOCKS = 4


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """What the settings say about answering; `system_prompt` counts against the context window."""

    today: Callable[[], date]
    fusion: FusionOptions
    context_blocks: int
    num_ctx: int
    num_predict: int
    system_prompt: str
    outdated_after_months: int
    reranker: BaseNodePostprocessor | None = None
    entailment: Entailment | None = None


@dataclass(frozen=True, slots=True)
class Engine:
    """Everything that answers from one index version; immutable, safe for many threads."""

    index: OpenIndex[Channels]
    planner: Planner
    retriever: HybridRetriever
    grounder: Grounder
    extractive: ExtractiveGenerator
    pipeline: AnsweringPipeline
    missing_channels: tuple[Channel, ...] = ()
    """Channels that could not be opened; every outcome names them as degraded."""


def make_engine(
    index: OpenIndex[Channels],
    encoder: SectionEncoder | None,
    options: EngineOptions,
    choose_generator: Callable[[str | None, ExtractiveGenerator], ClaimGenerator],
    served_tags: Callable[[], TagIndex | None] = lambda: None,
    choose_check_writer: WriterChoice | None = None,
) -> Engine:
    """Puts the stages together over an open index. Without an encoder the dense channel is reported as failed.

    `served_tags` gives the tag index of the moment; tags change more often than an index version. `choose_check_writer`
    chooses what writes the checks of the review mode; without it received values are compared with facts only.
    """
    analyzer = index.channels.analyzer
    router = TagRouter(served_tags, analyzer, encoder)
    register = Register(index.conflicts)
    planner = Planner(analyzer, index.entries.values(), options.today, recipes=read_recipes(), route=router.route)
    retriever = _retriever(index, encoder, options, router)
    grounder = Grounder(
        source=index,
        analyzer=analyzer,
        register=register,
        budget=_budget(options),
        is_secondary=load_authorities().is_secondary,
        encoder=None if encoder is None else encoder.model_name,
    )
    extractive, verifier = ExtractiveGenerator(analyzer), Verifier(analyzer, entailment=options.entailment)
    meta = index.meta
    pipeline = AnsweringPipeline(
        planner=planner,
        retriever=retriever,
        grounder=grounder,
        verifier=verifier,
        choose_generator=lambda model: choose_generator(model, extractive),
        writer=OutcomeWriter(
            index=IndexInfo(
                version=meta.index_version, embedding_model=meta.embedding_model, entries=meta.entries, nodes=meta.nodes
            ),
            titles={entry_id: info.title for entry_id, info in index.entries.items()},
            cross_refs={entry_id: info.cross_refs for entry_id, info in index.entries.items()},
        ),
        widen=lambda context: _whole_entries(context, index, register),
        outdated_after_months=options.outdated_after_months,
        reviewer=Reviewer(verifier, analyzer, choose_check_writer),
    )
    missing: tuple[Channel, ...] = ("dense",) if encoder is None else ()
    return Engine(index, planner, retriever, grounder, extractive, pipeline, missing)


def _retriever(
    index: OpenIndex[Channels], encoder: SectionEncoder | None, options: EngineOptions, router: TagRouter
) -> HybridRetriever:
    channels, candidates = index.channels, options.fusion.candidates
    entry_ids = [info.entry_id for info in index.entries.values() for _ in range(info.rows)]
    stubs = SectionStubs(index.nodes.node_ids, entry_ids)
    dense = (
        MissingChannel(
            "dense", f"The embedding model {index.meta.embedding_model!r} cannot be reached.", channels.analyzer, stubs
        )
        if encoder is None
        else DenseRetriever(channels.dense, encoder, channels.analyzer, stubs, candidates)
    )
    return HybridRetriever(
        index.nodes,
        channels.analyzer,
        [
            LexicalRetriever(channels.lexical, channels.analyzer, stubs, candidates),
            dense,
            TypoRetriever(channels.typo, channels.analyzer, stubs, candidates),
        ],
        options.fusion,
        entries_of_tags=router.entries_of,
        reranker=options.reranker,
    )


def _budget(options: EngineOptions) -> ContextBudget:
    return ContextBudget(
        blocks=options.context_blocks,
        survey_blocks=options.context_blocks + SURVEY_EXTRA_BLOCKS,
        tokens=evidence_budget_tokens(options.system_prompt, num_ctx=options.num_ctx, num_predict=options.num_predict),
        estimate=prompt_tokens_estimate,
    )


def _whole_entries(context: GroundedContext, index: OpenIndex[Channels], register: Register) -> GroundedContext:
    """Whole entries for the extractive engine, with every conflict that one of their sections has a side of."""
    whole = with_whole_entries(context, index.sections_of, index.facts_of)
    return replace(whole, conflicts=register.touching(tuple(dict.fromkeys(p.entry_id for p in whole.passages))))
