"""Floors under the figures of the embedded default: what a change may not lower unseen."""

from dataclasses import dataclass

from evaluation.answers import AnswersReport
from evaluation.retrieval import RetrievalReport


@dataclass(frozen=True, slots=True)
class Floor:
    """A figure of one group of goldsets and the value it must reach (`at_most`: must not exceed)."""

    group: str
    figure: str
    value: float
    at_most: bool = False


FLOORS: tuple[Floor, ...] = (
    Floor("textbook", "recall_at_k", 0.96),
    Floor("textbook", "mrr", 0.90),
    Floor("hard", "recall_at_k", 0.92),
    Floor("hard", "mrr", 0.85),
    Floor("textbook", "citation_precision", 1.0),
    Floor("hard", "citation_precision", 1.0),
    Floor("out_of_kb", "citation_precision", 1.0),
    Floor("textbook", "values_correct", 0.80),
    Floor("hard", "values_correct", 0.72),
    Floor("textbook", "false_refusals", 0.05, at_most=True),
    Floor("hard", "false_refusals", 0.05, at_most=True),
    Floor("out_of_kb", "false_answers", 0.20, at_most=True),
)
"""A little below what was measured when they were set, so that only a real loss breaks them."""


def broken_floors(group: str, retrieval: RetrievalReport, answers: AnswersReport) -> list[str]:
    """One line for every floor of the group that a figure misses; empty when all hold."""
    broken = []
    for floor in FLOORS:
        if floor.group != group:
            continue
        source = retrieval if hasattr(retrieval, floor.figure) else answers
        value = float(getattr(source, floor.figure))
        if value > floor.value if floor.at_most else value < floor.value:
            sign = "≤" if floor.at_most else "≥"
            broken.append(f"{group}: {floor.figure} is {value:.3f}, must be {sign} {floor.value:.3f}")
    return broken
