"""The API over a small index in a process of its own: `python -m tests.app.api.small_server SETTINGS_JSON`."""

import sys

import uvicorn

from app.settings import Settings
from tests.app.api.conftest import serve

if __name__ == "__main__":
    settings = Settings.model_validate_json(sys.argv[1])
    uvicorn.run(serve(settings).application, port=settings.port, log_level="warning")
