import pytest

from evaluation.goldset import GOLDSET_DIRECTORY, GoldItem, comparable, entry_texts, load_goldset, load_goldsets
from pipelines.errors import BadInput

KNOWN = {"pv-sv-05": "Die **Geringfügigkeitsgrenze** beträgt 551,10 €.\n§ 5 ASVG Ausnahmen", "pv-sv-06": "Anderes."}
GOOD = """# a comment
- id: q-test-1
  question: "Wie hoch?"
  kind: value
  expected_ids: [pv-sv-05]
  must_contain: ["551,10 €"]
- id: q-test-2
  question: "Und die Pendlerpauschale?"
  kind: out_of_kb
  expected_ids: []
"""


def written(tmp_path, text, name="set.yaml"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_reads_questions_in_order(tmp_path):
    goldset = load_goldset(written(tmp_path, GOOD), KNOWN)
    assert goldset.items == (
        GoldItem(id="q-test-1", question="Wie hoch?", kind="value", expected_ids=("pv-sv-05",), must_contain=("551,10 €",)),
        GoldItem(id="q-test-2", question="Und die Pendlerpauschale?", kind="out_of_kb", expected_ids=()),
    )
    assert goldset.answerable == goldset.items[:1]


def test_version_is_the_content_and_not_the_layout(tmp_path):
    version = load_goldset(written(tmp_path, GOOD), KNOWN).version
    assert load_goldset(written(tmp_path, GOOD.replace("# a comment\n", "")), KNOWN).version == version
    assert load_goldset(written(tmp_path, GOOD.replace("Wie hoch?", "Wie  hoch?")), KNOWN).version != version


@pytest.mark.parametrize(
    ("old", "new", "line", "fault"),
    [
        ("kind: value", "kind: price", 2, "kind: Input should be"),
        ("kind: value", "kind: value\n  note: x", 2, "note: Extra inputs"),
        ('  question: "Wie hoch?"\n', "", 2, "question: Field required"),
        ("[pv-sv-05]", "[pv-sv-99]", 2, "'pv-sv-99' is not in the knowledge base"),
        ("[pv-sv-05]", "[pv-sv-06]", 2, "no expected entry contains '551,10 €'"),
        ("[pv-sv-05]", "[pv-sv-05, pv-sv-05]", 2, "an expected id occurs twice"),
        ("551,10 €", "511,10 €", 2, "no expected entry contains '511,10 €'"),
        ("q-test-2", "q-test-1", 7, "id 'q-test-1' occurs twice"),
        ("expected_ids: []", "expected_ids: [pv-sv-05]", 7, "kind 'out_of_kb' with 1 expected_ids"),
        ("[pv-sv-05]", "[]", 2, "kind 'value' with 0 expected_ids"),
        ("kind: value", "kind: value\n  kind: fact", 2, "field 'kind' occurs twice"),
        ("kind: value", "kind: value\n  expected_sections: ['pv-sv-05#§ 6']", 2, "no heading that begins with '§ 6'"),
        ("kind: value", "kind: value\n  expected_sections: ['pv-sv-06#Anderes']", 2, "is not `ENTRY#HEADING PREFIX`"),
    ],
)
def test_fault_is_reported_with_file_and_line(tmp_path, old, new, line, fault):
    with pytest.raises(BadInput) as caught:
        load_goldset(written(tmp_path, GOOD.replace(old, new, 1)), KNOWN)
    assert f"set.yaml:{line}: " in str(caught.value)
    assert fault in str(caught.value)


def test_all_faults_are_reported_together(tmp_path):
    text = GOOD.replace("551,10", "511,10").replace("expected_ids: []", "expected_ids: [pv-xx-01]")
    with pytest.raises(BadInput, match="has 3 faults"):
        load_goldset(written(tmp_path, text), KNOWN)


@pytest.mark.parametrize("text", ["", "a: 1", "- [", "- 5", "\t"])
def test_what_is_no_list_of_questions_is_refused(tmp_path, text):
    with pytest.raises(BadInput):
        load_goldset(written(tmp_path, text), KNOWN)


def test_missing_file_is_refused(tmp_path):
    with pytest.raises(BadInput):
        load_goldset(tmp_path / "none.yaml", KNOWN)


def test_sets_are_joined_and_may_not_share_ids(tmp_path):
    one, other = written(tmp_path, GOOD, "a.yaml"), written(tmp_path, GOOD.replace("q-test", "q-other"), "b.yaml")
    joined = load_goldsets([one, other], KNOWN)
    assert [item.id for item in joined.items] == ["q-test-1", "q-test-2", "q-other-1", "q-other-2"]
    with pytest.raises(BadInput, match="q-test-1"):
        load_goldsets([one, one], KNOWN)


def test_comparable_ignores_case_spaces_and_marks():
    assert comparable("**551,10 €**\n pro  Monat") == "551,10 € pro monat"


def test_bundled_sets_fit_the_bundled_knowledge_base(bundled_nodes):
    known = entry_texts(bundled_nodes)
    sizes = {
        path.stem: len(load_goldset(path, known).items) for path in GOLDSET_DIRECTORY.glob("*.yaml") if path.stem != "conflicts"
    }
    assert {name: sizes[name] for name in ("sv", "lst", "arb", "kvrj", "hard")} == {
        "sv": 16,
        "lst": 16,
        "arb": 16,
        "kvrj": 16,
        "hard": 72,
    }
