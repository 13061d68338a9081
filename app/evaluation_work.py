"""What an `evaluation` job does: a bake-off, or the retrieval of the served index version against the one before it."""

from app.assembly import Assembly
from app.bakeoff import EVALUATION_DAY
from app.evaluating import VersionEvaluator
from app.evaluation_job import is_bakeoff, run_evaluation
from pipelines.index import IndexLayout, Progress
from pipelines.jobs import Job


def evaluate_job(assembly: Assembly, job: Job, progress: Progress) -> dict[str, object]:
    """Does the job with parts of its own, which write nothing to the audit log; returns its figures as JSON values.

    Raises:
        PvAgentError: as `run_evaluation` and `VersionEvaluator`.
    """
    if not is_bakeoff(job.arguments):
        return VersionEvaluator(IndexLayout(assembly.settings.data_dir), assembly.open_engine)(job, progress)
    with Assembly(assembly.settings.model_copy(update={"today": EVALUATION_DAY}), audited=False) as product:
        return run_evaluation(product, job.arguments, progress)
