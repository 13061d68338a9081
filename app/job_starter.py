"""Starts queued jobs in processes of their own, and notes their end."""

from threading import Thread

from app.job_work import start_process
from app.settings import Settings
from app.store.jobs import Jobs


class JobStarter:
    """Starts what waits; every running job starts the one after it by itself."""

    def __init__(self, settings: Settings, jobs: Jobs) -> None:
        self._settings = settings
        self._jobs = jobs

    def start_next(self) -> None:
        """Starts the oldest job that nothing running excludes; does nothing when there is none."""
        job = self._jobs.next_queued()
        if job is None:
            return
        process = start_process(self._settings, job.id)
        # Somebody has to wait for a child, or it stays in the process table after its end.
        Thread(target=process.wait, name=f"job-{job.id}", daemon=True).start()
