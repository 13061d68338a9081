"""Bake-offs of this product: which models can take part, and a run from beginning or interruption to its report."""

import logging
import platform
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Literal, Protocol

from app.engine import Engine
from app.service import Service
from app.settings import Settings
from app.store.endpoints import Endpoint
from evaluation.answer_metrics import section_texts
from evaluation.bakeoff import Contest, run_contest
from evaluation.goldset import GOLDSET_DIRECTORY, Goldset, entry_texts, load_goldsets
from evaluation.metering import MeteredGenerator, Usage
from evaluation.model_report import BakeoffReport, bakeoff_report
from evaluation.report_csv import csv_report
from evaluation.report_page import report_page
from evaluation.report_text import decision_record, markdown_report
from evaluation.runs import REPORT_FILE, Contestant, ModelMemory, RunFolder, RunManifest, list_runs
from pipelines.answering import Prepared
from pipelines.contracts import Cancelled, ClaimGenerator, Event
from pipelines.errors import BadInput, ModelError, NotFound, StoreError
from pipelines.extractive import ExtractiveGenerator
from pipelines.index import Progress
from pipelines.installed_models import same_model
from pipelines.intake import read_question
from pipelines.model_choice import EXTRACTIVE, ModelChoice
from pipelines.ollama_client import OllamaGateway
from pipelines.prompts import SystemPrompt

MARKDOWN_FILE, PAGE_FILE, CSV_FILE = "report.md", "report.html", "answers.csv"
RECORD_NAME = re.compile(r"D(\d+)-.+\.md")
OWN_GOLDSETS = "goldsets"
NO_GOLDSETS = ("conflicts",)
"""Files beside the goldsets that are none."""
RunKind = Literal["bakeoff", "answers"]
EVALUATION_DAY = date(2026, 6, 1)
"""The day on which the questions of the goldsets are asked; fixed, so that figures stay comparable."""
_MEASURED_SETTINGS = ("num_ctx", "num_predict", "temperature", "context_blocks", "fusion", "outdated_after_months")
_log = logging.getLogger(__name__)


class Product(Protocol):
    """What a bake-off needs of the assembled product."""

    @property
    def settings(self) -> Settings:
        """The running settings."""
        ...

    @property
    def service(self) -> Service:
        """Has the engine that answers; nothing a bake-off asks goes to its audit log."""
        ...

    @property
    def gateway(self) -> OllamaGateway:
        """The active Ollama."""
        ...

    @property
    def endpoint(self) -> Endpoint:
        """Where that is."""
        ...

    @property
    def prompt(self) -> SystemPrompt:
        """The system prompt of answers."""
        ...

    def model_choice(self, model: str | None = None) -> ModelChoice:
        """The named model, or the configured one; may raise ModelUnavailable."""
        ...

    def choose_generator(self, model: str | None, extractive: ExtractiveGenerator) -> ClaimGenerator:
        """What writes drafts."""
        ...


