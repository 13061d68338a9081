"""The one place where the parts are put together from the settings; each is made when it is first needed, once."""

from functools import cached_property
from types import TracebackType
from typing import Self

from app.encoders import encoder_for_reading
from app.engine import Engine, EngineOptions, make_engine
from app.metrics import Metrics
from app.model_queue import ModelQueue, QueuedGenerator
from app.service import EngineHolder, Service
from app.settings import Settings
from app.store.audit import AuditLog
from app.store.database import Database
from pipelines.contracts import ClaimGenerator
from pipelines.errors import IndexMissing
from pipelines.extractive import ExtractiveGenerator
from pipelines.fusion import FusionOptions
from pipelines.generation import OllamaGenerator
from pipelines.index import IndexLayout, open_index, read_current_meta
from pipelines.index_channels import open_channels
from pipelines.model_choice import ModelChoice, choose_model
from pipelines.ollama_client import ChatOptions, OllamaGateway
from pipelines.prompts import SystemPrompt, load_prompt
from pipelines.survey import SurveyGenerator


class Assembly:
    """The parts of one process. A context manager: what was opened is closed at the end.

    Args:
        settings: what the operator chose.
        audited: whether outcomes are written to the audit log (evaluation runs are not).
    """

    def __init__(self, settings: Settings, *, audited: bool = True) -> None:
        self.settings = settings
        self._audited = audited

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Closes the parts that were made."""
        for name in ("gateway", "database"):
            part = self.__dict__.pop(name, None)
            if part is not None:
                part.close()

    @cached_property
    def gateway(self) -> OllamaGateway:
        """The seam to Ollama; connects only when it is asked something."""
        return OllamaGateway(self.settings.ollama_url, timeout_seconds=self.settings.request_timeout_seconds)

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
    def prompt(self) -> SystemPrompt:
        """The system prompt of answers."""
        return load_prompt()

    @cached_property
    def audit(self) -> AuditLog:
        """The log of answers."""
        return AuditLog(self.database, keep_content=self.settings.audit_content == "full")

    @cached_property
    def service(self) -> Service:
        """What chat, API and command line call."""
        layout = IndexLayout(self.settings.data_dir)
        return Service(
            EngineHolder(layout.current, self.open_engine), self.audit if self._audited else None, self.metrics.outcome
        )

    def open_engine(self) -> Engine:
        """Opens the served index version under the running settings.

        Raises:
            IndexMissing, IndexMismatch, IndexFault: it cannot be opened; the message says what to do.
        """
        settings = self.settings
        built = read_current_meta(settings.data_dir)
        if built is None:
            raise IndexMissing("Nothing was indexed yet.", hint="Run `python -m app ingest`.")
        encoder, wanted = encoder_for_reading(settings, self.gateway, built)
        index = open_index(settings.data_dir, wanted, open_channels)
        options = EngineOptions(
            default_as_of=settings.clock_day,
            fusion=FusionOptions(mode=settings.fusion),
            context_blocks=settings.context_blocks,
            num_ctx=settings.num_ctx,
            num_predict=settings.num_predict,
            system_prompt=self.prompt.text,
            outdated_after_months=settings.outdated_after_months,
        )
        return make_engine(index, encoder, options, self.choose_generator)

    def model_choice(self, model: str | None = None) -> ModelChoice:
        """Which model answers: the named one, or the configured one.

        Raises:
            ModelUnavailable: a named model cannot answer.
        """
        return choose_model(model or self.settings.llm_model, self.gateway)

    def choose_generator(self, model: str | None, extractive: ExtractiveGenerator) -> ClaimGenerator:
        """What writes the drafts for a request."""
        choice = self.model_choice(model)
        if choice.extractive:
            return extractive
        settings = self.settings
        options = ChatOptions(num_ctx=settings.num_ctx, num_predict=settings.num_predict, temperature=settings.temperature)
        writer = OllamaGenerator(self.gateway, choice.name, options=options, prompt=self.prompt, digest=choice.digest)
        return QueuedGenerator(SurveyGenerator(writer), self.queue)
