"""Writing the active versions back into a folder, with its registry."""

import os
import tempfile
from pathlib import Path

from app.store.documents import Catalogue
from pipelines.errors import BadInput, KnowledgeBaseError
from pipelines.knowledge_base import write_registry
from pipelines.registry import ENTRIES_FOLDER


def export_documents(catalogue: Catalogue, folder: Path) -> int:
    """Writes every active version, `kb.json` and `INDEX.md` into a folder that is new or empty; returns how many documents.

    Raises:
        BadInput: there is something in the folder already.
        KnowledgeBaseError: it cannot be written.
    """
    if folder.exists() and any(folder.iterdir()):
        raise BadInput(f"The folder {str(folder)!r} is not empty.", hint="Name a folder that is new or empty.")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as aside:
            built = Path(aside) / folder.name
            (built / ENTRIES_FOLDER).mkdir(parents=True)
            count = 0
            for entry_id, _, content in catalogue.active_contents():
                (built / ENTRIES_FOLDER / f"{entry_id}.md").write_text(content, encoding="utf-8", newline="\n")
                count += 1
            write_registry(built)
            os.replace(built, folder)
    except OSError as exc:
        raise KnowledgeBaseError(
            f"{str(folder)!r} cannot be written: {exc.strerror}.", hint="Check permissions and space."
        ) from exc
    return count
