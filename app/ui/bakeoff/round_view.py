"""The comparison as HTML. Before the vote nothing here depends on which model stands where but the answers themselves."""

from collections.abc import Sequence

from app.bakeoff import Candidate
from app.ui import strings
from app.ui.bakeoff import texts
from app.ui.bakeoff.rounds import NONE, TIE, Column, Comparison
from app.ui.html import attributes, button, escape
from app.ui.turn_view import claim_html
from evaluation.ballots import CRITERIA
from pipelines.contracts import Outcome, Refusal
from pipelines.model_choice import EXTRACTIVE

ASK_CHANNEL, ROUND_CHANNEL = "bakeoff-ask", "bakeoff"
_RUNNING = {"waits": texts.WAITS, "writes": texts.WRITES, "rewrites": texts.REWRITES}


def open_form() -> str:
    """Asks for the tab's content as soon as it is drawn."""
    return f'<form class="pv-form" data-auto{attributes(data_channel=ROUND_CHANNEL, data_command="open")}></form>'


def ask_form(candidates: Sequence[Candidate], *, question: str = "", chosen: Sequence[str] = (), problem: str = "") -> str:
    """Where question, models and blindness are chosen; without a choice the first two models are."""
    wanted = set(chosen) or {candidate.name for candidate in candidates[:2]}
    boxes = "".join(
        f'<label class="pv-bo-box"><input type="checkbox"{attributes(name=f"model-{number}", value=one.name)}'
        f"{' checked' if one.name in wanted else ''}> {escape(model_text(one))}</label>"
        for number, one in enumerate(candidates)
    )
    said = f'<p class="pv-banner pv-error" role="alert">{escape(problem)}</p>' if problem else ""
    return (
        f'{said}<form class="pv-form pv-bo-ask"{attributes(data_channel=ASK_CHANNEL, data_command="ask")}>'
        f'<div class="pv-field pv-bo-question"><label for="pv-bo-question">{texts.QUESTION}</label>'
        f'<input type="text" id="pv-bo-question" name="question" maxlength="2000" required autocomplete="off"'
        f"{attributes(value=question)}></div>"
        f'<button type="submit" class="pv-primary">{texts.ASK}</button>'
        f'<fieldset class="pv-bo-boxes"><legend>{texts.MODELS}</legend>{boxes}</fieldset>'
        f'<label class="pv-bo-box"><input type="checkbox" name="blind" checked> {texts.BLIND}</label></form>'
    )


def round_head(comparison: Comparison) -> str:
    """Instead of the form while a round is open: the question, and what one can do."""
    if comparison.secret:
        names = f"{len(comparison.columns)} Modelle"
    else:
        names = ", ".join(_shown_name(column.model) for column in comparison.columns)
    state = "" if comparison.ended else f'<span class="pv-pulse" aria-hidden="true"></span>{texts.WRITING}'
    tool = (
        button(texts.AGAIN, "tab", css="pv-action", channel=ROUND_CHANNEL, command="again")
        if comparison.ended
        else button(texts.STOP, "tab", css="pv-action", channel=ROUND_CHANNEL, command="stop")
    )
    note = texts.HIDDEN if comparison.secret else texts.OPEN_ROUND
    return (
        f'<div class="pv-bo-head"><h2 class="pv-question" tabindex="-1" data-focus>{escape(comparison.question)}</h2>'
        f'<p class="pv-note">{escape(names)} · {note}</p><p class="pv-status" role="status">{state}</p>{tool}</div>'
    )


def answers_html(comparison: Comparison | None) -> str:
    """The answers side by side."""
    if comparison is None:
        return f'<p class="pv-pane-empty">{texts.EMPTY}</p>'
    columns = "".join(_column(column, comparison) for column in comparison.columns)
    return f'<div class="pv-bo-columns" style="--pv-columns: {len(comparison.columns)}">{columns}</div>'


def vote_html(comparison: Comparison | None, *, problem: str = "") -> str:
    """The form to vote with, once every answer is there; afterwards what became of it."""
    if comparison is None or not comparison.ended:
        return ""
    if comparison.voted:
        return f'<p class="pv-banner pv-refused" role="status">{texts.VOTED}</p>'
    if comparison.blind and comparison.revealed:
        return f'<p class="pv-banner pv-refused" role="status">{texts.REVEALED}</p>'
    said = f'<p class="pv-banner pv-error" role="alert">{escape(problem)}</p>' if problem else ""
    none = texts.NONE_OF_TWO if len(comparison.columns) == 2 else texts.NONE_OF_MORE
    options = [(column.label, _heading(column, comparison)) for column in comparison.columns]
    options += [(TIE, texts.TIE), (NONE, none)]
    fields = "".join(_criterion(criterion, options, comparison.choices.get(criterion, "")) for criterion in CRITERIA)
    send = texts.VOTE_SEND_BLIND if comparison.blind else texts.VOTE_SEND
    reveal = button(texts.REVEAL, "tab", css="pv-action", channel=ROUND_CHANNEL, command="reveal") if comparison.blind else ""
    return (
        f'<section class="pv-bo-vote" aria-label="{texts.VOTE}"><h3>{texts.VOTE}</h3>{said}'
        f'<form class="pv-form"{attributes(data_channel=ROUND_CHANNEL, data_command="vote")}>{fields}'
        f'<button type="submit" class="pv-primary">{send}</button>{reveal}</form></section>'
    )


