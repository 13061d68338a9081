"""The API over a small index, as the target of a process of its own."""

import uvicorn

from app.settings import Settings
from tests.app.api.conftest import serve


def run(settings_json: str) -> None:
    """Serves until it is killed."""
    settings = Settings.model_validate_json(settings_json)
    uvicorn.run(serve(settings).application, port=settings.port, log_level="warning")
