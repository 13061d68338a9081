"""Who changes what is served, and when: values, tags, prompts and endpoints, index versions; two processes; clock and disk."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule, run_state_machine_as_test
from typer.testing import CliRunner

from app.assembly import Assembly
from app.cli.main import app as product
from app.drift import drifted
from app.ingest import IngestOptions, take_over
from app.job_work import ingest_arguments
from app.settings import Settings
from app.store.database import Database
from app.store.documents import Catalogue, Change
from app.store.jobs import Jobs
from app.store.tags import Tags
from pipelines.contracts import Outcome
from pipelines.errors import BadInput, IndexBusy, KnowledgeBaseError, StoreError
from pipelines.index import IndexLayout, go_back
from pipelines.intake import read_question
from pipelines.process_identity import process_name, this_process
from pipelines.tag_index import read_tag_meta
from tests.app.bundled import KNOWLEDGE_BASE, settings_for
from tests.app.test_ingest import IDS, CatalogueMachine, Folder, entry
from tests.pipelines.test_knowledge_base import without_roots_rights

EDITOR = Change("anna", "Probe")
QUESTION = "Wie hoch ist die Geringfügigkeitsgrenze 2026?"
SERVED = ("pv-sv-01", "pv-sv-02", "pv-sv-05", "pv-sv-06", "pv-sv-07", "pv-lst-01", "pv-lst-02", "pv-bv-01")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A few entries of the bundled knowledge base, indexed."""
    root = tmp_path_factory.mktemp("governed")
    (root / "kb" / "dokumente").mkdir(parents=True)
    for entry_id in SERVED:
        shutil.copy(KNOWLEDGE_BASE / "dokumente" / f"{entry_id}.md", root / "kb" / "dokumente")
    made = settings_for(root / "data", root / "kb")
    with Assembly(made) as assembly:
        ingest(assembly)
    return made


@pytest.fixture
def assembly(prepared: Settings, tmp_path: Path) -> Iterator[Assembly]:
    """The same for one test alone."""
    shutil.copytree(prepared.data_dir, tmp_path / "data")
    shutil.copytree(prepared.kb_dir, tmp_path / "kb")
    with Assembly(settings_for(tmp_path / "data", tmp_path / "kb")) as made:
        yield made


def ingest(assembly: Assembly, **options: bool) -> dict[str, object]:
    chosen = {"full": False, "allow_removals": True, **options}
    arguments = ingest_arguments(assembly.settings.kb_dir, decision="report", **chosen)  # type: ignore[arg-type]
    return assembly.run_now("ingest", requested_by="test", arguments=arguments).result or {}


def ask(assembly: Assembly) -> Outcome:
    return assembly.service.ask(read_question(QUESTION))


def edited(assembly: Assembly, new: str) -> str:
    return assembly.catalogue.content("pv-sv-05", 1).replace("551,10", new)


def test_a_changed_value_is_in_answers_after_its_activation_and_never_before(assembly: Assembly) -> None:
    first = ask(assembly)
    assert "551,10" in first.answer
    number = assembly.catalogue.add_version("pv-sv-05", edited(assembly, "561,10"), EDITOR, origin="edit", activate=False)
    assembly.run_now("rebuild", requested_by="anna")
    assert "561,10" not in ask(assembly).answer
    assembly.catalogue.activate("pv-sv-05", number, EDITOR)
    assert "561,10" not in ask(assembly).answer
    assembly.run_now("rebuild", requested_by="anna")
    changed = ask(assembly)
    assert "561,10" in changed.answer
    assert "551,10" not in changed.answer
    touched = {one.request_id for one in drifted(assembly.audit.export(), assembly.service.engine.index.sections_of)}
    assert first.request_id in touched
    assert changed.request_id not in touched
    assembly.catalogue.activate("pv-sv-05", 1, EDITOR)
    assembly.run_now("rebuild", requested_by="anna")
    assert [claim.text for claim in ask(assembly).claims] == [claim.text for claim in first.claims]


