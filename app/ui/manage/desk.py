"""What the tab Verwaltung works with: the stores, the served index, and the jobs that follow a change."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from app.access.person import Person
from app.assembly import Assembly
from app.folder_state import FolderState
from app.job_work import job_log
from app.service import Service
from app.store.conflicts import ConflictCares
from app.store.documents import Catalogue
from app.store.endpoints import DEFAULT_ENDPOINT, Endpoint, Endpoints
from app.store.feedback import Feedback
from app.store.guidance import Guidance, Purpose
from app.store.jobs import Jobs
from app.store.tags import Tags, TagSuggestion
from custom_postprocessors.evidence import Conflict
from pipelines.errors import IndexFault
from pipelines.index import IndexLayout, IndexMeta
from pipelines.index_meta import read_meta_file
from pipelines.jobs import Job, JobArguments, JobKind
from pipelines.node_file import EntryInfo
from pipelines.prompts import SystemPrompt

MOST_LOG_CHARACTERS = 20_000


@dataclass(frozen=True, slots=True)
class Desk:
    """Everything may be called from any thread.

    `start_jobs` starts the process of the next job that waits; `default_endpoint` is the one of the settings.
    """

    service: Service
    catalogue: Catalogue
    jobs: Jobs
    start_jobs: Callable[[], None]
    tags: Tags
    tags_are_current: Callable[[], bool]
    guidance: Guidance
    prompt_of: Callable[[Purpose], SystemPrompt]
    endpoints: Endpoints
    default_endpoint: Endpoint
    cares: ConflictCares
    feedback: Feedback
    folder: FolderState
    data_dir: Path
    kb_dir: Path

    def request(self, kind: JobKind, person: Person, reason: str, arguments: JobArguments | None = None) -> Job:
        """Asks for a job in the person's name and starts it where nothing excludes it."""
        job = self.jobs.request(kind, requested_by=person.name, reason=reason, arguments=arguments)
        self.start_jobs()
        self.folder.look_again()
        return job

    def entries(self) -> Mapping[str, EntryInfo]:
        """The entries of the served index; none while there is none."""
        try:
            return self.service.engine.index.entries
        except IndexFault:
            return {}

    def conflicts(self) -> tuple[Conflict, ...]:
        """The register of the served index."""
        try:
            return self.service.engine.index.conflicts
        except IndexFault:
            return ()

    def suggestions(self) -> tuple[TagSuggestion, ...]:
        """Tags and topics of the frontmatter that are not managed."""
        return self.tags.suggestions((info.entry_id, info.topic, info.tags) for info in self.entries().values())

    def index_versions(self) -> tuple[tuple[str, IndexMeta], ...]:
        """The served version and the one before, as („current“ | „previous“, meta); damaged ones are left out."""
        layout = IndexLayout(self.data_dir)
        found = []
        for role, name in (("current", layout.current()), ("previous", layout.previous())):
            try:
                if name is not None:
                    found.append((role, read_meta_file(layout.directory(name))))
            except IndexFault:
                continue
        return tuple(found)

    def log_of(self, job_id: int) -> str:
        """The end of a job's log; empty when it has none yet."""
        path = job_log(self.data_dir, job_id)
        if not path.is_file():
            return ""
        text = path.read_text(encoding="utf-8", errors="replace")
        return text if len(text) <= MOST_LOG_CHARACTERS else "…\n" + text[-MOST_LOG_CHARACTERS:]

    def open_jobs(self) -> tuple[Job, ...]:
        """The jobs that run or wait, oldest first."""
        return tuple(reversed([*self.jobs.list(state="QUEUED"), *self.jobs.list(state="RUNNING")]))


def desk_of(assembly: Assembly, start_jobs: Callable[[], None], folder: FolderState) -> Desk:
    """The desk over the parts of one process; `start_jobs` starts the process of the next job that waits."""
    settings = assembly.settings
    return Desk(
        service=assembly.service,
        catalogue=assembly.catalogue,
        jobs=assembly.jobs,
        start_jobs=start_jobs,
        tags=assembly.tags,
        tags_are_current=lambda: assembly.tag_indexer().is_current(),
        guidance=assembly.guidance,
        prompt_of=assembly.prompt_of,
        endpoints=assembly.endpoints,
        default_endpoint=Endpoint(name=DEFAULT_ENDPOINT, number=0, url=settings.ollama_url),
        cares=assembly.conflict_cares,
        feedback=assembly.feedback,
        folder=folder,
        data_dir=settings.data_dir,
        kb_dir=settings.kb_dir,
    )