@dataclass(frozen=True, slots=True)
class Candidate:
    """A model that may take part."""

    name: str
    digest: str | None = None
    size_bytes: int = 0


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A run that is wanted: a new one, the one named `run_id` (begun or gone on with), or with `resume` the newest unfinished.

    `waited`: it was requested some time ago, so that a wish to stop it is of this request and holds.
    """

    kind: RunKind
    models: tuple[str, ...]
    goldsets: tuple[Path, ...]
    run_id: str | None = None
    resume: bool = False
    waited: bool = False


def candidates(gateway: OllamaGateway) -> tuple[Candidate, ...]:
    """Every model on Ollama that runs there and writes text, then `extractive`; only that one when Ollama does not answer."""
    found: list[Candidate] = []
    try:
        for model in gateway.models():
            if not model.is_cloud and gateway.details(model.name).can_answer:
                found.append(Candidate(model.name, model.digest, model.size_bytes))
    except ModelError as exc:
        _log.warning("No models of Ollama: %s", exc)
    return (*found, Candidate(EXTRACTIVE))


def contestants(product: Product, names: Sequence[str]) -> tuple[Contestant, ...]:
    """The models of these names, each as installed right now.

    Raises:
        BadInput: no name, or one twice.
        ModelUnavailable: a model is missing, in the cloud, or writes no text.
    """
    if not names:
        raise BadInput("No model is named.", hint="Give names as in `ollama list`, or `extractive`.")
    choices = [product.model_choice(name) for name in names]
    found = tuple(Contestant(name=choice.name, digest=choice.digest or None) for choice in choices)
    if len({one.name for one in found}) < len(found):
        raise BadInput(f"A model is named twice in {', '.join(names)!r}.", hint="Name each once.")
    return found


def contest_of(product: Product, engine: Engine) -> Contest:
    """How models are asked over one engine: retrieval once per question, and never into the audit log."""

    def ask(prepared: Prepared, model: str, usage: Usage, cancelled: Cancelled) -> Iterator[Event]:
        return engine.pipeline.prepared_events(
            prepared,
            model,
            choose_generator=lambda name: MeteredGenerator(product.choose_generator(name, engine.extractive), usage),
            cancelled=cancelled,
        )

    return Contest(lambda question: engine.pipeline.prepare(read_question(question)), ask, OllamaHost(product))


class OllamaHost:
    """The active Ollama as the host of the models; `extractive` needs none."""

    def __init__(self, product: Product) -> None:
        self._product = product

    def reachable(self) -> bool:
        """Whether it answers."""
        try:
            self._product.gateway.version()
        except ModelError:
            return False
        return True

    def memory(self, model: str) -> ModelMemory | None:
        """What `/api/ps` says of the model."""
        if model == EXTRACTIVE:
            return None
        try:
            loaded = self._product.gateway.loaded()
        except ModelError:
            return None
        found = next((one for one in loaded if same_model(one.name, model)), None)
        if found is None:
            return None
        return ModelMemory(model=model, size_vram_bytes=found.size_vram_bytes, context_length=found.context_length)

    def unload(self, model: str) -> None:
        """Frees the memory; a server that does not answer has freed it, or will."""
        if model == EXTRACTIVE:
            return
        try:
            self._product.gateway.unload(model)
        except ModelError as exc:
            _log.warning("%s was not unloaded: %s", model, exc)


def run_bakeoff(product: Product, request: RunRequest, progress: Progress) -> tuple[RunFolder, BakeoffReport | None]:
    """A run to its end, with every report written into its folder; no report when somebody asked it to stop.

    Raises:
        BadInput: models or goldsets are unusable, or the run cannot go on, and why.
        ModelUnavailable: a model cannot take part, or the server went away in the middle.
        IndexFault: nothing is served.
        StoreError: the run cannot be kept.
    """
    engine = product.service.engine
    goldset = load_goldsets(request.goldsets, entry_texts(engine.index.nodes))
    manifest = _manifest(product, engine, request, goldset)
    folder = _folder(product.settings.data_dir, request, manifest)
    manifest = manifest.model_copy(update={"run_id": folder.path.name})
    if not request.waited:
        folder.forget_cancel()
    if not run_contest(contest_of(product, engine), goldset, manifest, folder, progress):
        return folder, None
    return folder, _write_reports(folder, goldset, engine, product.settings)


def read_report(folder: RunFolder) -> BakeoffReport:
    """The report of a finished run.

    Raises:
        NotFound: there is no such run, or it is not finished.
        StoreError: the report cannot be read.
    """
    try:
        return BakeoffReport.model_validate_json((folder.path / REPORT_FILE).read_bytes())
    except FileNotFoundError as exc:
        raise NotFound(
            f"There is no finished run {folder.path.name!r}.", hint=f"The runs are the folders in {folder.path.parent}."
        ) from exc
    except (OSError, ValueError) as exc:
        raise StoreError(f"The report of {folder.path.name!r} cannot be read: {exc}.", hint="Resume the run.") from exc


def goldset_names(data_dir: Path | None = None) -> tuple[str, ...]:
    """The goldsets that can be run, by name: the bundled ones, and those in the folder `goldsets` of a data folder."""
    return tuple(sorted(_goldset_files(data_dir)))


def goldset_paths(names: Sequence[str], data_dir: Path | None = None) -> tuple[Path, ...]:
    """The files of goldsets; an own one goes before a bundled one of the same name.

    Raises:
        BadInput: there is none of this name.
    """
    files = _goldset_files(data_dir)
    unknown = [name for name in names if name not in files]
    if unknown or not names:
        raise BadInput(f"There is no goldset {', '.join(unknown) or '(none named)'}.", hint=f"Use {', '.join(sorted(files))}.")
    return tuple(files[name] for name in names)


def _goldset_files(data_dir: Path | None) -> dict[str, Path]:
    folders = [GOLDSET_DIRECTORY, *([data_dir / OWN_GOLDSETS] if data_dir is not None else [])]
    return {path.stem: path for folder in folders for path in sorted(folder.glob("*.yaml")) if path.stem not in NO_GOLDSETS}


def _manifest(product: Product, engine: Engine, request: RunRequest, goldset: Goldset) -> RunManifest:
    settings, meta = product.settings, engine.index.meta
    models = contestants(product, request.models)
    with_ollama = any(model.name != EXTRACTIVE for model in models)
    options = {name: getattr(settings, name) for name in _MEASURED_SETTINGS}
    versions = {"python": platform.python_version(), "llama-index-core": version("llama-index-core")}
    return RunManifest(
        run_id="new",
        created_at=datetime.now(UTC).replace(microsecond=0),
        kind=request.kind,
        models=models,
        goldset_version=goldset.version,
        goldset_files=tuple(path.name for path in request.goldsets),
        questions=len(goldset.items),
        index_version=engine.index.version,
        knowledge_base_hash=meta.knowledge_base_hash,
        embedding_model=meta.embedding_model,
        prompt_version=product.prompt.version,
        as_of=f"{settings.clock_day:%Y-%m}",
        options={**options, **({"endpoint": product.endpoint.label} if with_ollama else {})},
        versions={**versions, **({"ollama": product.gateway.version()} if with_ollama else {})},
    )


def _folder(data_dir: Path, request: RunRequest, manifest: RunManifest) -> RunFolder:
    if request.run_id is not None:
        return RunFolder.of(data_dir, request.run_id)
    return _unfinished(data_dir, manifest) if request.resume else RunFolder.of(data_dir, new_run_id(data_dir, request.kind))


def new_run_id(data_dir: Path, kind: RunKind) -> str:
    """A name that no run has, by the moment."""
    name = f"{kind}-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    taken = sum(folder.path.name.startswith(name) for folder in list_runs(data_dir))
    return f"{name}-{taken + 1}" if taken else name


def _unfinished(data_dir: Path, manifest: RunManifest) -> RunFolder:
    """The newest unfinished run of the same kind; whether it can go on is checked when it does."""
    found = [run for run in list_runs(data_dir) if not run.finished and run.manifest().kind == manifest.kind]
    same = next((run for run in found if not run.manifest().differences(manifest)), None)
    if same is None and not found:
        raise BadInput("There is no unfinished run.", hint="Begin one without `--resume`.")
    return same or found[0]


def _write_reports(folder: RunFolder, goldset: Goldset, engine: Engine, settings: Settings) -> BakeoffReport:
    manifest = folder.manifest()
    number = _record_number(folder)
    report = bakeoff_report(
        manifest,
        goldset,
        folder.records(),
        folder.memory(),
        section_texts(engine.index.nodes),
        record="",
        vram_budget_gb=settings.vram_budget_gb,
    )
    if manifest.kind == "bakeoff":
        report = report.model_copy(update={"record": f"D{number}-{_slug(report.decision.winner or 'kein-modell')}.md"})
        for old in folder.path.glob("D*-*.md"):
            old.unlink()
        folder.write(report.record, decision_record(report, number))
    folder.write(MARKDOWN_FILE, markdown_report(report))
    folder.write(PAGE_FILE, report_page(report))
    folder.write(CSV_FILE, "\ufeff" + csv_report(report))
    # Last, because a run with this file is finished.
    folder.write(REPORT_FILE, report.model_dump_json(indent=2))
    return report


def _record_number(folder: RunFolder) -> int:
    """The number of the run's decision record: its own one from before, or the next after all other runs'."""
    own = [int(found[1]) for path in folder.path.glob("D*-*.md") if (found := RECORD_NAME.fullmatch(path.name))]
    others = [int(found[1]) for path in folder.path.parent.glob("*/D*-*.md") if (found := RECORD_NAME.fullmatch(path.name))]
    return own[0] if own else max(others, default=0) + 1


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "modell"
