"""What retrieval and grounding did with a question, row by row; the same calls as the chat's path makes."""

import re
import time
from collections.abc import Mapping

from app.engine import Engine
from app.ui.service import AnalysedWord, ChannelRanks, SearchRow, SearchView
from custom_postprocessors.evidence import Passage
from custom_postprocessors.grounding import Ungrounded
from pipelines.answer_text import refusal_text
from pipelines.contracts import Channel, Plan, Question
from pipelines.query_terms import Origin, QueryAnalysis
from pipelines.search import scores_of
from pipelines.vocabulary import fold

_WORD = re.compile(r"[\w§][\w§.\-/]*\w|[\w§]")
_ORIGIN_NOTE: dict[Origin, str] = {
    "joined": "als ein Wort gelesen",
    "abbreviation": "Abkürzung",
    "synonym": "Synonym",
    "typo": "Schreibweise korrigiert",
    "number": "Zahl",
    "norm": "Norm",
}
_IN_CONTEXT = {
    "hit": "gefunden und aussagekräftig für die Frage",
    "cross_ref": "Verweis eines der besten Treffer",
    "conflict": "andere Seite eines Widerspruchs",
}
_WEAK = "sagt im Vergleich zum besten Treffer zu wenig von der Frage, oder der Platz im Kontext ist vergeben"


def explained(question: Question, engine: Engine, k: int) -> SearchView:
    """The `k` best sections with rank and score in every channel, then what joined the context without being among them."""
    started = time.perf_counter()
    plan = engine.planner.plan(question)
    retrieved = engine.retriever.retrieve_plan(plan)
    grounded = engine.grounder.ground(plan, retrieved)
    milliseconds = (time.perf_counter() - started) * 1000
    refused = isinstance(grounded, Ungrounded)
    passages: dict[str, Passage] = {} if isinstance(grounded, Ungrounded) else {p.node_id: p for p in grounded.passages}
    section_of = {passage.entry_id: passage.section for passage in passages.values()}
    ranks = retrieved.ranks or {}
    rows = []
    for rank, found in enumerate(retrieved.nodes[:k], start=1):
        node = engine.index.node(found.node.node_id)
        if node is None:
            continue
        passage = passages.pop(node.node_id, None)
        rows.append(
            SearchRow(
                rank=rank,
                entry_id=node.entry_id,
                section=node.section,
                title=node.title,
                stand=node.stand,
                work=node.work,
                topic=node.topic,
                scores=scores_of(found),
                ranks=_ranks(ranks.get(node.node_id, {})),
                in_context=passage is not None,
                reason=_reason(passage, section_of.get(node.entry_id), refused=refused),
            )
        )
    rows += [_joined(passage, len(rows) + n, ranks) for n, passage in enumerate(passages.values(), start=1)]
    first = retrieved.analyses[0] if retrieved.analyses else None
    return SearchView(
        question=question.text,
        plan=plan,
        words=_words(plan.queries[0], first) if first else (),
        rows=tuple(rows),
        degraded=retrieved.degraded,
        refusal=_refusal(grounded, plan, engine) if isinstance(grounded, Ungrounded) else None,
        milliseconds=milliseconds,
        added_terms=tuple(dict.fromkeys(term.token for term in first.of_origin("abbreviation", "synonym"))) if first else (),
    )


def _reason(passage: Passage | None, other_section: str | None, *, refused: bool) -> str:
    if passage is not None:
        return _IN_CONTEXT[passage.role]
    if refused:
        return "es wird nichts in den Kontext genommen, weil die Belege die Frage nicht tragen"
    return f"der Abschnitt „{other_section}“ dieses Eintrags sagt mehr zur Frage" if other_section else _WEAK


def _joined(passage: Passage, rank: int, ranks: Mapping[str, Mapping[Channel, int]]) -> SearchRow:
    reason = (
        _IN_CONTEXT[passage.role] if passage.role != "hit" else "der Abschnitt seines Eintrags, der am meisten zur Frage sagt"
    )
    return SearchRow(
        rank=rank,
        entry_id=passage.entry_id,
        section=passage.section,
        title=passage.title,
        stand=passage.stand,
        work=passage.work,
        topic=passage.topic,
        scores=passage.scores,
        ranks=_ranks(ranks.get(passage.node_id, {})),
        in_context=True,
        reason=reason,
        role=passage.role,
    )


def _ranks(of_channel: Mapping[Channel, int]) -> ChannelRanks:
    return ChannelRanks(bm25=of_channel.get("lexical"), similarity=of_channel.get("dense"), ngram=of_channel.get("typo"))


def _refusal(grounded: Ungrounded, plan: Plan, engine: Engine) -> str:
    entries = engine.index.entries
    nearest = [(entry_id, entries[entry_id].title) for entry_id in grounded.nearest if entry_id in entries]
    return refusal_text(grounded.reason, plan=plan, sections=engine.index.meta.nodes, nearest=nearest).split("\n\n")[0]


def _words(query: str, analysis: QueryAnalysis) -> tuple[AnalysedWord, ...]:
    """The words of the query in order; a word that is part of a phrase shows the tokens of the phrase."""
    terms = [term for group in analysis.groups for term in group]
    content = analysis.content.split()
    words = []
    for match in _WORD.finditer(query):
        word = match.group()
        folded = fold(word)
        of_word = [term for term in terms if folded in (term.source, *term.source.split())]
        tokens = tuple(dict.fromkeys(term.token for term in of_word))
        notes = tuple(dict.fromkeys(_ORIGIN_NOTE[term.origin] for term in of_word if term.origin in _ORIGIN_NOTE))
        note = ", ".join(notes) if of_word else ("" if folded in content else "Stoppwort, wird nicht gesucht")
        words.append(AnalysedWord(word, tokens, note))
    return tuple(words)