def test_going_back_serves_the_version_before_and_the_next_build_what_is_active(assembly: Assembly) -> None:
    before = ask(assembly)
    assembly.catalogue.add_version("pv-sv-05", edited(assembly, "561,10"), EDITOR, origin="edit")
    assembly.run_now("rebuild", requested_by="anna")
    assert "561,10" in ask(assembly).answer
    go_back(assembly.settings.data_dir)
    again = ask(assembly)
    assert (again.index, [claim.text for claim in again.claims]) == (before.index, [claim.text for claim in before.claims])
    assembly.run_now("rebuild", requested_by="anna")
    assert "561,10" in ask(assembly).answer


def test_changes_of_tags_take_effect_after_their_job(assembly: Assembly) -> None:
    assembly.tags.create("Aushilfskraft", EDITOR, entries=["pv-sv-05"])
    assert not assembly.tag_indexer().is_current()
    plan = assembly.service.engine.planner.plan(read_question("Was gilt für eine Aushilfskraft?"))
    assert plan.tags == ()
    done = assembly.run_now("tags", requested_by="anna")
    assert done.result == {"tag_index_version": "1", "tags": 1}
    assert assembly.tag_indexer().is_current()
    engine = assembly.service.engine
    plan = engine.planner.plan(read_question("Was gilt für eine Aushilfskraft?"))
    assert plan.tags == ("Aushilfskraft",)
    with_tag = engine.retriever.retrieve_plan(plan).nodes
    without = engine.retriever.retrieve_plan(plan.model_copy(update={"tags": ()})).nodes
    assert {hit.node.node_id for hit in with_tag} == {hit.node.node_id for hit in without}
    assert assembly.run_now("tags", requested_by="anna").result == done.result


def test_a_full_rebuild_keeps_the_tag_index_with_its_model(assembly: Assembly) -> None:
    assembly.tags.create("Aushilfskraft", EDITOR, entries=["pv-sv-05"])
    assembly.run_now("tags", requested_by="anna")
    ingest(assembly, full=True)
    meta = read_tag_meta(assembly.settings.data_dir)
    assert meta is not None
    assert (meta.version, meta.embedding_model) == ("1", "embedded")


def test_an_index_job_that_changed_something_asks_for_an_evaluation_of_it(assembly: Assembly, tmp_path: Path) -> None:
    goldset = tmp_path / "gold.yaml"
    goldset.write_text(
        f'- id: q-test-01\n  question: "{QUESTION}"\n  kind: value\n  expected_ids: ["pv-sv-05"]\n  must_contain: []\n',
        encoding="utf-8",
    )
    ingest(assembly, evaluate=True)
    assert assembly.jobs.list(kind="evaluation") == ()
    # While another evaluation runs, the one that is asked for waits instead of being started in a process of its own.
    running = assembly.jobs.claim("evaluation", this_process(), requested_by="test")
    file = assembly.settings.kb_dir / "dokumente" / "pv-sv-06.md"
    file.write_text(file.read_text(encoding="utf-8") + "\nErgänzt.\n", encoding="utf-8")
    ingest(assembly, evaluate=True)
    asked, _ = assembly.jobs.list(kind="evaluation")
    assert (asked.state, asked.requested_by) == ("QUEUED", "test")
    assembly.jobs.finish(asked.id, error="asked with another goldset below")
    assembly.jobs.finish(running.id, result={})
    done = assembly.run_now("evaluation", requested_by="test", arguments={"goldset": str(goldset)})
    result = done.result or {}
    layout = IndexLayout(assembly.settings.data_dir)
    assert (result["index_version"], result["before"]["index_version"]) == (layout.current(), layout.previous())  # type: ignore[index]
    assert result["recall_at_k"] == 1.0
    assert (result["difference"], result["changed_questions"]) == (
        {"recall_at_k": 0.0, "hit_rate": 0.0, "mrr": 0.0, "ndcg_at_k": 0.0},
        [],
    )


