"""Plots of a bake-off as inline SVG: drawn in the colour of the text around them, so that they fit light and dark pages."""

import io
import re
import threading
from collections.abc import Sequence

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from evaluation.model_report import ModelReport

COLOURS = ("#2a8a9b", "#c9820f", "#8c6bc2", "#5f9440", "#b8526b", "#6b7781")
"""By model, in the order of the run; each keeps a contrast of 3:1 on white and on the dark page."""
RATE_NAMES = {
    "draft_citation_precision": "Zitier-Präzision (Entwurf)",
    "refusal_correct": "Verweigerung korrekt",
    "expected_source": "erwartete Quelle",
    "values_correct": "Werte korrekt",
}
KIND_NAMES = {
    "value": "Wert",
    "fact": "Tatsache",
    "multi": "mehrere Einträge",
    "survey": "Überblick",
    "decision": "Entscheidung",
    "conflict": "Widerspruch",
    "false_premise": "falsche Annahme",
    "out_of_kb": "nicht enthalten",
}
_INK = "#010203"
"""Stands for `currentColor`, which matplotlib does not know."""
_GERMAN = FuncFormatter(lambda value, _: f"{value:g}".replace(".", ","))
_METADATA = re.compile(r"<metadata>.*?</metadata>", re.DOTALL)
_LOCK = threading.Lock()
"""matplotlib's settings belong to the whole process."""


def rates_plot(models: Sequence[ModelReport]) -> str:
    """The rates that decide, each with its 95 % interval."""
    figure, axes = _axes(0.34 * len(RATE_NAMES) * max(2, len(models)) / 2 + 1.2)
    step = 0.8 / max(1, len(models))
    for number, model in enumerate(models):
        for row, name in enumerate(RATE_NAMES):
            rate, place = model.rates[name], row + (number - (len(models) - 1) / 2) * step
            axes.plot(rate.interval, (place, place), color=_colour(number), linewidth=2, alpha=0.55, solid_capstyle="butt")
            axes.plot(rate.value, place, "o", color=_colour(number), markersize=5, label=model.name if row == 0 else None)
    axes.set_yticks(range(len(RATE_NAMES)), list(RATE_NAMES.values()))
    axes.set_ylim(len(RATE_NAMES) - 0.5, -0.5)
    axes.set_xlim(-0.02, 1.02)
    axes.set_xlabel("Anteil mit 95-%-Intervall")
    return _svg(figure, axes, "rates")


def latency_plot(models: Sequence[ModelReport]) -> str:
    """Every question's latency on a logarithmic scale, with median and 95th percentile."""
    figure, axes = _axes(0.42 * len(models) + 1.2)
    for number, model in enumerate(models):
        seconds = [max(one.latency_ms, 0.1) / 1000 for one in model.per_question if one.status != "crashed"]
        axes.plot(seconds, [number] * len(seconds), "|", color=_colour(number), markersize=12, alpha=0.45)
        for value, mark in ((model.latency_ms.p50, "o"), (model.latency_ms.p95, "D")):
            axes.plot(max(value, 0.1) / 1000, number, mark, color=_colour(number), markersize=6, markeredgecolor=_INK)
    axes.set_yticks(range(len(models)), [model.name for model in models])
    axes.set_ylim(len(models) - 0.5, -0.5)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(_GERMAN)
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("Sekunden je Frage (logarithmisch; Kreis: Median, Raute: 95. Perzentil)")
    return _svg(figure, axes, "latency", legend=False)


def kinds_plot(models: Sequence[ModelReport]) -> str:
    """Share of the questions of each kind with nothing wrong."""
    kinds = [kind for kind in KIND_NAMES if any(kind in model.by_kind for model in models)]
    figure, axes = _axes(0.3 * len(kinds) * max(2, len(models)) / 2 + 1.2)
    height = 0.8 / max(1, len(models))
    for number, model in enumerate(models):
        shares = [right_share(model, kind) for kind in kinds]
        places = [row + (number - (len(models) - 1) / 2) * height for row in range(len(kinds))]
        axes.barh(places, shares, height * 0.9, color=_colour(number), label=model.name)
    axes.set_yticks(range(len(kinds)), [KIND_NAMES[kind] for kind in kinds])
    axes.set_ylim(len(kinds) - 0.5, -0.5)
    axes.set_xlim(0, 1.02)
    axes.set_xlabel("Anteil der Fragen, an denen nichts falsch ist")
    return _svg(figure, axes, "kinds")


def right_share(model: ModelReport, kind: str) -> float:
    """Share of a model's questions of one kind with nothing wrong, in [0, 1]; 0 without any."""
    asked = [one for one in model.per_question if one.kind == kind]
    return sum(not one.failed for one in asked) / len(asked) if asked else 0.0


def _axes(height_inches: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(8.2, max(2.0, height_inches)), layout="constrained")
    FigureCanvasSVG(figure)
    axes = figure.add_subplot()
    axes.grid(axis="x", color=_INK, alpha=0.15, linewidth=0.8)
    axes.set_axisbelow(True)
    for name, spine in axes.spines.items():
        spine.set_visible(name == "bottom")
        spine.set_color(_INK)
    axes.tick_params(colors=_INK, labelsize=9, length=0)
    axes.xaxis.label.set(color=_INK, fontsize=9)
    axes.xaxis.set_major_formatter(_GERMAN)
    return figure, axes


def _svg(figure: Figure, axes: Axes, name: str, *, legend: bool = True) -> str:
    if legend and axes.get_legend_handles_labels()[0]:
        figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=9, labelcolor=_INK)
    target = io.StringIO()
    with _LOCK, mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": name, "font.family": "sans-serif"}):
        figure.savefig(target, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    svg = _METADATA.sub("", target.getvalue())
    svg = svg[svg.index("<svg") :].replace(_INK, "currentColor")
    return svg.replace("<svg ", '<svg aria-hidden="true" class="pv-plot" ', 1)


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]
