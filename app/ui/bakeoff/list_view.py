"""Ranking, runs, reports and comparisons as HTML."""

from collections.abc import Mapping, Sequence
from zoneinfo import ZoneInfo

from app.bakeoff import Candidate
from app.bakeoff_desk import RunState
from app.ui.bakeoff import texts
from app.ui.bakeoff.round_view import model_text
from app.ui.html import attributes, button, escape
from evaluation.comparison import ModelComparison, QuestionChange, RunComparison
from evaluation.model_report import BakeoffReport, ModelReport
from evaluation.report_page import failures_html, plots_html, table_html
from evaluation.report_text import COLUMNS, PROTOCOL, figures_rows, number, rate_text, table_rows
from evaluation.votes_statistics import ModelTally, VoteRanking

LIST_CHANNEL = "bakeoff-runs"
VIENNA = ZoneInfo("Europe/Vienna")


def reload_lists() -> str:
    """Asks for ranking and runs as soon as it is on the page."""
    return f'<form class="pv-form" data-auto{attributes(data_channel=LIST_CHANNEL, data_command="runs")}></form>'


def hidden_html() -> str:
    """Instead of everything that names models while a round is blind."""
    return f'<p class="pv-note">{texts.RANKING_HIDDEN}</p>'


def ranking_html(rankings: Sequence[VoteRanking], measured: Mapping[str, ModelReport]) -> str:
    """The ranking of each criterion beside what the newest runs measured."""
    if not any(ranking.ballots for ranking in rankings):
        return _section(texts.RANKING, f'<p class="pv-note">{texts.RANKING_EMPTY}</p>')
    body = "".join(_ranking(ranking, measured) for ranking in rankings if ranking.ballots)
    csv = button(texts.VOTES_CSV, "tab", css="pv-action", channel=LIST_CHANNEL, command="votes")
    return _section(texts.RANKING, f'<p class="pv-note">{texts.RANKING_HELP}</p>{body}<div class="pv-tools">{csv}</div>')


def start_html(candidates: Sequence[Candidate], goldsets: Sequence[str]) -> str:
    """The form that starts a run; apart from the list, which is replaced while somebody ticks boxes."""
    return _section(texts.RUNS, _start_form(candidates, goldsets))


def runs_html(runs: Sequence[RunState], *, notice: str = "") -> str:
    """The runs, below what became of the last click; asks again by itself while one of them is under way."""
    said = f'<p class="pv-banner pv-refused" role="status">{escape(notice)}</p>' if notice else ""
    rows = "".join(map(_run, runs)) or f'<li class="pv-note">{texts.RUNS_EMPTY}</li>'
    busy = any(run.running or run.waiting for run in runs)
    poll = f'<span class="pv-poll"{attributes(data_channel=LIST_CHANNEL, data_command="poll")}></span>' if busy else ""
    tools = button(texts.REFRESH, "tab", css="pv-action", channel=LIST_CHANNEL, command="runs")
    return f'{said}{poll}<ul class="pv-log-list">{rows}</ul><div class="pv-tools">{tools}</div>'


def report_html(report: BakeoffReport) -> str:
    """One run: decision, table, plots, figures, failures."""
    failures = "".join(
        f"<h3>Fehler von {escape(model.name)}: {len(model.failures)} von {model.questions}</h3>{failures_html(model)}"
        for model in report.models
    )
    figures = table_html(("Kennzahl", *(model.name for model in report.models)), figures_rows(report))
    csv = button(texts.CSV, "tab", css="pv-action", channel=LIST_CHANNEL, command="csv", run=report.run_id)
    over = "".join(
        f'<p class="pv-banner pv-stopped">⚠ {escape(name)} braucht mehr als {report.vram_budget_gb:g} GB Speicher.</p>'
        for name in report.over_budget
    )
    return (
        f'<section class="pv-detail pv-bo-report"><h2 tabindex="-1" data-focus>{escape(report.run_id)}</h2>'
        f'<p class="pv-bo-decision">{escape(report.decision.reason)}</p>{over}'
        f'<div class="pv-table">{table_html(COLUMNS, table_rows(report))}</div><p class="pv-note">{escape(PROTOCOL)}</p>'
        f'<div class="pv-plots">{plots_html(report.models)}</div><div class="pv-table">{figures}</div>{failures}'
        f'<div class="pv-tools">{csv}</div></section>'
    )


