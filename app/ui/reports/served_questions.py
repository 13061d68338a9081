"""The bundled questions held against the knowledge base that is served."""

import threading
from collections.abc import Callable

from app.bakeoff import goldset_names, goldset_paths
from app.engine import Engine
from evaluation.goldset import GoldItem, entry_texts, load_goldsets
from pipelines.errors import BadInput


class ServedQuestions:
    """Topics and questions of the served index; the questions are read once for each of its versions."""

    def __init__(self, engine: Callable[[], Engine]) -> None:
        self._engine = engine
        self._version = ""
        self._questions: tuple[GoldItem, ...] = ()
        self._lock = threading.Lock()

    def topics(self) -> dict[str, str]:
        """Topic by entry id.

        Raises:
            IndexFault: nothing is served.
        """
        return {entry_id: info.topic for entry_id, info in self._engine().index.entries.items()}

    def questions(self) -> tuple[GoldItem, ...]:
        """Every bundled question; none when they belong to another knowledge base.

        Raises:
            IndexFault: nothing is served.
        """
        index = self._engine().index
        with self._lock:
            if self._version != index.version:
                try:
                    found = load_goldsets(goldset_paths(goldset_names()), entry_texts(index.nodes)).items
                except BadInput:
                    found = ()
                self._version, self._questions = index.version, found
            return self._questions
