"""An outcome as text: Markdown for the terminal and files, plain text for the clipboard.

The Markdown of the answer itself, citations included, is part of the outcome; here it gets what a reader needs around it.
"""

import re

from pipelines.contracts import Answer, Outcome

_STRONG = re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*")


def plain_text(outcome: Outcome) -> str:
    """Question and answer for the clipboard: every statement with Stand and entry id, Markdown emphasis removed.

    Ends with the sources that were cited and what answered, so that the text stands on its own in an e-mail.
    """
    lines = [outcome.standalone_question or outcome.question, "", _STRONG.sub(r"\1", outcome.answer)]
    if cited := _cited_sources(outcome):
        lines += ["", "Quellen:", *(f"- [{entry_id}] {title} (Stand {stand})" for entry_id, title, stand in cited)]
    lines += ["", _signature(outcome)]
    return "\n".join(lines)


def markdown(outcome: Outcome) -> str:
    """Question, answer, notices, cited sources and what answered, as one Markdown document."""
    parts = [f"**{outcome.standalone_question or outcome.question}**", outcome.answer]
    parts += [f"> {notice}" for notice in outcome.notices]
    if cited := _cited_sources(outcome):
        parts.append("\n".join(f"- [{entry_id}] {title} (Stand {stand})" for entry_id, title, stand in cited))
    parts.append(f"*{_signature(outcome)}*")
    return "\n\n".join(parts)


def _cited_sources(outcome: Outcome) -> list[tuple[str, str, str]]:
    cited = set(outcome.grounding.cited_ids)
    rows = {s.entry_id: (s.entry_id, s.title, s.stand) for s in outcome.sources if s.entry_id in cited}
    return list(rows.values())


def _signature(outcome: Outcome) -> str:
    by = "Zitatmodus" if outcome.grounding.mode == "extractive" else outcome.model.name
    what = "Antwort" if isinstance(outcome, Answer) else "Auskunft"
    return f"{what} von pv-agent ({by}) für {outcome.as_of}, Anfrage {outcome.request_id}"
