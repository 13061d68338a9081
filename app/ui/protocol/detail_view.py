"""One answer of the log as HTML: what it said, what proves it, what readers said, and what became of its quotes."""

from collections.abc import Sequence

from app.store.feedback import Comment, Rating
from app.ui import strings
from app.ui.html import button, escape
from app.ui.protocol import texts
from app.ui.protocol.answer_log import ShownAnswer
from app.ui.protocol.commands import VIENNA
from app.ui.protocol.list_view import quotes_html
from app.ui.turn_view import claim_html, conflict_html
from custom_postprocessors.evidence import Violation
from pipelines.answer_text import STATUS_TEXT
from pipelines.contracts import Outcome


def detail_html(shown: ShownAnswer) -> str:
    """The whole answer."""
    record = shown.record
    outcome = record.outcome
    title = outcome.question if outcome else texts.NO_CONTENT
    status = str(record.metadata["status"])
    when = f"{record.created_at.astimezone(VIENNA):%d.%m.%Y, %H:%M:%S}"
    parts = [
        f'<header class="pv-detail-head"><h2 class="pv-pane-title" tabindex="-1">{escape(title)}</h2>'
        f'<p class="pv-pane-meta">{when} · {STATUS_TEXT.get(status, status)} · <span class="pv-id">'
        f"{escape(record.request_id)}</span></p></header>"
    ]
    parts.append(_without_content(shown) if outcome is None else _content(shown, outcome))
    parts += [_said(shown.rating, shown.comments), _proof(shown)]
    return f'<div class="pv-detail">{"".join(parts)}</div>'


def _content(shown: ShownAnswer, outcome: Outcome) -> str:
    sheet = button(texts.SHEET, "tab", css="pv-action", channel="protocol", command="sheet", request=outcome.request_id)
    again = button(texts.ASK_AGAIN, "reuse", css="pv-action", question=outcome.standalone_question or outcome.question)
    parts = [f'<div class="pv-actions">{sheet}{again}</div>']
    if outcome.refusal_reason is not None:
        reason = outcome.refusal_reason
        parts.append(
            f'<div class="pv-banner pv-refused"><p class="pv-banner-title">{strings.REFUSED_TITLE[reason]}</p>'
            f"<p>{strings.REFUSED_TEXT[reason]}</p></div>"
        )
    parts += [claim_html(claim) for claim in outcome.claims]
    parts += [conflict_html(conflict) for conflict in outcome.conflicts]
    if outcome.unanswered:
        parts.append(f"<p><strong>{strings.UNANSWERED}:</strong> {escape('; '.join(outcome.unanswered))}</p>")
    if shown.quotes is None:
        parts.append(_section(texts.QUOTES, f'<p class="pv-note">{texts.QUOTES_UNKNOWN}</p>'))
    elif shown.quotes:
        parts.append(_section(texts.QUOTES, quotes_html(shown.quotes)))
    if outcome.grounding.violations:
        parts.append(_section(texts.VIOLATIONS, _violations(outcome.grounding.violations)))
    return "".join(parts)


def _without_content(shown: ShownAnswer) -> str:
    grounding = shown.record.metadata["grounding"]
    cited = grounding.get("cited_ids", []) if isinstance(grounding, dict) else []
    listed = "".join(f"<li>{escape(str(entry_id))}</li>" for entry_id in cited)
    entries = _section("Zitierte Einträge", f"<ul>{listed}</ul>") if listed else ""
    return f'<p class="pv-banner pv-stopped">{escape(texts.NO_CONTENT_HELP)}</p>{entries}'


def _violations(violations: Sequence[Violation]) -> str:
    return f"<ul>{''.join(f'<li>{escape(violation.message)}</li>' for violation in violations)}</ul>"


