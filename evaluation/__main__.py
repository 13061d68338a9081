"""`python -m evaluation`: measures retrieval and answers on goldsets."""

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import track

from app.assembly import Assembly
from app.bakeoff import RunRequest, candidates, read_report, run_bakeoff
from app.console import EXIT_FAILED, print_json, reported_errors, say
from app.settings import Settings
from custom_postprocessors.grounding import Judgement
from evaluation.answer_metrics import section_texts
from evaluation.answers import AnswersReport, evaluate_answers
from evaluation.answers import report_text as answers_text
from evaluation.bench import report_text as bench_text
from evaluation.bench import run_bench
from evaluation.comparison import compare_runs, comparison_text
from evaluation.floors import broken_floors
from evaluation.gate import GateReport, gate_report, samples_of
from evaluation.gate import report_text as gate_text
from evaluation.goldset import GoldItem, Goldset, entry_texts, load_goldsets
from evaluation.model_report import BakeoffReport
from evaluation.progress import live_progress, result_table
from evaluation.retrieval import Found, RetrievalReport, evaluate_retrieval
from evaluation.retrieval import report_text as retrieval_text
from evaluation.retrieval_history import keep_retrieval
from evaluation.runs import RunFolder
from evaluation.verification import report_text as verification_text
from evaluation.verification import verification_report
from pipelines.errors import BadInput
from pipelines.intake import read_question

GOLDSETS = Path(__file__).parent / "goldsets"
TEXTBOOK = ("sv", "lst", "arb", "kvrj")
ALL_SETS = (*TEXTBOOK, "hard", "fast", "fresh", "out_of_kb", "out_of_kb_2")
RETRIEVED_FOR_RANKS = 40

