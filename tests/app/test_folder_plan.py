import pytest

from app.folder_plan import ABSENT, FolderPlan, KnownDocument, plan_folder, require_few_removals
from pipelines.errors import KnowledgeBaseError

A, B, C = "hash-a", "hash-b", "hash-c"


@pytest.mark.parametrize(
    ("found", "known", "action"),
    [
        (A, None, "added"),
        (A, KnownDocument(A, A), "unchanged"),
        (B, KnownDocument(A, A), "changed"),
        (B, KnownDocument(B, A), "unchanged"),
        (A, KnownDocument(B, A), "diverged"),
        (C, KnownDocument(B, A), "diverged"),
        (A, KnownDocument(B, None), "diverged"),
        (A, KnownDocument(A, None), "unchanged"),
        (A, KnownDocument(None, A), "diverged"),
        (A, KnownDocument(None, None), "added"),
        (C, KnownDocument(B, A, kept_hash=C), "kept"),
        (A, KnownDocument(B, A, kept_hash=C), "diverged"),
    ],
)
def test_a_file_against_the_catalogue(found, known, action):
    plan = plan_folder({"pv-a-01": found}, (), {} if known is None else {"pv-a-01": known}, "report")
    assert plan == FolderPlan({"pv-a-01": action})


@pytest.mark.parametrize(
    ("known", "actions"),
    [
        (KnownDocument(A, A), {"pv-a-01": "removed"}),
        (KnownDocument(B, A), {"pv-a-01": "diverged"}),
        (KnownDocument(B, A, kept_hash=ABSENT), {"pv-a-01": "kept"}),
        (KnownDocument(A, None), {}),
        (KnownDocument(None, A), {}),
    ],
)
def test_a_missing_file(known, actions):
    assert plan_folder({}, (), {"pv-a-01": known}, "report") == FolderPlan(actions)


@pytest.mark.parametrize(("decision", "action"), [("take_folder", "changed"), ("keep_catalogue", "kept")])
def test_the_caller_decides_what_diverged(decision, action):
    assert plan_folder({"pv-a-01": C}, (), {"pv-a-01": KnownDocument(B, A)}, decision).of(action) == ("pv-a-01",)


@pytest.mark.parametrize(("decision", "action"), [("take_folder", "removed"), ("keep_catalogue", "kept")])
def test_the_caller_decides_what_is_missing_and_was_edited(decision, action):
    assert plan_folder({}, (), {"pv-a-01": KnownDocument(B, A)}, decision).of(action) == ("pv-a-01",)


def test_taking_the_folder_brings_back_what_was_taken_out():
    assert plan_folder({"pv-a-01": A}, (), {"pv-a-01": KnownDocument(None, A)}, "take_folder").of("added") == ("pv-a-01",)


@pytest.mark.parametrize("decision", ["report", "take_folder", "keep_catalogue"])
def test_what_is_served_of_a_rejected_file_stays(decision):
    assert plan_folder({}, {"pv-a-01"}, {"pv-a-01": KnownDocument(A, A)}, decision) == FolderPlan({})


def documents(count: int) -> dict[str, KnownDocument]:
    return {f"pv-a-{number:02d}": KnownDocument(A, A) for number in range(count)}


def test_a_fifth_may_be_removed_and_not_more():
    known = documents(10)
    kept = {entry_id: A for entry_id in list(known)[2:]}
    require_few_removals(plan_folder(kept, (), known, "report"), known)
    kept.pop("pv-a-05")
    with pytest.raises(KnowledgeBaseError, match=r"3 of 10 documents would be removed \(pv-a-00, pv-a-01, pv-a-05\)"):
        require_few_removals(plan_folder(kept, (), known, "report"), known)


def test_documents_from_elsewhere_do_not_count_as_the_folders():
    known = documents(2) | {f"pv-b-{n:02d}": KnownDocument(A, None) for n in range(50)}
    with pytest.raises(KnowledgeBaseError, match="1 of 2"):
        require_few_removals(plan_folder({"pv-a-00": A}, (), known, "report"), known)
