"""What a run looks like in a terminal: a bar with the time left for each model, and the table of the result."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from evaluation.model_report import BakeoffReport
from evaluation.report_text import COLUMNS, memory_text, table_rows


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


def result_table(report: BakeoffReport) -> Table:
    """The table of the decision, best model first, with the memory that each took."""
    table = Table(*COLUMNS, "Speicher", title=f"{report.manifest.questions} Fragen, Lauf {report.run_id}")
    for row in table_rows(report):
        model = report.model(row[0])
        table.add_row(*row, memory_text(model) if model else "–")
    return table
