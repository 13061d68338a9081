"""What generators around another generator have in common."""

from pipelines.contracts import ClaimGenerator, GenerationMode, ModelInfo


class WrappedGenerator:
    """A `ClaimGenerator` but for `draft`: what it says of itself is what the inner generator says."""

    def __init__(self, inner: ClaimGenerator) -> None:
        self._inner = inner

    @property
    def mode(self) -> GenerationMode:
        """As the inner generator."""
        return self._inner.mode

    def info(self) -> ModelInfo:
        """As the inner generator."""
        return self._inner.info()
