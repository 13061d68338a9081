"""A turn as HTML blocks: question, state, checked claims, conflicts, what is open, sources, and what one can do with it."""

import time
from collections.abc import Iterator
from typing import assert_never

from app.ui import strings
from app.ui.html import attributes, button, chips, entry_button, escape
from app.ui.markup import inline_html
from app.ui.messages import Blocks
from app.ui.turn_details import actions_html, answered_by, gap_button, proof_html, related_html, sources_html
from app.ui.turns import ShownTurn
from custom_postprocessors.evidence import Citation, Claim, Conflict
from pipelines.contracts import Answer, Outcome, Refusal

PATIENCE_SECONDS = 2
"""Before this nobody asks how long it will take."""


def turn_blocks(turn: ShownTurn) -> Blocks:
    """The blocks of a turn, in order; keys are stable while a turn grows."""
    return list(_blocks(turn))


def _blocks(turn: ShownTurn) -> Iterator[tuple[str, str]]:
    yield "question", f'<h2 class="pv-question">{escape(turn.question)}</h2>'
    yield "status", f'<p class="pv-status" role="status">{_status(turn)}</p>'
    disputed = _disputed(turn.outcome)
    for index, claim in enumerate(turn.claims):
        yield f"claim-{index}", claim_html(claim, conflicting=_touches(claim, disputed))
    if turn.phase == "stopped":
        yield "stopped", _banner("stopped", strings.STOPPED if turn.claims else strings.STOPPED_EMPTY)
    if turn.phase == "error":
        yield "error", _banner("error", strings.ERROR_TITLE, turn.error)
    if turn.outcome is not None:
        yield from _outcome_blocks(turn, turn.outcome)


def _outcome_blocks(turn: ShownTurn, outcome: Outcome) -> Iterator[tuple[str, str]]:
    match outcome:
        case Refusal():
            yield "refusal", _refusal(turn, outcome)
        case Answer():
            for conflict in outcome.conflicts:
                yield f"conflict-{conflict.id}", conflict_html(conflict)
        case _:
            assert_never(outcome)
    if isinstance(outcome, Answer) and outcome.unanswered:
        parts = "".join(f"<li>{escape(part)}</li>" for part in outcome.unanswered)
        yield "unanswered", f'<div class="pv-unanswered"><strong>{strings.UNANSWERED}:</strong><ul>{parts}</ul></div>'
    if outcome.follow_up:
        yield "follow_up", f'<p class="pv-follow-up"><strong>{strings.FOLLOW_UP}:</strong> {escape(outcome.follow_up)}</p>'
    if remarks := _remarks(outcome):
        yield "remarks", remarks
    yield "details", sources_html(outcome) + related_html(turn, outcome) + proof_html(turn, outcome)
    yield "actions", actions_html(turn, outcome)


def claim_html(claim: Claim, *, conflicting: bool = False) -> str:
    """A checked claim with its marks and citation chips."""
    warning = '<span class="pv-warn" title="Dazu gibt es widersprüchliche Angaben">⚠ </span>' if conflicting else ""
    labels = [_label(strings.MARK_TEXT[mark], strings.MARK_HELP[mark], "warn") for mark in claim.marks]
    formula = ""
    if claim.derived:
        labels.insert(0, _label(strings.DERIVED, "Rechenweg geprüft, jeder Operand belegt oder aus der Frage", "calm"))
        if claim.formula:
            formula = f'<span class="pv-formula">{escape(claim.formula.expression)} = {escape(claim.formula.result)}</span>'
    return (
        f'<div class="pv-claim"><span class="pv-claim-text">{warning}{inline_html(claim.text)}</span> {formula}'
        f'<span class="pv-marks">{"".join(labels)}{chips(claim.citations)}</span></div>'
    )


def conflict_html(conflict: Conflict) -> str:
    """Every side of a conflict, each with its own way to the evidence."""
    rows = []
    for side in conflict.sides:
        place = Citation(
            entry_id=side.entry_id, section=side.section, stand=side.stand, quote=side.quote, start=side.start, end=side.end
        )
        rows.append(f'<li><span class="pv-side-value">{escape(side.value)}</span> {chips([place])}</li>')
    note = f'<span class="pv-note">{escape(conflict.note)}</span>' if conflict.note else ""
    return (
        f'<div class="pv-conflict" role="note"><p><span class="pv-warn">⚠</span> <strong>{strings.CONFLICT}:</strong> '
        f"{escape(conflict.quantity)} {note}</p><ul>{''.join(rows)}</ul></div>"
    )


def _status(turn: ShownTurn) -> str:
    match turn.phase:
        case "start" | "search" | "write" | "regenerate":
            return f'<span class="pv-pulse" aria-hidden="true"></span>{strings.WORKING[turn.phase]}{_patience(turn)}'
        case "stopped" | "error":
            return "" if turn.phase == "error" else "Angehalten"
        case "final":
            return _final_status(turn)
        case _:
            assert_never(turn.phase)


