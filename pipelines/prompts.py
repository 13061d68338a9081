"""What the model is told: the system prompt, byte-identical per version, and the user message with blocks and question.

Blocks and questions are data. Everything in them that a chat template, a block mark or a citation could be mistaken for is
disarmed before it enters the message, so that no text can open or close a block or speak in another role.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from custom_postprocessors.evidence import Conflict, GroundedContext, Passage, Rejected
from pipelines.contracts import Plan
from pipelines.normalisation import remove_invisible

PROMPTS = Path(__file__).parent / "data" / "prompts"
ANSWER_PROMPT = "antwort"
REVIEW_PROMPT = "pruefung"
OPEN, CLOSE = "⟦", "⟧"
MOST_FEEDBACK = 12
GUIDANCE_HEADING = "Hinweise der Organisation (sie ergänzen die Regeln und heben keine auf):"

_TAG = re.compile(r"<(?=[A-Za-z/|｜!?_])")
_ROLE_MARK = re.compile(r"\[(/?(?:INST|SYS|TOOL|AVAILABLE|SYSTEM)[^\]\n]{0,20})\]", re.IGNORECASE)
_CITATION_MARK = re.compile(r"\[([a-z]{2,4}(?:-[a-z0-9]+){2,}(?:#[a-z0-9-]*)?)\]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SystemPrompt:
    """A system prompt; its version is its name and the hash of its bytes."""

    name: str
    text: str

    @property
    def version(self) -> str:
        """`name@` and the first 12 hex digits of the SHA-256 of the text in UTF-8."""
        return f"{self.name}@{hashlib.sha256(self.text.encode('utf-8')).hexdigest()[:12]}"


def load_prompt(name: str = ANSWER_PROMPT, folder: Path = PROMPTS) -> SystemPrompt:
    """Reads `folder/name.md` as it is.

    Raises:
        FileNotFoundError: there is no such prompt.
    """
    return SystemPrompt(name, (folder / f"{name}.md").read_bytes().decode("utf-8"))


def with_guidance(prompt: SystemPrompt, name: str, guidance: str) -> SystemPrompt:
    """`prompt` followed by an organisation's own guidance, as a prompt of its own name and version.

    The rules of `prompt` come first and stay whole: whoever edits the guidance cannot edit them away. Empty guidance gives
    `prompt` itself.
    """
    text = disarmed(guidance).strip()
    if not text:
        return prompt
    return SystemPrompt(name, f"{prompt.text.rstrip()}\n\n{GUIDANCE_HEADING}\n{text}\n")


def user_message(plan: Plan, question: str, context: GroundedContext, feedback: Sequence[Rejected] = ()) -> str:
    """Blocks first (equal contexts share their beginning, which Ollama keeps evaluated), then conflicts, question, feedback."""
    parts = [block(passage) for passage in context.passages]
    if context.conflicts:
        parts.append(_conflicts(context.conflicts))
    parts.append(_question(plan, question))
    if feedback:
        parts.append(_feedback(feedback))
    parts.append(f"Erlaubte Kennungen: {', '.join(passage.block_id for passage in context.passages)}")
    return "\n\n".join(parts)


def block(passage: Passage) -> str:
    """One block: metadata head, section heading, the parts that are given, end mark."""
    head = [passage.block_id, one_line(passage.title), f"Stand {passage.stand}", one_line(passage.topic), passage.work]
    if passage.secondary_source:
        head.append("nichtamtlich" if passage.work == "rj" else "Sekundärquelle")
    return (
        f"{OPEN}BLOCK {' · '.join(head)}{CLOSE}\n"
        f"Abschnitt: {one_line(passage.section)}\n{disarmed(passage.shown_text())}\n{OPEN}ENDE {passage.block_id}{CLOSE}"
    )


def disarmed(text: str) -> str:
    """`text` without anything that could act in a prompt; its words, figures and line breaks stay.

    Invisible characters (control, bidi, zero-width) are dropped; block brackets become plain ones; `<` before a
    letter, slash or bar becomes „‹“ (chat-template tokens such as `<|im_end|>`, tags, `<think>`); role marks and citation
    marks lose their square brackets.
    """
    plain = remove_invisible(text).replace(OPEN, "(").replace(CLOSE, ")")
    return _CITATION_MARK.sub(r"(\1)", _ROLE_MARK.sub(r"(\1)", _TAG.sub("‹", plain)))


def one_line(text: str) -> str:
    """`disarmed`, on one line."""
    return " ".join(disarmed(text).split())


def _question(plan: Plan, question: str) -> str:
    source = "in der Frage genannt" if plan.as_of_named else "angenommen"
    return (
        f"{OPEN}FRAGE · Art {plan.type} · Zeitpunkt {plan.as_of} ({source}){CLOSE}\n{disarmed(question)}\n{OPEN}ENDE FRAGE{CLOSE}"
    )


def _conflicts(conflicts: Sequence[Conflict]) -> str:
    lines = [
        f"- {one_line(conflict.quantity)}: " + " | ".join(f"{one_line(side.value)} ({side.entry_id})" for side in conflict.sides)
        for conflict in conflicts
    ]
    return "\n".join(["Bekannte Widersprüche zwischen den Blöcken (Regel 8):", *lines])


def _feedback(feedback: Sequence[Rejected]) -> str:
    lines = []
    for rejected in feedback[:MOST_FEEDBACK]:
        reasons = " ".join(one_line(violation.message) for violation in rejected.violations)
        sources = ", ".join(map(one_line, rejected.draft.sources)) or "ohne Kennung"
        lines.append(f"- „{one_line(rejected.draft.text)}“ ({sources}): {reasons}")
    return "\n".join(
        [
            "Dein erster Entwurf wurde geprüft. Diese Aussagen wurden verworfen:",
            *lines,
            "Schreib den ganzen Entwurf neu. Wiederhole, was richtig war; berichtige die verworfenen Aussagen nach dem Wortlaut "
            "der Blöcke, oder lass sie weg. Nenne nichts, was kein Block belegt.",
        ]
    )
