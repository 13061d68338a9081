"""`jobs`: what long work was asked for, how far it is, and running one."""

from typing import Annotated, get_args

import typer

from app.assembly import Assembly
from app.console import EXIT_FAILED, print_json, reported_errors, say
from app.job_work import job_log
from app.settings import Settings
from app.store.jobs import Jobs
from pipelines.errors import BadInput, NotFound
from pipelines.jobs import Job, JobState

app = typer.Typer(help="Jobs: list, show, log, run.", no_args_is_help=True)
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]
JobArgument = Annotated[int, typer.Argument(min=1, help="Number of the job.")]


@app.command("list")
def list_jobs(
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Most jobs to list.")] = 20,
    state: Annotated[str | None, typer.Option(help="QUEUED, RUNNING, COMPLETED or FAILED.")] = None,
    as_json: JsonOption = False,
) -> None:
    """List the newest jobs, newest first."""
    with reported_errors():
        if state is not None and state not in get_args(JobState):
            raise BadInput(f"State {state!r} is unknown.", hint=f"Use one of {', '.join(get_args(JobState))}.")
        with Assembly(Settings.load()) as assembly:
            found = Jobs(assembly.database).list(limit=limit, state=state)  # type: ignore[arg-type]
        if as_json:
            print_json([job.model_dump(mode="json") for job in found])
        for job in () if as_json else found:
            typer.echo(_line(job))


@app.command()
def show(job_id: JobArgument, as_json: JsonOption = False) -> None:
    """Show one job."""
    with reported_errors():
        with Assembly(Settings.load()) as assembly:
            job = Jobs(assembly.database).get(job_id)
        if as_json:
            print_json(job.model_dump(mode="json"))
        else:
            typer.echo(_line(job))
            for name in ("reason", "arguments", "error"):
                typer.echo(f"  {name}: {getattr(job, name) or '–'}")


@app.command()
def log(job_id: JobArgument) -> None:
    """Print the log of a job."""
    with reported_errors():
        settings = Settings.load()
        path = job_log(settings.data_dir, job_id)
        if not path.is_file():
            raise NotFound(f"Job {job_id} has no log.", hint="See `python -m app jobs list`.")
        typer.echo(path.read_text(encoding="utf-8", errors="replace"), nl=False)


@app.command()
def run(job_id: JobArgument) -> None:
    """Run a QUEUED job in this process (the service starts jobs so); ends with 1 when it fails."""
    with reported_errors():
        with Assembly(Settings.load()) as assembly:
            done = assembly.run_job(job_id)
    if done is None:
        say(f"Job {job_id} was not started: it is not QUEUED, or a job that excludes it runs.")
        raise typer.Exit(EXIT_FAILED)


def _line(job: Job) -> str:
    progress = f"{job.progress.stage} {job.progress.done}/{job.progress.total}" if job.state == "RUNNING" else (job.error or "")
    return f"{job.id:5d} {job.state:<9} {job.kind:<10} {job.created_at:%Y-%m-%d %H:%M:%S} {job.requested_by}: {progress}".rstrip()
