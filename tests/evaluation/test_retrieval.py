import pytest

from evaluation.goldset import GoldItem
from evaluation.retrieval import Found, KindResult, Miss, evaluate_retrieval, report_text


def item(number, kind, *expected, sections=()):
    return GoldItem(id=f"q-t-{number}", question=f"Frage {number}", kind=kind, expected_ids=expected, expected_sections=sections)


def retrieve(question):
    return {
        "Frage 1": [Found("a-b-1", "Eins"), Found("a-b-1", "Zwei"), Found("a-b-2", "Eins")],
        "Frage 2": [Found("a-b-3", "§ 5 Entgelt"), Found("a-b-4", "X"), Found("a-b-2", "Y")],
        "Frage 3": [],
    }[question]


ITEMS = [
    item(1, "fact", "a-b-1", "a-b-2"),
    item(2, "value", "a-b-2", sections=("a-b-2#Y", "a-b-2#Z")),
    item(3, "value", "a-b-9"),
    item(4, "out_of_kb"),
]


def test_report_has_means_kinds_and_versions():
    report = evaluate_retrieval(retrieve, ITEMS, 2, goldset_version="g", index_version="i")
    assert (report.questions, report.k, report.goldset_version, report.index_version) == (3, 2, "g", "i")
    assert (report.recall_at_k, report.hit_rate, report.mrr) == (pytest.approx(1 / 3),) * 3
    assert report.by_kind == {
        "fact": KindResult(questions=1, recall_at_k=1.0, hit_rate=1.0, mrr=1.0, ndcg_at_k=1.0),
        "value": KindResult(questions=2, recall_at_k=0.0, hit_rate=0.0, mrr=0.0, ndcg_at_k=0.0),
    }
    assert report.section_recall_at_k == 0.0


def test_every_miss_has_its_rank_and_what_outranked_it():
    report = evaluate_retrieval(retrieve, ITEMS, 2)
    assert [result.missing for result in report.per_question] == [
        (),
        (Miss(entry_id="a-b-2", rank=3, outranked_by=("a-b-3", "a-b-4")),),
        (Miss(entry_id="a-b-9", rank=None, outranked_by=()),),
    ]
    text = report_text(report)
    assert "q-t-2: a-b-2 rank 3, behind a-b-3, a-b-4" in text
    assert "q-t-3: a-b-9 not found" in text


def test_k_counts_entries_and_sections_apart():
    report = evaluate_retrieval(retrieve, ITEMS, 3)
    assert report.per_question[0].retrieved_ids == ("a-b-1", "a-b-2")
    assert report.per_question[1].section_recall == 0.5
    assert report.section_recall_at_k == 0.5


def test_only_unanswerable_questions_give_zeros():
    report = evaluate_retrieval(retrieve, ITEMS[3:], 8)
    assert (report.questions, report.recall_at_k, report.mrr, report.by_kind, report.section_recall_at_k) == (
        0,
        0.0,
        0.0,
        {},
        None,
    )


def test_k_below_one_is_refused():
    with pytest.raises(ValueError, match="k is 0"):
        evaluate_retrieval(retrieve, ITEMS, 0)


def test_json_has_the_fields_that_scripts_rely_on():
    document = evaluate_retrieval(retrieve, ITEMS, 8).model_dump(mode="json")
    assert {
        "recall_at_k",
        "hit_rate",
        "mrr",
        "ndcg_at_k",
        "k",
        "questions",
        "latency_ms",
        "by_kind",
        "per_question",
        "goldset_version",
        "index_version",
    } <= set(document)
    assert set(document["latency_ms"]) == {"p50", "p95"}
    assert {"id", "question", "expected_ids", "retrieved_ids", "recall"} <= set(document["per_question"][0])
