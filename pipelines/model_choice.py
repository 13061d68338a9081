"""Which model answers: the configured or named one, or the Zitatmodus, and why."""

import time
from dataclasses import dataclass
from threading import Lock

from pipelines.errors import ModelError, ModelUnavailable
from pipelines.installed_models import ModelDetails
from pipelines.ollama_client import OllamaGateway
from pipelines.ollama_errors import cloud_refused

AUTO, EXTRACTIVE = "auto", "extractive"
PREFERRED_MODEL = "qwen3.8:27b"
REMEMBERED_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The decision: `name` is a model on Ollama or „extractive“; `reason` is a German sentence for the reader."""

    name: str
    reason: str
    digest: str | None = None

    @property
    def extractive(self) -> bool:
        """Whether the Zitatmodus answers."""
        return self.name == EXTRACTIVE


def choose_model(setting: str, gateway: OllamaGateway) -> ModelChoice:
    """The model for a setting: „auto“, „extractive“, or the name of a model. A named model is never exchanged for another.

    Raises:
        ModelUnavailable: a named model is missing, is a cloud model, cannot write answers, or Ollama cannot be reached.
    """
    wanted = setting.strip()
    if wanted == EXTRACTIVE:
        return ModelChoice(EXTRACTIVE, "Der Zitatmodus ist eingestellt.")
    if wanted in ("", AUTO):
        return _automatic(gateway)
    model = gateway.local_model(wanted)
    details = gateway.details(model.name)
    if details.remote_host:
        raise cloud_refused(wanted)
    if not details.can_answer:
        raise ModelUnavailable(f"Das Modell {wanted!r} schreibt keine Antworten.", hint="Bitte ein anderes Modell wählen.")
    return ModelChoice(model.name, f"Das Modell {model.name} ist gewählt.", model.digest)


def answering_models(gateway: OllamaGateway) -> tuple[str, ...]:
    """Names of the installed models that may be chosen: no cloud models, none that only embeds; in the server's order.

    Raises:
        ModelUnavailable: Ollama cannot be reached.
    """
    installed = [model.name for model in gateway.models() if not model.is_cloud]
    return tuple(name for name in installed if _answers(gateway.details(name)))


def _answers(details: ModelDetails) -> bool:
    return details.can_answer and not details.remote_host


def _automatic(gateway: OllamaGateway) -> ModelChoice:
    try:
        model = gateway.local_model(PREFERRED_MODEL)
    except ModelError as exc:
        return ModelChoice(EXTRACTIVE, f"{exc.message} Es antwortet der Zitatmodus.")
    return ModelChoice(model.name, f"{model.name} ist in Ollama installiert.", model.digest)


class RecentChoice:
    """The automatic choice of a model, remembered for a few seconds; one for all threads.

    Without it every question would ask Ollama what is installed, and wait for it where it does not answer. A named model is
    looked up every time.
    """

    def __init__(self, remembered_seconds: float = REMEMBERED_SECONDS) -> None:
        self._seconds = remembered_seconds
        self._lock = Lock()
        self._known: dict[str, tuple[float, ModelChoice]] = {}

    def choose(self, setting: str, gateway: OllamaGateway) -> ModelChoice:
        """See `choose_model`; while one thread asks, the others wait for its answer."""
        if setting.strip() not in ("", AUTO):
            return choose_model(setting, gateway)
        with self._lock:
            until, choice = self._known.get(gateway.url, (0.0, None))
            if choice is None or time.monotonic() >= until:
                choice = choose_model(setting, gateway)
                self._known[gateway.url] = (time.monotonic() + self._seconds, choice)
            return choice
