"""A bake-off as one HTML file: plots inside, nothing loaded from anywhere, readable in light and dark and on paper."""

from collections.abc import Iterable, Sequence
from html import escape

from evaluation.model_report import BakeoffReport, ModelReport
from evaluation.plots import KIND_NAMES, kinds_plot, latency_plot, rates_plot
from evaluation.report_text import COLUMNS, PROTOCOL, failure_facts, figures_rows, table_rows

_STYLE = """
:root { color-scheme: light dark; --ink: #1c2429; --soft: #4a555d; --paper: #fff; --line: #dde1e4; --accent: #14606f; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8ecee; --soft: #aab5bc; --paper: #0f1417; --line: #2f3940; --accent: #7dc3cf; }
}
body { font: 16px/1.55 "IBM Plex Sans", system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 1040px; margin: 0 auto; padding: 32px 24px 80px; }
h1 { color: var(--accent); font-size: 26px; margin: 0 0 4px; } h2 { font-size: 19px; margin: 40px 0 10px; }
.soft { color: var(--soft); font-size: 14px; }
.decision { border-left: 4px solid var(--accent); padding: 4px 16px; font-size: 17px; }
table { border-collapse: collapse; width: 100%; font-size: 14px; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 6px 14px 6px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--soft); font-weight: 600; } .wide { overflow-x: auto; }
figure { margin: 16px 0; } svg { max-width: 100%; height: auto; }
figcaption { font-weight: 600; font-size: 14px; } details { border-top: 1px solid var(--line); padding: 8px 0; }
summary { cursor: pointer; }
blockquote { margin: 8px 0; padding: 2px 14px; border-left: 3px solid var(--line); white-space: pre-wrap; }
"""


def report_page(report: BakeoffReport) -> str:
    """The page; everything that comes from models, goldsets and settings is escaped."""
    title = f"Modellvergleich {report.run_id}"
    manifest = report.manifest
    return (
        f'<!doctype html><html lang="de"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body><main><h1>{escape(title)}</h1>"
        f'<p class="soft">{report.created_at:%d.%m.%Y %H:%M} · {manifest.questions} Fragen · Goldset '
        f"{escape(manifest.goldset_version)} · Index {escape(manifest.index_version)} · Prompt "
        f"{escape(manifest.prompt_version)}</p>"
        f'<p class="decision">{escape(report.decision.reason)}</p>{table_html(COLUMNS, table_rows(report))}'
        f'<p class="soft">{escape(PROTOCOL)}</p>{plots_html(report.models)}'
        f"<h2>Alle Kennzahlen</h2>"
        f"{table_html(('Kennzahl', *(model.name for model in report.models)), figures_rows(report))}"
        f"{''.join(_failures(model) for model in report.models)}{_measured(report)}</main></body></html>\n"
    )


def plots_html(models: Sequence[ModelReport]) -> str:
    """The three plots with their captions."""
    plots = (
        ("Anteile mit Intervall", rates_plot(models)),
        ("Latenz", latency_plot(models)),
        ("Nach Art der Frage", kinds_plot(models)),
    )
    return "".join(f"<figure><figcaption>{caption}</figcaption>{svg}</figure>" for caption, svg in plots)


def table_html(head: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose first column names its rows."""
    columns = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
    body = "".join(
        f'<tr><th scope="row">{escape(row[0])}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in row[1:])}</tr>' for row in rows
    )
    return f'<div class="wide" tabindex="0"><table><thead><tr>{columns}</tr></thead><tbody>{body}</tbody></table></div>'


def failures_html(model: ModelReport) -> str:
    """Every failure of a model, each to be opened: what is wrong, the answer, the violations."""
    parts = []
    for one in model.failures:
        facts = "".join(f"<li>{escape(fact)}</li>" for fact in failure_facts(one))
        answer = f"<blockquote>{escape(one.answer)}</blockquote>" if one.answer else ""
        kind = KIND_NAMES.get(one.kind, one.kind)
        parts.append(
            f"<details><summary>{escape(one.id)} · {escape(kind)}: {escape(one.question)}</summary>"
            f"<ul>{facts}</ul>{answer}</details>"
        )
    return "".join(parts) or "<p>Keine.</p>"


def _failures(model: ModelReport) -> str:
    return f"<h2>Fehler von {escape(model.name)}: {len(model.failures)} von {model.questions}</h2>{failures_html(model)}"


def _measured(report: BakeoffReport) -> str:
    manifest = report.manifest
    rows = [
        ("Wissensbasis", manifest.knowledge_base_hash),
        ("Embeddings", manifest.embedding_model),
        ("Goldsets", ", ".join(manifest.goldset_files)),
        ("Stichtag", manifest.as_of),
        ("Einstellungen", ", ".join(f"{name}={value}" for name, value in manifest.options.items())),
        ("Versionen", ", ".join(f"{name} {value}" for name, value in manifest.versions.items())),
        *((model.name, f"Digest {model.digest or '–'}") for model in report.models),
        *((name, f"⚠ über dem Speicherbudget von {report.vram_budget_gb:g} GB") for name in report.over_budget),
    ]
    return f"<h2>Gemessen an</h2>{table_html(('', ''), rows)}"
