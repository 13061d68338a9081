from pathlib import Path

from app.api.schema import openapi_text

COMMITTED = Path(__file__).resolve().parents[3] / "docs" / "openapi.json"


def test_the_committed_document_is_that_of_the_program():
    assert COMMITTED.read_text(encoding="utf-8") == openapi_text(), "python -m app.api.schema > docs/openapi.json"
