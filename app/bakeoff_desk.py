"""What the tab „Modellvergleich“ needs of the product: candidates, answers on one context, votes, runs and their reports."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from app.bakeoff import (
    Candidate,
    Product,
    candidates,
    contest_of,
    contestants,
    goldset_names,
    goldset_paths,
    new_run_id,
    read_report,
)
from app.evaluation_job import bakeoff_arguments, is_bakeoff, stopped_result
from app.store.jobs import Jobs
from app.store.votes import FEWEST_MODELS, MOST_MODELS, Votes
from evaluation.ballots import CRITERIA, Ballot
from evaluation.comparison import RunComparison, compare_runs
from evaluation.metering import Usage
from evaluation.model_report import BakeoffReport, ModelReport
from evaluation.report_csv import csv_report, csv_text
from evaluation.runs import RUN_ID, RunFolder, RunManifest, list_runs
from evaluation.votes_statistics import VoteRanking, vote_ranking
from pipelines.answering import Prepared
from pipelines.contracts import Cancelled, Event
from pipelines.errors import BadInput, StoreError
from pipelines.intake import read_question
from pipelines.jobs import Job

RUNS_SHOWN = 20
_JOBS_LOOKED_AT = 50


@dataclass(frozen=True, slots=True)
class Round:
    """One question for several models: what all of them get, and how one of them is asked."""

    prepared: Prepared
    index_version: str
    ask: Callable[[str, Usage, Cancelled], Iterator[Event]]


@dataclass(frozen=True, slots=True)
class RunState:
    """A bake-off as the list of runs shows it. `answered` are questions per model; `error` says why its job failed.

    `stopping`: somebody wished that it stops, and its job has not ended yet.
    """

    run_id: str
    created_at: datetime
    models: tuple[str, ...]
    goldsets: tuple[str, ...]
    questions: int
    answered: dict[str, int]
    finished: bool
    running: bool
    waiting: bool = False
    stopping: bool = False
    winner: str | None = None
    error: str = ""


class BakeoffDesk:
    """One for all pages and threads.

    Args:
        product: the assembled product.
        votes: where votes are kept.
        jobs: where jobs are requested.
        start_jobs: starts what waits.
    """

    def __init__(self, product: Product, votes: Votes, jobs: Jobs, start_jobs: Callable[[], None]) -> None:
        self._product = product
        self._votes = votes
        self._jobs = jobs
        self._start_jobs = start_jobs

    def candidates(self) -> tuple[Candidate, ...]:
        """The models that may take part right now."""
        return candidates(self._product.gateway)

    def goldsets(self) -> tuple[str, ...]:
        """The goldsets that can be run."""
        return goldset_names(self._data_dir)

    def begin(self, question: str, models: Sequence[str]) -> Round:
        """Looks a question up once.

        Raises:
            BadInput: the question is unusable, or not two to four different models are named.
            IndexFault: nothing is served.
        """
        if not FEWEST_MODELS <= len(set(models)) <= MOST_MODELS:
            raise BadInput(f"Gewählt sind {len(set(models))} Modelle.", hint="Bitte zwei bis vier Modelle wählen.")
        engine = self._product.service.engine
        contest = contest_of(self._product, engine)
        prepared = engine.pipeline.prepare(read_question(question))
        return Round(
            prepared,
            engine.index.version,
            lambda model, usage, cancelled: iter(contest.ask(prepared, model, usage, cancelled)),
        )

    def vote(self, comparison_id: str, ballots: tuple[Ballot, ...], *, blind: bool, round_: Round, author: str) -> None:
        """Keeps the ballots of a comparison (see `Votes.give`)."""
        self._votes.give(
            comparison_id,
            ballots,
            blind=blind,
            question=round_.prepared.question.text,
            index_version=round_.index_version,
            author=author,
        )

    def rankings(self) -> tuple[VoteRanking, ...]:
        """The ranking of each criterion."""
        ballots = self._votes.ballots()
        return tuple(vote_ranking(ballots, criterion) for criterion in CRITERIA)

    def measured(self) -> dict[str, ModelReport]:
        """What the newest finished bake-off measured, by model; a model's newest one counts."""
        found: dict[str, ModelReport] = {}
        for folder in list_runs(self._data_dir)[:RUNS_SHOWN]:
            if folder.finished:
                for model in read_report(folder).models:
                    found.setdefault(model.name, model)
        return found

    def votes_csv(self) -> str:
        """Every vote as a table."""
        head = ("Zeit", "Vergleich", "Kriterium", "Modelle", "Ergebnis", "bestes", "blind", "Person", "Index", "Frage")
        rows = [
            (
                f"{vote.created_at:%Y-%m-%d %H:%M:%S}",
                vote.comparison_id,
                vote.ballot.criterion,
                ", ".join(vote.ballot.models),
                vote.ballot.outcome,
                vote.ballot.best,
                vote.blind,
                vote.author,
                vote.index_version,
                vote.question,
            )
            for vote in self._votes.list()
        ]
        return "\ufeff" + csv_text(head, rows)

    def runs(self) -> tuple[RunState, ...]:
        """The newest bake-offs, also those that only wait yet, newest first."""
        jobs = self._bakeoff_jobs()
        folders = [folder for folder in list_runs(self._data_dir) if folder.manifest().kind == "bakeoff"][:RUNS_SHOWN]
        begun = {folder.path.name for folder in folders}
        others = [(job, RunFolder.of(self._data_dir, run_id)) for run_id, job in jobs.items() if run_id not in begun]
        unbegun = [_of_job(job, folder) for job, folder in others if not folder.exists and not _ended_well(job)]
        failed = [run for run in unbegun if run.error][1:]
        shown = [run for run in unbegun if run not in failed]
        return (*shown, *(_of_folder(folder, jobs.get(folder.path.name)) for folder in folders))

    def start(self, models: Sequence[str], goldsets: Sequence[str], *, author: str) -> str:
        """Requests a new run as a job; returns its name.

        Raises:
            BadInput: no model or no goldset is chosen.
            ModelUnavailable: a model cannot take part.
        """
        chosen = contestants(self._product, models)
        goldset_paths(goldsets, self._data_dir)
        run_id = new_run_id(self._data_dir, "bakeoff")
        self._request(tuple(one.name for one in chosen), goldsets, run_id, author)
        return run_id

    def resume(self, run_id: str, *, author: str) -> None:
        """Requests that a run goes on.

        Raises:
            NotFound: there is no such run.
            BadInput: its goldsets are not among those that can be run here; the command line can go on with it.
        """
        folder = RunFolder.of(self._data_dir, run_id)
        before = self._bakeoff_jobs().get(run_id)
        if not folder.exists and before is not None:
            models, names = _listed(before, "models"), _listed(before, "goldsets")
        else:
            manifest = folder.manifest()
            models = tuple(model.name for model in manifest.models)
            names = tuple(Path(name).stem for name in manifest.goldset_files)
        goldset_paths(names, self._data_dir)
        self._request(models, names, run_id, author)

    def cancel(self, run_id: str) -> None:
        """Asks a run to stop after what it is doing; one that only waits for its turn is stopped at once.

        Raises:
            NotFound: there is no such run, and none was requested.
        """
        folder = RunFolder.of(self._data_dir, run_id)
        job = self._bakeoff_jobs().get(run_id)
        if job is None:
            folder.manifest()
        folder.request_cancel()
        if job is not None:
            self._jobs.withdraw(job.id, result=stopped_result(run_id))

    def report(self, run_id: str) -> BakeoffReport:
        """The report of a finished run.

        Raises:
            NotFound: there is none.
        """
        return read_report(RunFolder.of(self._data_dir, run_id))

    def run_csv(self, run_id: str) -> str:
        """The answers of a finished run as a table."""
        return "\ufeff" + csv_report(self.report(run_id))

    def compare(self, before: str, after: str) -> RunComparison:
        """Two finished runs side by side."""
        return compare_runs(self.report(before), self.report(after))

    @property
    def _data_dir(self) -> Path:
        return self._product.settings.data_dir

    def _request(self, models: Sequence[str], goldsets: Sequence[str], run_id: str, author: str) -> None:
        arguments = bakeoff_arguments(models, goldsets, run_id)
        RunFolder.of(self._data_dir, run_id).forget_cancel()
        self._jobs.request("evaluation", requested_by=author, reason=f"bake-off {run_id}", arguments=arguments)
        self._start_jobs()

    def _bakeoff_jobs(self) -> dict[str, Job]:
        """The newest job of each run, newest run first."""
        found: dict[str, Job] = {}
        for job in self._jobs.list(limit=_JOBS_LOOKED_AT, kind="evaluation"):
            run_id = str(job.arguments.get("run") or "")
            if is_bakeoff(job.arguments) and RUN_ID.fullmatch(run_id):
                found.setdefault(run_id, job)
        return found


