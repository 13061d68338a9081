"""The reports of evaluation runs, as the tab Auswertung reads them from the data folder."""

import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from app.bakeoff import read_report
from evaluation.model_report import BakeoffReport, ModelReport
from evaluation.retrieval_history import RetrievalRecord, kept_retrieval
from evaluation.runs import REPORT_FILE, REPORTS, RunFolder
from pipelines.errors import PvAgentError

UNREADABLE = "Die Datei des Berichts ist beschädigt. Der Lauf kann fortgesetzt werden; sein Bericht wird dann neu geschrieben."
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ModelSummary:
    """A model's figures in a run; rates in [0, 1]."""

    name: str
    draft_citation_precision: float
    citation_recall: float
    refusal_correct: float
    values_correct: float
    p50_seconds: float
    p95_seconds: float
    failures: int


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A finished run. `fault` says why its report cannot be read; then everything else but the id is empty."""

    run_id: str
    created_at: datetime | None = None
    kind: str = ""
    goldsets: tuple[str, ...] = ()
    goldset_version: str = ""
    index_version: str = ""
    questions: int = 0
    models: tuple[ModelSummary, ...] = ()
    fault: str = ""


class ReportShelf:
    """Finished runs below a data folder; a report is read once and again when its file changes. Safe for many threads."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._known: dict[Path, tuple[int, RunSummary]] = {}
        self._lock = threading.Lock()

    def runs(self) -> tuple[RunSummary, ...]:
        """Every finished run, newest first; those that cannot be read last."""
        found = [self._summary(path) for path in (self._data_dir / REPORTS).glob(f"*/{REPORT_FILE}")]
        return tuple(sorted(found, key=_age, reverse=True))

    def retrieval(self) -> tuple[RetrievalRecord, ...]:
        """Every measurement of retrieval, oldest first."""
        return kept_retrieval(self._data_dir)

    def report(self, run_id: str) -> BakeoffReport:
        """The whole report of a run.

        Raises:
            BadInput: that is no id of a run.
            NotFound: there is no such finished run.
            StoreError: it cannot be read.
        """
        return read_report(RunFolder.of(self._data_dir, run_id))

    def _summary(self, path: Path) -> RunSummary:
        changed = path.stat().st_mtime_ns
        with self._lock:
            known = self._known.get(path)
        if known is not None and known[0] == changed:
            return known[1]
        try:
            summary = summary_of(read_report(RunFolder(path.parent)))
        except PvAgentError as exc:
            _log.warning("%s", exc)
            summary = RunSummary(path.parent.name, fault=UNREADABLE)
        with self._lock:
            self._known[path] = (changed, summary)
        return summary


def summary_of(report: BakeoffReport) -> RunSummary:
    """What the overview shows of a report."""
    manifest = report.manifest
    return RunSummary(
        run_id=report.run_id,
        created_at=report.created_at,
        kind=manifest.kind,
        goldsets=tuple(Path(name).stem for name in manifest.goldset_files),
        goldset_version=report.goldset_version,
        index_version=report.index_version,
        questions=manifest.questions,
        models=tuple(map(_model, report.models)),
    )


def same_questions(runs: Sequence[RunSummary]) -> dict[str, list[RunSummary]]:
    """Runs over the same goldset version, oldest first; the goldset with the most runs first. Only runs that were read."""
    groups: dict[str, list[RunSummary]] = {}
    for run in reversed(runs):
        if not run.fault:
            groups.setdefault(run.goldset_version, []).append(run)
    return dict(sorted(groups.items(), key=lambda group: -len(group[1])))


def _model(model: ModelReport) -> ModelSummary:
    return ModelSummary(
        name=model.name,
        draft_citation_precision=model.draft_citation_precision,
        citation_recall=model.citation_recall,
        refusal_correct=model.refusal_correct,
        values_correct=model.values_correct,
        p50_seconds=model.latency_ms.p50 / 1000,
        p95_seconds=model.latency_ms.p95 / 1000,
        failures=len(model.failures),
    )


def _age(run: RunSummary) -> tuple[bool, float, str]:
    return run.created_at is not None, run.created_at.timestamp() if run.created_at else 0.0, run.run_id
