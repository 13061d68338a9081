"""One frozen settings object, read once from `PV_*` environment variables (and `.env`) at the edge of the program."""

import difflib
import os
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, Literal, Self

from dotenv import dotenv_values
from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from pipelines.errors import SettingsError

PREFIX = "PV_"
TEST_PREFIX = "PV_TEST_"
ROOT = Path(__file__).resolve().parent.parent


class Settings(BaseSettings):
    """Everything that an operator can choose. The field's description is the text of the settings table."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_file=None, frozen=True, extra="forbid")

    kb_dir: Annotated[Path, Field(description="Folder of the knowledge base (contains `dokumente/`).")] = (
        ROOT / "storage" / "wissensbasis"
    )
    data_dir: Annotated[Path, Field(description="Folder for everything written at run time.")] = ROOT / "storage" / "data"
    ollama_url: Annotated[str, Field(description="The one address that is ever connected to; used as it is.")] = (
        "http://127.0.0.1:11434"
    )
    llm_model: Annotated[
        str, Field(description="`auto` (qwen3.8:27b if Ollama has it, else Zitatmodus), an Ollama model, or `extractive`.")
    ] = "auto"
    embed_model: Annotated[
        str, Field(description="`auto` (bge-m3 if Ollama offers it at the first build), `embedded`, or an Ollama model.")
    ] = "auto"
    host: Annotated[str, Field(description="Address that `serve` binds.")] = "127.0.0.1"
    port: Annotated[int, Field(ge=1, le=65535, description="Port that `serve` binds.")] = 7860
    api_key: Annotated[SecretStr | None, Field(description="A service key named `env`.")] = None
    admin_key: Annotated[SecretStr | None, Field(description="An admin key named `env`.")] = None
    review_mode: Annotated[bool, Field(description="Whether `mode=review` is accepted.")] = False
    fusion: Annotated[
        Literal["balanced", "keyword_leading"],
        Field(description="How channels are fused: by weights, or lexical hits keep their order."),
    ] = "balanced"
    rerank_model_path: Annotated[
        Path | None,
        Field(description="Folder of a cross-encoder that reorders hits (needs `sentence-transformers`); default: none."),
    ] = None
    entailment_model_path: Annotated[
        Path | None,
        Field(description="Folder of an ONNX model of entailment that may reject proven claims as well; default: none."),
    ] = None
    context_blocks: Annotated[int, Field(ge=1, le=32, description="Most sections given to the model (surveys: 4 more).")] = 12
    num_ctx: Annotated[int, Field(ge=1024, description="Context window in tokens, the same for every call.")] = 32768
    num_predict: Annotated[int, Field(ge=64, description="Most tokens of an answer.")] = 2048
    temperature: Annotated[float, Field(ge=0.0, le=0.1, description="Sampling temperature.")] = 0.1
    request_timeout_seconds: Annotated[
        float, Field(gt=0, description="Longest wait for the next piece from Ollama, model loading included.")
    ] = 300.0
    today: Annotated[date | None, Field(description="The clock's day, for tests and reproduction; default: system date.")] = None
    audit_content: Annotated[
        Literal["full", "metadata"], Field(description="Whether the audit keeps free text, or metadata only.")
    ] = "full"
    audit_retention_days: Annotated[
        int, Field(ge=0, description="Days after which free text is deleted from the audit; 0 keeps it for ever.")
    ] = 30
    outdated_after_months: Annotated[
        int, Field(ge=1, description="Age of a Stand, in months, from which a claim is marked `outdated`.")
    ] = 24
    evaluate_after_index: Annotated[
        bool, Field(description="Whether an index job that changed what is served starts an evaluation of it.")
    ] = False
    max_nodes: Annotated[int, Field(ge=1, description="Most sections an index may have.")] = 120_000
    vram_budget_gb: Annotated[float, Field(gt=0, description="Warn when loaded models take more memory than this.")] = 28.0
    rate_limit_per_minute: Annotated[int, Field(ge=0, description="Requests per key and minute; 0 switches it off.")] = 600
    queue_size: Annotated[int, Field(ge=1, description="Most questions waiting for the model.")] = 64
    model_parallel: Annotated[
        int, Field(ge=1, le=64, description="Questions the model answers at once; as OLLAMA_NUM_PARALLEL.")
    ] = 1
    session_hours: Annotated[int, Field(ge=1, le=720, description="Hours after which a login to the interface ends.")] = 12
    allowed_hosts: Annotated[
        str, Field(description="Further names in the Host header that are served, separated by commas (reverse proxy).")
    ] = ""
    metrics: Annotated[bool, Field(description="Whether `/metrics` is served.")] = False
    json_logs: Annotated[bool, Field(description="Log JSON lines to stdout instead of text to stderr (serve only).")] = False
    log_level: Annotated[
        Literal["DEBUG", "INFO", "WARNING", "ERROR"], Field(description="Least severe level that is logged.")
    ] = "INFO"

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Only what `load` passes: it reads the environment itself, because it has to notice unknown names."""
        return (init_settings,)

    @field_validator("kb_dir", "data_dir")
    @classmethod
    def _absolute(cls, value: Path) -> Path:
        return value.expanduser().resolve()

    @field_validator("ollama_url")
    @classmethod
    def _plain_url(cls, value: str) -> str:
        if not value.startswith(("http://", "https://")):
            raise ValueError("must start with http:// or https://")
        return value.rstrip("/")

    @property
    def clock_day(self) -> date:
        """The day that relative words and ages are measured against."""
        return self.today or date.today()

    @classmethod
    def load(cls, env_file: Path | None = Path(".env")) -> Self:
        """Reads the environment and `.env` (the environment wins).

        Raises:
            SettingsError: a `PV_` variable is unknown (with the nearest known name) or its value is not valid.
        """
        from_file = _prefixed(dotenv_values(env_file, interpolate=False)) if env_file is not None else {}
        given = {**from_file, **_prefixed(os.environ)}
        values: dict[str, str] = {}
        known = set(cls.model_fields)
        for name, value in given.items():
            if name.upper().startswith(TEST_PREFIX):
                continue
            field = name.upper().removeprefix(PREFIX).lower()
            if field not in known:
                near = difflib.get_close_matches(field, known, n=1)
                hint = f"Did you mean {PREFIX}{near[0].upper()}?" if near else "See the settings table in docs/operation.md."
                raise SettingsError(f"Unknown setting {name!r}.", hint=hint)
            values[field] = value
        try:
            return cls(**{k: v for k, v in values.items() if v != ""})  # type: ignore[arg-type]
        except ValidationError as exc:
            first = exc.errors()[0]
            field = ".".join(str(part) for part in first["loc"])
            raise SettingsError(
                f"{PREFIX}{field.upper()} has value {_shown(field, values.get(field))}, which is not valid: {first['msg']}.",
                hint="Correct the variable or remove it.",
            ) from None


def _prefixed(values: Mapping[str, str | None]) -> dict[str, str]:
    return {name: value or "" for name, value in values.items() if name.upper().startswith(PREFIX)}


def _shown(field: str, value: str | None) -> str:
    return "***" if field.endswith("_key") else repr(value)
