"""What a run looks like in a terminal: a bar with the time left for each model, and the table of the result."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from evaluation.model_report import BakeoffReport
from evaluation.report_text import COLUMNS, memory_text, table_rows

WIDE = 120
"""Columns of a terminal that show a model in one line."""


@contextmanager
def live_progress() -> Iterator["StageBars"]:
    """Bars on stderr, one per stage, for as long as the block lasts; nothing of them stays where there is no terminal."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("ETA"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        yield StageBars(bars)


class StageBars:
    """A `Progress` of the product (stage, done, total) shown as bars."""

    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._tasks: dict[str, TaskID] = {}

    def __call__(self, stage: str, done: int, total: int) -> None:
        """See `pipelines.index.Progress`; what was done before the first call does not count for the time left."""
        if stage not in self._tasks:
            self._tasks[stage] = self._bars.add_task(stage, total=total, completed=done)
        else:
            self._bars.update(self._tasks[stage], completed=done, total=total)


def result_table(report: BakeoffReport, width: int) -> Table:
    """The table of the decision, best model first, with the memory that each took.

    Narrower than `WIDE` columns it lies on its side: one line per figure, one column per model.
    """
    rows = [(*row, memory_text(model) if (model := report.model(row[0])) else "–") for row in table_rows(report)]
    lines = [(*COLUMNS, "Speicher"), *rows]
    head, *body = lines if width >= WIDE else list(zip(*lines, strict=True))
    table = Table(title=f"{report.manifest.questions} Fragen, Lauf {report.run_id}")
    for name in head:
        table.add_column(name, overflow="fold")
    for row in body:
        table.add_row(*row)
    return table
