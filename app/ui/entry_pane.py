"""An entry beside the answer: the cited section open and highlighted, with everything to walk on from it."""

from collections.abc import Sequence

from app.ui import strings
from app.ui.html import attributes, entry_button, escape, stand_text
from app.ui.markup import section_html
from app.ui.service import EntrySection, EntrySource, EntryView

Spans = Sequence[tuple[int, int]]

WHOLE_ENTRY_CHARACTERS = 40_000
"""Above this only the opened section is rendered; the others are buttons. A source text may have some 80,000 a section."""


def empty_pane(text: str) -> str:
    """The pane before anything was opened, with what to do."""
    return f'<p class="pv-pane-empty">{escape(text)}</p>'


def missing_entry(entry_id: str) -> str:
    """The pane for an entry that is not served any more."""
    return f'{_head(escape(entry_id), "")}<div class="pv-banner pv-error" role="alert"><p>{strings.ERROR_ENTRY_GONE}</p></div>'


def forbidden() -> str:
    """The pane for whoever may not read the knowledge base."""
    return (
        f'{_head(strings.EVIDENCE_TITLE, "")}<div class="pv-banner pv-error" role="alert"><p>{strings.ERROR_FORBIDDEN}</p></div>'
    )


def entry_pane(entry: EntryView, *, section: str | None = None, spans: Spans = ()) -> str:
    """The entry, opened at `section` with `spans` (offsets in that section's text) highlighted.

    Spans that do not lie within the section highlight nothing, and the pane says so.
    """
    opened = entry.section(section) if section else None
    fitting = [(s, e) for s, e in spans if opened and 0 <= s < e <= len(opened.text)]
    changed = bool(spans) and len(fitting) < len(spans)
    warning = f'<p class="pv-banner pv-stopped">{strings.SECTION_CHANGED}</p>' if changed or (section and not opened) else ""
    return (
        _head(escape(entry.title), _meta(entry))
        + warning
        + _sections(entry, opened, fitting)
        + _list(strings.LEGAL_BASES, [escape(norm) for norm in entry.legal_bases], css="pv-norms")
        + _list(strings.CROSS_REFS, [_cross_ref(r.entry_id, r.title, r.stand) for r in entry.cross_refs])
        + _list(strings.ENTRY_SOURCES, [_source(source) for source in entry.sources], css="pv-origin")
    )


def _head(title: str, meta: str) -> str:
    return f'<header class="pv-pane-head"><h2 tabindex="-1" class="pv-pane-title">{title}</h2>{meta}</header>'


def _meta(entry: EntryView) -> str:
    work = strings.WORK_TEXT.get(entry.work, entry.work)
    parts = [f'<span class="pv-id">{escape(entry.entry_id)}</span>', f"<strong>{escape(stand_text(entry.stand))}</strong>"]
    parts += [escape(work), escape(entry.topic)]
    return f'<p class="pv-pane-meta">{" · ".join(parts)}</p>'


def _sections(entry: EntryView, opened: EntrySection | None, spans: Spans) -> str:
    whole = sum(len(s.text) for s in entry.sections) <= WHOLE_ENTRY_CHARACTERS
    shown = opened or (entry.sections[0] if entry.sections else None)
    parts = []
    for section in entry.sections:
        if whole or section is shown:
            parts.append(_section(section, spans if section is opened else (), cited=section is opened))
        else:
            parts.append(f'<p class="pv-closed">{entry_button(entry.entry_id, section.section, section=section.section)}</p>')
    return "".join(parts)


def _section(section: EntrySection, spans: Spans, *, cited: bool) -> str:
    css = "pv-section pv-cited" if cited else "pv-section"
    anchor = ' id="pv-cited"' if cited else ""
    return f'<section class="{css}"{anchor}><h3>{escape(section.section)}</h3>{section_html(section.text, spans)}</section>'


def _cross_ref(entry_id: str, title: str, stand: str) -> str:
    if not title:
        return f'<span class="pv-note">{escape(entry_id)} (nicht in der Wissensbasis)</span>'
    return f'{entry_button(entry_id, f"{title} [{entry_id}]")} <span class="pv-note">{escape(stand_text(stand))}</span>'


def _source(source: EntrySource) -> str:
    text = f"{source.publisher}: {source.title} ({source.as_of})"
    if not source.url.startswith(("https://", "http://")):
        return escape(text)
    link = attributes(href=source.url, target="_blank", rel="noopener noreferrer nofollow")
    return f"<a{link}>{escape(text)}</a>"


def _list(title: str, items: Sequence[str], *, css: str = "") -> str:
    if not items:
        return ""
    rows = "".join(f"<li>{item}</li>" for item in items)
    return f'<section class="pv-section pv-list {css}"><h3>{title}</h3><ul>{rows}</ul></section>'
