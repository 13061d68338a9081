"""The explained result of a search as HTML: how the question is read, what each channel found, and what becomes context."""

from app.ui import strings
from app.ui.html import attributes, entry_button, escape, stand_text
from app.ui.service import AnalysedWord, SearchRow, SearchView

_ROLE = {"cross_ref": "über Verweis", "conflict": "andere Seite eines Widerspruchs"}


def search_empty() -> str:
    """Before anything was searched."""
    return f'<p class="pv-pane-empty">{strings.SEARCH_EMPTY}</p>'


def search_problem(text: str) -> str:
    """Instead of a result."""
    return f'<div class="pv-banner pv-error" role="alert"><p>{escape(text)}</p></div>'


def search_html(view: SearchView) -> str:
    """The whole result."""
    return "".join([_analysis(view), _verdict(view), _table(view)])


def _analysis(view: SearchView) -> str:
    plan = view.plan
    scopes = ", ".join(strings.SCOPE_TEXT[s] for s in plan.scopes) or "alle Bereiche"
    time = strings.german_month(plan.as_of) + (" (in der Frage genannt)" if plan.as_of_named else " (Vorgabe)")
    facts = [
        ("Frageart", escape(strings.QUESTION_TYPE_TEXT[plan.type])),
        ("Stichtag", escape(time)),
        ("Bereiche", escape(scopes)),
        ("Themen", escape(", ".join(plan.topics))),
        ("Gesucht wird", "<br>".join(escape(query) for query in plan.queries)),
        ("Wörter", " ".join(_word(word) for word in view.words)),
        ("Ergänzt", escape(", ".join(view.added_terms))),
    ]
    rows = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in facts if value)
    title = f'<h2 class="pv-small-title">{strings.SEARCH_ANALYSIS}</h2>'
    return f'<section class="pv-analysis">{title}<dl class="pv-facts">{rows}</dl></section>'


def _word(word: AnalysedWord) -> str:
    tokens = " + ".join(word.tokens)
    arrow = f" → <code>{escape(tokens)}</code>" if tokens and tokens != word.word else ""
    css = "pv-word" if word.tokens else "pv-word pv-word-off"
    return f'<span class="{css}"{attributes(title=word.note or None)}>{escape(word.word)}{arrow}</span>'


def _verdict(view: SearchView) -> str:
    used = sum(row.in_context for row in view.rows)
    milliseconds = f"{view.milliseconds:.0f} ms"
    if view.degraded:
        failed = ", ".join(strings.CHANNEL_TEXT[channel] for channel in view.degraded)
        degraded = f'<div class="pv-banner pv-stopped"><p>⚠ {strings.DEGRADED}: {escape(failed)} ist ausgefallen.</p></div>'
    else:
        degraded = ""
    if view.refusal:
        return f'{degraded}<div class="pv-banner pv-refused"><p>{escape(view.refusal)}</p></div>'
    found = strings.counted(len(view.rows), "Abschnitt", "Abschnitte")
    text = f"{found} gezeigt, {used} davon im Kontext der Antwort · {milliseconds}"
    return f'{degraded}<p class="pv-note" role="status">{text}</p>'


def _table(view: SearchView) -> str:
    if not view.rows:
        return f'<p class="pv-pane-empty">{strings.SEARCH_NOTHING}</p>'
    head = "".join(
        f'<th scope="col">{name}</th>'
        for name in ("#", "Abschnitt", "Wortsuche", "Bedeutung", "Schreibfehler", "Fusion", "Kontext")
    )
    rows = "".join(_row(row) for row in view.rows)
    return (
        f'<div class="pv-table" tabindex="0" role="region" aria-label="Suchergebnis">'
        f'<table class="pv-ranking"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
    )


def _row(row: SearchRow) -> str:
    where = f"{strings.WORK_TEXT.get(row.work, row.work)} · {row.topic} · {stand_text(row.stand)} · {row.section}"
    title = entry_button(row.entry_id, f"{row.title} [{row.entry_id}]", section=row.section)
    role = f' <span class="pv-label pv-label-calm">{_ROLE[row.role]}</span>' if row.role in _ROLE else ""
    state = "✓ im Kontext" if row.in_context else "– nicht im Kontext"
    css = "pv-in" if row.in_context else "pv-out"
    rank = str(row.rank) if row.role == "hit" else "–"
    return (
        f'<tr class="{css}"><td class="pv-num">{rank}</td><td>{title}{role}<br><span class="pv-note">{escape(where)}</span></td>'
        f"{_channel(row.ranks.bm25, row.scores.bm25, 2)}{_channel(row.ranks.similarity, row.scores.similarity, 3)}"
        f'{_channel(row.ranks.ngram, row.scores.ngram, 3)}<td class="pv-num">{_number(row.scores.fused, 4)}</td>'
        f'<td class="pv-why"><strong>{state}</strong><br><span class="pv-note">{escape(row.reason)}</span></td></tr>'
    )


def _channel(rank: int | None, score: float | None, digits: int) -> str:
    if rank is None or score is None:
        return '<td class="pv-num pv-none" title="nicht gefunden">–</td>'
    return f'<td class="pv-num">{rank}.<br><span class="pv-note">{_number(score, digits)}</span></td>'


def _number(value: float, digits: int) -> str:
    return f"{value:.{digits}f}".replace(".", ",")
