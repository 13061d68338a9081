"""From what retrieval found to what an answer may rest on, or why there is nothing it may rest on."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from llama_index.core.schema import NodeWithScore, QueryBundle

from custom_postprocessors.best_sections import BestSections, Worth
from custom_postprocessors.budget import ContextBudget
from custom_postprocessors.conflict_sides import CONFLICT, ConflictSides, holds_a_side
from custom_postprocessors.cross_refs import CrossReferences
from custom_postprocessors.entry_terms import TermReader
from custom_postprocessors.evidence import Conflict, ConflictRegister, Fact, GroundedContext, Passage
from custom_postprocessors.gate import Gate, GateModel, GateVerdict
from custom_postprocessors.gate_features import QuestionAnalyzer, Said, SaidReader, everyday_words
from custom_postprocessors.outside import OutsideSubjects
from custom_postprocessors.sections import (
    NodeSource,
    content_of,
    entry_of,
    instruction_spans,
    is_source_text,
    members,
    passage_of,
    role_of,
    text_of,
)
from custom_postprocessors.validity import ValidAt, is_far_ahead, is_silent_about_year, period_coverage, writes_year
from custom_postprocessors.windows import shown_parts

KEPT_OF_SUB_QUERY = 2
_NEAREST = 3
_RANKED = 24
_LEAST_EVIDENCE = 0.4
"""A hit is given when it says at least this share of what the best hit says; conflicts and sub-queries are exempt."""

IsSecondary = Callable[[Iterable[str], str], bool]
"""From an entry's publishers and its work to whether none of them is official."""

Reason = Literal["kb_silent", "weak_evidence", "out_of_period"]


@dataclass(frozen=True, slots=True)
class Ungrounded:
    """Why nothing may be answered, what was looked up, and the entries that came nearest, best first."""

    reason: Reason
    searched: tuple[str, ...]
    nearest: tuple[str, ...]
    beyond_scopes: bool = False
    """Whether `nearest` are entries outside the scopes asked for that can answer."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """Why a question may not be answered, None when it may; and what the gate said."""

    reason: Reason | None
    verdict: GateVerdict


class GroundingPlan(Protocol):
    """What grounding has to know of a plan."""

    @property
    def type(self) -> str:
        """`survey` may have more blocks."""
        ...

    @property
    def queries(self) -> tuple[str, ...]:
        """The standalone question first."""
        ...

    @property
    def as_of(self) -> str:
        """The month it speaks for."""
        ...

    @property
    def as_of_named(self) -> bool:
        """Whether question or caller named it."""
        ...


class RetrievedSections(Protocol):
    """What retrieval found, best first."""

    @property
    def nodes(self) -> Sequence[NodeWithScore]:
        """The sections that the plan's queries found together."""
        ...

    @property
    def per_query(self) -> Sequence[Sequence[NodeWithScore]]:
        """The sections of each query of the plan alone, in the order of the queries."""
        ...

    @property
    def beyond_scopes(self) -> Sequence[NodeWithScore]:
        """The sections that the question finds without the plan's scopes; empty for a plan without scopes."""
        ...


def never_secondary(publishers: Iterable[str], work: str) -> bool:
    """Takes every publisher for official."""
    return False


