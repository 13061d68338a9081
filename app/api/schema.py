"""Writes the OpenAPI document: `python -m app.api.schema > docs/openapi.json`."""

import json
import sys

from app.api.application import make_api


def openapi_text() -> str:
    """The document as it is committed."""
    return json.dumps(make_api().openapi(), ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    sys.stdout.write(openapi_text())
