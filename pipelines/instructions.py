"""Text that addresses the model instead of the reader. It stays readable in its entry, and it is never evidence."""

import re
from collections.abc import Sequence

_RULES = r"(?:anweisung|instruktion|vorgabe|regel|anleitung|befehl|prompt|aufforderung|einschränkung|kontext)\w*"
_EARLIER = r"(?:all\w*|bisherig\w*|vorherig\w*|obig\w*|vorig\w*|vorangegangen\w*|früher\w*|sämtlich\w*|ander\w*|jeglich\w*)"
_ENGLISH_RULES = r"(?:instructions?|rules?|prompts?|directions?|guidelines?|context|messages?)"
_MODEL = r"(?:ki|llm|gpt|chatbot|bot|sprachmodell|ki-modell|ki-assistent\w*|assistent\w*|assistant|language model|ai)"

_PATTERNS = (
    # A turn of a chat, or the marks that models are trained on.
    r"^[\s>*_#\-|]*(?:system|assistant|assistent|developer|systemprompt|system[ -](?:prompt|message|nachricht|anweisung))\s*[*_]*:",
    r"<\|(?:im_start|im_end|system|user|assistant|endoftext|end_of_turn)\|?>|\[/?INST\]|<</?SYS>>|<start_of_turn>|</?system>",
    r"^\s*#{1,6}\s*(?:system|instruction|new instructions?)\s*:?\s*$",
    # Setting earlier instructions aside.
    rf"\b(?:ignorier|vergiss|vergessen sie|vergesst|missacht|verwirf|überschreib|übergeh|überspring)\w*\b"
    rf"[^.!?\n]{{0,60}}\b{_EARLIER}\s(?:[^.!?\n]{{0,30}}\s)?{_RULES}",
    rf"\b(?:ignorier|vergiss|missacht)\w*\b[^.!?\n]{{0,40}}\b(?:die|deine|ihre|diese|meine)\s{_RULES}",
    rf"\b(?:ignore|disregard|forget|override|bypass|skip)\b[^.!?\n]{{0,50}}"
    rf"\b(?:all|any|previous|prior|earlier|above|preceding|your|the|these|those)\b[^.!?\n]{{0,30}}\b{_ENGLISH_RULES}\b",
    rf"\b(?:neue|geänderte)\s(?:anweisung|instruktion)(?:en)?\s*(?:für (?:die |das |den )?{_MODEL}\b|:)|\bnew instructions?\s*:",
    # Telling what to answer or to cite.
    r"\b(?:antworte|beantworte|erwidere|entgegne)\s+(?:\w+\s+){0,3}"
    r"(?:ab (?:jetzt|sofort|nun)|immer|stets|ausschließlich|künftig|nur (?:noch )?mit|auf (?:jede|alle|sämtliche)|jede|alle)\b",
    r"\b(?:ab (?:jetzt|sofort|nun)|künftig|immer|stets)\s+(?:antworte|beantworte|zitiere|sage|schreibe|behaupte)\b",
    r"\b(?:zitiere|erwähne|nenne|verwende|empfiehl)\s+(?:\w+\s+){0,2}"
    r"(?:(?:immer|stets|ausschließlich|nur|niemals|nie|nicht)\s+(?:\w+\s+){0,2})?"
    r"(?:diesen|diese|dieses|den vorliegenden|die anderen|andere)\s(?:\w+\s)?(?:eintrag|quelle|abschnitt|dokument|text)\w*\b",
    r"\b(?:sag|sage|schreib|schreibe|behaupte|gib|gebe)\s+(?:\w+\s+){0,3}(?:dem|den|der)\s(?:nutzer|benutzer|anwender|user|fragenden)\w*\b",
    r"\b(?:always|only|just)\s(?:answer|respond|reply|cite|say|output)\b|\b(?:answer|respond|reply)\s(?:only|always|every|to (?:all|every|any))\b",
    r"\b(?:do not|don't|never)\s(?:cite|mention|reveal|tell)\b|\bcite (?:only )?this (?:entry|source|document)\b",
    # Giving the model a role, or asking for its prompt.
    rf"\bdu bist\s(?:jetzt|nun|ab (?:jetzt|sofort|nun)|ein\w*\s(?:\w+\s){{0,2}}{_MODEL})\b|\byou are (?:now|an? (?:\w+ ){{0,2}}{_MODEL})\b",
    r"\b(?:tu|tue|verhalte dich)\sso,?\sals\b|\b(?:act|behave|pretend)\s(?:as|to be)\b|\bfrom now on\b",
    r"\b(?:system-?\s?prompt|systemanweisung(?:en)?)\b|\bjailbreak\b|\bdeveloper mode\b|\bprompt[- ]injection\b",
    rf"\b(?:hinweis|nachricht|anweisung|befehl|auftrag|note|message|instructions?)\s(?:an|für|to|for)\s(?:die\s|das\s|den\s|the\s)?{_MODEL}\b",
    rf"\b(?:als|liebe[rs]?|dear|as an?)\s(?:große[rs]?\s)?(?:ki|llm|sprachmodell|ki-modell|ki-assistent\w*|language model|ai(?: model| assistant)?)\b"
    r"[^.!?\n]{0,40}\b(?:musst|sollst|darfst|hast|antworte|must|should|will|you)\b",
)
_INSTRUCTION = re.compile("|".join(f"(?:{pattern})" for pattern in _PATTERNS), re.IGNORECASE | re.MULTILINE)
_HINT = re.compile(
    r"ignor|verg[ie]ss|missacht|verwirf|überschreib|übergeh|überspring|disregard|forget|overrid|bypass|skip|anweisung|instru"
    r"|antwort|erwider|entgegne|künftig|immer|stets|zitier|erwähn|nenne|verwende|empfiehl|sag|schreib|behaupt|gib|gebe"
    r"|always|only|just|answer|respond|reply|not|n't|never|cite|du bist|you are|so,? als|act|behave|pretend|from now"
    r"|prompt|jailbreak|developer|assist|system|<\||INST\]|SYS>|start_of_turn|modell|\bki\b|llm|\bai\b|gpt|bot",
    re.IGNORECASE,
)
_PARAGRAPH = re.compile(r"(?:^(?!\s*$).*(?:\n|\Z))+", re.MULTILINE)
_SENTENCE_END = re.compile(r"[.!?:;]\s+|\n")


