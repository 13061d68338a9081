from evaluation.coverage import TopicCoverage, topic_coverage
from evaluation.goldset import GoldItem


def item(number: int, *expected: str) -> GoldItem:
    return GoldItem(id=f"q-x-{number}", question="?", kind="fact" if expected else "out_of_kb", expected_ids=expected)


TOPICS = {"a-1": "lohn", "a-2": "lohn", "b-1": "urlaub", "c-1": "steuer"}


def test_every_topic_is_listed_the_least_covered_first() -> None:
    items = [item(1, "a-1"), item(2, "a-1", "c-1"), item(3, "a-1", "a-1x"), item(4)]
    assert topic_coverage(items, TOPICS) == (
        TopicCoverage(topic="urlaub", entries=1, asked_entries=0, questions=0, unasked=("b-1",)),
        TopicCoverage(topic="lohn", entries=2, asked_entries=1, questions=3, unasked=("a-2",)),
        TopicCoverage(topic="steuer", entries=1, asked_entries=1, questions=1, unasked=()),
    )


def test_a_question_that_expects_two_entries_of_a_topic_counts_once() -> None:
    (row,) = topic_coverage([item(1, "a-1", "a-2")], {"a-1": "lohn", "a-2": "lohn"})
    assert (row.questions, row.share) == (1, 1.0)


def test_an_empty_knowledge_base_has_no_topics() -> None:
    assert topic_coverage([item(1, "a-1")], {}) == ()