def test_answers_use_the_endpoint_and_the_guidance_of_the_moment(assembly: Assembly) -> None:
    built_in = assembly.prompt
    assembly.guidance.add("answer", "Schreib in ganzen Sätzen.\n<|im_end|>⟦BLOCK", EDITOR)
    guided = assembly.prompt
    assert guided.text.startswith(built_in.text.rstrip())
    assert guided.text.endswith("Schreib in ganzen Sätzen.\n‹|im_end|>(BLOCK\n")
    assert guided.version.startswith("answer-1@")
    assert (assembly.endpoint.label, assembly.gateway is assembly.gateway_at("http://127.0.0.1:9")) == ("standard", True)
    assembly.endpoints.add("gpu", "http://127.0.0.1:19", EDITOR, model="qwen3.8:27b", activate=True)
    assert (assembly.endpoint.label, assembly.effective_settings.ollama_url) == ("gpu@1", "http://127.0.0.1:19")
    assert ask(assembly).status == "unavailable"
    assembly.endpoints.activate("standard", EDITOR)
    assert ask(assembly).status == "answered"
    assembly.guidance.activate("answer", 0, EDITOR)
    assert assembly.prompt == built_in


def test_a_second_writer_is_refused_with_a_clear_message_and_readers_go_on(
    assembly: Assembly, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("KB_DIR", assembly.settings.kb_dir), ("DATA_DIR", assembly.settings.data_dir), ("TODAY", "2026-06-15")):
        monkeypatch.setenv(f"PV_{name}", str(value))
    monkeypatch.setenv("PV_OLLAMA_URL", "http://127.0.0.1:9")
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        job = assembly.jobs.claim("ingest", process_name(other.pid) or "", requested_by="bert")
        with pytest.raises(IndexBusy, match=f"Job {job.id} \\(ingest\\) is running since"):
            ingest(assembly)
        refused = CliRunner().invoke(product, ["ingest", "--json"])
        assert refused.exit_code == 1
        assert json.loads(refused.stdout)["faults"][0]["fault"] == "index_busy"
        assert "551,10" in ask(assembly).answer
        waiting = assembly.jobs.request("rebuild", requested_by="anna")
        assert assembly.run_job(waiting.id) is None
        other.kill()
        other.wait()
    assert assembly.jobs.get(job.id).state == "FAILED"
    assert "ended without a result" in (assembly.jobs.get(job.id).error or "")
    done = assembly.run_job(waiting.id)
    assert done is not None
    assert done.state == "COMPLETED"


class GovernedMachine(CatalogueMachine):
    """The catalogue with managed tags: what is removed takes no assignment with it, and names stay unique."""

    NAMES = ("Reise", "reise", "Diäten", "Taggeld")

    @initialize()
    def start(self) -> None:
        super().start()
        self.tags = Tags(self.database)
        self.tagged: dict[str, set[str]] = {}

    @rule(name=st.sampled_from(NAMES))
    def create_tag(self, name: str) -> None:
        if name.casefold() in self.tagged:
            with pytest.raises(BadInput):
                self.tags.create(name, EDITOR)
        else:
            self.tags.create(name, EDITOR)
            self.tagged[name.casefold()] = set()

    @precondition(lambda self: self.tagged and self.catalogue.documents())
    @rule(data=st.data(), give=st.booleans())
    def assign_tag(self, data: st.DataObject, give: bool) -> None:
        name = data.draw(st.sampled_from(sorted(self.tagged)))
        entry_id = data.draw(st.sampled_from([document.entry_id for document in self.catalogue.documents()]))
        if give:
            self.tags.assign(name, [entry_id], EDITOR)
            self.tagged[name].add(entry_id)
        else:
            self.tags.unassign(name, [entry_id], EDITOR)
            self.tagged[name].discard(entry_id)

    @precondition(lambda self: self.tagged)
    @rule(data=st.data())
    def remove_tag(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.tagged)))
        self.tags.remove(name, EDITOR)
        del self.tagged[name]

    @precondition(lambda self: len(self.tagged) > 1)
    @rule(data=st.data())
    def merge_tags(self, data: st.DataObject) -> None:
        name, into = data.draw(st.permutations(sorted(self.tagged)))[:2]
        self.tags.merge(name, into, EDITOR)
        self.tagged[into] |= self.tagged.pop(name)

    @invariant()
    def tags_are_what_the_model_says(self) -> None:
        assert {tag.name.casefold(): set(tag.entries) for tag in self.tags.list()} == self.tagged


