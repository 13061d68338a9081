"""The service process: API and page behind one port, the first index, an orderly end."""

import asyncio
import logging
import signal
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass

import uvicorn
from fastapi import FastAPI
from starlette.types import ASGIApp

from app.access.guards import make_guards, require_guards_beyond_loopback
from app.api.application import guarded, make_api
from app.api.parts import ApiParts, attach
from app.api.problems import answer_defects
from app.assembly import Assembly
from app.bakeoff_desk import BakeoffDesk
from app.first_index import FirstIndex
from app.folder_state import FolderState
from app.job_starter import JobStarter
from app.reader_feedback import ReaderFeedback
from app.readiness import Readiness
from app.settings import Settings
from app.ui.application import CONTENT_SECURITY_POLICY, mount_ui
from app.ui.bakeoff.tab import bakeoff_tab
from app.ui.manage.desk import desk_of
from app.ui.manage.tab import manage_tab
from app.ui.model_status import ModelStatus
from app.ui.protocol.answer_log import AnswerLog
from app.ui.protocol.export import export_route
from app.ui.protocol.tab import protocol_tab
from app.ui.reports.handlers import ReportHandlers
from app.ui.reports.served_questions import ServedQuestions
from app.ui.reports.shelf import ReportShelf
from app.ui.reports.tab import reports_tab
from app.ui.served import ServedUi
from pipelines.errors import IndexFault
from pipelines.model_choice import answering_models

SHUTDOWN_SECONDS = 10
SPARE_THREADS = 64
"""Threads for questions beyond those that may wait for the model."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Serving:
    """The application of one process, and what brings it to ready."""

    application: ASGIApp
    readiness: Readiness
    first_index: FirstIndex


def run_server(settings: Settings) -> None:
    """Serves until it is told to stop. The port is open at once; until the index is there the service is not ready.

    Raises:
        SettingsError: other machines can reach the address, and a service key or an account is missing.
        IndexFault: there is no index and it cannot be built, or it cannot be opened.
    """
    with Assembly(settings) as assembly:
        require_guards_beyond_loopback(settings, assembly.database)
        serving = make_serving(assembly)
        config = uvicorn.Config(
            serving.application,
            host=settings.host,
            port=settings.port,
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        )
        server = uvicorn.Server(config)

        def ready() -> None:
            _log.info("Open %s in a browser.", _url(settings))

        def failed() -> None:
            server.should_exit = True

        # uvicorn raises the signal that ended it once more; without a handler the process would end before it is closed.
        signal.signal(signal.SIGTERM, _leave)
        serving.first_index.start(ready=ready, failed=failed)
        assembly.retention.start()
        try:
            server.run()
        finally:
            assembly.retention.stop()
            serving.first_index.stop()
        if serving.readiness.view.state == "failed":
            raise IndexFault(serving.readiness.view.reason, hint="See the log above, and `python -m app doctor`.")


def make_serving(assembly: Assembly) -> Serving:
    """The API and the page over one assembly; nothing is built or opened yet."""
    settings = assembly.settings
    readiness = Readiness()
    jobs, catalogue, feedback = assembly.jobs, assembly.catalogue, assembly.feedback
    starter, folder = JobStarter(settings, jobs), FolderState(settings.kb_dir, assembly.database)
    models = ModelStatus(
        assembly.model_choice, configured=settings.llm_model, installed=lambda: answering_models(assembly.gateway)
    )
    ui = ServedUi(
        assembly.service,
        catalogue,
        models,
        today=lambda: settings.clock_day,
        feedback=ReaderFeedback(feedback, assembly.audit),
        waiting=lambda: assembly.queue.waiting,
        notices=folder.notices,
    )
    api = make_api()
    attach(
        api,
        ApiParts(
            service=assembly.service,
            audit=assembly.audit,
            feedback=feedback,
            catalogue=catalogue,
            jobs=jobs,
            tags=assembly.tags,
            start_jobs=starter.start_next,
            models=models,
            readiness=readiness,
            kb_dir=settings.kb_dir,
            today=lambda: settings.clock_day,
            review_mode=settings.review_mode,
            notices=folder.notices,
        ),
    )
    guards = make_guards(settings, assembly.database)
    answers = AnswerLog(assembly.audit, feedback, lambda: assembly.service.engine.index.sections_of)
    page = _page(assembly)
    page.include_router(export_route(answers))
    served = ServedQuestions(lambda: assembly.service.engine)
    reports = ReportHandlers(ReportShelf(settings.data_dir), served, feedback.gaps)
    bakeoffs = BakeoffDesk(assembly, assembly.votes, jobs, starter.start_next)
    manage = manage_tab(desk_of(assembly, starter.start_next, folder))
    mount_ui(page, ui, [bakeoff_tab(bakeoffs), reports_tab(reports), manage, protocol_tab(answers)])
    metrics = assembly.metrics if settings.metrics else None
    application = guarded(api, settings, guards, page, CONTENT_SECURITY_POLICY, metrics)
    return Serving(application, readiness, FirstIndex(assembly, starter, readiness))


def _page(assembly: Assembly) -> FastAPI:
    """The application that the page is mounted in; it gets the events of start and end."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        # A question that waits for the model holds a thread; the loop's own pool has six of them on two cores.
        threads = assembly.settings.queue_size + SPARE_THREADS
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(threads, thread_name_prefix="question"))
        yield
        # Questions that are still being answered end as cancelled, so that their threads end.
        assembly.close_gateways()

    page = FastAPI(title="pv-agent", docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan)
    answer_defects(page)
    return page


def _leave(signum: int, frame: object) -> None:
    raise SystemExit(0)


def _url(settings: Settings) -> str:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"http://{host}:{settings.port}"
