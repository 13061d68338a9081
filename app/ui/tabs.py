"""The tabs of the interface: what each is called, who sees it, and how it is built."""

from collections.abc import Callable
from dataclasses import dataclass

from app.access.person import Role


@dataclass(frozen=True, slots=True)
class Tab:
    """A tab. `build` makes its components; it is called inside a `gr.Tab`, once, when the page is put together.

    Whoever lacks `role` does not see the tab; its handlers check the role all the same, because a hidden tab can be called.
    """

    id: str
    title: str
    build: Callable[[], None]
    role: Role = "analyst"
