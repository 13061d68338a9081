"""The start of the service behind the open port: index built where there is none, opened, and only then ready."""

import logging
import time
from collections.abc import Callable
from threading import Event, Thread

from app.assembly import Assembly
from app.job_starter import JobStarter
from app.job_work import ingest_arguments
from app.readiness import Readiness
from app.store.jobs import Jobs
from pipelines.errors import IndexFault, PvAgentError
from pipelines.index import IndexLayout

POLL_SECONDS = 0.5
_log = logging.getLogger(__name__)


class FirstIndex:
    """Brings the service to ready in a thread of its own.

    The first index is built by a job in its own process, from `PV_KB_DIR`.

    Args:
        assembly: the parts of this process.
        starter: starts jobs.
        readiness: where it is told how far the service is.
    """

    def __init__(self, assembly: Assembly, starter: JobStarter, readiness: Readiness) -> None:
        self._assembly = assembly
        self._starter = starter
        self._readiness = readiness
        self._stopped = Event()
        self._thread: Thread | None = None

    def start(self, *, ready: Callable[[], None], failed: Callable[[], None]) -> None:
        """Returns at once; exactly one of the two is called at the end, unless `stop` comes before."""

        def work() -> None:
            try:
                self.bring_up()
            except PvAgentError as exc:
                _log.error("The service does not start: %s", exc)
                self._readiness.failed(exc.message)
                failed()
            else:
                if not self._stopped.is_set():
                    self._readiness.ready()
                    ready()

        self._thread = Thread(target=work, name="first-index", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Waits for nothing any more; a job that runs goes on in its own process."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join(2 * POLL_SECONDS)

    def bring_up(self) -> None:
        """Waits until there is an index and opens it.

        Raises:
            IndexFault: it cannot be built (with the job's reason) or opened.
        """
        if IndexLayout(self._assembly.settings.data_dir).current() is None:
            self._build()
        if not self._stopped.is_set():
            self._readiness.building("Der Index wird geöffnet.")
            self._assembly.service.engine  # noqa: B018 - opens the index, so that the first question does not wait

    def _build(self) -> None:
        settings = self._assembly.settings
        jobs = Jobs(self._assembly.database)
        arguments = ingest_arguments(settings.kb_dir, full=False, decision="report", allow_removals=False)
        job = jobs.request("ingest", requested_by="serve", reason="erster Index", arguments=arguments)
        self._readiness.building("Der erste Index wird gebaut.", job.id)
        _log.info("There is no index yet; job %d indexes %s, which takes a minute.", job.id, settings.kb_dir)
        self._starter.start_next()
        layout = IndexLayout(settings.data_dir)
        while not self._stopped.is_set():
            job = jobs.get(job.id)
            if layout.current() is not None:
                return
            if job.state in ("FAILED", "COMPLETED"):
                raise IndexFault(job.error or "The first index has no entry.", hint=f"See `python -m app jobs log {job.id}`.")
            time.sleep(POLL_SECONDS)