app = typer.Typer(
    help="Measures retrieval, answers and verification on goldsets; nothing is written to the audit log.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

GoldsetOption = Annotated[
    list[Path] | None,
    typer.Option("--goldset", help="A goldset file; may be given several times. Default: all bundled sets.", show_default=False),
]
AsOfOption = Annotated[
    str,
    typer.Option(
        "--as-of", metavar="YYYY-MM", help="Month in which the questions are asked; fixed, so that figures stay comparable."
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]
RunOption = Annotated[
    str | None,
    typer.Option(
        "--run", metavar="ID", help="Name of the run: goes on with it where it stopped, or begins it.", show_default=False
    ),
]
ResumeOption = Annotated[bool, typer.Option("--resume", help="Go on with the newest unfinished run of the same kind.")]


@app.command()
def retrieval(
    goldset: GoldsetOption = None,
    k: Annotated[int, typer.Option("--k", min=1, max=40, help="How many different entries count.")] = 8,
    as_of: AsOfOption = "2026-06",
    as_json: JsonOption = False,
) -> None:
    """Hit rate, recall@k, MRR and nDCG@k, per kind and per question, and what outranked every miss."""
    with reported_errors(), Assembly(_settings(as_of), audited=False) as assembly:
        report = measure_retrieval(assembly, _read(assembly, goldset), k)
        names = tuple(path.stem for path in _paths(goldset))
        keep_retrieval(assembly.settings.data_dir, names, report, datetime.now(UTC))
    if as_json:
        print_json(report.model_dump(mode="json"))
    else:
        typer.echo(retrieval_text(report))


@app.command()
def answers(
    goldset: GoldsetOption = None,
    model: Annotated[str | None, typer.Option(help="A model on Ollama, or `extractive`; default: PV_LLM_MODEL.")] = None,
    run: RunOption = None,
    resume: ResumeOption = False,
    as_of: AsOfOption = "2026-06",
    as_json: JsonOption = False,
) -> None:
    """Citation precision, expected source, refusals, values and latency of whole answers; each answer is kept at once."""
    with reported_errors(), Assembly(_settings(as_of), audited=False) as assembly:
        request = RunRequest("answers", (model or assembly.model_choice().name,), _paths(goldset), run, resume)
        folder, report = _run(assembly, request)
    if as_json:
        print_json({"run": folder.path.name, **report.models[0].model_dump(mode="json")})
    else:
        typer.echo(answers_text(report.models[0]))
        typer.echo(f"Run {folder.path.name}: {folder.path / 'report.html'}")


@app.command()
def bakeoff(
    goldset: GoldsetOption = None,
    models: Annotated[
        str, typer.Option("--models", help="Names as in `ollama list`, or `extractive`, separated by commas.", show_default=False)
    ] = "",
    run: RunOption = None,
    resume: ResumeOption = False,
    as_of: AsOfOption = "2026-06",
    as_json: JsonOption = False,
) -> None:
    """Several models on the same questions and contexts, and the decision by the protocol."""
    with reported_errors(), Assembly(_settings(as_of), audited=False) as assembly:
        names = tuple(name.strip() for name in models.split(",") if name.strip())
        if not names:
            offered = ", ".join(candidate.name for candidate in candidates(assembly.gateway))
            raise BadInput("No models are named.", hint=f"Give `--models A,B,…`; candidates: {offered}.")
        folder, report = _run(assembly, RunRequest("bakeoff", names, _paths(goldset), run, resume))
    for name in report.over_budget:
        say(f"Warning: {name} takes more memory than PV_VRAM_BUDGET_GB ({report.vram_budget_gb:g} GB).")
    if as_json:
        print_json(report.model_dump(mode="json"))
    else:
        console = Console()
        console.print(result_table(report, console.width))
        typer.echo(report.decision.reason)
        typer.echo(f"Run {folder.path.name}: {folder.path / 'report.html'}, decision record {folder.path / report.record}")


@app.command()
def compare(
    before: Annotated[str, typer.Argument(metavar="RUN_A", help="Name of a finished run.")],
    after: Annotated[str, typer.Argument(metavar="RUN_B", help="Name of another one.")],
    as_json: JsonOption = False,
) -> None:
    """What got better and what got worse from one run to another, figure by figure and question by question."""
    with reported_errors():
        data_dir = Settings.load().data_dir
        reports = [read_report(RunFolder.of(data_dir, run_id)) for run_id in (before, after)]
        comparison = compare_runs(*reports)
    if as_json:
        print_json(comparison.model_dump(mode="json"))
    else:
        typer.echo(comparison_text(comparison))


@app.command()
def gate(goldset: GoldsetOption = None, as_of: AsOfOption = "2026-06", as_json: JsonOption = False) -> None:
    """The gate alone: what it stops and lets through, the cross-validated curve, every error."""
    with reported_errors(), Assembly(_settings(as_of), audited=False) as assembly:
        report = measure_gate(assembly, _read(assembly, goldset))
    if as_json:
        print_json(report.model_dump(mode="json"))
    else:
        typer.echo(gate_text(report))


@app.command()
def verification(as_json: JsonOption = False) -> None:
    """How well the verifier tells true claims from altered ones, per kind of lie; needs the bundled knowledge base."""
    with reported_errors(), Assembly(_settings("2026-06"), audited=False) as assembly:
        index = assembly.service.engine.index
        report = verification_report(list(index.nodes), index.channels.analyzer)
    if as_json:
        print_json(report.model_dump(mode="json"))
    else:
        typer.echo(verification_text(report))


@app.command()
def bench(
    kb: Annotated[Path | None, typer.Option("--kb", help="Folder with `dokumente/`; default: PV_KB_DIR.")] = None,
    goldset: GoldsetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Build time, memory, latency and recall of this retrieval and of stock LlamaIndex in the same run.

    Without a goldset: the textbook sets and `hard` for the bundled knowledge base, the entries' titles for another one.
    """
    with reported_errors(), TemporaryDirectory() as work:
        folder = (kb or Settings.load().kb_dir).expanduser().resolve()
        chosen = goldset or ([GOLDSETS / f"{name}.yaml" for name in (*TEXTBOOK, "hard")] if kb is None else [])
        report = run_bench(folder, chosen, Path(work))
    if as_json:
        print_json(report.model_dump(mode="json"))
    else:
        typer.echo(bench_text(report))


@app.command()
def floors(as_of: AsOfOption = "2026-06") -> None:
    """The embedded default over the bundled goldsets; ends with 1 when a figure is below its floor."""
    with reported_errors(), Assembly(_settings(as_of), audited=False) as assembly:
        broken = []
        for name, sets in (("textbook", TEXTBOOK), ("hard", ("hard",)), ("out_of_kb", ("out_of_kb",))):
            questions = _read(assembly, [GOLDSETS / f"{one}.yaml" for one in sets])
            found = measure_retrieval(assembly, questions, 8)
            answered = measure_answers(assembly, questions, "extractive")
            typer.echo(f"{name}: {retrieval_text(found).splitlines()[0]}")
            typer.echo("\n".join(answers_text(answered).splitlines()[:4]))
            broken += broken_floors(name, found, answered)
    for line in broken:
        typer.echo(f"BELOW FLOOR {line}")
    if broken:
        raise typer.Exit(EXIT_FAILED)


def measure_retrieval(assembly: Assembly, goldset: Goldset, k: int) -> RetrievalReport:
    """Retrieval over the served index, by the path that answers take."""
    engine = assembly.service.engine

    def retrieve(question: str) -> list[Found]:
        plan = engine.planner.plan(read_question(question))
        nodes = engine.retriever.retrieve_plan(plan, limit=RETRIEVED_FOR_RANKS).nodes
        return [Found(found.node.metadata["entry_id"], found.node.metadata["section"]) for found in nodes]

    retrieve("Entgelt")  # The first question loads what stays in memory; its time says nothing about a search.
    return evaluate_retrieval(retrieve, goldset.items, k, goldset_version=goldset.version, index_version=engine.index.version)


def measure_gate(assembly: Assembly, goldset: Goldset) -> GateReport:
    """The gate's judgement on every question, over what retrieval finds for it."""
    engine = assembly.service.engine

    def judge(question: str) -> Judgement:
        plan = engine.planner.plan(read_question(question))
        return engine.grounder.judge(plan, engine.retriever.retrieve_plan(plan))

    return gate_report(samples_of(goldset.items, judge))


def measure_answers(assembly: Assembly, goldset: Goldset, model: str | None) -> AnswersReport:
    """Whole answers over the served index."""
    engine = assembly.service.engine
    return evaluate_answers(
        lambda question: assembly.service.ask_events(read_question(question, model=model)),
        goldset,
        section_texts(engine.index.nodes),
        index_version=engine.index.version,
        progress=_progress,
    )


def _progress(items: Sequence[GoldItem]) -> Iterator[GoldItem]:
    return iter(track(items, description="Questions", console=Console(stderr=True), transient=True))


def _run(assembly: Assembly, request: RunRequest) -> tuple[RunFolder, BakeoffReport]:
    """A run to its end, with its progress shown on stderr."""
    with live_progress() as progress:
        folder, report = run_bakeoff(assembly, request, progress)
    if report is None:
        say(f"Stopped. `--run {folder.path.name}` goes on.")
        raise typer.Exit(EXIT_FAILED)
    return folder, report


def _read(assembly: Assembly, paths: Sequence[Path] | None) -> Goldset:
    return load_goldsets(_paths(paths), entry_texts(assembly.service.engine.index.nodes))


def _paths(paths: Sequence[Path] | None) -> tuple[Path, ...]:
    return tuple(paths or [GOLDSETS / f"{name}.yaml" for name in ALL_SETS])


def _settings(as_of: str) -> Settings:
    try:
        day = date.fromisoformat(f"{as_of}-01")
    except ValueError as exc:
        raise BadInput(f"--as-of has value {as_of!r}.", hint="Give a month as YYYY-MM, e.g. 2026-06.") from exc
    return Settings.load().model_copy(update={"today": day})


if __name__ == "__main__":
    app()
