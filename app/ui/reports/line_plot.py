"""A small line chart as inline SVG in the colour of the text around it, one line per series."""

from collections.abc import Mapping, Sequence

from app.ui.html import attributes, escape

WIDTH, HEIGHT = 300, 132
LEFT, RIGHT, TOP, BOTTOM = 40, 12, 10, 20
COLOURS = ("#2a8a9b", "#c9820f", "#8c6bc2", "#5f9440", "#b8526b", "#6b7781")
"""By series, in order; each keeps a contrast of 3:1 on white and on the dark page."""

Series = Mapping[str, Sequence[float | None]]
"""Name → one value per place from left to right; None where the series has none."""


def line_plot(series: Series, labels: Sequence[str], *, title: str, rate: bool) -> str:
    """The chart. `labels` name the places; rates run up to 1, other quantities from 0 to their largest."""
    low, high = _range([value for values in series.values() for value in values if value is not None], rate=rate)
    lines = "".join(
        _line(name, values, labels, COLOURS[number % len(COLOURS)], low, high)
        for number, (name, values) in enumerate(series.items())
    )
    ticks = "".join(_tick(value, low, high) for value in (low, (low + high) / 2, high))
    size = attributes(viewBox=f"0 0 {WIDTH} {HEIGHT}", role="img", class_="pv-chart")
    ends = _end(labels[0], LEFT, "start") + (_end(labels[-1], WIDTH - RIGHT, "end") if len(labels) > 1 else "")
    return f"<svg{size}><title>{escape(title)}: {escape(_spoken(series))}</title>{ticks}{lines}{ends}</svg>"


def legend(names: Sequence[str]) -> str:
    """Which colour is which series."""
    items = "".join(f"<li>{_spot(COLOURS[n % len(COLOURS)])} {escape(name)}</li>" for n, name in enumerate(names))
    return f'<ul class="pv-legend">{items}</ul>'


def _spot(colour: str) -> str:
    return f'<svg width="12" height="12" aria-hidden="true"><circle cx="6" cy="6" r="4" fill="{colour}"/></svg>'


def _range(values: Sequence[float], *, rate: bool) -> tuple[float, float]:
    """Rates end at 1 and begin at the tenth below the lowest; others begin at 0."""
    if not rate:
        return 0.0, max([*values, 0.0]) * 1.1 or 1.0
    lowest = min([*values, 0.9])
    return max(0.0, int(lowest * 10) / 10 - (0.1 if lowest * 10 == int(lowest * 10) else 0.0)), 1.0


def _line(name: str, values: Sequence[float | None], labels: Sequence[str], colour: str, low: float, high: float) -> str:
    points = [
        (_x(place, len(labels)), _y(value, low, high), value, labels[place])
        for place, value in enumerate(values)
        if value is not None
    ]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y, _, _ in points)
    line = f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>' if len(points) > 1 else ""
    return line + "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}">'
        f"<title>{escape(name)}, {escape(label)}: {_number(value)}</title></circle>"
        for x, y, value, label in points
    )


def _tick(value: float, low: float, high: float) -> str:
    y = _y(value, low, high)
    return (
        f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="currentColor" stroke-opacity="0.15"/>'
        f'<text x="{LEFT - 6}" y="{y + 3.5:.1f}" text-anchor="end">{_number(value)}</text>'
    )


def _end(label: str, x: float, anchor: str) -> str:
    return f'<text x="{x}" y="{HEIGHT - 4}" text-anchor="{anchor}">{escape(label)}</text>'


def _x(place: int, places: int) -> float:
    room = WIDTH - LEFT - RIGHT
    return LEFT + (room / 2 if places == 1 else 4 + place * (room - 8) / (places - 1))


def _y(value: float, low: float, high: float) -> float:
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - (value - low) / (high - low))


def _spoken(series: Series) -> str:
    said = []
    for name, values in series.items():
        known = [value for value in values if value is not None]
        if known:
            said.append(f"{name} zuletzt {_number(known[-1])}")
    return ", ".join(said)


def _number(value: float) -> str:
    return f"{value:.2f}".replace(".", ",")
