"""A log of five outcomes of the fake service, and what readers said of them."""

from collections.abc import Iterator

import pytest

from app.store.audit import AuditLog, SectionProof
from app.store.database import Database
from app.store.feedback import Feedback
from app.ui.protocol.answer_log import AnswerLog
from pipelines.contracts import FinalEvent, Question
from pipelines.entry_file import parse_entry
from pipelines.nodes import SectionNode, split_entry
from tests.app.ui.fake_service import DOCUMENTS, FakeService

CHANGED = "pv-sv-07"
"""The entry that has lost the section that was cited."""


def sections_of(entry_id: str) -> list[SectionNode]:
    path = DOCUMENTS / f"{entry_id}.md"
    entry = parse_entry(path.name, path.read_bytes()).entry
    assert entry is not None
    nodes = split_entry(entry)
    return nodes if entry_id != CHANGED else [node for node in nodes if node.section != "Zusammenfassung"]


@pytest.fixture(scope="session")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    database = Database(tmp_path_factory.mktemp("protocol"))
    audit, feedback, service = AuditLog(database), Feedback(database), FakeService()
    for text in ("Wie hoch ist die Grenze?", "Wann ist die UVA abzugeben?", "konflikt <b>x</b>", "rechne", "Geht Ollama?"):
        for event in service.ask_events(Question(text=text), lambda: False):
            if isinstance(event, FinalEvent):
                audit.append(event.outcome, [SectionProof(node_id="pv-sv-05#zusammenfassung", text_hash="ab" * 32)])
    feedback.rate("r-1", up=False, author="anna")
    feedback.comment("r-1", "Bitte <b>prüfen</b>", author="anna")
    yield database
    database.close()


@pytest.fixture(scope="session")
def answers(database: Database) -> AnswerLog:
    return AnswerLog(AuditLog(database), Feedback(database), lambda: sections_of)