def model_text(candidate: Candidate) -> str:
    """A candidate's name, and its size where it has one."""
    size = f" · {candidate.size_bytes / 1e9:.1f} GB".replace(".", ",") if candidate.size_bytes else ""
    return f"{_shown_name(candidate.name)}{size}"


def _criterion(criterion: str, options: Sequence[tuple[str, str]], chosen: str) -> str:
    radios = "".join(
        f'<label class="pv-bo-box"><input type="radio"{attributes(name=criterion, value=value)}'
        f"{' checked' if value == chosen else ''}> {escape(text)}</label>"
        for value, text in options
    )
    return f'<fieldset class="pv-bo-boxes"><legend>{texts.CRITERION[criterion]}</legend>{radios}</fieldset>'  # type: ignore[index]


def _column(column: Column, comparison: Comparison) -> str:
    hidden = comparison.secret
    claims = column.claims[: comparison.shown_claims] if hidden else column.claims
    shown_to_the_end = column.ended and not comparison.held_back and (not hidden or comparison.ended)
    body = "".join(claim_html(claim) for claim in claims)
    if shown_to_the_end:
        body += _end(column, hidden=hidden)
    elif not hidden:
        body += f'<p class="pv-status"><span class="pv-pulse" aria-hidden="true"></span>{_RUNNING.get(column.phase, "")}</p>'
    heading = f'<h3 class="pv-bo-name">{escape(_heading(column, comparison))}</h3>'
    name = attributes(aria_label=f"Antwort {column.label}", data_label=column.label)
    return f'<article class="pv-bo-column"{name}>{heading}{body}</article>'


def _heading(column: Column, comparison: Comparison) -> str:
    if comparison.secret:
        return f"Antwort {column.label}"
    return f"{column.label} · {_shown_name(column.model)}" if comparison.blind else _shown_name(column.model)


def _end(column: Column, *, hidden: bool) -> str:
    """What stands below the claims: a refusal, what is open, violations, and after the vote how long it took."""
    outcome = column.outcome
    if column.phase == "failed":
        reason = "" if hidden or outcome is None else f" {escape(strings.REFUSED_TEXT[outcome.refusal_reason or 'model_failed'])}"
        text = texts.FAILED_HIDDEN if hidden else f"{texts.FAILED}.{reason}"
        return f'<div class="pv-banner pv-unavailable"><p>{text}</p></div>' + ("" if hidden else _timing(column))
    if outcome is None:
        return f'<p class="pv-status">{texts.STOPPED}</p>'
    parts = [_refusal(outcome), _unanswered(outcome), _violations(outcome)]
    return "".join(parts) + ("" if hidden else _timing(column))


def _refusal(outcome: Outcome) -> str:
    if not isinstance(outcome, Refusal) or outcome.refusal_reason is None:
        return ""
    title, text = strings.REFUSED_TITLE[outcome.refusal_reason], strings.REFUSED_TEXT[outcome.refusal_reason]
    return f'<div class="pv-banner pv-refused"><p class="pv-banner-title">{escape(title)}</p><p>{escape(text)}</p></div>'


def _unanswered(outcome: Outcome) -> str:
    if isinstance(outcome, Refusal) or not outcome.unanswered:
        return ""
    parts = "".join(f"<li>{escape(part)}</li>" for part in outcome.unanswered)
    return f'<div class="pv-unanswered"><strong>{strings.UNANSWERED}:</strong><ul>{parts}</ul></div>'


def _violations(outcome: Outcome) -> str:
    found = outcome.grounding.violations
    if not found:
        return ""
    rows = "".join(f"<li>{escape(violation.message)}</li>" for violation in found)
    return (
        f'<details class="pv-details"><summary>{texts.VIOLATIONS} <span class="pv-count">{len(found)}</span></summary>'
        f"<ul>{rows}</ul></details>"
    )


def _timing(column: Column) -> str:
    outcome, usage = column.outcome, column.usage
    if outcome is None:
        return ""
    parts = [_seconds(outcome.timings_ms.total)]
    if outcome.timings_ms.first_claim is not None:
        parts.append(f"erste Aussage nach {_seconds(outcome.timings_ms.first_claim)}")
    if usage.writing_seconds:
        parts.append(f"{usage.output_tokens / usage.writing_seconds:.0f} Token/s")
    if outcome.grounding.regenerated:
        parts.append("neu geschrieben")
    return f'<p class="pv-note pv-bo-timing">{texts.TIMING}: {escape(" · ".join(parts))}</p>'


def _shown_name(model: str) -> str:
    return strings.MODEL_EXTRACTIVE if model == EXTRACTIVE else model


def _seconds(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.2f} s".replace(".", ",")
