"""The one place where the parts are put together from the settings; each is made when it is first needed, once."""

from functools import cached_property
from threading import Lock
from types import TracebackType
from typing import Self

from app.encoders import encoder_for_reading
from app.engine import Engine, EngineOptions, make_engine
from app.indexing import Indexer
from app.job_work import JobWork, run_logged, run_queued
from app.metrics import Metrics
from app.model_queue import ModelQueue, QueuedCheckWriter, QueuedGenerator
from app.retention import Retention
from app.service import EngineHolder, Service
from app.settings import Settings
from app.store.audit import AuditLog
from app.store.conflicts import ConflictCares
from app.store.database import Database
from app.store.documents import Catalogue
from app.store.endpoints import DEFAULT_ENDPOINT, Endpoint, Endpoints
from app.store.feedback import Feedback
from app.store.guidance import MAX_GUIDANCE_CHARACTERS, Guidance, Purpose
from app.store.jobs import Jobs
from app.store.tags import Tags
from app.store.votes import Votes
from app.tagging import TagIndexer
from pipelines.contracts import ClaimGenerator
from pipelines.entailment import load_entailment
from pipelines.errors import IndexMissing, ModelUnavailable
from pipelines.extractive import ExtractiveGenerator
from pipelines.fusion import FusionOptions
from pipelines.generation import OllamaGenerator
from pipelines.index import IndexLayout, Progress, open_index, read_current_meta
from pipelines.index_channels import open_channels
from pipelines.jobs import Job, JobArguments, JobKind
from pipelines.model_choice import ModelChoice, RecentChoice
from pipelines.ollama_client import ChatOptions, OllamaGateway
from pipelines.process_identity import this_process
from pipelines.prompts import REVIEW_PROMPT, SystemPrompt, load_prompt, with_guidance
from pipelines.reranking import load_reranker
from pipelines.review_checks import CheckWriter, OllamaCheckWriter
from pipelines.survey import SurveyGenerator
from pipelines.tag_index import ServedTags

_LONGEST_GUIDANCE = "x" * MAX_GUIDANCE_CHARACTERS
"""Room in the context window for guidance that may be activated while the engine is open."""