def comparison_html(comparison: RunComparison, before: BakeoffReport, after: BakeoffReport) -> str:
    """Two runs: what is measured differently, which figures moved, which questions got better or worse, and both plots."""
    conditions = "".join(f"<li>{escape(condition)}</li>" for condition in comparison.conditions)
    models = "".join(map(_model_comparison, comparison.models))
    plots = "".join(f"<div><h3>{escape(report.run_id)}</h3>{plots_html(report.models)}</div>" for report in (before, after))
    return (
        f'<section class="pv-detail pv-bo-report"><h2 tabindex="-1" data-focus>{escape(comparison.before)} → '
        f"{escape(comparison.after)}</h2><ul>{conditions}</ul>{models}"
        f'<div class="pv-plots pv-bo-columns" style="--pv-columns: 2">{plots}</div></section>'
    )


def problem_html(text: str) -> str:
    """Instead of a report."""
    return f'<p class="pv-banner pv-error" role="alert">{escape(text)}</p>'


def _ranking(ranking: VoteRanking, measured: Mapping[str, ModelReport]) -> str:
    strengths = {strength.model: strength for strength in ranking.strengths}
    rows = []
    for tally in ranking.tallies:
        strength = strengths.get(tally.model)
        shown = (
            f"{_signed(strength.value)} [{_signed(strength.interval[0])}; {_signed(strength.interval[1])}]" if strength else "–"
        )
        rows.append((*_tally_cells(tally), shown, *_measured_cells(measured.get(tally.model))))
    pairs = "".join(
        f"<li>{escape(pair.a)} gegen {escape(pair.b)}: {pair.a_wins} : {pair.b_wins}, gleich {pair.ties}, beide falsch "
        f"{pair.both_wrong}, p = {number(pair.test.p_value)}</li>"
        for pair in ranking.pairs
    )
    ballots = "1 Stimme" if ranking.ballots == 1 else f"{ranking.ballots} Stimmen"
    return (
        f"<h3>{texts.CRITERION[ranking.criterion]} ({ballots})</h3>"
        f'<div class="pv-table pv-bo-ranking">{table_html(texts.RANKING_HEAD, rows)}</div><ul class="pv-note">{pairs}</ul>'
    )


def _tally_cells(tally: ModelTally) -> tuple[str, ...]:
    counts = (tally.wins, tally.losses, tally.ties, tally.all_wrong)
    return (tally.model, *map(str, counts), number(tally.share))


def _measured_cells(model: ModelReport | None) -> tuple[str, ...]:
    if model is None:
        return ("–", "–", "–")
    latency = f"{model.latency_ms.mean / 1000:.2f} s".replace(".", ",")
    return rate_text(model.rates["draft_citation_precision"]), rate_text(model.rates["refusal_correct"]), latency


def _start_form(candidates: Sequence[Candidate], goldsets: Sequence[str]) -> str:
    models = "".join(
        f'<label class="pv-bo-box"><input type="checkbox"{attributes(name=f"model-{n}", value=one.name)}> '
        f"{escape(model_text(one))}</label>"
        for n, one in enumerate(candidates)
    )
    sets = "".join(
        f'<label class="pv-bo-box"><input type="checkbox"{attributes(name=f"goldset-{name}", value=name)}> {escape(name)}</label>'
        for name in goldsets
    )
    return (
        f'<form class="pv-form pv-bo-start"{attributes(data_channel=LIST_CHANNEL, data_command="start")}>'
        f'<fieldset class="pv-bo-boxes"><legend>Modelle</legend>{models}</fieldset>'
        f'<fieldset class="pv-bo-boxes"><legend>{texts.GOLDSETS}</legend>{sets}</fieldset>'
        f'<button type="submit" class="pv-action">{texts.START}</button></form>'
    )


