"""The tab Auswertung as HTML: the history of the figures, the runs, one run with its failures, coverage, gaps."""

from collections.abc import Sequence

from app.store.feedback import Gap
from app.ui import strings
from app.ui.html import button, escape
from app.ui.protocol.commands import VIENNA
from app.ui.reports import texts
from app.ui.reports.line_plot import legend, line_plot
from app.ui.reports.shelf import RunSummary, same_questions
from evaluation.answers import AnsweredQuestion
from evaluation.coverage import TopicCoverage
from evaluation.model_report import BakeoffReport, ModelReport
from evaluation.report_page import plots_html, table_html
from evaluation.report_text import failure_facts, figures_rows
from evaluation.retrieval_history import RetrievalRecord

MOST_GOLDSETS = 3
"""Histories that are drawn; further goldsets are in the list of runs."""


def start_html() -> str:
    """What asks for the overview as soon as the tab is drawn, and again on demand."""
    return (
        '<form class="pv-form" data-auto data-channel="reports" data-command="overview" data-busy="pv-reports-list">'
        f'<button type="submit" class="pv-action">{texts.REFRESH}</button></form>'
    )


def overview_html(
    runs: Sequence[RunSummary],
    coverage: Sequence[TopicCoverage] | None,
    gaps: Sequence[Gap],
    retrieval: Sequence[RetrievalRecord] = (),
) -> str:
    """Everything that is not of one run; measurements of retrieval come oldest first."""
    if not runs:
        body = f'<p class="pv-banner pv-refused" role="status">{_code(texts.NO_RUNS)}</p>'
    else:
        body = _section(texts.HISTORY, history_html(runs)) + _section(texts.RUNS, _runs(runs))
    if retrieval:
        body += _section(texts.RETRIEVAL, retrieval_html(retrieval))
    return body + _section(texts.COVERAGE, coverage_html(coverage)) + _section(texts.GAPS, gaps_html(gaps))


def history_html(runs: Sequence[RunSummary]) -> str:
    """The main figures from run to run, for each goldset that was run more than once."""
    groups = [group for group in same_questions(runs).values() if len(group) > 1][:MOST_GOLDSETS]
    if not groups:
        return f'<p class="pv-note">{texts.NO_HISTORY}</p>'
    return f'<p class="pv-note">{texts.HISTORY_HELP}</p>' + "".join(map(_history, groups))


def retrieval_html(records: Sequence[RetrievalRecord]) -> str:
    """What retrieval found from measurement to measurement, for each goldset; the one measured last comes first."""
    groups: dict[tuple[str, int], list[RetrievalRecord]] = {}
    for record in reversed(records):
        groups.setdefault((record.goldset_version, record.k), []).insert(0, record)
    drawn = list(groups.values())[:MOST_GOLDSETS]
    return f'<p class="pv-note">{_code(texts.RETRIEVAL_HELP)}</p>' + "".join(map(_retrieval, drawn))


def _retrieval(group: Sequence[RetrievalRecord]) -> str:
    newest = group[-1]
    labels = [f"{record.created_at.astimezone(VIENNA):%d.%m.%Y %H:%M}" for record in group]
    head = f"{', '.join(newest.goldsets)} · {strings.counted(newest.questions, 'Frage', 'Fragen')}"
    recall, latency = f"Recall@{newest.k}", "Latenz der Suche, Median (ms)"
    rates = {recall: [record.recall_at_k for record in group], "MRR": [record.mrr for record in group]}
    times = {latency: [record.p50_ms for record in group]}
    charts = "".join(
        f"<figure><figcaption>{title}</figcaption>{line_plot(series, labels, title=title, rate=rate)}{key}</figure>"
        for title, series, rate, key in ((f"{recall} und MRR", rates, True, legend(list(rates))), (latency, times, False, ""))
    )
    return f'<h3 class="pv-small-title">{escape(head)}</h3><div class="pv-charts">{charts}</div>'


def run_html(report: BakeoffReport) -> str:
    """One run: plots, figures, and every question with anything wrong."""
    manifest = report.manifest
    when = f"{report.created_at.astimezone(VIENNA):%d.%m.%Y, %H:%M}"
    meta = f"{when} · {strings.counted(manifest.questions, 'Frage', 'Fragen')} · Index {escape(report.index_version)}"
    decision = f'<p class="pv-banner pv-refused">{escape(report.decision.reason)}</p>' if manifest.kind == "bakeoff" else ""
    figures = table_html(("Kennzahl", *(model.name for model in report.models)), figures_rows(report))
    head = f'<h2 class="pv-pane-title" tabindex="-1">{escape(report.run_id)}</h2><p class="pv-pane-meta">{meta}</p>'
    return (
        f'<div class="pv-detail"><header class="pv-detail-head">{head}</header>{decision}'
        f'<div class="pv-plots">{plots_html(report.models)}</div>'
        + _section(texts.FIGURES, f'<div class="pv-table">{figures}</div>')
        + "".join(map(failures_html, report.models))
        + "</div>"
    )


def failures_html(model: ModelReport) -> str:
    """Every question of a model with anything wrong, each to be opened, searched and asked again."""
    title = f"{texts.FAILURES}: {escape(model.name)} ({len(model.failures)} von {model.questions})"
    rows = "".join(map(_failure, model.failures)) or f'<p class="pv-note">{texts.NO_FAILURES}</p>'
    return f'<section class="pv-section"><h3>{title}</h3>{rows}</section>'


