"""The service process: first index, application, uvicorn."""

import ipaddress
import logging

import uvicorn
from fastapi import FastAPI

from app.assembly import Assembly
from app.first_index import build_first_index
from app.reader_feedback import ReaderFeedback
from app.settings import Settings
from app.store.documents import Catalogue
from app.store.feedback import Feedback
from app.ui.application import mount_ui
from app.ui.served import ModelStatus, ServedUi
from pipelines.errors import SettingsError

GRACE_SECONDS = 5
"""How long answers in flight may still take at the end; open pages hold a connection that would never end by itself."""
_log = logging.getLogger(__name__)


def run_server(settings: Settings) -> None:
    """Serves until it is told to stop; the first index is built before the port is opened.

    Raises:
        SettingsError: the address is not a loopback address.
        KnowledgeBaseError, IndexFault: there is no index and it cannot be built.
    """
    require_loopback(settings.host)
    with Assembly(settings) as assembly:
        build_first_index(assembly)
        application = make_application(assembly)
        _log.info("Open http://%s:%d in a browser.", settings.host, settings.port)
        uvicorn.run(
            application,
            host=settings.host,
            port=settings.port,
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=GRACE_SECONDS,
        )


def make_application(assembly: Assembly) -> FastAPI:
    """The API and the interface over one assembly; the engine is opened, so that the first question does not wait."""
    settings = assembly.settings
    service = assembly.service
    service.engine  # noqa: B018 - opens the index now
    feedback = Feedback(assembly.database, keep_content=settings.audit_content == "full")
    ui = ServedUi(
        service,
        Catalogue(assembly.database),
        ModelStatus(assembly.model_choice, configured=settings.llm_model),
        today=lambda: settings.clock_day,
        feedback=ReaderFeedback(feedback, assembly.audit),
    )
    application = FastAPI(title="pv-agent", docs_url=None, redoc_url=None)
    return mount_ui(application, ui)


def require_loopback(host: str) -> None:
    """Does nothing for an address that only this machine reaches.

    Raises:
        SettingsError: for any other address.
    """
    try:
        loopback = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = False
    if not loopback:
        raise SettingsError(
            f"PV_HOST has value {host!r}, which other machines can reach.",
            hint="Without a service key and an account only a loopback address such as 127.0.0.1 is served.",
        )
