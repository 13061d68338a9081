"""Filters, list, chain and drift of the tab Protokoll as HTML."""

from collections.abc import Sequence

from app.drift import Drift, QuoteCheck
from app.store.answer_search import FoundAnswer, FoundPage
from app.ui import strings
from app.ui.html import attributes, button, choice, entry_button, escape, field
from app.ui.markup import inline_html
from app.ui.protocol import texts
from app.ui.protocol.answer_log import ChainState
from app.ui.protocol.commands import VIENNA
from pipelines.answer_text import STATUS_TEXT

FORM = "pv-protocol-form"


def filters_html(*, metadata_only: bool) -> str:
    """The form; it lists the newest answers as soon as it is drawn."""
    remark = f'<p class="pv-banner pv-stopped">{escape(texts.METADATA_ONLY)}</p>' if metadata_only else ""
    form = attributes(
        id=FORM,
        data_channel="protocol",
        data_command="list",
        data_busy="pv-protocol-list",
        aria_label=texts.FILTERS,
        action="/protokoll.jsonl",
        method="get",
    )
    tools = (
        button(texts.DRIFT, "tab", css="pv-action", channel="protocol", command="drift", form=FORM, busy="pv-protocol-list")
        + button(texts.CHAIN, "tab", css="pv-action", channel="protocol", command="chain", busy="pv-protocol-chain")
        + f'<button type="submit" class="pv-action" data-native form="{FORM}">{texts.EXPORT}</button>'
    )
    return (
        f'{remark}<form class="pv-form" data-auto{form}>'
        f"{field(FORM, 'since', texts.SINCE, hint=texts.DAY_HINT)}{field(FORM, 'until', texts.UNTIL, hint=texts.DAY_HINT)}"
        f"{choice(FORM, 'status', texts.STATUS, texts.STATUS_CHOICES)}"
        f"{field(FORM, 'entry', texts.ENTRY, hint=texts.ENTRY_HINT)}{field(FORM, 'text', texts.TEXT, hint=texts.TEXT_HINT)}"
        f"{choice(FORM, 'feedback', texts.FEEDBACK, texts.FEEDBACK_CHOICES)}"
        f'<button type="submit" class="pv-primary">{texts.SHOW}</button></form><div class="pv-tools">{tools}</div>'
    )


def list_html(page: FoundPage, *, filtered: bool) -> str:
    """The answers found, newest first, each to be opened."""
    if not page.answers:
        return f'<p class="pv-pane-empty">{texts.NONE_FOUND if filtered else texts.NONE_YET}</p>'
    rows = "".join(_row(found) for found in page.answers)
    more = ""
    if page.more:
        before = page.answers[-1].record.sequence
        more = button(
            texts.MORE,
            "tab",
            css="pv-action",
            channel="protocol",
            command="list",
            form=FORM,
            before=before,
            busy="pv-protocol-list",
        )
    count = texts.rows_found(len(page.answers), more=page.more)
    return f'<p class="pv-note" role="status">{count}</p><ul class="pv-log-list">{rows}</ul>{more}'


def chain_html(chain: ChainState) -> str:
    """Whether the chain holds, and where it does not."""
    rows = strings.counted(chain.rows, "Zeile", "Zeilen")
    if not chain.faults:
        help_text = attributes(title=texts.CHAIN_HELP)
        return f'<p class="pv-chain pv-chain-whole" role="status"{help_text}>✓ {texts.CHAIN_WHOLE} · {rows}</p>'
    faults = "".join(f"<li>Zeile {fault.sequence} {texts.CHAIN_KIND[fault.kind]}</li>" for fault in chain.faults[:20])
    return (
        f'<div class="pv-banner pv-error" role="alert"><p class="pv-banner-title">{texts.CHAIN_BROKEN}</p>'
        f"<p>{texts.CHAIN_HELP}</p><ul>{faults}</ul></div>"
    )


def drift_html(found: Sequence[Drift]) -> str:
    """Answers that cite something which changed, with old and new."""
    if not found:
        return f'<p class="pv-banner pv-refused" role="status">{texts.DRIFT_NONE}</p>'
    rows = "".join(f"<li>{_open(one.request_id, one.question)}{quotes_html(one.quotes)}</li>" for one in found)
    return f'<p class="pv-note" role="status">{len(found)} · {texts.DRIFT_HELP}</p><ul class="pv-log-list">{rows}</ul>'


def quotes_html(quotes: Sequence[QuoteCheck]) -> str:
    """What became of quotes: unchanged, changed with old and new, or gone."""
    return "".join(_quote(quote) for quote in quotes)


def time_text(found: FoundAnswer) -> str:
    """When it was given, in Vienna: „16.03.2026, 14:05“."""
    return f"{found.record.created_at.astimezone(VIENNA):%d.%m.%Y, %H:%M}"


def problem_html(text: str) -> str:
    """Instead of a result."""
    return f'<div class="pv-banner pv-error" role="alert"><p>{escape(text)}</p></div>'


def _quote(quote: QuoteCheck) -> str:
    css = "pv-quote" if quote.state == "unchanged" else "pv-quote pv-quote-changed"
    place = entry_button(quote.entry_id, f"{quote.entry_id} · {quote.section}", section=quote.section)
    label = f'<span class="pv-label">{texts.QUOTE_TEXT[quote.state]}</span>'
    if quote.state == "unchanged":
        body = f"<blockquote>{_readable(quote.old)}</blockquote>"
    else:
        now = _readable(quote.new) if quote.new else texts.QUOTE_TEXT["gone"]
        body = (
            f'<blockquote><span class="pv-note">{texts.QUOTED_THEN}</span> <del>{_readable(quote.old)}</del></blockquote>'
            f'<blockquote><span class="pv-note">{texts.SAYS_NOW}</span> <ins>{now}</ins></blockquote>'
        )
    return f'<div class="{css}">{place} {label}{body}</div>'


def _readable(quote: str) -> str:
    """A quote without its Markdown; the cells of a table row with a dot between them."""
    if quote.startswith("|"):
        return " · ".join(inline_html(cell.strip()) for cell in quote.strip("| ").split("|"))
    return inline_html(quote)


def _row(found: FoundAnswer) -> str:
    record = found.record
    status = str(record.metadata["status"])
    labels = [f'<span class="pv-label pv-status-{status}">{STATUS_TEXT.get(status, status)}</span>']
    if found.up is not None:
        css, text = ("calm", texts.RATED_UP) if found.up else ("warn", texts.RATED_DOWN)
        labels.append(f'<span class="pv-label pv-label-{css}">{text}</span>')
    if found.comments:
        labels.append(f'<span class="pv-label">{found.comments} {"Kommentar" if found.comments == 1 else "Kommentare"}</span>')
    question = record.outcome.question if record.outcome else texts.NO_CONTENT
    return f'<li><span class="pv-note">{time_text(found)}</span> {"".join(labels)}<br>{_open(record.request_id, question)}</li>'


def _open(request_id: str, question: str) -> str:
    return button(question, "tab", channel="protocol", command="show", request=request_id, busy="pv-protocol-detail")
