"""A small chart: where its points lie and what it says to who does not see it."""

import re

import pytest

from app.ui.reports.line_plot import BOTTOM, HEIGHT, TOP, legend, line_plot


def heights(svg: str) -> list[float]:
    return [float(y) for y in re.findall(r'<circle cx="[\d.]+" cy="([\d.]+)"', svg)]


def test_a_rate_of_one_is_at_the_top_and_the_lowest_tenth_at_the_bottom() -> None:
    svg = line_plot({"a": [1.0, 0.8]}, ["x", "y"], title="Rate", rate=True)
    top, lower = heights(svg)
    assert top == TOP
    assert top < lower < HEIGHT - BOTTOM
    assert re.findall(r'text-anchor="end">([\d,]+)<', svg) == ["0,70", "0,85", "1,00"]


def test_other_quantities_begin_at_zero() -> None:
    svg = line_plot({"a": [0.0, 2.0]}, ["x", "y"], title="Latenz", rate=False)
    assert heights(svg)[0] == HEIGHT - BOTTOM
    assert heights(svg)[1] > TOP


@pytest.mark.parametrize("values", [[0.0], [0.0, 0.0]])
def test_nothing_but_zeros_can_be_drawn(values: list[float]) -> None:
    assert len(heights(line_plot({"a": values}, ["x"] * len(values), title="t", rate=False))) == len(values)


def test_a_place_without_a_value_has_no_point_and_the_title_tells_the_newest() -> None:
    svg = line_plot({"a": [0.9, None, 0.95], "b": [None, None, None]}, ["1", "2", "3"], title="Rate", rate=True)
    assert len(heights(svg)) == 2
    assert "<title>Rate: a zuletzt 0,95</title>" in svg


def test_names_are_text() -> None:
    svg = line_plot({"<b>": [0.9]}, ["<i>"], title="<u>", rate=True) + legend(["<b>"])
    assert not re.search("<[biu]>", svg)
