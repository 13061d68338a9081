"""Which embedding model an index is built with, and the one that belongs to an index that exists."""

import logging

from app.settings import Settings
from pipelines.embeddings import EMBEDDED, EmbeddedEncoder, OllamaEncoder, SectionEncoder
from pipelines.errors import ModelError
from pipelines.index import Fingerprint
from pipelines.index_channels import fingerprint_of
from pipelines.ollama_client import OllamaGateway

AUTO = "auto"
PREFERRED_EMBEDDING = "bge-m3"
_log = logging.getLogger(__name__)


def encoder_for_build(settings: Settings, gateway: OllamaGateway, built_with: str | None) -> SectionEncoder:
    """The encoder of a build.

    `auto` keeps the model that the index was built with; for a first or full build (`built_with` None) it takes bge-m3 where
    Ollama offers it, else the embedded encoder. A named model is never exchanged for another.

    Raises:
        ModelUnavailable: a named model, or the one the index was built with, cannot be reached.
    """
    if settings.embed_model != AUTO:
        return _named(settings.embed_model, settings, gateway)
    if built_with is not None:
        return _named(built_with, settings, gateway)
    try:
        return _named(PREFERRED_EMBEDDING, settings, gateway)
    except ModelError as exc:
        _log.info("The index is built with the embedded encoder: %s", exc)
        return EmbeddedEncoder()


def encoder_for_reading(
    settings: Settings, gateway: OllamaGateway, built: Fingerprint
) -> tuple[SectionEncoder | None, Fingerprint]:
    """The encoder for questions against an existing index, and the fingerprint that the settings ask for.

    None when the index's own model cannot be reached: the index is then read without the dense channel. A model that the
    settings name and that is not the index's shows in the fingerprint, so that opening is refused.
    """
    wanted = built.embedding_model if settings.embed_model == AUTO else settings.embed_model
    try:
        encoder = _named(wanted, settings, gateway)
        if isinstance(encoder, EmbeddedEncoder):
            encoder.load()  # the first question must not wait for it
        return encoder, fingerprint_of(encoder)
    except ModelError as exc:
        _log.warning("The embedding model %r cannot be reached, questions are answered without it: %s", wanted, exc)
        return None, built.model_copy(update={"embedding_model": wanted})


def _named(name: str, settings: Settings, gateway: OllamaGateway) -> SectionEncoder:
    if name == EMBEDDED:
        return EmbeddedEncoder()
    model = gateway.local_model(name)
    return OllamaEncoder(name, settings.ollama_url, model.digest, timeout_seconds=settings.request_timeout_seconds)
