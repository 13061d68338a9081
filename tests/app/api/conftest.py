"""A small index under a fake encoder, and the API over it without the page."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from fastapi import FastAPI, Request
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient
from starlette.types import ASGIApp

from app.access.guards import make_guards
from app.api.application import guarded, make_api
from app.api.parts import ApiParts, attach
from app.api.problems import answer_defects
from app.assembly import Assembly
from app.engine import Engine, EngineOptions, make_engine
from app.indexing import active_nodes
from app.ingest import IngestOptions, take_over
from app.readiness import Readiness
from app.settings import Settings
from app.store.database import Database
from app.store.documents import Catalogue
from app.store.feedback import Feedback
from app.store.jobs import Jobs
from app.ui.model_status import ModelStatus
from pipelines.embedding_cache import EmbeddingCache
from pipelines.fusion import FusionOptions
from pipelines.index import IndexOptions, IndexRecipe, build_index, open_index
from pipelines.index_channels import RetrievalSuite, fingerprint_of, open_channels
from pipelines.process_identity import this_process
from tests.conftest import BUNDLED_FOLDER
from tests.fake_encoder import FakeEncoder

BASE_URL = "http://127.0.0.1:7860"
ENTRIES = ("pv-sv-05", "pv-sv-06", "pv-sv-07", "pv-sv-08", "pv-bv-01", "pv-atz-01", "kv-allg-01")
QUESTION = "Wie hoch ist die Geringfügigkeitsgrenze 2026?"
PAGE_POLICY = "default-src 'self'"


class SmallAssembly(Assembly):
    """The product over a small index; only the encoder is a fake."""

    def open_engine(self) -> Engine:
        encoder = FakeEncoder()
        index = open_index(self.settings.data_dir, fingerprint_of(encoder), open_channels)
        options = EngineOptions(
            today=lambda: self.settings.clock_day,
            fusion=FusionOptions(),
            context_blocks=8,
            num_ctx=32768,
            num_predict=2048,
            system_prompt=self.prompt.text,
            outdated_after_months=24,
        )
        return make_engine(index, encoder, options, self.choose_generator, choose_check_writer=self.choose_check_writer)


def page() -> FastAPI:
    """In place of the user interface: a few addresses, one of them defective."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        # As the product does: a question that waits holds a thread.
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(80))
        yield

    made = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan)
    answer_defects(made)

    @made.get("/")
    def first() -> PlainTextResponse:
        return PlainTextResponse("page")

    @made.get("/who")
    def who(request: Request) -> PlainTextResponse:
        person = request.state.person
        return PlainTextResponse(f"{person.name}:{','.join(sorted(person.roles))}")

    @made.get("/defect")
    def defect() -> None:
        raise RuntimeError("secret internals")

    @made.post("/upload")
    async def upload(request: Request) -> PlainTextResponse:
        return PlainTextResponse(str(len(await request.body())))

    return made


@dataclass(frozen=True)
class Served:
    """An API that is served, and what is behind it."""

    application: ASGIApp
    assembly: SmallAssembly
    readiness: Readiness
    started: list[str]

    def client(self, key: str | None = None) -> TestClient:
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        return TestClient(self.application, base_url=BASE_URL, headers=headers, raise_server_exceptions=False)


def serve(settings: Settings, *, ready: bool = True) -> Served:
    assembly = SmallAssembly(settings)
    readiness = Readiness("ready" if ready else "building")
    started: list[str] = []
    api = make_api()
    attach(
        api,
        ApiParts(
            service=assembly.service,
            audit=assembly.audit,
            feedback=Feedback(assembly.database, keep_content=settings.audit_content == "full"),
            catalogue=Catalogue(assembly.database),
            jobs=Jobs(assembly.database),
            tags=assembly.tags,
            start_jobs=lambda: started.append("next"),
            models=ModelStatus(assembly.model_choice, configured=settings.llm_model),
            readiness=readiness,
            kb_dir=settings.kb_dir,
            today=lambda: settings.clock_day,
            review_mode=settings.review_mode,
        ),
    )
    guards = make_guards(settings, assembly.database)
    application = guarded(api, settings, guards, page(), PAGE_POLICY, assembly.metrics if settings.metrics else None)
    return Served(application, assembly, readiness, started)


@pytest.fixture(scope="session")
def small_settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Settings of an index over a few bundled entries, without their cross references."""
    root: Path = tmp_path_factory.mktemp("api")
    documents = root / "kb" / "dokumente"
    documents.mkdir(parents=True)
    for entry_id in ENTRIES:
        text = (BUNDLED_FOLDER / "dokumente" / f"{entry_id}.md").read_text(encoding="utf-8")
        text = re.sub(r"^cross_refs:\n(?:  - .*\n)+", "cross_refs: []\n", text, flags=re.MULTILINE)
        (documents / f"{entry_id}.md").write_text(text.partition("\n## Verweise")[0] + "\n", encoding="utf-8")
    settings = Settings(kb_dir=root / "kb", data_dir=root / "data", llm_model="extractive", rate_limit_per_minute=0)
    database = Database(settings.data_dir)
    assert take_over(settings.kb_dir, database, IngestOptions()).ok
    catalogue, encoder = Catalogue(database), FakeEncoder()
    suite = RetrievalSuite(encoder, EmbeddingCache(settings.data_dir / "embeddings"))
    recipe = IndexRecipe(IndexOptions(fingerprint_of(encoder)), suite)
    build_index(active_nodes(catalogue), settings.data_dir, recipe, knowledge_base_hash=catalogue.state_hash())
    database.close()
    return settings


@pytest.fixture(scope="session")
def served(small_settings: Settings) -> Iterator[Served]:
    """The API without keys."""
    made = serve(small_settings)
    yield made
    made.assembly.close()


@pytest.fixture(scope="session")
def client(served: Served) -> Iterator[TestClient]:
    with served.client() as made:
        yield made


def end_waiting_jobs(jobs: Jobs) -> None:
    """Ends what other tests requested of the shared database, so that nothing new joins it."""
    while (job := jobs.next_queued()) is not None:
        jobs.start(job.id, this_process())
        jobs.finish(job.id, error="requested by another test")


@pytest.fixture
def serve_with(small_settings: Settings) -> Iterator[Callable[..., Served]]:
    """Serves the small index under other settings; closed at the end of the test."""
    opened: list[Served] = []

    def make(*, ready: bool = True, **changes: object) -> Served:
        made = serve(Settings(**{**small_settings.model_dump(), **changes}), ready=ready)
        opened.append(made)
        end_waiting_jobs(Jobs(made.assembly.database))
        return made

    yield make
    for made in opened:
        made.assembly.close()


@pytest.fixture
def answered(client: TestClient) -> dict[str, object]:
    """A new answer."""
    return client.post("/v1/ask", json={"question": QUESTION}).json()
