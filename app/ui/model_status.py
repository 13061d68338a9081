"""Which model answers and which others could, known without waiting for a slow model server."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from app.remembered import Remembered
from pipelines.errors import ModelError
from pipelines.model_choice import ModelChoice


class ModelStatus:
    """Which model answers and which others could, asked in the background and remembered; never blocks for long.

    Args:
        choose: the model that answers; may raise ModelError.
        configured: what the settings name, shown until it is known.
        installed: names of the models on Ollama that may answer; may raise ModelError.
    """

    def __init__(
        self, choose: Callable[[], ModelChoice], *, configured: str, installed: Callable[[], Sequence[str]] = tuple
    ) -> None:
        self._configured = configured
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="model-status")
        self._choice = Remembered(self._worker, choose)
        self._installed = Remembered(self._worker, installed)
        self._known: tuple[str, str, str | None] | None = None
        self._names: tuple[str, ...] | None = None

    def current(self) -> tuple[str, str, str | None]:
        """Name of the model (`extractive` for the Zitatmodus), the reason, and why it cannot answer (None: it can)."""
        try:
            choice = self._choice.get()
            self._known = (choice.name, choice.reason, None)
        except TimeoutError:
            return self._known or (self._configured, "Das Modell wird gerade geprüft.", None)
        except ModelError as exc:
            self._known = (self._configured, "", exc.message)
        return self._known

    def names(self) -> tuple[str, ...] | None:
        """Models that may be chosen; those known last while Ollama takes its time, none when it cannot be reached.

        None before Ollama has answered for the first time.
        """
        try:
            self._names = tuple(self._installed.get())
        except TimeoutError:
            pass
        except ModelError:
            self._names = ()
        return self._names

    def close(self) -> None:
        """Waits for nothing."""
        self._worker.shutdown(wait=False, cancel_futures=True)
