"""The JSON schema of a draft: whatever the model writes, its sources are ids that were given to it."""

from collections.abc import Sequence
from typing import Any

MOST_CLAIMS = 16
MOST_SOURCES = 4
MOST_REMARKS = 6


def draft_schema(block_ids: Sequence[str]) -> dict[str, Any]:
    """Schema for Ollama's `format`. `silent` comes first: the model decides whether the blocks answer before it claims anything.

    Raises:
        ValueError: no block ids.
    """
    if not block_ids:
        raise ValueError("A draft needs at least one block that it may cite; got none.")
    text = {"type": "string"}
    claim = {
        "type": "object",
        "properties": {
            "text": text,
            "sources": {
                "type": "array",
                "items": {"type": "string", "enum": list(dict.fromkeys(block_ids))},
                "minItems": 1,
                "maxItems": MOST_SOURCES,
            },
            "formula": {
                "type": "object",
                "properties": {"expression": text, "operands": {"type": "array", "items": text}, "result": text},
                "required": ["expression", "operands", "result"],
            },
        },
        "required": ["text", "sources"],
    }
    return {
        "type": "object",
        "properties": {
            "silent": {"type": "boolean"},
            "claims": {"type": "array", "items": claim, "maxItems": MOST_CLAIMS},
            "unanswered": {"type": "array", "items": text, "maxItems": MOST_REMARKS},
            "follow_up": {"type": ["string", "null"]},
        },
        "required": ["silent", "claims", "unanswered", "follow_up"],
    }
