"""What follows a change of documents on the command line: the index job, at once or after the one that runs."""

from app.assembly import Assembly
from app.console import say
from app.indexing import Indexer
from app.job_work import JobWork, run_logged
from app.store.jobs import Jobs
from pipelines.errors import IndexBusy
from pipelines.process_identity import this_process


def serve_changes(assembly: Assembly, reason: str) -> None:
    """Builds the index of what is active now; while another index job runs, queues one that follows it.

    Raises:
        IndexFault: the build failed; the change stays in the catalogue and is served by the next build.
    """
    settings, jobs = assembly.settings, Jobs(assembly.database)
    try:
        job = jobs.claim("rebuild", this_process(), requested_by="command line", reason=reason)
    except IndexBusy as exc:
        queued = jobs.request("rebuild", requested_by="command line", reason=reason)
        say(f"{exc.message} Job {queued.id} follows it.")
        return
    work = JobWork(settings, Indexer(settings, assembly.database, assembly.gateway))
    done = run_logged(job, settings, jobs, work)
    say(f"Served: index {(done.result or {}).get('index_version')} (job {done.id}).")
