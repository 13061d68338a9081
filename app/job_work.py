"""What each kind of job does, and running one with its log file."""

import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import get_args

from app.folder_plan import Decision
from app.indexing import Indexer
from app.ingest import IngestOptions
from app.settings import PREFIX, ROOT, Settings
from app.store.jobs import Jobs
from app.tagging import TagIndexer
from pipelines.errors import BadInput, IndexFault, ModelError
from pipelines.index import IndexLayout, Progress
from pipelines.jobs import INDEX_KINDS, Job, JobArguments, Work, run_job
from pipelines.process_identity import this_process

LOG_DIR = Path("logs") / "jobs"
_log = logging.getLogger(__name__)


def ingest_arguments(
    folder: Path, *, full: bool, decision: Decision, allow_removals: bool, evaluate: bool = False
) -> JobArguments:
    """The arguments of an `ingest` job; `evaluate` asks for an evaluation of what it builds."""
    arguments: JobArguments = {"folder": str(folder), "full": full, "decision": decision, "allow_removals": allow_removals}
    return {**arguments, "evaluate": True} if evaluate else arguments


class JobWork:
    """Does the work of jobs, by kind.

    Args:
        settings: names the folder that an ingest reads by default.
        indexer: does the index jobs.
        tagger: does the tag jobs.
        evaluate: does the evaluation jobs.
    """

    def __init__(self, settings: Settings, indexer: Indexer, tagger: TagIndexer, evaluate: Work) -> None:
        self._settings = settings
        self._indexer = indexer
        self._tagger = tagger
        self._evaluate = evaluate

    def __call__(self, job: Job, progress: Progress) -> dict[str, object]:
        """Does the work and returns its result.

        Raises:
            BadInput: no work is known for this kind of job, or its arguments are unusable.
            PvAgentError: the work failed.
        """
        full = job.arguments.get("full") is True
        match job.kind:
            case "ingest":
                folder = Path(str(job.arguments.get("folder") or self._settings.kb_dir))
                report = self._indexer.ingest(folder, _ingest_options(job), full=full, progress=progress)
                self._tags_of_same_model(progress)
                return report.model_copy(update={"job_id": job.id}).model_dump(mode="json")
            case "rebuild":
                meta = self._indexer.rebuild(full=full, progress=progress)
                self._tags_of_same_model(progress)
                return {"index_version": None if meta is None else meta.index_version}
            case "tags":
                built = self._tagger.rebuild(progress=progress)
                return {"tag_index_version": built.version, "tags": built.tags}
            case "evaluation":
                return self._evaluate(job, progress)

    def _tags_of_same_model(self, progress: Progress) -> None:
        """After a change of embedding model the tags get new vectors too; the index is served whether that works or not."""
        try:
            if not self._tagger.follows_model():
                self._tagger.rebuild(progress=progress)
        except (IndexFault, ModelError) as exc:
            _log.warning("The tag index was not built anew: %s", exc)


def run_queued(job_id: int, settings: Settings, jobs: Jobs, work: JobWork) -> Job | None:
    """Runs a QUEUED job in this process; None when another process has it or one that excludes it runs."""
    job = jobs.start(job_id, this_process())
    return None if job is None else run_logged(job, settings, jobs, work)


def run_logged(job: Job, settings: Settings, jobs: Jobs, work: JobWork) -> Job:
    """Runs a job that this process has claimed, with its log file; then starts the next one that waits.

    Raises:
        PvAgentError: the work failed; the job is FAILED.
    """
    served = IndexLayout(settings.data_dir).current()
    try:
        with _log_file(job_log(settings.data_dir, job.id)):
            done = run_job(job, jobs, work)
        _request_evaluation(done, served, settings, jobs)
        return done
    finally:
        following = jobs.next_queued()
        if following is not None:
            start_process(settings, following.id)


def _request_evaluation(done: Job, before: str | None, settings: Settings, jobs: Jobs) -> None:
    """Asks for an evaluation of a new index version where that is wanted; the first version has nothing to be compared with."""
    version = (done.result or {}).get("index_version")
    wanted = settings.evaluate_after_index or done.arguments.get("evaluate") is True
    if wanted and done.kind in INDEX_KINDS and before is not None and version != before:
        jobs.request("evaluation", requested_by=done.requested_by, reason=f"index {version} of job {done.id}")


def job_log(data_dir: Path, job_id: int) -> Path:
    """Where a job's log lies, whether it exists or not."""
    return data_dir / LOG_DIR / f"{job_id}.log"


def start_process(settings: Settings, job_id: int) -> subprocess.Popen[bytes]:
    """Starts `python -m app jobs run ID` on its own; what it says goes to the job's log. It outlives its starter."""
    path = job_log(settings.data_dir, job_id)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "app", "jobs", "run", str(job_id)],
            cwd=ROOT,
            env=_environment(settings),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def _environment(settings: Settings) -> dict[str, str]:
    """The environment with these settings in place of what is in it; no key goes into another process."""
    values = settings.model_dump(mode="json", exclude={"api_key", "admin_key"}, exclude_none=True)
    kept = {name: value for name, value in os.environ.items() if not name.upper().startswith(PREFIX)}
    return {**kept, **{f"{PREFIX}{name.upper()}": str(value) for name, value in values.items()}}


def _ingest_options(job: Job) -> IngestOptions:
    decision = job.arguments.get("decision") or "report"
    if decision not in get_args(Decision):
        raise BadInput(f"Decision {decision!r} is unknown.", hint=f"Use one of {', '.join(get_args(Decision))}.")
    return IngestOptions(
        decision=decision,  # type: ignore[arg-type]
        allow_removals=job.arguments.get("allow_removals") is True,
        author=job.requested_by,
        note=job.reason,
    )


@contextmanager
def _log_file(path: Path) -> Iterator[None]:
    """Sends what this program logs to the job's file as well; a job is not given up because its log cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handler = logging.FileHandler(path, encoding="utf-8")
    except OSError as exc:
        _log.warning("The job's log %s cannot be written: %s", path, exc)
        yield
        return
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    loggers = [logging.getLogger(layer) for layer in ("app", "evaluation", "pipelines", "custom_postprocessors")]
    for logger in loggers:
        logger.addHandler(handler)
        if logger.level == logging.NOTSET:
            logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeHandler(handler)
        handler.close()
