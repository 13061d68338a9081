"""Models as Ollama lists them: installed, loaded, and what one of them can do."""

from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """A line of `/api/tags`. `remote_host` is set when the model runs on somebody else's computer."""

    name: str
    digest: str
    size_bytes: int
    remote_host: str | None = None

    @property
    def is_cloud(self) -> bool:
        """Whether question and knowledge base would leave the organisation."""
        return self.remote_host is not None or is_cloud_name(self.name)

    @classmethod
    def many(cls, document: dict[str, Any]) -> tuple[Self, ...]:
        """All models of a `/api/tags` answer; lines that are not understood are left out."""
        return tuple(
            cls(
                name=str(line.get("name") or line.get("model")),
                digest=str(line.get("digest") or ""),
                size_bytes=_integer(line.get("size")),
                remote_host=_remote(line),
            )
            for line in _lines(document)
        )


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A line of `/api/ps`: a model in memory."""

    name: str
    digest: str
    size_bytes: int
    size_vram_bytes: int
    context_length: int | None
    expires_at: str

    @classmethod
    def many(cls, document: dict[str, Any]) -> tuple[Self, ...]:
        """All models of a `/api/ps` answer; lines that are not understood are left out."""
        return tuple(
            cls(
                name=str(line.get("name") or line.get("model")),
                digest=str(line.get("digest") or ""),
                size_bytes=_integer(line.get("size")),
                size_vram_bytes=_integer(line.get("size_vram")),
                context_length=_integer(line.get("context_length")) or None,
                expires_at=str(line.get("expires_at") or ""),
            )
            for line in _lines(document)
        )


@dataclass(frozen=True, slots=True)
class ModelDetails:
    """What `/api/show` says. `capabilities` is None on servers that do not tell."""

    capabilities: frozenset[str] | None
    context_length: int | None
    embedding_length: int | None
    remote_host: str | None

    @classmethod
    def of(cls, document: dict[str, Any]) -> Self:
        """Reads a `/api/show` answer; what is missing is None."""
        capabilities = document.get("capabilities")
        info = document.get("model_info")
        facts = info if isinstance(info, dict) else {}
        return cls(
            capabilities=frozenset(map(str, capabilities)) if isinstance(capabilities, list) else None,
            context_length=_ending(facts, ".context_length"),
            embedding_length=_ending(facts, ".embedding_length"),
            remote_host=_remote(document),
        )

    @property
    def can_answer(self) -> bool:
        """Whether it writes text; true when the server does not tell."""
        return self.capabilities is None or "completion" in self.capabilities

    @property
    def can_embed(self) -> bool:
        """Whether it embeds text; true when the server does not tell."""
        return self.capabilities is None or "embedding" in self.capabilities


def is_cloud_name(name: str) -> bool:
    """Whether the name itself says that the model runs in Ollama's cloud (`x:cloud`, `x:120b-cloud`, `x-cloud`)."""
    lowered = name.strip().lower()
    return lowered.endswith((":cloud", "-cloud")) or "-cloud:" in lowered


def same_model(installed: str, wanted: str) -> bool:
    """Whether two names mean the same model; a name without a tag means `:latest`."""
    return _with_tag(installed) == _with_tag(wanted)


def _with_tag(name: str) -> str:
    return name if ":" in name.rsplit("/", 1)[-1] else f"{name}:latest"


def _lines(document: dict[str, Any]) -> list[dict[str, Any]]:
    lines = document.get("models")
    return (
        [line for line in lines if isinstance(line, dict) and (line.get("name") or line.get("model"))]
        if isinstance(lines, list)
        else []
    )


def _remote(line: dict[str, Any]) -> str | None:
    remote = line.get("remote_host") or line.get("remote_model")
    return str(remote) if remote else None


def _integer(value: object) -> int:
    return value if isinstance(value, int) else 0


def _ending(facts: dict[str, Any], ending: str) -> int | None:
    return next((value for key, value in facts.items() if key.endswith(ending) and isinstance(value, int)), None)
