"""Tabs beside Fragen and Suche: what each is called, who sees it, and how it is built."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tab:
    """A tab. `build` makes its components; it is called inside a `gr.Tab`, once, when the page is put together."""

    id: str
    title: str
    build: Callable[[], None]
