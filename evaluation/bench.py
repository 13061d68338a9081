"""This retrieval and stock LlamaIndex side by side: build time, memory, start, latency, recall, in processes of their own."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from custom_postprocessors.evidence import Frozen
from evaluation.retrieval import Latency
from pipelines.errors import PvAgentError

_Result = TypeVar("_Result", "Built", "Served")
_ROOT = Path(__file__).resolve().parent.parent


class BuildSeconds(Frozen):
    """`cold`: nothing cached. `cached`: every vector cached. `unchanged`: asked to build what is there already."""

    cold: float
    cached: float
    unchanged: float


class SideReport(Frozen):
    """One retrieval.

    `rss_mib`: resident memory after all questions; `start_seconds`: from a new process to its first result, imports included.
    """

    build_seconds: BuildSeconds
    rss_mib: float
    start_seconds: float
    latency_ms: Latency
    recall_at_k: float
    mrr: float
    k: int
    candidates: int
    """Hits a channel; of stock LlamaIndex the number that gave it the best recall."""


class BenchReport(Frozen):
    """Both sides over the same sections, encoder and questions."""

    ours: SideReport
    stock: SideReport
    entries: int
    sections: int
    questions: int


class Built(Frozen):
    """What a build step prints."""

    seconds: float
    entries: int
    sections: int


class Served(Frozen):
    """What a serving step prints."""

    start_seconds: float
    rss_mib: float
    latency_ms: Latency
    recall_at_k: float
    mrr: float
    k: int
    candidates: int
    questions: int


def run_bench(kb_dir: Path, goldsets: Sequence[Path], work_dir: Path, k: int = 8) -> BenchReport:
    """Builds both indexes below `work_dir` three times each and asks every answerable question.

    Without goldsets the titles of its entries are asked instead.

    Raises:
        PvAgentError: a step failed; the message has what it wrote to stderr.
    """
    sides = {}
    for side in ("ours", "stock"):
        folder = work_dir / side
        cold = _step(Built, side, "build", kb_dir, folder)
        cached = _step(Built, side, "rebuild", kb_dir, folder)
        unchanged = _step(Built, side, "build", kb_dir, folder)
        served = _step(Served, side, "serve", kb_dir, folder, *goldsets, k=k)
        sides[side] = (
            cold,
            SideReport(
                build_seconds=BuildSeconds(cold=cold.seconds, cached=cached.seconds, unchanged=unchanged.seconds),
                **served.model_dump(exclude={"questions"}),
            ),
            served.questions,
        )
    built, ours, questions = sides["ours"]
    return BenchReport(ours=ours, stock=sides["stock"][1], entries=built.entries, sections=built.sections, questions=questions)


def report_text(report: BenchReport) -> str:
    """The report as a table for a terminal."""
    rows = [
        ("build cold", "{0.build_seconds.cold:.1f} s"),
        ("build cached", "{0.build_seconds.cached:.1f} s"),
        ("build unchanged", "{0.build_seconds.unchanged:.1f} s"),
        ("memory", "{0.rss_mib:.0f} MiB"),
        ("start", "{0.start_seconds:.1f} s"),
        ("latency p50", "{0.latency_ms.p50:.1f} ms"),
        ("latency p95", "{0.latency_ms.p95:.1f} ms"),
        ("recall@k", "{0.recall_at_k:.3f}"),
        ("MRR", "{0.mrr:.3f}"),
        ("candidates", "{0.candidates}"),
    ]
    lines = [f"{report.entries} entries, {report.sections} sections, {report.questions} questions, k = {report.ours.k}"]
    lines.append(f"{'':<16}{'ours':>12}{'stock':>12}")
    lines.extend(f"{name:<16}{form.format(report.ours):>12}{form.format(report.stock):>12}" for name, form in rows)
    return "\n".join(lines)


def _step(kind: type[_Result], side: str, step: str, kb_dir: Path, folder: Path, *goldsets: Path, k: int = 8) -> _Result:
    command = [sys.executable, "-m", "evaluation.bench_side", side, step, str(kb_dir), str(folder), str(k), *map(str, goldsets)]
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, encoding="utf-8", check=False)
    try:
        return kind.model_validate(json.loads(done.stdout.strip().splitlines()[-1]))
    except (IndexError, ValueError, ValidationError) as exc:
        raise PvAgentError(f"The step {side} {step} of the benchmark failed:\n{done.stderr[-2000:]}") from exc
