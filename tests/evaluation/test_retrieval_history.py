"""Measurements of retrieval are kept and shown over time."""

from datetime import UTC, datetime

from app.ui.reports.shelf import ReportShelf
from app.ui.reports.views import overview_html
from evaluation.goldset import GoldItem
from evaluation.retrieval import Found, RetrievalReport, evaluate_retrieval
from evaluation.retrieval_history import PREFIX, RetrievalRecord, keep_retrieval, kept_retrieval
from evaluation.runs import REPORTS


def measured(*found: str) -> RetrievalReport:
    item = GoldItem(id="q-sv-1", question="Wie hoch?", kind="value", expected_ids=("pv-a-01", "pv-a-02"))
    return evaluate_retrieval(
        lambda _: [Found(entry_id, "Kern") for entry_id in found], [item], 8, goldset_version="g1", index_version="i1"
    )


def test_measurements_are_kept_oldest_first_and_a_broken_file_is_left_out(tmp_path):
    days = [datetime(2026, 3, day, tzinfo=UTC) for day in (2, 1)]
    keep_retrieval(tmp_path, ("sv",), measured("pv-a-01", "pv-a-02"), days[0])
    keep_retrieval(tmp_path, ("sv",), measured("pv-a-01"), days[1])
    (tmp_path / REPORTS / f"{PREFIX}broken.json").write_text("{", encoding="utf-8")
    kept = kept_retrieval(tmp_path)
    assert [(r.created_at, r.goldsets, r.k, r.recall_at_k, r.mrr) for r in kept] == [
        (days[1], ("sv",), 8, 0.5, 1.0),
        (days[0], ("sv",), 8, 1.0, 1.0),
    ]
    assert isinstance(kept[0], RetrievalRecord)
    assert ReportShelf(tmp_path).runs() == ()


def test_recall_over_time_is_drawn_with_decimal_commas(tmp_path):
    for day, found in ((1, ("pv-a-01",)), (2, ("pv-a-01", "pv-a-02"))):
        keep_retrieval(tmp_path, ("sv",), measured(*found), datetime(2026, 3, day, tzinfo=UTC))
    page = overview_html((), None, (), ReportShelf(tmp_path).retrieval())
    assert "Recall@8 und MRR: Recall@8 zuletzt 1,00, MRR zuletzt 1,00" in page
    assert "Recall@8, 01.03.2026 01:00: 0,50" in page
    assert "Recall@8" not in overview_html((), None, ())