def _ended_well(job: Job) -> bool:
    return bool((job.result or {}).get("finished"))


def _listed(job: Job, name: str) -> tuple[str, ...]:
    return tuple(str(job.arguments.get(name) or "").split(","))


def _of_job(job: Job, folder: RunFolder) -> RunState:
    """A run that has not begun: it waits, starts, looks its contexts up, failed at that, or was stopped before."""
    return RunState(
        run_id=str(job.arguments.get("run")),
        created_at=job.created_at,
        models=_listed(job, "models"),
        goldsets=_listed(job, "goldsets"),
        questions=0,
        answered={},
        finished=False,
        running=job.state == "RUNNING",
        waiting=job.state == "QUEUED",
        stopping=job.state == "RUNNING" and folder.cancel_requested,
        error=job.error or "",
    )


def _of_folder(folder: RunFolder, job: Job | None) -> RunState:
    manifest: RunManifest = folder.manifest()
    running = folder.running
    is_open = job is not None and job.state in ("QUEUED", "RUNNING")
    return RunState(
        run_id=folder.path.name,
        created_at=manifest.created_at,
        models=tuple(model.name for model in manifest.models),
        goldsets=tuple(Path(name).stem for name in manifest.goldset_files),
        questions=manifest.questions,
        answered=folder.progress(),
        finished=folder.finished and not running,
        running=running,
        waiting=is_open and not running and not folder.finished,
        stopping=(running or is_open) and not folder.finished and folder.cancel_requested,
        winner=_winner(folder) if folder.finished else None,
        error=(job.error or "") if job is not None and job.state == "FAILED" and not folder.finished else "",
    )


def _winner(folder: RunFolder) -> str | None:
    try:
        return read_report(folder).decision.winner
    except StoreError:
        return None