def compare_html(runs: Sequence[RunState]) -> str:
    """The form that compares two finished runs; empty with fewer."""
    finished = [run.run_id for run in runs if run.finished]
    if len(finished) < 2:
        return ""
    options = "".join(f"<option>{escape(run_id)}</option>" for run_id in finished)
    fields = "".join(
        f'<div class="pv-field"><label for="pv-bo-{name}">{text}</label>'
        f'<select id="pv-bo-{name}" name="{name}">{options}</select></div>'
        for name, text in (("before", texts.BEFORE), ("after", texts.AFTER))
    )
    return (
        f'<div class="pv-bo-part"><h3>{texts.COMPARE}</h3>'
        f'<form class="pv-form"{attributes(data_channel=LIST_CHANNEL, data_command="compare")}>{fields}'
        f'<button type="submit" class="pv-action">{texts.COMPARE_SEND}</button></form></div>'
    )


def _run(run: RunState) -> str:
    state = _state(run)
    bars = "" if run.finished else "".join(_bar(run, model) for model in run.models)
    won = f" · Sieger: <strong>{escape(run.winner)}</strong>" if run.winner else ""
    error = f'<br><span class="pv-warn">{escape(run.error)}</span>' if run.error else ""
    when = f"{run.created_at.astimezone(VIENNA):%d.%m.%Y, %H:%M}"
    return (
        f'<li data-run="{escape(run.run_id)}"><strong>{escape(run.run_id)}</strong> '
        f'<span class="pv-label" data-state="{state}">{texts.RUN_STATE[state]}</span>{won}<br>'
        f'<span class="pv-note">{when} · {escape(", ".join(run.goldsets))} · {escape(", ".join(run.models))}</span>{error}{bars}'
        f'<div class="pv-tools">{_run_tools(run, state)}</div></li>'
    )


def _state(run: RunState) -> str:
    if run.stopping:
        return "stopping"
    if run.waiting:
        return "waiting"
    if run.running:
        return "running"
    if run.finished:
        return "finished"
    return "failed" if run.error else "stopped"


def _bar(run: RunState, model: str) -> str:
    done, total = run.answered.get(model, 0), run.questions
    bar = attributes(max=max(total, 1), value=done, aria_label=model)
    return f'<div class="pv-bo-bar"><span>{escape(model)}</span><progress{bar}></progress><span>{done} von {total}</span></div>'


def _run_tools(run: RunState, state: str) -> str:
    def tool(label: str, command: str) -> str:
        return button(label, "tab", css="pv-action", channel=LIST_CHANNEL, command=command, run=run.run_id)

    match state:
        case "finished":
            return tool(texts.SHOW, "show") + tool(texts.CSV, "csv")
        case "running" | "waiting":
            return tool(texts.CANCEL, "cancel")
        case "stopped" | "failed":
            return tool(texts.RESUME, "resume")
        case _:
            return ""


def _model_comparison(model: ModelComparison) -> str:
    rows = [
        (
            change.figure,
            number(change.before),
            number(change.after),
            f"{change.test.b_better} : {change.test.a_better}" if change.test else "–",
            number(change.test.p_value) if change.test else "–",
        )
        for change in model.figures
    ]
    name = model.before if model.before == model.after else f"{model.before} → {model.after}"
    table = table_html(("Kennzahl", texts.BEFORE, texts.AFTER, "besser : schlechter", "p"), rows)
    changes = _changes("besser", model.better) + _changes("schlechter", model.worse)
    return f'<h3>{escape(name)}, {model.questions} gemeinsame Fragen</h3><div class="pv-table">{table}</div>{changes}'


def _changes(title: str, changes: Sequence[QuestionChange]) -> str:
    rows = "".join(f"<li>{escape(one.id)}: {escape(one.question)} ({escape(', '.join(one.what))})</li>" for one in changes)
    return f'<details class="pv-details"><summary>{title}: {len(changes)}</summary><ul>{rows}</ul></details>'


def _section(title: str, body: str) -> str:
    return f'<section class="pv-bo-part"><h2>{title}</h2>{body}</section>'


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace(".", ",").replace("-", "−")
