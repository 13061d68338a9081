"""What stands below the claims of a turn: sources, further entries, proof, and what one can do with the answer."""

from app.render import plain_text
from app.ui import strings
from app.ui.html import attributes, button, entry_button, escape, stand_text
from app.ui.turns import ShownTurn
from pipelines.contracts import Answer, Outcome, Source

_THUMB_ICON = (
    '<svg viewBox="0 0 24 24" aria-hidden="true"><path d="M3 11h4v9H3zM7 11l4-8c1.7 0 2.6 1.2 2.3 2.8L12.6 9H19'
    'c1.2 0 2 1 1.8 2.1l-1.3 7.2A2 2 0 0 1 17.5 20H7z"/></svg>'
)
"""Drawn, because an emoji depends on the fonts of the reader's machine."""


def answered_by(outcome: Outcome) -> str:
    """What answered, as readers know it."""
    if outcome.status == "unavailable":
        return strings.NOT_ANSWERED
    return "Zitatmodus (wörtliche Zitate)" if outcome.grounding.mode == "extractive" else outcome.model.name


def related_html(turn: ShownTurn, outcome: Outcome) -> str:
    """Entries to read next."""
    if not outcome.related or not isinstance(outcome, Answer):
        return ""
    rows = "".join(f"<li>{entry_button(entry_id, _titled(turn, entry_id))}</li>" for entry_id in outcome.related)
    head = f'{strings.RELATED} <span class="pv-count">{len(outcome.related)}</span>'
    return f'<details class="pv-details"><summary>{head}</summary><ul class="pv-source-list">{rows}</ul></details>'


def _titled(turn: ShownTurn, entry_id: str) -> str:
    return f"{turn.titles[entry_id]} [{entry_id}]" if entry_id in turn.titles else entry_id


def sources_html(outcome: Outcome) -> str:
    """What was given to the model, folded; which of it is cited."""
    if not outcome.sources:
        return ""
    cited = set(outcome.grounding.cited_ids)
    rows = "".join(_source_row(source, source.entry_id in cited) for source in outcome.sources)
    count = len({source.entry_id for source in outcome.sources})
    return (
        f'<details class="pv-details pv-sources"><summary>{strings.SOURCES} <span class="pv-count">{count}</span></summary>'
        f'<ol class="pv-source-list">{rows}</ol></details>'
    )


def _source_row(source: Source, cited: bool) -> str:
    state = '<span class="pv-label pv-label-calm">zitiert</span>' if cited else ""
    where = f"{strings.WORK_TEXT.get(source.work, source.work)} · {stand_text(source.stand)} · {source.section}"
    title = entry_button(source.entry_id, f"{source.title} [{source.entry_id}]", section=source.section)
    return f'<li>{title}{state}<br><span class="pv-note">{escape(where)}</span></li>'


def proof_html(turn: ShownTurn, outcome: Outcome) -> str:
    """How the answer was proven, folded."""
    grounding, model = outcome.grounding, outcome.model
    facts = [
        ("Antwort durch", answered_by(outcome)),
        ("Grund", turn.model_reason),
        ("Frageart", strings.QUESTION_TYPE_TEXT[outcome.plan.type]),
        ("Gesucht", " · ".join(outcome.plan.queries)),
        ("Neu geschrieben", "ja, der erste Entwurf hielt der Prüfung nicht stand" if grounding.regenerated else "nein"),
        ("Verworfene Aussagen", str(grounding.dropped_claims)),
        ("Modell", model.name + (f" ({model.digest[:12]})" if model.digest else "")),
        ("Prompt", model.prompt_version or ""),
        ("Index", f"{outcome.index.version} · {outcome.index.embedding_model}"),
        ("Anfrage", outcome.request_id),
    ]
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in facts if value)
    violations = "".join(f"<li>{escape(v.message)}</li>" for v in grounding.violations)
    found = f"<p>Beanstandet wurde:</p><ul>{violations}</ul>" if violations else ""
    return f'<details class="pv-details"><summary>{strings.PROOF}</summary><dl class="pv-facts">{rows}</dl>{found}</details>'


def actions_html(turn: ShownTurn, outcome: Outcome) -> str:
    """What one can do with an outcome: rate, copy, take the Beweisblatt, report a gap, comment."""
    request_id = outcome.request_id
    answered = isinstance(outcome, Answer)
    buttons = [
        _thumb(strings.THUMB_UP, request_id, "up"),
        _thumb(strings.THUMB_DOWN, request_id, "down"),
    ]
    if answered:
        buttons += [
            button(strings.COPY, "copy", css="pv-action"),
            button(strings.SHEET, "evidence", css="pv-action", request=request_id),
            gap_button(outcome),
        ]
    field_id = f"pv-comment-{turn.turn_id}"
    comment = (
        f'<form class="pv-comment" data-do="comment"{attributes(data_request=request_id)}>'
        f'<label class="pv-hidden" for="{field_id}">{strings.COMMENT_LABEL}</label>'
        f'<textarea id="{field_id}" rows="1" maxlength="4000" autocomplete="off"'
        f"{attributes(placeholder=strings.COMMENT_PLACEHOLDER)}></textarea>"
        f'<button type="submit" class="pv-action">{strings.COMMENT_SEND}</button></form>'
    )
    note = f'<span class="pv-feedback" role="status"{attributes(data_note=request_id)}></span>'
    copy = f'<pre hidden class="pv-copy">{escape(plain_text(outcome))}</pre>'
    return f'<div class="pv-actions">{"".join(buttons)}{note}</div>{comment}{copy}'


def _thumb(label: str, request_id: str, thumb: str) -> str:
    data = attributes(data_request=request_id, data_thumb=thumb, aria_label=label, title=label)
    css = f"pv-action pv-thumb pv-thumb-{thumb}"
    return f'<button type="button" class="{css}" data-do="rate" aria-pressed="false"{data}>{_THUMB_ICON}</button>'


def gap_button(outcome: Outcome) -> str:
    """Puts the question on the list of gaps."""
    return button(strings.GAP, "gap", css="pv-action", request=outcome.request_id)
