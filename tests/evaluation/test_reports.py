import csv
import io
import xml.etree.ElementTree as ElementTree

import pytest
from rich.console import Console

from evaluation.answers import answers_report
from evaluation.comparison import compare_runs, comparison_text
from evaluation.goldset import Goldset
from evaluation.intervals import Rate
from evaluation.model_report import BakeoffReport, bakeoff_report
from evaluation.plots import kinds_plot, latency_plot, rates_plot
from evaluation.progress import result_table
from evaluation.records import QuestionRecord
from evaluation.report_csv import csv_report
from evaluation.report_page import report_page
from evaluation.report_text import COLUMNS, decision_record, markdown_report, rate_text, table_rows
from evaluation.runs import Contestant, ModelMemory
from pipelines.errors import BadInput
from tests.evaluation.test_answer_metrics import SECTIONS, cited, outcome
from tests.evaluation.test_answer_metrics import item as gold
from tests.evaluation.test_runs import manifest

HOSTILE = "<script>alert(1)</script> | =1+1"


def report(run_id: str = "r1", *, right: bool = False) -> BakeoffReport:
    """Two models on two questions: the second one is wrong about the first, unless `right`."""
    items = (
        gold().model_copy(update={"id": "q-t-1", "question": HOSTILE}),
        gold("out_of_kb").model_copy(update={"id": "q-t-2"}),
    )
    good = outcome(cited("Die Grenze beträgt 551,10 €."), answer="=551,10 €", total=500.0)
    silent = outcome(status="refused", total=100.0)
    wrong = good if right else outcome(status="unavailable", total=2000.0)
    records = [
        QuestionRecord(model="a", question_id="q-t-1", outcome=good, draft_passed=1, draft_total=1),
        QuestionRecord(model="a", question_id="q-t-2", outcome=silent),
        QuestionRecord(model="b<i>", question_id="q-t-1", outcome=wrong, draft_passed=int(right), draft_total=int(right)),
    ]
    return bakeoff_report(
        manifest(run_id, models=(Contestant(name="a", digest="d"), Contestant(name="b<i>"))),
        Goldset(items, "g1"),
        records,
        {"a": ModelMemory(model="a", size_vram_bytes=30_000_000_000, context_length=4096)},
        SECTIONS,
        record="D1-a.md",
        vram_budget_gb=28.0,
    )


def test_question_without_a_record_is_a_listed_crash():
    model = report().model("b<i>")
    assert model is not None
    assert model.crashed == ("q-t-2: no record",)
    assert (model.refusal_correct, model.false_answers, model.false_refusals, model.draft_citation_precision) == (
        0.0,
        1.0,
        1.0,
        0.0,
    )


def test_kinds_have_their_own_figures():
    by_kind = report().models[0].by_kind
    assert {kind: figures.questions for kind, figures in by_kind.items()} == {"out_of_kb": 1, "value": 1}
    assert by_kind["value"].values_correct == 1.0


def test_page_is_escaped_and_whole():
    page = report_page(report())
    assert HOSTILE.split(" |")[0] not in page
    assert "&lt;script&gt;" in page
    assert "b<i>" not in page
    assert page.count("<figure>") == 3
    assert "über dem Speicherbudget von 28 GB" in page


@pytest.mark.parametrize("plot", [rates_plot, latency_plot, kinds_plot])
def test_plot_is_well_formed_in_the_text_colour_and_loads_nothing(plot):
    svg = plot(report().models)
    ElementTree.fromstring(svg)
    assert "currentColor" in svg
    assert "#010203" not in svg
    assert "metadata" not in svg
    assert svg == plot(report().models), "the same data give the same picture"


def test_markdown_keeps_its_tables_and_names_what_failed():
    text = markdown_report(report())
    assert "| a | 1,000 [0,207–1,000] | 1,000 [0,342–1,000] | 1,000 [0,207–1,000] | 0,30 s / 0,50 s | 0 von 2 |" in text
    assert "Fehler von b<i>: 2 von 2" in text
    assert "abgestürzt: " in text
    assert "30,0 GB, 4096 Token" in text


def test_decision_record_says_what_was_decided_and_on_what():
    record = decision_record(report(), 7)
    assert record.startswith("# D7: a beantwortet die Fragen\n")
    for piece in ("a antwortet: Zitier-Präzision im ersten Entwurf 1,000", "Goldset `g1`", "Wissensbasis `k1`", "Digest `d`"):
        assert piece in record


def test_table_has_the_best_model_first():
    assert [row[0] for row in table_rows(report())] == ["a", "b<i>"]


@pytest.mark.parametrize("width", [80, 200])
def test_the_table_of_a_terminal_is_whole_in_every_width(width):
    target = io.StringIO()
    Console(file=target, width=width).print(result_table(report(), width))
    shown = target.getvalue()
    assert "…" not in shown
    assert [cell for row in table_rows(report()) for cell in row if cell not in shown] == []
    assert [name for name in COLUMNS if name not in shown] == []
    assert max(map(len, shown.splitlines())) <= width


def test_csv_cells_start_no_formula():
    rows = list(csv.reader(io.StringIO(csv_report(report())), delimiter=";"))
    assert len(rows) == 5
    first = dict(zip(rows[0], rows[1], strict=True))
    assert (first["Modell"], first["Sekunden"], first["Werte korrekt"], first["Antwort"]) == ("a", "0,500", "ja", "'=551,10 €")


def test_rate_of_nothing_is_a_dash():
    assert rate_text(Rate.of(0, 0)) == "–"


def test_comparison_of_runs_with_nothing_in_common_is_refused():
    one = report()
    other = one.model_copy(
        update={"models": (one.models[0].model_copy(update={"name": "c"}), one.models[1].model_copy(update={"name": "d"}))}
    )
    with pytest.raises(BadInput, match="no model in common"):
        compare_runs(one, other)


def test_comparison_names_what_got_better():
    comparison = compare_runs(report("before"), report("after", right=True))
    assert comparison.conditions == ()
    better = comparison.models[1].better
    assert [(one.id, one.what) for one in better] == [("q-t-1", ("Verweigerung", "Werte", "erwartete Quelle", "Entwurf"))]
    assert comparison.models[1].worse == ()
    text = comparison_text(comparison)
    assert "before → after" in text
    assert "better: 1" in text


def test_report_of_no_records_has_only_crashes():
    goldset = Goldset((gold(),), "g")
    assert answers_report(goldset, [], SECTIONS, index_version="v").crashed == ("q-t-1: no record",)