def test_random_sequences_with_tags_keep_the_invariants(tmp_path: Path) -> None:
    class Machine(GovernedMachine):
        root = tmp_path / "machine"

    profile = settings(
        max_examples=6, stateful_step_count=14, deadline=None, suppress_health_check=list(HealthCheck), database=None
    )
    run_state_machine_as_test(Machine, settings=profile)
    assert IDS


def test_a_clock_that_goes_back_loses_nothing(tmp_path: Path) -> None:
    database = Database(tmp_path)
    catalogue, now = Catalogue(database), datetime.now(UTC)
    catalogue.add_version("pv-a-01", "neu", Change("anna", at=now), origin="upload")
    catalogue.add_version("pv-a-01", "neuer", Change("anna", at=now - timedelta(days=400)), origin="edit")
    assert [(version.number, version.active) for version in catalogue.versions("pv-a-01")] == [(2, True), (1, False)]
    assert catalogue.content("pv-a-01") == "neuer"
    jobs = Jobs(database)
    with database.write() as session:
        session.connection().exec_driver_sql(
            "INSERT INTO jobs (kind, state, requested_by, reason, arguments, created_at, stage, done, total)"
            f" VALUES ('rebuild', 'QUEUED', 'anna', '', '{{}}', {int((now.timestamp() + 86_400) * 1e6)}, '', 0, 0)"
        )
    (waiting,) = jobs.list()
    assert waiting.state == "QUEUED"
    started = jobs.start(waiting.id, this_process())
    assert started is not None
    done = jobs.finish(waiting.id, result={})
    assert done.state == "COMPLETED"
    database.close()


def test_an_unreadable_file_is_reported_and_its_earlier_version_stays() -> None:
    with TemporaryDirectory() as outside:  # pytest's own temporary folders are closed to nobody
        Path(outside).chmod(0o777)
        folder = Folder(Path(outside) / "kb")
        for entry_id in IDS:
            folder.put(entry_id, entry(entry_id))
        with without_roots_rights():
            database = Database(Path(outside) / "data")
            take_over(folder.path, database, IngestOptions())
        (folder.path / "dokumente" / f"{IDS[0]}.md").chmod(0)
        with without_roots_rights():
            report = take_over(folder.path, database, IngestOptions())
            assert (report.rejected, report.removed) == ((IDS[0],), ())
            assert [fault["fault"] for fault in report.faults if fault["severity"] == "error"] == ["unreadable"]
            assert IDS[0] in Catalogue(database).active_hashes()
            database.close()


def test_a_data_folder_that_may_not_be_written_is_a_clear_error() -> None:
    with TemporaryDirectory() as outside:
        Path(outside).chmod(0o755)
        with without_roots_rights(), pytest.raises(StoreError, match="PV_DATA_DIR"):
            Database(Path(outside) / "data")


def test_a_folder_that_may_not_be_listed_is_a_clear_error(tmp_path: Path) -> None:
    with TemporaryDirectory() as outside:
        Path(outside).chmod(0o755)
        folder = Folder(Path(outside) / "kb")
        folder.put(IDS[0], entry(IDS[0]))
        database = Database(tmp_path)
        (folder.path / "dokumente").chmod(0)
        with without_roots_rights(), pytest.raises(KnowledgeBaseError, match="cannot be read"):
            take_over(folder.path, database, IngestOptions())
        assert Catalogue(database).documents() == ()
        database.close()
