"""Small pieces of HTML; everything that is not written here is escaped."""

from collections.abc import Sequence
from html import escape

from app.ui import strings
from custom_postprocessors.evidence import Citation

__all__ = ["attributes", "button", "chip", "chips", "choice", "entry_button", "escape", "field", "stand_text"]


def attributes(**values: str | int | float | None) -> str:
    """HTML attributes, escaped, underscores as hyphens; None is left out."""
    return "".join(f' {name.rstrip("_").replace("_", "-")}="{escape(str(v))}"' for name, v in values.items() if v is not None)


def button(label: str, do: str, *, css: str = "pv-link", **data: str | int | None) -> str:
    """A button that sends a command to the page's script; `data` are its arguments."""
    arguments = attributes(**{f"data_{name}": value for name, value in data.items()})
    return f'<button type="button" class="{css}" data-do="{escape(do)}"{arguments}>{escape(label)}</button>'


def stand_text(stand: str) -> str:
    """„Stand 2026-01“."""
    return f"{strings.STAND} {stand}"


def chip(citations: Sequence[Citation]) -> str:
    """The button that opens the places of one section, all of them highlighted; `citations` are of one section."""
    first = citations[0]
    spans = ",".join(f"{c.start}-{c.end}" for c in citations)
    stand = stand_text(first.stand)
    label = f"Beleg öffnen: {first.entry_id}, {stand}, Abschnitt {first.section}"
    place = attributes(
        data_entry=first.entry_id, data_section=first.section, data_spans=spans, aria_label=label, title=first.section
    )
    text = f'<span class="pv-chip-id">{escape(first.entry_id)}</span> · {escape(stand)}'
    return f'<button type="button" class="pv-chip" data-do="open"{place}>{text}</button>'


def chips(citations: Sequence[Citation]) -> str:
    """One chip per cited section, in order of first citation."""
    sections: dict[tuple[str, str], list[Citation]] = {}
    for citation in citations:
        sections.setdefault((citation.entry_id, citation.section), []).append(citation)
    return "".join(chip(group) for group in sections.values())


def entry_button(entry_id: str, label: str, *, section: str | None = None, css: str = "pv-link") -> str:
    """A button that opens an entry, at a section if one is given."""
    return button(label, "open", css=css, entry=entry_id, section=section)


def field(form_id: str, name: str, label: str, *, kind: str = "text", hint: str = "") -> str:
    """A labelled input of a form; `kind` is its HTML type."""
    field_id = f"{form_id}-{name}"
    given = attributes(id=field_id, name=name, type=kind, placeholder=hint or None, autocomplete="off")
    return f'<div class="pv-field"><label for="{escape(field_id)}">{escape(label)}</label><input{given}></div>'


def choice(form_id: str, name: str, label: str, options: Sequence[tuple[str, str]]) -> str:
    """A labelled choice of a form; `options` are (value, text), the first is chosen."""
    field_id = f"{form_id}-{name}"
    listed = "".join(f"<option{attributes(value=value)}>{escape(text)}</option>" for value, text in options)
    select = f"<select{attributes(id=field_id, name=name)}>{listed}</select>"
    return f'<div class="pv-field"><label for="{escape(field_id)}">{escape(label)}</label>{select}</div>'
