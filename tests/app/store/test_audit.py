import json
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from app.store.audit import AuditLog, SectionProof
from app.store.database import Database
from custom_postprocessors.evidence import Citation, Claim
from pipelines.contracts import Answer, Grounding, IndexInfo, ModelInfo, Plan, Refusal, Timings
from pipelines.errors import BadInput, NotFound, StoreError

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
PROOF = SectionProof(node_id="pv-sv-05#zusammenfassung", text_hash="0" * 64)
SECRETS = ("Frau Muster", "551,10 €", "Ruhezeit", "Odoo-17", "Beitrag")


def outcome(number: int, *, refused: bool = False) -> Answer | Refusal:
    common = {
        "request_id": f"r-{number}",
        "client_request_id": "Odoo-17",
        "created_at": START + timedelta(days=number),
        "question": f"Was gilt für Frau Muster? {number}",
        "as_of": "2026-03",
        "answer": "Die Grenze beträgt 551,10 €.",
        "plan": Plan(type="value", queries=("Ruhezeit",), as_of="2026-03"),
        "grounding": Grounding(verified=not refused, mode="extractive", cited_ids=("pv-sv-05",)),
        "model": ModelInfo(name="extractive"),
        "index": IndexInfo(version="v1", embedding_model="embedded", entries=1, nodes=1),
        "timings_ms": Timings(),
    }
    if refused:
        return Refusal(status="refused", refusal_reason="kb_silent", **common)
    citation = Citation(entry_id="pv-sv-05", section="Beitrag", stand="2026-01", quote="551,10 €", start=0, end=8)
    claim = Claim(text="Die Grenze beträgt 551,10 €.", citations=(citation,))
    return Answer(status="answered", claims=(claim,), **common)


@pytest.fixture
def log(tmp_path: Path) -> Iterator[AuditLog]:
    database = Database(tmp_path)
    yield AuditLog(database)
    database.close()


@pytest.fixture
def filled(log: AuditLog) -> AuditLog:
    for number in range(1, 6):
        log.append(outcome(number, refused=number == 3), [PROOF])
    return log


def tamper(log: AuditLog, *statements: str) -> None:
    """Changes the file as somebody with the file in hand would: without the triggers."""
    log.database.close()
    with sqlite3.connect(log.database.path) as connection:
        for trigger in ("audit_update", "audit_delete"):
            connection.execute(f"DROP TRIGGER {trigger}")
        for statement in statements:
            connection.execute(statement)
    connection.close()


def kinds(log: AuditLog) -> list[tuple[int, str]]:
    return [(fault.sequence, fault.kind) for fault in log.verify()]


def test_outcomes_come_back_whole(filled: AuditLog) -> None:
    record = filled.get("r-2")
    assert record.outcome == outcome(2)
    assert (record.sequence, record.created_at, record.sections) == (2, START + timedelta(days=2), (PROOF,))
    assert filled.get("r-3").outcome == outcome(3, refused=True)
    assert [record.request_id for record in filled.list(limit=2)] == ["r-5", "r-4"]
    assert [record.request_id for record in filled.list(before=3)] == ["r-2", "r-1"]
    assert [record.request_id for record in filled.export()] == [f"r-{n}" for n in range(1, 6)]
    assert filled.count() == 5
    assert filled.verify() == ()


def test_an_empty_log_is_whole(log: AuditLog) -> None:
    assert (log.verify(), log.count(), log.list()) == ((), 0, ())


def test_a_request_id_is_used_once(filled: AuditLog) -> None:
    with pytest.raises(BadInput, match="r-2"):
        filled.append(outcome(2), [PROOF])
    assert filled.count() == 5
    with pytest.raises(NotFound):
        filled.get("r-9")


