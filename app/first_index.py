"""The first index of a fresh installation: taken over from the folder and built when `serve` finds none."""

import logging

from app.assembly import Assembly
from app.indexing import Indexer
from app.job_work import JobWork, ingest_arguments, run_logged
from app.store.jobs import Jobs
from pipelines.index import IndexLayout
from pipelines.process_identity import this_process

_log = logging.getLogger(__name__)


def build_first_index(assembly: Assembly) -> None:
    """Takes `PV_KB_DIR` over and builds the index if none is served yet; otherwise does nothing.

    Raises:
        KnowledgeBaseError: the folder cannot be taken over.
        IndexFault: the build failed.
    """
    settings = assembly.settings
    if IndexLayout(settings.data_dir).current() is not None:
        return
    _log.info("There is no index yet; %s is indexed now, which takes a minute.", settings.kb_dir)
    jobs = Jobs(assembly.database)
    work = JobWork(settings, Indexer(settings, assembly.database, assembly.gateway))
    arguments = ingest_arguments(settings.kb_dir, full=False, decision="report", allow_removals=False)
    job = jobs.claim("ingest", this_process(), requested_by="serve", reason="first index", arguments=arguments)
    result = run_logged(job, settings, jobs, work).result or {}
    _log.info("Indexed version %s.", result.get("index_version"))
