"""Components that the page's script and the server talk through, and choices that several tabs offer."""

from collections.abc import Sequence

import gradio as gr

from app.ui import strings
from custom_postprocessors.evidence import Scope


def carrier(name: str, value: str = "") -> gr.Button:
    """A hidden component whose text is the newest message of one handler; the script watches it.

    A button, because Gradio shows its value as plain text: no HTML is evaluated, sanitised or guessed on the way.
    """
    return gr.Button(value, visible="hidden", elem_id=f"pv-carrier-{name}", elem_classes=["pv-carrier"])


def command_channel(name: str) -> tuple[gr.Textbox, gr.Button]:
    """A hidden box that the script fills, and the hidden button that it then clicks."""
    box = gr.Textbox(visible="hidden", elem_id=f"pv-{name}-box", elem_classes=["pv-wire"], label=name, show_label=False)
    return box, hidden_button(f"{name}-send")


def hidden_button(name: str) -> gr.Button:
    """A button that only the script clicks."""
    return gr.Button(name, visible="hidden", elem_id=f"pv-{name}", elem_classes=["pv-wire"])


def months_around(month: str, *, before: int = 36, after: int = 12) -> list[tuple[str, str]]:
    """Months to choose from as (name, `YYYY-MM`), newest first, around `month`."""
    year, number = (int(part) for part in month.split("-"))
    index = year * 12 + number - 1
    values = [f"{i // 12}-{i % 12 + 1:02d}" for i in range(index + after, index - before - 1, -1)]
    return [(strings.german_month(value), value) for value in values]


def scope_choice(elem_id: str) -> gr.CheckboxGroup:
    """The scopes to choose from; its values are their German names (see `scopes_named`), because Gradio shows values too."""
    return gr.CheckboxGroup(list(strings.SCOPE_TEXT.values()), label=strings.SCOPES_LABEL, elem_id=elem_id)


def scopes_named(names: Sequence[str]) -> tuple[Scope, ...]:
    """The scopes with these German names, in a fixed order; other names are ignored."""
    return tuple(scope for scope, name in strings.SCOPE_TEXT.items() if name in names)
