from datetime import UTC, datetime
from pathlib import Path

import pytest

from evaluation.records import QuestionRecord, answered_record
from evaluation.runs import Contestant, FrozenContext, ModelMemory, RunFolder, RunManifest, list_runs
from pipelines.errors import BadInput, GenerationCancelled, IndexFault, NotFound, StoreError
from tests.evaluation.test_answer_metrics import item

CONTEXTS = (FrozenContext(question_id="q-t-1", block_ids=("pv-sv-05",), sha256="ab"),)


def manifest(run_id: str = "r1", **changes: object) -> RunManifest:
    values: dict[str, object] = {
        "run_id": run_id,
        "created_at": datetime(2026, 6, 1, 12, tzinfo=UTC),
        "kind": "bakeoff",
        "models": (Contestant(name="a:1b", digest="d1"), Contestant(name="extractive")),
        "goldset_version": "g1",
        "goldset_files": ("sv.yaml",),
        "questions": 1,
        "index_version": "v1",
        "knowledge_base_hash": "k1",
        "embedding_model": "embedded",
        "prompt_version": "p1",
        "as_of": "2026-06",
        "options": {"num_ctx": 32768},
    }
    return RunManifest.model_validate(values | changes)


def record(model: str = "a:1b", question: str = "q-t-1") -> QuestionRecord:
    return QuestionRecord(model=model, question_id=question, error="no outcome")


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    made = RunFolder.of(tmp_path, "r1")
    made.begin(manifest(), CONTEXTS)
    return made


def test_run_is_read_as_it_was_written(folder, tmp_path):
    folder.append(record())
    folder.append(record('quoted " name', "q-t-2"))
    folder.append_memory(ModelMemory(model="a:1b", size_vram_bytes=17, context_length=8))
    again = RunFolder.of(tmp_path, "r1")
    assert again.manifest() == manifest()
    assert again.records() == (record(), record('quoted " name', "q-t-2"))
    assert again.memory() == {"a:1b": ModelMemory(model="a:1b", size_vram_bytes=17, context_length=8)}
    assert again.progress() == {"a:1b": 1, 'quoted " name': 1}
    assert [run.path.name for run in list_runs(tmp_path)] == ["r1"]


@pytest.mark.parametrize(
    "change",
    [
        {"goldset_version": "g2"},
        {"index_version": "v2"},
        {"prompt_version": "p2"},
        {"models": (Contestant(name="a:1b", digest="d2"), Contestant(name="extractive"))},
        {"options": {"num_ctx": 4096}},
        {"as_of": "2026-07"},
    ],
)
def test_other_run_is_refused_and_the_difference_named(folder, change):
    with pytest.raises(BadInput, match=f"cannot go on.*{next(iter(change))}"):
        folder.begin(manifest(**change), CONTEXTS)


def test_name_and_time_are_no_difference(folder):
    folder.begin(manifest("r1", created_at=datetime(2027, 1, 1, tzinfo=UTC)), CONTEXTS)
    assert folder.manifest().created_at.year == 2026


def test_other_contexts_are_refused(folder):
    with pytest.raises(BadInput, match="another context for 1 questions, the first is 'q-t-1'"):
        folder.begin(manifest(), (FrozenContext(question_id="q-t-1", block_ids=("pv-sv-05",), sha256="cd"),))


def test_torn_line_is_cut_before_anything_is_appended(folder):
    folder.append(record())
    path = folder.path / "answers.jsonl"
    path.write_bytes(path.read_bytes() + b'{"model":"a:1b","question')
    assert folder.records() == (record(),)
    with folder.locked():
        folder.append(record(question="q-t-2"))
    assert folder.records() == (record(), record(question="q-t-2"))


def test_damaged_line_in_the_middle_is_named(folder):
    path = folder.path / "answers.jsonl"
    path.write_bytes(b"{broken\n" + record().model_dump_json().encode() + b"\n")
    with pytest.raises(StoreError, match=r"answers.jsonl:1 is damaged"):
        folder.records()


def test_wish_to_stop_holds_until_the_run_is_requested_anew(folder):
    folder.request_cancel()
    with folder.locked():
        assert folder.running
        assert folder.cancel_requested, "whoever begins after the wish has to see it"
    assert not folder.running
    assert folder.cancel_requested
    folder.forget_cancel()
    folder.forget_cancel()
    assert not folder.cancel_requested


def test_finished_run_cannot_be_stopped(folder):
    folder.write("report.json", "{}")
    folder.request_cancel()
    assert not folder.cancel_requested


def test_run_that_does_not_exist(tmp_path):
    missing = RunFolder.of(tmp_path, "none")
    assert not missing.exists
    assert not missing.running
    missing.forget_cancel()
    assert not missing.path.exists()
    missing.request_cancel()
    assert (missing.cancel_requested, missing.exists, list_runs(tmp_path)) == (True, False, ())
    with pytest.raises(NotFound):
        missing.manifest()


@pytest.mark.parametrize("name", ["", ".", "../x", "a/b", "a b", "-x", "x" * 81])
def test_names_that_leave_the_folder_are_refused(tmp_path, name):
    with pytest.raises(BadInput):
        RunFolder.of(tmp_path, name)


def test_crash_is_recorded_and_a_cancelled_question_is_not():
    def raises(error: Exception):
        def ask(question: str):
            raise error

        return ask

    assert answered_record("m", item(), raises(IndexFault("all channels failed"))).error == "all channels failed"
    assert answered_record("m", item(), raises(KeyError("x"))).error == "KeyError: 'x'"
    assert answered_record("m", item(), lambda question: []).error == "no outcome"
    with pytest.raises(GenerationCancelled):
        answered_record("m", item(), raises(GenerationCancelled("gone")))