def _patience(turn: ShownTurn) -> str:
    """How long it takes already and how many wait, once there is something to wait for; not read out again and again."""
    seconds = int(time.monotonic() - turn.began)
    if turn.phase not in ("write", "regenerate") or seconds < PATIENCE_SECONDS:
        return ""
    waiting = f" · {strings.counted(turn.waiting, *strings.WAITING)}" if turn.waiting else ""
    return f'<span aria-hidden="true"> {seconds} s{waiting}</span>'


def _final_status(turn: ShownTurn) -> str:
    outcome = turn.outcome
    if outcome is None:
        return ""
    seconds = f"{outcome.timings_ms.total / 1000:.2f}".replace(".", ",") + " s"
    parts = [answered_by(outcome), f"für {strings.german_month(outcome.as_of)}"]
    if isinstance(outcome, Answer):
        count = strings.counted(len(outcome.claims), "geprüfte Aussage", "geprüfte Aussagen")
        parts.append({"partial": f"Teilantwort, {count}", "clarification": f"{count}, Rückfrage"}.get(outcome.status, count))
    return " · ".join(escape(part) for part in [*parts, seconds])


def _refusal(turn: ShownTurn, outcome: Refusal) -> str:
    reason = outcome.refusal_reason
    unavailable = outcome.status == "unavailable"
    lines = [f'<p class="pv-banner-title">{strings.REFUSED_TITLE[reason]}</p><p>{strings.REFUSED_TEXT[reason]}</p>']
    if unavailable:
        lines.append(
            f"<p>{button(strings.ASK_EXTRACTIVE, 'again', css='pv-primary', question=outcome.question, model='extractive')}</p>"
        )
    else:
        looked_up = ", ".join(f"„{escape(query)}“" for query in outcome.plan.queries)
        scopes = ", ".join(strings.SCOPE_TEXT[s] for s in outcome.plan.scopes) or "alle Bereiche"
        lines.append(f'<p class="pv-note">{strings.SEARCHED}: {looked_up} · {scopes} · {strings.german_month(outcome.as_of)}</p>')
        if near := _nearest(turn, outcome):
            lines.append(f'<p class="pv-near-title">{strings.NEAREST}</p><ul class="pv-near">{near}</ul>')
        if not outcome.claims:
            lines.append(f"<p>{gap_button(outcome)}</p>")
    return (
        f'<div class="pv-banner pv-{"unavailable" if unavailable else "refused"}" data-reason="{reason}">{"".join(lines)}</div>'
    )


def _nearest(turn: ShownTurn, outcome: Refusal) -> str:
    titles = {source.entry_id: source.title for source in outcome.sources} | dict(turn.titles)
    ids = list(dict.fromkeys([*outcome.related, *titles]))[:5]
    return "".join(f"<li>{entry_button(i, f'{titles[i]} [{i}]' if i in titles else i)}</li>" for i in ids)


def _remarks(outcome: Outcome) -> str:
    lines = [escape(notice) for notice in outcome.notices]
    if outcome.standalone_question:
        edit = button(strings.EDIT, "edit", question=outcome.standalone_question)
        lines.append(f"{strings.STANDALONE}: „{escape(outcome.standalone_question)}“ {edit}")
    if outcome.degraded:
        failed = ", ".join(strings.CHANNEL_TEXT[channel] for channel in outcome.degraded)
        lines.append(
            f'<span class="pv-warn">⚠</span> {strings.DEGRADED}: {failed} ist ausgefallen, die übrigen Kanäle haben geantwortet.'
        )
    return f'<div class="pv-remarks">{"".join(f"<p>{line}</p>" for line in lines)}</div>' if lines else ""


def _label(text: str, explanation: str, kind: str) -> str:
    return f'<span class="pv-label pv-label-{kind}"{attributes(title=explanation)}>{escape(text)}</span>'


def _banner(kind: str, title: str, text: str = "") -> str:
    more = f"<p>{escape(text)}</p>" if text else ""
    role = "alert" if kind == "error" else "status"
    return f'<div class="pv-banner pv-{kind}" role="{role}"><p class="pv-banner-title">{escape(title)}</p>{more}</div>'


def _disputed(outcome: Outcome | None) -> set[tuple[str, str, int]]:
    conflicts = outcome.conflicts if outcome else ()
    return {(side.entry_id, side.section, side.start) for conflict in conflicts for side in conflict.sides}


def _touches(claim: Claim, disputed: set[tuple[str, str, int]]) -> bool:
    return any((c.entry_id, c.section, c.start) in disputed for c in claim.citations)
