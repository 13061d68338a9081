"""A bake-off as a job: its arguments, and what it returns."""

from collections.abc import Sequence

from app.bakeoff import Product, RunRequest, goldset_paths, run_bakeoff
from pipelines.errors import BadInput
from pipelines.index import Progress
from pipelines.jobs import JobArguments


def bakeoff_arguments(models: Sequence[str], goldsets: Sequence[str], run_id: str) -> JobArguments:
    """The arguments of an `evaluation` job that is a bake-off: names of models and goldsets, and the run's id."""
    return {"models": ",".join(models), "goldsets": ",".join(goldsets), "run": run_id}


def is_bakeoff(arguments: JobArguments) -> bool:
    """Whether an `evaluation` job is a bake-off."""
    return "models" in arguments


def stopped_result(run_id: str) -> dict[str, object]:
    """What a bake-off job returns whose run was stopped before its end."""
    return {"run": run_id, "finished": False}


def run_evaluation(product: Product, arguments: JobArguments, progress: Progress) -> dict[str, object]:
    """Runs or goes on with a bake-off; `progress` has the model as its stage. Returns run, winner, reason and whether it ended.

    Raises:
        BadInput: the arguments are unusable, or the run cannot go on.
        PvAgentError: as `run_bakeoff`.
    """
    models, goldsets, run_id = (str(arguments.get(name) or "") for name in ("models", "goldsets", "run"))
    if not run_id:
        raise BadInput("A bake-off job needs `run`.", hint="Name the run.")
    paths = goldset_paths(goldsets.split(","), product.settings.data_dir)
    request = RunRequest(kind="bakeoff", models=tuple(models.split(",")), goldsets=paths, run_id=run_id, waited=True)
    _, report = run_bakeoff(product, request, progress)
    if report is None:
        return stopped_result(run_id)
    decision = report.decision
    return {"run": run_id, "finished": True, "winner": decision.winner, "reason": decision.reason, "record": report.record}