class Grounder:
    """One index version's grounding; keeps no state between questions except analysed sections; safe for many threads."""

    def __init__(
        self,
        *,
        source: NodeSource,
        analyzer: QuestionAnalyzer,
        register: ConflictRegister,
        budget: ContextBudget,
        gate_model: GateModel | None = None,
        outside: OutsideSubjects | None = None,
        encoder: str | None = None,
        is_secondary: IsSecondary = never_secondary,
    ) -> None:
        self._source = source
        self._register = register
        self._budget = budget
        self._terms = TermReader(analyzer, source)
        self._said = SaidReader(analyzer)
        subjects = outside or OutsideSubjects.bundled(analyzer)
        self.gate = Gate(SaidReader(analyzer, everyday_words()), self._terms, subjects, gate_model, encoder=encoder)
        self._is_secondary = is_secondary
        self._best = BestSections(source, self._worth)
        self._references = CrossReferences(source, self._worth)
        self._sides = ConflictSides(source, register, self._worth_of_words)

    def ground(self, plan: GroundingPlan, retrieved: RetrievedSections) -> GroundedContext | Ungrounded:
        """The context, best passage first, or the reason why there is none.

        Whether the knowledge base can answer is judged by the question itself; sub-queries only add to what it found.
        """
        found = [list(hits) for hits in retrieved.per_query]
        judgement = self.judge(plan, retrieved)
        if judgement.reason is not None:
            return self._ungrounded(judgement.reason, plan, found[0] if found else [], list(retrieved.beyond_scopes))
        hits, kept = self._chosen(plan, list(retrieved.nodes), found)
        passages = self._budget.fit(self._passages(plan, hits), survey=plan.type == "survey", protected=kept)
        return GroundedContext(
            passages=passages,
            conflicts=self._conflicts(passages, hits),
            facts=self._facts(passages),
            notices=(_no_value_for(plan.as_of),) if self._nothing_valid(plan, found[0]) else (),
        )

    def judge(self, plan: GroundingPlan, retrieved: RetrievedSections) -> Judgement:
        """Whether the question may be answered from what was found, without grounding it."""
        main = list(retrieved.per_query[0]) if retrieved.per_query else []
        verdict = self.gate.judge(plan.queries[0], main)
        if verdict.reason is None and self._misses_period(plan, main, verdict.rivals):
            return Judgement("out_of_period", verdict)
        return Judgement(verdict.reason, verdict)

    def _chosen(
        self, plan: GroundingPlan, merged: list[NodeWithScore], found: Sequence[list[NodeWithScore]]
    ) -> tuple[list[NodeWithScore], frozenset[str]]:
        """The sections in their final order, and the node ids that must not be cut."""
        ranked = self._best.postprocess_nodes(merged[:_RANKED], QueryBundle(plan.queries[0]))
        ranked = self._with_evidence(plan.queries[0], ranked)
        ranked = ValidAt(self._source, as_of=plan.as_of).postprocess_nodes(ranked)
        reserved = [
            hit
            for query, hits in zip(plan.queries[1:], found[1:], strict=False)
            for hit in self._best.postprocess_nodes(_of_first_entries(hits), QueryBundle(query))
        ]
        hits = _without_repeats([*ranked[:KEPT_OF_SUB_QUERY], *reserved, *ranked[KEPT_OF_SUB_QUERY:]])
        hits = self._references.postprocess_nodes(hits, QueryBundle(plan.queries[0]))
        hits = self._sides.postprocess_nodes(hits, QueryBundle(" ".join(plan.queries)))
        kept = {hit.node.node_id for hit in [*ranked[:KEPT_OF_SUB_QUERY], *reserved]}
        kept |= {hit.node.node_id for hit in hits if role_of(hit) == CONFLICT}
        return hits, frozenset(kept)

    def _with_evidence(self, question: str, hits: list[NodeWithScore]) -> list[NodeWithScore]:
        """The hits that say enough of the question, compared with the one that says most."""
        worth = self._worth(question)
        values = [
            worth(f"{' '.join(members(hit, 'tags'))}\n{hit.node.metadata.get('title', '')}\n{content_of(hit)}") for hit in hits
        ]
        least = _LEAST_EVIDENCE * max(values, default=0.0)
        return [hit for hit, value in zip(hits, values, strict=True) if value >= least]

    def _passages(self, plan: GroundingPlan, hits: Sequence[NodeWithScore]) -> tuple[Passage, ...]:
        worth = self._worth(" ".join(plan.queries))
        several = {entry_of(hit) for hit in hits if is_source_text(hit)}
        counts: dict[str, int] = {}
        for hit in hits:
            counts[entry_of(hit)] = counts.get(entry_of(hit), 0) + 1
        passages = []
        for hit in hits:
            entry_id = entry_of(hit)
            shown = shown_parts(content_of(hit), worth, excluded=instruction_spans(hit))
            if shown:
                block_id = hit.node.node_id if entry_id in several or counts[entry_id] > 1 else entry_id
                passages.append(
                    passage_of(
                        hit,
                        block_id=block_id,
                        shown=shown,
                        secondary_source=self._is_secondary(members(hit, "publishers"), text_of(hit, "work")),
                    )
                )
        return tuple(passages)

    def _misses_period(self, plan: GroundingPlan, hits: Sequence[NodeWithScore], best: Sequence[str]) -> bool:
        """Whether the question writes a year in which nothing found holds, or of which none of the best entries says anything."""
        year = plan.as_of[:4]
        if not plan.as_of_named or year not in plan.queries[0]:
            return False
        if self._nothing_valid(plan, hits):
            return True
        newest = max((text_of(hit, "stand") for hit in hits), default="")[:4]
        if not best or not newest.isdigit():
            return False
        if is_far_ahead(int(year), int(newest)):
            return not writes_year(hits, self._source, self._worth_of_words(plan.queries[0]), year)
        return all(is_silent_about_year(one, self._source, int(year), newest_stand=int(newest)) for one in best)

    def _nothing_valid(self, plan: GroundingPlan, hits: Sequence[NodeWithScore]) -> bool:
        if not plan.as_of_named:
            return False
        return period_coverage(hits, self._source, self._worth_of_words(plan.queries[0]), plan.as_of) == "not_covered"

    def _conflicts(self, passages: Sequence[Passage], hits: Sequence[NodeWithScore]) -> tuple[Conflict, ...]:
        """The conflicts that the context holds at least one side of."""
        given = {passage.node_id for passage in passages}
        present = [hit for hit in hits if hit.node.node_id in given]
        touching = self._register.touching(tuple(dict.fromkeys(passage.entry_id for passage in passages)))
        return tuple(conflict for conflict in touching if any(holds_a_side(hit, conflict) for hit in present))

    def _facts(self, passages: Sequence[Passage]) -> tuple[Fact, ...]:
        return tuple(fact for passage in passages for fact in self._source.facts_of(passage.node_id))

    def _ungrounded(
        self, reason: Reason, plan: GroundingPlan, hits: Sequence[NodeWithScore], beyond: Sequence[NodeWithScore]
    ) -> Ungrounded:
        """Names what can answer outside the scopes, if anything can, else what came nearest inside them."""
        answers_beyond = bool(beyond) and self.gate.judge(plan.queries[0], beyond).reason is None
        nearest = tuple(dict.fromkeys(entry_of(hit) for hit in (beyond if answers_beyond else hits)))[:_NEAREST]
        return Ungrounded(reason=reason, searched=plan.queries, nearest=nearest, beyond_scopes=answers_beyond)

    def _worth(self, question: str) -> Worth:
        return _WorthOf(self._said.said(question), self._terms)

    def _worth_of_words(self, question: str) -> Worth:
        return _WorthOf([one for one in self._said.said(question) if not one.is_number], self._terms)


class _WorthOf:
    """How much of what a question says a text says; whole sections are analysed once."""

    def __init__(self, said: Sequence[Said], terms: TermReader) -> None:
        self._said = said
        self._terms = terms

    def __call__(self, text: str) -> float:
        tokens = self._terms.tokens(text, text)
        return sum(one.weight * one.found_in(tokens) for one in self._said)


def _no_value_for(month: str) -> str:
    return f"Für {month} steht in den gefundenen Einträgen kein gültiger Wert; die Auskunft stützt sich auf andere Zeiträume."


def _of_first_entries(hits: Sequence[NodeWithScore]) -> list[NodeWithScore]:
    first = list(dict.fromkeys(entry_of(hit) for hit in hits))[:KEPT_OF_SUB_QUERY]
    return [hit for hit in hits if entry_of(hit) in first][: 2 * KEPT_OF_SUB_QUERY]


def _without_repeats(hits: Sequence[NodeWithScore]) -> list[NodeWithScore]:
    first: dict[str, NodeWithScore] = {}
    for hit in hits:
        first.setdefault(hit.node.node_id, hit)
    return list(first.values())
