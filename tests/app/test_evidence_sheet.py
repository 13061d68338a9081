import pytest

from app.evidence_sheet import sheet_html, sheet_json, sheet_markdown
from app.store.audit import AuditRecord
from custom_postprocessors.evidence import Citation, Claim
from pipelines.contracts import Answer, Outcome
from pipelines.errors import NotFound
from tests.app.store.test_audit import PROOF, outcome

HOSTILE = 'x <script>alert(1)</script> ![i](https://evil.example/p.png) [l](javascript:alert(1)) <img src=x onerror="1">'


def record(one: Outcome | None) -> AuditRecord:
    metadata: dict[str, object] = {"sections": [PROOF.model_dump()]}
    return AuditRecord(7, "r-1", outcome(1).created_at, metadata, one, "sha256:abc")


def hostile() -> Answer:
    citation = Citation(entry_id="pv-sv-05", section="Beitrag", stand="2026-01", quote=HOSTILE, start=0, end=len(HOSTILE))
    base = outcome(1)
    assert isinstance(base, Answer)
    return base.model_copy(
        update={"question": HOSTILE, "answer": HOSTILE, "claims": (Claim(text=HOSTILE, citations=(citation,)),)}
    )


def test_the_sheet_has_what_proves_the_answer() -> None:
    text = sheet_markdown(record(outcome(1)))
    for part in ("r-1", "551,10 €", "[pv-sv-05] Beitrag (Stand 2026-01), Zeichen 0 bis 8", "0" * 64, "v1", "7 · sha256:abc"):
        assert part in text


def test_a_refusal_has_a_sheet_too_and_says_why() -> None:
    assert "Keine Aussage gezeigt (kb_silent)." in sheet_markdown(record(outcome(3, refused=True)))


def test_nothing_of_an_entry_a_question_or_a_model_is_live_on_the_page() -> None:
    page = sheet_html(record(hostile()))
    body = page.split("<body>")[1]
    assert "&lt;script&gt;" in body
    for live in ("<script", "<img", "<a ", 'onerror="1"'):
        assert live not in body


def test_the_json_has_outcome_sections_and_place_in_the_chain() -> None:
    sheet = sheet_json(record(outcome(1)))
    assert (sheet["sequence"], sheet["row_hash"]) == (7, "sha256:abc")
    assert sheet["outcome"] == outcome(1).model_dump(mode="json")


def test_deleted_content_is_said_to_be_deleted() -> None:
    with pytest.raises(NotFound, match="gelöscht"):
        sheet_markdown(record(None))