def find_instructions(text: str) -> tuple[tuple[int, int], ...]:
    """The half-open parts of `text` that speak to a model, in order, not overlapping; empty for ordinary text.

    A part goes from the beginning of the sentence that gives it away to the end of its paragraph, because what follows an
    instruction belongs to it; in a table it is the whole row. This is a filter for what curated text has no reason to
    contain, not a proof: what is cited is still checked against the section.
    """
    spans: list[tuple[int, int]] = []
    for match in _INSTRUCTION.finditer(text):
        if spans and match.start() < spans[-1][1]:
            continue
        spans.append(_around(text, match.start(), match.end()))
    return tuple(spans)


def blanked(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """`text` with every character of the spans but line ends replaced by a blank; same length."""
    for start, end in spans:
        text = text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]
    return text


def _around(text: str, start: int, end: int) -> tuple[int, int]:
    line_start = text.rfind("\n", 0, start) + 1
    while text[start:end].startswith(("\n", " ")):
        start += 1
    line_start = text.rfind("\n", 0, start) + 1
    if text[line_start:start].lstrip().startswith("|") or text[start:].startswith("|"):
        line_end = text.find("\n", end)
        return line_start, len(text) if line_end < 0 else line_end
    paragraph_start = max(text.rfind("\n\n", 0, start) + 2, 0) if "\n\n" in text[:start] else 0
    sentence = paragraph_start
    for boundary in _SENTENCE_END.finditer(text, paragraph_start, start):
        sentence = boundary.end()
    paragraph_end = text.find("\n\n", end)
    return sentence, len(text) if paragraph_end < 0 else paragraph_end