def coverage_html(coverage: Sequence[TopicCoverage] | None) -> str:
    """Topics, least covered first; None: nothing is served."""
    if coverage is None:
        return f'<p class="pv-note">{texts.COVERAGE_NONE}</p>'
    if not any(row.questions for row in coverage):
        return f'<p class="pv-note">{texts.COVERAGE_FOREIGN}</p>'
    rows = "".join(_coverage(row) for row in coverage)
    head = "".join(f'<th scope="col">{name}</th>' for name in texts.COVERAGE_HEAD)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return (
        f'<p class="pv-note">{texts.COVERAGE_HELP}</p>'
        f'<div class="pv-table" tabindex="0" role="region" aria-label="{texts.COVERAGE}">{table}</div>'
    )


def gaps_html(gaps: Sequence[Gap]) -> str:
    """What readers reported as missing, newest first."""
    if not gaps:
        return f'<p class="pv-note">{texts.GAPS_NONE}</p>'
    return f'<ul class="pv-log-list">{"".join(map(_gap, gaps))}</ul>'


def _history(group: Sequence[RunSummary]) -> str:
    names = list(dict.fromkeys(model.name for run in group for model in run.models))
    labels = [f"{run.created_at.astimezone(VIENNA):%d.%m.%Y %H:%M}" if run.created_at else "" for run in group]
    charts = "".join(_chart(group, names, labels, measure, title) for measure, title in texts.MEASURES)
    newest = group[-1]
    head = f"{', '.join(newest.goldsets)} · {strings.counted(newest.questions, 'Frage', 'Fragen')}"
    return f'<h3 class="pv-small-title">{escape(head)}</h3><div class="pv-charts">{charts}</div>{legend(names)}'


def _chart(group: Sequence[RunSummary], names: Sequence[str], labels: Sequence[str], measure: str, title: str) -> str:
    found = [{model.name: float(getattr(model, measure)) for model in run.models} for run in group]
    series = {name: [values.get(name) for values in found] for name in names}
    plot = line_plot(series, labels, title=title, rate=measure != "p50_seconds")
    return f"<figure><figcaption>{escape(title)}</figcaption>{plot}</figure>"


def _runs(runs: Sequence[RunSummary]) -> str:
    return f'<ul class="pv-log-list">{"".join(map(_run, runs))}</ul>'


def _run(run: RunSummary) -> str:
    if run.created_at is None:
        return f'<li>{escape(run.run_id)} <span class="pv-label pv-label-warn">{texts.UNREADABLE}</span></li>'
    opened = button(run.run_id, "tab", channel="reports", command="run", run=run.run_id, busy="pv-reports-detail")
    kind = f'<span class="pv-label">{texts.KIND.get(run.kind, run.kind)}</span>'
    what = f"{run.created_at.astimezone(VIENNA):%d.%m.%Y, %H:%M} · {', '.join(run.goldsets)} · {run.questions} Fragen"
    models = "".join(
        f"<br>{_note(f'{m.name}: Werte korrekt {_rate(m.values_correct)}, Verweigerung korrekt {_rate(m.refusal_correct)}')}"
        f"{_note(', ' + strings.counted(m.failures, 'Fehlschlag', 'Fehlschläge'))}"
        for m in run.models
    )
    return f"<li>{opened} {kind}<br>{_note(what)}{models}</li>"


def _failure(one: AnsweredQuestion) -> str:
    facts = "".join(f"<li>{escape(fact)}</li>" for fact in failure_facts(one))
    tools = button(texts.LOOK, "look", css="pv-action", question=one.question) + button(
        texts.REUSE, "reuse", css="pv-action", question=one.question
    )
    answer = f"<blockquote>{escape(one.answer)}</blockquote>" if one.answer else ""
    return (
        f'<details class="pv-details"><summary>{escape(one.question)} <span class="pv-note">{escape(one.id)}</span></summary>'
        f'<ul>{facts}</ul><div class="pv-quote">{answer}</div><div class="pv-actions">{tools}</div></details>'
    )


def _coverage(row: TopicCoverage) -> str:
    bar = f'<span class="pv-share" aria-hidden="true"><span style="width:{row.share * 100:.0f}%"></span></span>'
    return (
        f"<tr><td>{escape(row.topic)}</td><td>{row.entries}</td><td>{bar} {row.asked_entries}</td><td>{row.questions}</td></tr>"
    )


def _gap(gap: Gap) -> str:
    when = f"{gap.created_at.astimezone(VIENNA):%d.%m.%Y}"
    note = f"<br>{escape(gap.note)}" if gap.note else ""
    label = f'<span class="pv-label">{texts.GAP_TEXT[gap.status]}</span>'
    question = button(gap.question, "look", question=gap.question) if gap.question else texts.NO_QUESTION
    return f"<li>{_note(f'{when} · {gap.reported_by}')} {label}<br>{question}{note}</li>"


def _section(title: str, body: str) -> str:
    return f'<section class="pv-section pv-report-part"><h2>{title}</h2>{body}</section>'


def _note(text: str) -> str:
    return f'<span class="pv-note">{escape(text)}</span>'


def _code(text: str) -> str:
    plain, *rest = escape(text).split("`")
    return plain + "".join(f"<code>{part}</code>" if n % 2 == 0 else part for n, part in enumerate(rest))


def _rate(value: float) -> str:
    return f"{value * 100:.1f} %".replace(".", ",")
