"""From the managed tags to the tag index that questions are routed by: what the job `tags` does."""

from app.encoders import encoder_for_build
from app.indexing import EMBEDDINGS_DIR
from app.settings import Settings
from app.store.tags import Tag, Tags, tags_hash
from pipelines.embedding_cache import EmbeddingCache
from pipelines.embeddings import SectionEncoder
from pipelines.index import Progress, read_current_meta
from pipelines.ollama_client import OllamaGateway
from pipelines.tag_index import TagLine, TagMeta, build_tag_index, read_tag_meta


class TagIndexer:
    """Builds the tag index of the managed tags with the embedding model of the served index.

    Args:
        settings: where things lie and which embedding model is wanted.
        tags: the managed tags.
        gateway: where an embedding model on Ollama is looked for.
    """

    def __init__(self, settings: Settings, tags: Tags, gateway: OllamaGateway) -> None:
        self._settings = settings
        self._tags = tags
        self._gateway = gateway

    def rebuild(self, *, progress: Progress) -> TagMeta:
        """Builds the tag index where it is not the one of these tags and this model; returns the served version.

        Raises:
            ModelUnavailable: the embedding model cannot be reached.
            IndexBusy: another process builds the tag index.
            IndexFault: it cannot be written.
        """
        tags, encoder = self._tags.list(), self._encoder()
        served = read_tag_meta(self._settings.data_dir)
        if served is not None and _fits(served, tags, encoder):
            return served
        lines = [TagLine(kind=tag.kind, name=tag.name, entries=tag.entries) for tag in tags]
        cache = EmbeddingCache(self._settings.data_dir / EMBEDDINGS_DIR)
        return build_tag_index(lines, self._settings.data_dir, encoder, cache, state=tags_hash(tags), progress=progress)

    def is_current(self) -> bool:
        """Whether questions are routed by exactly the managed tags; true when there are neither tags nor an index of them."""
        served, tags = read_tag_meta(self._settings.data_dir), self._tags.list()
        return not tags if served is None else served.state == tags_hash(tags)

    def follows_model(self) -> bool:
        """Whether the served tag index, if there is one, has the vectors of the served index's embedding model."""
        served, index = read_tag_meta(self._settings.data_dir), read_current_meta(self._settings.data_dir)
        if served is None or index is None:
            return True
        return (served.embedding_model, served.embedding_digest) == (index.embedding_model, index.embedding_digest)

    def _encoder(self) -> SectionEncoder:
        index = read_current_meta(self._settings.data_dir)
        return encoder_for_build(self._settings, self._gateway, None if index is None else index.embedding_model)


def _fits(served: TagMeta, tags: tuple[Tag, ...], encoder: SectionEncoder) -> bool:
    model = (served.embedding_model, served.embedding_digest)
    return served.state == tags_hash(tags) and model == (encoder.model_name, encoder.digest)
