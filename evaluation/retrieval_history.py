"""Measurements of retrieval over time: one small file for each, beside the reports of the runs."""

from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from custom_postprocessors.evidence import Frozen
from evaluation.retrieval import RetrievalReport
from evaluation.runs import REPORTS
from pipelines.errors import StoreError

PREFIX = "retrieval-"


class RetrievalRecord(Frozen):
    """The figures of one measurement; rates in [0, 1]."""

    created_at: datetime
    goldsets: tuple[str, ...]
    goldset_version: str
    index_version: str
    questions: int
    k: int
    recall_at_k: float
    mrr: float
    p50_ms: float


def keep_retrieval(data_dir: Path, goldsets: tuple[str, ...], report: RetrievalReport, created_at: datetime) -> Path:
    """Writes the figures of a report and gives the file.

    Raises:
        StoreError: it cannot be written.
    """
    record = RetrievalRecord(
        created_at=created_at,
        goldsets=goldsets,
        goldset_version=report.goldset_version,
        index_version=report.index_version,
        questions=report.questions,
        k=report.k,
        recall_at_k=report.recall_at_k,
        mrr=report.mrr,
        p50_ms=report.latency_ms.p50,
    )
    path = data_dir / REPORTS / f"{PREFIX}{created_at.astimezone(UTC):%Y%m%dT%H%M%S%f}.json"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(record.model_dump_json(indent=1) + "\n", encoding="utf-8")
    except OSError as exc:
        raise StoreError(f"The measurement {str(path)!r} cannot be written: {exc}.") from exc
    return path


def kept_retrieval(data_dir: Path) -> tuple[RetrievalRecord, ...]:
    """Every measurement that can be read, oldest first; files that cannot be read are left out."""
    found = []
    for path in (data_dir / REPORTS).glob(f"{PREFIX}*.json"):
        try:
            found.append(RetrievalRecord.model_validate_json(path.read_bytes()))
        except (OSError, ValidationError):
            continue
    return tuple(sorted(found, key=lambda record: record.created_at))
