"""What follows a change of documents on the command line: the index job, at once or after the one that runs."""

from app.assembly import Assembly
from app.console import say
from pipelines.errors import IndexBusy


def serve_changes(assembly: Assembly, reason: str) -> None:
    """Builds the index of what is active now; while another index job runs, queues one that follows it.

    Raises:
        IndexFault: the build failed; the change stays in the catalogue and is served by the next build.
    """
    try:
        done = assembly.run_now("rebuild", requested_by="command line", reason=reason)
    except IndexBusy as exc:
        queued = assembly.jobs.request("rebuild", requested_by="command line", reason=reason)
        say(f"{exc.message} Job {queued.id} follows it.")
        return
    say(f"Served: index {(done.result or {}).get('index_version')} (job {done.id}).")
