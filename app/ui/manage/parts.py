"""Pieces that the views of the Verwaltung are made of; everything that is not written here is escaped."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from app.ui.html import attributes, escape
from pipelines.jobs import JobState

CHANNEL, LIVE_CHANNEL = "manage", "manage-live"
NONE = "–"
_ACTIONS = '<span class="pv-hidden">Aktion</span>'
STATE_TEXT: Mapping[JobState, str] = {
    "QUEUED": "wartet",
    "RUNNING": "läuft",
    "COMPLETED": "abgeschlossen",
    "FAILED": "fehlgeschlagen",
}
_STATE_TONE: Mapping[JobState, str] = {"QUEUED": "plain", "RUNNING": "accent", "COMPLETED": "good", "FAILED": "bad"}


def heading(title: str, lead: str = "", *, back: str = "") -> str:
    """The heading of a view, where the focus goes when a view replaces another; `back` is a button that leads up."""
    said = f'<p class="pv-mg-lead">{escape(lead)}</p>' if lead else ""
    return (
        f'<header class="pv-mg-head">{back}<h2 class="pv-mg-title" tabindex="-1" data-focus>{escape(title)}</h2>{said}</header>'
    )


def section(title: str, body: str) -> str:
    """A part of a view with its own heading."""
    return f'<section class="pv-mg-section"><h3>{escape(title)}</h3>{body}</section>'


def action(label: str, command: str, *, css: str = "pv-action", aria: str | None = None, **data: str | int | None) -> str:
    """A button that sends a command of this tab; `data` are its arguments, `aria` what it is about where the label is short."""
    given = attributes(**{f"data_{name}": value for name, value in data.items()}, aria_label=aria and f"{label}: {aria}")
    return (
        f'<button type="button" class="{css}" data-do="tab" data-channel="{CHANNEL}" data-command="{escape(command)}"{given}>'
        f"{escape(label)}</button>"
    )


def link(label: str, command: str, **data: str | int | None) -> str:
    """As `action`, looking like a link."""
    return action(label, command, css="pv-link", aria=None, **data)


def form(command: str, *fields: str, submit: str, primary: bool = False, **hidden: str | int) -> str:
    """Fields that are sent as a command of this tab, with what is `hidden`."""
    given = "".join(f'<input type="hidden"{attributes(name=name, value=value)}>' for name, value in hidden.items())
    css = "pv-primary" if primary else "pv-action"
    return (
        f'<form class="pv-form" data-channel="{CHANNEL}" data-command="{escape(command)}">{given}{"".join(fields)}'
        f'<button type="submit" class="{css} pv-mg-submit">{escape(submit)}</button></form>'
    )


def confirmed(summary: str, text: str, body: str) -> str:
    """What should not happen by one click: opens to a sentence and the button that does it."""
    return f'<details class="pv-mg-confirm"><summary>{escape(summary)}</summary><p>{escape(text)}</p>{body}</details>'


def text_field(
    ident: str,
    label: str,
    name: str,
    value: str = "",
    *,
    wide: bool = False,
    most: int = 200,
    required: bool = False,
    hint: str = "",
) -> str:
    """A line of text."""
    given = attributes(id=ident, name=name, value=value, maxlength=most, placeholder=hint or None, autocomplete="off")
    needed = " required" if required else ""
    return _field(ident, label, f'<input type="text"{given}{needed}>', wide)


def area(ident: str, label: str, name: str, value: str = "", *, rows: int = 3, most: int = 2000, required: bool = False) -> str:
    """Several lines of text."""
    given = attributes(id=ident, name=name, rows=rows, maxlength=most)
    return _field(ident, label, f"<textarea{given}{' required' if required else ''}>{escape(value)}</textarea>", True)


def choice(ident: str, label: str, name: str, options: Iterable[tuple[str, str]], value: str = "") -> str:
    """One of (value, text)."""
    shown = "".join(
        f"<option{attributes(value=key)}{' selected' if key == value else ''}>{escape(text)}</option>" for key, text in options
    )
    return _field(ident, label, f"<select{attributes(id=ident, name=name)}>{shown}</select>", False)


def tick(ident: str, label: str, name: str, *, on: bool = False) -> str:
    """A box to tick; sends „on“ or nothing."""
    given = attributes(id=ident, name=name)
    return (
        f'<span class="pv-mg-tick"><input type="checkbox"{given}{" checked" if on else ""}>'
        f'<label for="{escape(ident)}">{escape(label)}</label></span>'
    )


def table(caption: str, columns: Sequence[str], rows: Sequence[Sequence[str]], *, empty: str) -> str:
    """Rows of cells that are HTML already; the first cell heads its row. Without rows the sentence `empty`."""
    if not rows:
        return f'<p class="pv-mg-empty">{escape(empty)}</p>'
    head = "".join(f'<th scope="col">{escape(column) or _ACTIONS}</th>' for column in columns)
    body = "".join(f'<tr><th scope="row">{row[0]}</th>{"".join(f"<td>{cell}</td>" for cell in row[1:])}</tr>' for row in rows)
    return (
        f'<div class="pv-mg-wrap" role="region" tabindex="0" aria-label="{escape(caption)}"><table class="pv-mg-table">'
        f'<caption class="pv-hidden">{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def facts(pairs: Sequence[tuple[str, str]]) -> str:
    """Names and values; the values are HTML already."""
    return f'<dl class="pv-facts">{"".join(f"<dt>{escape(name)}</dt><dd>{value}</dd>" for name, value in pairs)}</dl>'


def pill(text: str, tone: str = "plain") -> str:
    """A state in a word: `plain`, `accent`, `good`, `warn` or `bad`."""
    return f'<span class="pv-mg-pill pv-mg-{tone}">{escape(text)}</span>'


def state_pill(state: JobState) -> str:
    """The state of a job."""
    return pill(STATE_TEXT[state], _STATE_TONE[state])


def notice(text: str, *, ok: bool = True) -> str:
    """What became of the last click."""
    role = "status" if ok else "alert"
    return f'<p class="pv-mg-notice pv-mg-notice-{"good" if ok else "bad"}" role="{role}">{escape(text)}</p>'


def poll(command: str, channel: str = LIVE_CHANNEL, **data: str | int) -> str:
    """Has the page send a command again and again while this is to be seen."""
    given = attributes(data_channel=channel, data_command=command, **{f"data_{name}": value for name, value in data.items()})
    return f'<span class="pv-poll" aria-hidden="true"{given}></span>'


def when(moment: datetime | None) -> str:
    """A moment in local time: „16.03.2026, 09:12“, on one line."""
    return NONE if moment is None else unbroken(f"{moment.astimezone():%d.%m.%Y, %H:%M}")


def unbroken(text: str) -> str:
    """A short text that stays on one line."""
    return f'<span class="pv-num">{escape(text)}</span>'


def code(text: str) -> str:
    """An id or name as written."""
    return f'<code class="pv-id">{escape(text)}</code>'


def _field(ident: str, label: str, control: str, wide: bool) -> str:
    css = "pv-field pv-mg-wide" if wide else "pv-field"
    return f'<div class="{css}"><label for="{escape(ident)}">{escape(label)}</label>{control}</div>'