class Assembly:
    """The parts of one process. A context manager: what was opened is closed at the end.

    Args:
        settings: what the operator chose.
        audited: whether outcomes are written to the audit log (evaluation runs are not).
    """

    def __init__(self, settings: Settings, *, audited: bool = True) -> None:
        self.settings = settings
        self._audited = audited
        self._gateways: dict[str, OllamaGateway] = {}
        self._recent_choice = RecentChoice()
        self._gateways_lock = Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Closes the parts that were made."""
        self.close_gateways()
        database = self.__dict__.pop("database", None)
        if database is not None:
            database.close()

    def close_gateways(self) -> None:
        """Ends every chat with a model; questions that are still being answered end as cancelled."""
        with self._gateways_lock:
            for gateway in self._gateways.values():
                gateway.close()
            self._gateways.clear()

    @property
    def endpoint(self) -> Endpoint:
        """Where Ollama is asked now: the endpoint that an administrator made active, else the one of the settings."""
        default = Endpoint(name=DEFAULT_ENDPOINT, number=0, url=self.settings.ollama_url)
        return self.endpoints.active() or default

    @property
    def gateway(self) -> OllamaGateway:
        """The seam to the active endpoint; connects only when it is asked something. Chats that run keep the one they have."""
        return self.gateway_at(self.endpoint.url)

    def gateway_at(self, url: str) -> OllamaGateway:
        """The seam to one Ollama, made once for each address."""
        with self._gateways_lock:
            if url not in self._gateways:
                self._gateways[url] = OllamaGateway(url, timeout_seconds=self.settings.request_timeout_seconds)
            return self._gateways[url]

    @property
    def effective_settings(self) -> Settings:
        """The settings with the active endpoint's address and model in place of theirs."""
        endpoint = self.endpoint
        update = {"ollama_url": endpoint.url, **({"llm_model": endpoint.model} if endpoint.model else {})}
        return self.settings.model_copy(update=update)

    @cached_property
    def database(self) -> Database:
        """`pv.db`, created or migrated when it is opened."""
        return Database(self.settings.data_dir)

    @cached_property
    def queue(self) -> ModelQueue:
        """The questions that wait for a model."""
        return ModelQueue(parallel=self.settings.model_parallel, waiting=self.settings.queue_size)

    @cached_property
    def metrics(self) -> Metrics:
        """The figures of this process."""
        return Metrics(self.queue)

    @cached_property
    def catalogue(self) -> Catalogue:
        """Documents and their versions."""
        return Catalogue(self.database)

    @cached_property
    def tags(self) -> Tags:
        """Managed tags and topics."""
        return Tags(self.database)

    @cached_property
    def guidance(self) -> Guidance:
        """The organisation's guidance for the prompts."""
        return Guidance(self.database)

    @cached_property
    def endpoints(self) -> Endpoints:
        """Ollama endpoints."""
        return Endpoints(self.database)

    @cached_property
    def conflict_cares(self) -> ConflictCares:
        """Who looks after which conflict."""
        return ConflictCares(self.database)

    @cached_property
    def feedback(self) -> Feedback:
        """Ratings, comments and reported gaps."""
        return Feedback(self.database, keep_content=self.settings.audit_content == "full")

    @cached_property
    def votes(self) -> Votes:
        """Votes on models."""
        return Votes(self.database, keep_content=self.settings.audit_content == "full")

    @cached_property
    def jobs(self) -> Jobs:
        """The job table."""
        return Jobs(self.database)

    def indexer(self) -> Indexer:
        """What takes folders over and builds indexes, for the endpoint of the moment."""
        return Indexer(self.effective_settings, self.database, self.gateway)

    def tag_indexer(self) -> TagIndexer:
        """What builds the tag index, for the endpoint of the moment."""
        return TagIndexer(self.effective_settings, self.tags, self.gateway)

    def job_work(self) -> JobWork:
        """What jobs of every kind do."""

        def evaluate(job: Job, progress: Progress) -> dict[str, object]:
            # Statistics and plots take a second to import, and nothing else needs them.
            from app.evaluation_work import evaluate_job

            return evaluate_job(self, job, progress)

        return JobWork(self.settings, self.indexer(), self.tag_indexer(), evaluate)

    def run_job(self, job_id: int) -> Job | None:
        """Runs a QUEUED job in this process; None when another process has it or one that excludes it runs."""
        return run_queued(job_id, self.settings, self.jobs, self.job_work())

    def run_now(self, kind: JobKind, *, requested_by: str, reason: str = "", arguments: JobArguments | None = None) -> Job:
        """Runs a job of this kind in this process, at once.

        Raises:
            IndexBusy: a job that excludes it runs; nothing was queued.
            PvAgentError: the work failed; the job is FAILED.
        """
        job = self.jobs.claim(kind, this_process(), requested_by=requested_by, reason=reason, arguments=arguments)
        return run_logged(job, self.settings, self.jobs, self.job_work())

    @property
    def prompt(self) -> SystemPrompt:
        """The system prompt of answers now: the product's rules, then the active guidance."""
        return self.prompt_of("answer")

    def prompt_of(self, purpose: Purpose) -> SystemPrompt:
        """The product's rules with the guidance that is active for a purpose."""
        active = self.guidance.active(purpose)
        rules = load_prompt(REVIEW_PROMPT) if purpose == "review" else load_prompt()
        return with_guidance(rules, active.prompt_name, active.guidance)

    @cached_property
    def audit(self) -> AuditLog:
        """The log of answers."""
        return AuditLog(self.database, keep_content=self.settings.audit_content == "full")

    @cached_property
    def retention(self) -> Retention:
        """What deletes content that may not be kept any longer."""
        return Retention(self.audit, self.feedback, self.votes, self.settings.audit_retention_days)

    @cached_property
    def service(self) -> Service:
        """What chat, API and command line call."""
        return Service(
            EngineHolder(self._served_state, self.open_engine), self.audit if self._audited else None, self.metrics.outcome
        )

    def _served_state(self) -> str | None:
        """Changes when another engine has to be opened: the served version, and where its embedding model may be."""
        version = IndexLayout(self.settings.data_dir).current()
        return version and f"{version} {self.endpoint.url}"

    @cached_property
    def served_tags(self) -> ServedTags:
        """The tag index of the moment."""
        return ServedTags(self.settings.data_dir)

    def open_engine(self, version: str | None = None) -> Engine:
        """Opens the served index version (or the named one) under the running settings.

        Raises:
            IndexMissing, IndexMismatch, IndexFault: it cannot be opened; the message says what to do.
        """
        settings = self.effective_settings
        built = read_current_meta(settings.data_dir)
        if built is None:
            raise IndexMissing("Nothing was indexed yet.", hint="Run `python -m app ingest`.")
        encoder, wanted = encoder_for_reading(settings, self.gateway_at(settings.ollama_url), built)
        index = open_index(settings.data_dir, wanted, open_channels, version=version)
        options = EngineOptions(
            today=lambda: settings.clock_day,
            fusion=FusionOptions(mode=settings.fusion),
            reranker=None if settings.rerank_model_path is None else load_reranker(settings.rerank_model_path),
            entailment=None if settings.entailment_model_path is None else load_entailment(settings.entailment_model_path),
            context_blocks=settings.context_blocks,
            num_ctx=settings.num_ctx,
            num_predict=settings.num_predict,
            system_prompt=load_prompt().text + _LONGEST_GUIDANCE,
            outdated_after_months=settings.outdated_after_months,
        )
        return make_engine(index, encoder, options, self.choose_generator, self.served_tags, self.choose_check_writer)

    def model_choice(self, model: str | None = None) -> ModelChoice:
        """Which model answers: the named one, or the configured one.

        Raises:
            ModelUnavailable: a named model cannot answer.
        """
        return self._choice_at(self.endpoint, model)

    def choose_generator(self, model: str | None, extractive: ExtractiveGenerator) -> ClaimGenerator:
        """What writes the drafts for a request: model, endpoint and prompt as they are at this moment."""
        endpoint = self.endpoint
        choice = self._choice_at(endpoint, model)
        if choice.extractive:
            return extractive
        writer = OllamaGenerator(
            self.gateway_at(endpoint.url),
            choice.name,
            options=self._chat_options,
            prompt=self.prompt,
            digest=choice.digest,
            endpoint=endpoint.label,
        )
        return QueuedGenerator(SurveyGenerator(writer), self.queue)

    def choose_check_writer(self, model: str | None) -> CheckWriter:
        """What writes the checks of a review with a model.

        Raises:
            ModelUnavailable: the model cannot answer.
        """
        endpoint = self.endpoint
        choice = self._choice_at(endpoint, model)
        if choice.extractive:
            raise ModelUnavailable("Das Sprachmodell ist nicht mehr erreichbar.")
        writer = OllamaCheckWriter(
            self.gateway_at(endpoint.url), choice.name, options=self._chat_options, prompt=self.prompt_of("review")
        )
        return QueuedCheckWriter(writer, self.queue)

    def _choice_at(self, endpoint: Endpoint, model: str | None) -> ModelChoice:
        wanted = model or endpoint.model or self.settings.llm_model
        return self._recent_choice.choose(wanted, self.gateway_at(endpoint.url))

    @property
    def _chat_options(self) -> ChatOptions:
        settings = self.settings
        return ChatOptions(num_ctx=settings.num_ctx, num_predict=settings.num_predict, temperature=settings.temperature)
