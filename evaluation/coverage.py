"""Which topics of the knowledge base a goldset asks about."""

from collections.abc import Iterable, Mapping

from custom_postprocessors.evidence import Frozen
from evaluation.goldset import GoldItem


class TopicCoverage(Frozen):
    """One topic: its entries, those that a question expects, and how many questions expect one of them."""

    topic: str
    entries: int
    asked_entries: int
    questions: int
    unasked: tuple[str, ...]

    @property
    def share(self) -> float:
        """Entries asked about ÷ entries, in [0, 1]."""
        return self.asked_entries / self.entries


def topic_coverage(items: Iterable[GoldItem], topics: Mapping[str, str]) -> tuple[TopicCoverage, ...]:
    """Coverage by topic, least covered first, then by name; a topic without questions is listed too.

    Args:
        items: the questions; expected ids that are in no topic do not count.
        topics: entry id → topic, every entry of the knowledge base.
    """
    questions: dict[str, int] = {}
    asked: set[str] = set()
    for item in items:
        known = [entry_id for entry_id in item.expected_ids if entry_id in topics]
        asked.update(known)
        for topic in {topics[entry_id] for entry_id in known}:
            questions[topic] = questions.get(topic, 0) + 1
    entries: dict[str, list[str]] = {}
    for entry_id, topic in topics.items():
        entries.setdefault(topic, []).append(entry_id)
    rows = [
        TopicCoverage(
            topic=topic,
            entries=len(ids),
            asked_entries=sum(entry_id in asked for entry_id in ids),
            questions=questions.get(topic, 0),
            unasked=tuple(sorted(entry_id for entry_id in ids if entry_id not in asked)),
        )
        for topic, ids in entries.items()
    ]
    return tuple(sorted(rows, key=lambda row: (row.share, row.topic)))