@pytest.mark.parametrize(
    ("statement", "faults"),
    [
        ("UPDATE audit SET meta = replace(meta, 'answered', 'partial') WHERE sequence = 2", [(2, "changed")]),
        ("UPDATE audit SET content = replace(content, '551,10', '511,10') WHERE sequence = 2", [(2, "content_changed")]),
        ("UPDATE audit SET created_at = created_at + 1 WHERE sequence = 2", [(2, "changed")]),
        ("UPDATE audit SET request_id = 'r-x' WHERE sequence = 2", [(2, "changed")]),
        ("DELETE FROM audit WHERE sequence = 2", [(2, "missing")]),
        ("DELETE FROM audit WHERE sequence = 5", [(5, "head")]),
        ("DELETE FROM audit WHERE sequence = 1", [(1, "missing")]),
        ("DELETE FROM audit", [(1, "head")]),
    ],
)
def test_a_tampered_log_is_found(filled: AuditLog, statement: str, faults: list[tuple[int, str]]) -> None:
    tamper(filled, statement)
    assert kinds(filled) == faults


def test_an_inserted_row_is_found(filled: AuditLog) -> None:
    tamper(
        filled,
        "UPDATE audit SET sequence = sequence + 100 WHERE sequence > 2",
        "INSERT INTO audit SELECT 3, 'r-new', created_at, meta, content, content_hash, previous_hash, row_hash"
        " FROM audit WHERE sequence = 2",
        "UPDATE audit SET sequence = sequence - 99 WHERE sequence > 100",
    )
    assert (3, "changed") in kinds(filled)


def test_a_row_that_was_computed_again_breaks_the_next(filled: AuditLog) -> None:
    other = AuditLog(Database(filled.database.path.parent / "other"))
    other.append(outcome(7), [PROOF])
    forged = other.get("r-7").row_hash
    other.database.close()
    tamper(filled, f"UPDATE audit SET row_hash = '{forged}' WHERE sequence = 2")
    assert kinds(filled) == [(2, "changed"), (3, "changed")]


@pytest.mark.parametrize("statement", ["DELETE FROM audit", "UPDATE audit SET meta = '{}'", "UPDATE audit SET content = 'x'"])
def test_the_database_itself_refuses_to_change_the_log(filled: AuditLog, statement: str) -> None:
    def change() -> None:
        with filled.database.write() as session:
            session.execute(text(statement))

    with pytest.raises(StoreError, match="append-only"):
        change()


def test_content_can_go_and_the_chain_stays_whole(filled: AuditLog) -> None:
    assert filled.delete_content(START + timedelta(days=3)) == 2
    assert [record.outcome is None for record in filled.export()] == [True, True, False, False, False]
    assert filled.verify() == ()
    record = filled.get("r-1")
    assert record.metadata["status"] == "answered"
    assert record.sections == (PROOF,)
    assert filled.delete_content(START + timedelta(days=3)) == 0
    filled.append(outcome(6), [PROOF])
    assert filled.verify() == ()


def test_deleted_content_is_not_left_in_the_file(filled: AuditLog) -> None:
    filled.delete_content(START + timedelta(days=100))
    filled.database.close()
    assert b"Muster" not in filled.database.path.read_bytes()


def test_metadata_hold_no_text_that_a_person_wrote(tmp_path: Path) -> None:
    database = Database(tmp_path)
    log = AuditLog(database, keep_content=False)
    log.append(outcome(1), [PROOF])
    record = log.get("r-1")
    assert record.outcome is None
    stored = json.dumps(record.to_json(), ensure_ascii=False)
    assert [secret for secret in SECRETS if secret in stored] == []
    assert record.metadata["grounding"] == {
        "verified": True, "mode": "extractive", "regenerated": False, "retrieved_ids": [], "cited_ids": ["pv-sv-05"],
        "violations": [], "dropped_claims": 0, "data_scope": "knowledge_base",
    }  # fmt: skip
    assert log.verify() == ()
    database.close()
    assert not [secret for secret in SECRETS if secret.encode() in (tmp_path / "pv.db").read_bytes()]


def test_an_export_is_json(filled: AuditLog) -> None:
    rows = [json.loads(json.dumps(record.to_json())) for record in filled.export()]
    assert [row["sequence"] for row in rows] == [1, 2, 3, 4, 5]
    assert rows[0]["outcome"]["question"] == "Was gilt für Frau Muster? 1"