def _said(rating: Rating | None, comments: Sequence[Comment]) -> str:
    rows = []
    if rating is not None:
        text = texts.RATED_UP if rating.up else texts.RATED_DOWN
        rows.append(_remark(text, rating.author, rating.text))
    rows += [
        _remark(f"{comment.created_at.astimezone(VIENNA):%d.%m.%Y, %H:%M}", comment.author, comment.text or texts.TEXT_GONE)
        for comment in comments
    ]
    body = f"<ul>{''.join(rows)}</ul>" if rows else f'<p class="pv-note">{texts.NOT_SAID}</p>'
    return _section(texts.SAID, body)


def _remark(what: str, author: str, text: str | None) -> str:
    said = f": {escape(text)}" if text else ""
    return f'<li><span class="pv-note">{escape(what)} · {escape(author)}</span>{said}</li>'


def _proof(shown: ShownAnswer) -> str:
    metadata = shown.record.metadata
    facts = [*_model_facts(metadata), *_plan_facts(metadata), *_timing_facts(metadata)]
    facts.append(("Protokollzeile", f"{shown.record.sequence} · {shown.record.row_hash}"))
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in facts if value)
    sections = "".join(
        f'<li><span class="pv-id">{escape(section.node_id)}</span> · <code>{escape(section.text_hash)}</code></li>'
        for section in shown.record.sections
    )
    listed = (
        f"<details class='pv-details'><summary>Vorgelegte Abschnitte</summary><ul>{sections}</ul></details>" if sections else ""
    )
    return _section(texts.PROOF, f'<dl class="pv-facts">{rows}</dl>{listed}')


def _model_facts(metadata: dict[str, object]) -> list[tuple[str, str]]:
    model, index, grounding = (_part(metadata, name) for name in ("model", "index", "grounding"))
    extractive = grounding.get("mode") == "extractive"
    dropped = grounding.get("dropped_claims") or 0
    return [
        ("Antwort durch", "Zitatmodus" if extractive else str(model.get("name") or "–")),
        ("Modell-Prüfsumme", str(model.get("digest") or "")),
        ("Prompt-Fassung", str(model.get("prompt_version") or "")),
        ("Indexfassung", f"{index.get('version')} · {index.get('embedding_model')} · {index.get('entries')} Einträge"),
        ("Neu geschrieben", "ja" if grounding.get("regenerated") else "nein"),
        ("Verworfene Aussagen", str(dropped)),
    ]


def _plan_facts(metadata: dict[str, object]) -> list[tuple[str, str]]:
    plan = _part(metadata, "plan")
    scopes = plan.get("scopes")
    named = [strings.SCOPE_TEXT.get(scope, str(scope)) for scope in scopes] if isinstance(scopes, list) else []
    kind = next((text for name, text in strings.QUESTION_TYPE_TEXT.items() if name == plan.get("type")), "")
    failed = metadata.get("degraded")
    channels = [strings.CHANNEL_TEXT.get(one, str(one)) for one in failed] if isinstance(failed, list) else []
    return [
        ("Gilt für", strings.german_month(str(metadata["as_of"]))),
        ("Frageart", kind),
        ("Bereiche", ", ".join(named) or "alle Bereiche"),
        ("Ausgefallen", ", ".join(channels)),
    ]


def _timing_facts(metadata: dict[str, object]) -> list[tuple[str, str]]:
    timings = _part(metadata, "timings_ms")
    names = (("plan", "Plan"), ("retrieve", "Suche"), ("generate", "Schreiben"), ("verify", "Prüfen"), ("total", "gesamt"))
    parts = [f"{text} {timings[name]:.0f} ms" for name, text in names if isinstance(timings.get(name), int | float)]
    return [("Zeiten", " · ".join(parts))]


def _part(metadata: dict[str, object], name: str) -> dict[str, object]:
    found = metadata.get(name)
    return found if isinstance(found, dict) else {}


def _section(title: str, body: str) -> str:
    return f'<section class="pv-section"><h3>{title}</h3>{body}</section>'
