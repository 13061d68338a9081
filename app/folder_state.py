"""Whether what is served fits the folder and the catalogue: remarks for health, doctor, the first screen and editors."""

import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from app.indexing import invalid_active
from app.ingest import is_folder_changed
from app.remembered import Remembered
from app.store.database import Database
from app.store.documents import Catalogue
from pipelines.errors import KnowledgeBaseError, PvAgentError

_DIFFERS = (
    "Der Ordner der Wissensbasis wurde seit der letzten Übernahme geändert oder noch nicht mit dieser Programmfassung gelesen."
)
_log = logging.getLogger(__name__)


class FolderState:
    """Remarks on the folder of the knowledge base, looked at in the background; never blocks for long. Safe for many threads.

    Args:
        folder: PV_KB_DIR.
        database: the catalogue's.
    """

    def __init__(self, folder: Path, database: Database) -> None:
        self._folder = folder
        self._database = database
        worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="folder-state")
        self._seen: Remembered[tuple[str, ...]] = Remembered(worker, self._look)
        self._known: tuple[str, ...] = ()
        self._invalid: tuple[str, tuple[str, ...]] = ("", ())

    def notices(self) -> tuple[str, ...]:
        """German remarks as of the last half minute; empty when all is as it should be."""
        try:
            self._known = self._seen.get()
        except TimeoutError:
            return self._known
        except PvAgentError as exc:
            _log.warning("The folder could not be compared: %s", exc)
        return self._known

    def _look(self) -> tuple[str, ...]:
        return folder_notices(self._folder, self._database, self._invalid_now())

    def _invalid_now(self) -> tuple[str, ...]:
        """Every active text has to be read for this, so it is done once for each state of the catalogue."""
        catalogue = Catalogue(self._database)
        state = catalogue.state_hash()
        if self._invalid[0] != state:
            self._invalid = (state, tuple(invalid_active(catalogue)))
        return self._invalid[1]

    def look_again(self) -> None:
        """Forgets what is known, after something was changed."""
        self._seen.forget()


def folder_notices(folder: Path, database: Database, invalid: Sequence[str]) -> tuple[str, ...]:
    """What editors should know, in German, as of now; `invalid` are the active entries that cannot be indexed.

    Raises:
        StoreError: the catalogue cannot be read.
    """
    notices = []
    try:
        if is_folder_changed(folder, database):
            notices.append(_DIFFERS)
    except KnowledgeBaseError:
        notices.append("Der Ordner der Wissensbasis kann nicht gelesen werden. Geantwortet wird aus dem übernommenen Stand.")
    if invalid:
        named = ", ".join(invalid[:5]) + (" …" if len(invalid) > 5 else "")
        notices.append(f"Nicht im Index, weil die aktive Fassung ungültig ist: {named}.")
    return tuple(notices)
