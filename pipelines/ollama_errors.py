"""Foreign errors of the connection to Ollama, translated once; their German messages name no address."""

import logging

import httpx
from ollama import ResponseError

from pipelines.errors import ModelError, ModelFailed, ModelUnavailable

log = logging.getLogger(__name__)

CHECK_OLLAMA = "Läuft Ollama? `python -m app doctor` zeigt den Zustand."
FOREIGN_ERRORS = (ResponseError, httpx.HTTPError, httpx.InvalidURL, OSError)
"""What the client raises; everything else is a defect of the product."""


def cloud_refused(name: str) -> ModelUnavailable:
    """The error for a model that would send question and knowledge base to somebody else's computer."""
    return ModelUnavailable(
        f"{name!r} ist ein Cloud-Modell und wird nicht verwendet.", hint="Bitte ein Modell wählen, das auf diesem Ollama läuft."
    )


def translated(exc: Exception, model: str, *, listing: bool = False) -> ModelError:
    """The product's error for a foreign one; the foreign text goes to the log, because it may name addresses."""
    # A server that is not there is the ordinary state of a machine without Ollama, not worth a warning.
    level = logging.INFO if listing else logging.WARNING
    log.log(level, "Ollama call failed for model %r: %s: %s", model, type(exc).__name__, exc)
    match exc:
        case ResponseError(status_code=404):
            what = (
                f"Das Modell {model!r} ist in Ollama nicht installiert."
                if model
                else "Unter der eingestellten Adresse antwortet kein Ollama."
            )
            return ModelUnavailable(what, hint=CHECK_OLLAMA)
        case ResponseError(status_code=503 | 429):
            return ModelUnavailable("Ollama ist überlastet.", hint="Bitte in einigen Minuten noch einmal fragen.")
        case ResponseError(status_code=status) if 300 <= status < 400:
            return ModelUnavailable("Ollama verweist auf eine andere Adresse; dem wird nicht gefolgt.", hint=CHECK_OLLAMA)
        case ResponseError() if "context" in str(exc.error) and "exceed" in str(exc.error):
            return ModelFailed(
                "Die Belege passen nicht in das Kontextfenster des Modells.",
                hint="PV_NUM_CTX erhöhen oder PV_CONTEXT_BLOCKS verringern.",
            )
        case ResponseError() if listing:
            return ModelUnavailable("Ollama antwortet nicht wie erwartet.", hint=CHECK_OLLAMA)
        case ResponseError():
            return ModelFailed(f"Ollama meldet einen Fehler beim Modell {model!r}.", hint="Einzelheiten stehen im Protokoll.")
        case (
            httpx.ConnectTimeout() | httpx.ConnectError() | httpx.PoolTimeout() | httpx.InvalidURL() | httpx.UnsupportedProtocol()
        ):
            return ModelUnavailable("Ollama ist nicht erreichbar.", hint=CHECK_OLLAMA)
        case httpx.TimeoutException() if not listing:
            return ModelFailed(f"Das Modell {model!r} hat nicht rechtzeitig geantwortet.", hint="Bitte noch einmal fragen.")
        case httpx.HTTPError() if not listing:
            return ModelFailed(f"Die Verbindung zum Modell {model!r} brach ab.", hint="Bitte noch einmal fragen.")
        case _:
            return ModelUnavailable("Ollama ist nicht erreichbar.", hint=CHECK_OLLAMA)
