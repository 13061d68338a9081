"""From a question to how it is looked up: type, sub-queries, scopes, time and topics, by rules and always the same."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import date

from custom_postprocessors.evidence import TextAnalyzer
from pipelines.contracts import Plan, Question, QuestionType
from pipelines.followups import standalone
from pipelines.question_type import question_type
from pipelines.recipes import Recipe, recipe_for
from pipelines.scope_words import scopes_of
from pipelines.sub_queries import MOST_QUERIES, split_question
from pipelines.subject import EntryHeading, SubjectFinder
from pipelines.time_words import read_time

_MOST_TOPICS = 3
_TOPIC_SHARE = 0.6
_CALCULATED: frozenset[QuestionType] = frozenset({"decision", "comparison", "value", "multi"})


class Planner:
    """Plans questions against one knowledge base; immutable and safe for many threads.

    Args:
        analyzer: the German analysis of the index.
        entries: what the knowledge base has.
        today: the clock, asked for every question, because the month may change while an index stays open.
        recipes: what calculations need.
        route: from a question to managed tags.
    """

    def __init__(
        self,
        analyzer: TextAnalyzer,
        entries: Iterable[EntryHeading],
        today: Callable[[], date],
        *,
        recipes: Sequence[Recipe] = (),
        route: Callable[[str], tuple[str, ...]] = lambda text: (),
    ) -> None:
        known = tuple(entries)
        self._subjects = SubjectFinder(analyzer, known)
        self._topics = _TopicVocabulary(analyzer, known)
        self._today = today
        self._recipes = tuple(recipes)
        self._route = route

    def plan(self, question: Question) -> Plan:
        """The plan of a normalised question; never fails.

        Scopes and topics that the caller gives win over those that the words suggest; a month that the caller gives is what
        relative words are resolved against.
        """
        completed = standalone(question.text, [turn.question for turn in question.history], self._subjects)
        text = completed or question.text
        time = read_time(text, question.as_of or f"{self._today():%Y-%m}")
        parts = split_question(text, self._subjects)
        kind = question_type(text, len(parts))
        recipe = self.recipe(text) if kind in _CALCULATED else None
        return Plan(
            type=kind,
            queries=_queries(text, parts, recipe),
            scopes=question.scopes or scopes_of(text),
            as_of=time.as_of,
            as_of_named=time.named or question.as_of is not None,
            topics=question.topics or self._topics.of(text),
            tags=self._route(text),
            assumptions=() if recipe is None else recipe.assumptions,
            standalone_question=completed,
        )

    def recipe(self, question: str) -> Recipe | None:
        """The recipe whose queries and assumptions a calculation of this kind needs, or None."""
        return recipe_for(question, self._recipes)


def _queries(text: str, parts: tuple[str, ...], recipe: Recipe | None) -> tuple[str, ...]:
    further = recipe.queries if recipe is not None else parts
    if len(further) >= MOST_QUERIES:
        # The whole question finds its first part by itself; the last ones are what gets lost in it.
        further = further[-(MOST_QUERIES - 1) :]
    return (text, *further)


class _TopicVocabulary:
    """Which topics share the rare words of a question in their titles and tags."""

    def __init__(self, analyzer: TextAnalyzer, entries: Iterable[EntryHeading]) -> None:
        self._analyzer = analyzer
        self._topics_of: dict[str, set[str]] = defaultdict(set)
        topics = set()
        for entry in entries:
            topics.add(entry.topic)
            for text in (entry.title, *entry.tags):
                for token in analyzer.tokens(text):
                    self._topics_of[token].add(entry.topic)
        self._count = max(1, len(topics))

    def of(self, text: str) -> tuple[str, ...]:
        """At most three topics, best first: those that reach 60 % of the best one's overlap; empty when nothing overlaps."""
        weight: dict[str, float] = defaultdict(float)
        for token in dict.fromkeys(self._analyzer.tokens(text)):
            topics = self._topics_of.get(token, set())
            # A word that a fifth of all topics share says nothing about the topic.
            if topics and len(topics) <= max(2, self._count // 5):
                for topic in topics:
                    weight[topic] += self._analyzer.rarity(token) / len(topics)
        best = max(weight.values(), default=0.0)
        ranked = sorted(
            (topic for topic in weight if weight[topic] >= _TOPIC_SHARE * best), key=lambda topic: (-weight[topic], topic)
        )
        return tuple(ranked[:_MOST_TOPICS])
