"""Text that addresses the model instead of the reader. It stays readable in its entry, and it is never evidence."""

import re
from collections.abc import Sequence

_RULES = (
    r"(?:anweisung|instruktion|vorgabe|regel|anleitung|befehl|prompt|aufforderung|einschränkung|kontext|systemprompt)"
    r"\w*"
)
_EARLIER_STEMS = (
    "all|bisherig|vorherig|obig|vorig|vorangegangen|vorstehend|vorangehend|früher|sämtlich|ander|jeglich|jed|übrig|restlich"
)
_EARLIER = rf"(?:{_EARLIER_STEMS})\w*"
_ENGLISH_RULES = r"(?:instructions?|rules?|prompts?|directions?|guidelines?|context|messages?|sources?)"
_MODEL = (
    r"(?:ki|k\.i\.|llm|gpt|chatgpt|qwen|chatbot|bot|sprachmodell|modell|ki-modell|ki-system|ki-assistent\w*|assistent\w*|assistant"
    r"|language model|ai model|ai assistant|ai|model)"
)
_ANSWER = r"(?:antworte|beantworte|erwidere|entgegne|antworten sie|beantworten sie)"
_SAY = r"(?:sag|sage|sagen sie|schreib|schreibe|schreiben sie|behaupte|behaupten sie|nenn|nenne|nennen sie|gib|geben sie)"
_EVERY_TIME = r"(?:ab (?:jetzt|sofort|nun|heute)|von nun an|künftig|in zukunft|immer|stets|ausnahmslos|jedes ?mal)"

_SOURCES: tuple[tuple[tuple[str, ...], str], ...] = (
    # The turn of a chat, or a mark that models are trained on.
    (
        ("system", "assist", "developer", "entwickler", "user", "human"),
        r"^[ \t>#|\[(<\-]*(?:system|assistant|assistent|developer|entwickler|human|user|system[ -]?"
        r"(?:prompt|message|nachricht|anweisung|hinweis|meldung))\s*[\])>#]*\s*:",
    ),
    (("system",), r"\[system\]|^[ \t]*#{1,6}[ \t]*system(?:prompt)?[ \t]*#*[ \t]*$|</?system>|<<\s*/?sys\s*>>"),
    (("<|", "[inst", "[/inst", "start_of_turn", "<<sys"), r"<\|[\w ]+\|?>|\[/?inst\]|<start_of_turn>|<<\s*/?sys\s*>>"),
    # Setting earlier instructions aside.
    (
        ("ignor", "vergiss", "vergess", "missacht", "verwirf", "verwerf", "überschreib", "übergeh", "überspring", "umgeh"),
        rf"\b(?:ignorier|vergiss|vergessen sie|vergesst|missacht|verwirf|verwerfen sie|überschreib|übergeh|überspring|umgeh)\w*\b"
        rf"[^.!?|]{{0,60}}\b{_EARLIER}\s(?:[^.!?|]{{0,30}}\s)?{_RULES}",
    ),
    (
        ("ignor", "vergiss", "vergess", "missacht"),
        rf"\b(?:ignoriere|ignorieren sie|vergiss|vergessen sie|missachte|missachten sie)\b[^.!?|]{{0,40}}\b"
        rf"(?:(?:die|deine|ihre|diese|meine|den)\s(?:\w+\s)?{_RULES}"
        r"|alles(?:,? was)?\s(?:\w+\s)?(?:bisher|vorher|zuvor|oben|davor|andere|vorige|obige|weitere|übrige)"
        r"|(?:die|alle)\s(?:anderen|übrigen|restlichen|weiteren)\s(?:quellen|einträge|abschnitte|blöcke|dokumente))",
    ),
    (
        ("anweisung", "instruktion", "vorgaben", "regeln"),
        rf"\b{_EARLIER}\s(?:anweisungen|instruktionen|vorgaben|regeln)\b[^.!?|]{{0,30}}\b"
        r"(?:sind (?:aufgehoben|ungültig|hinfällig|nichtig|zu ignorieren)|gelten (?:nicht mehr|ab (?:jetzt|sofort) nicht))",
    ),
    (
        ("ignor", "disregard", "forget", "overrid", "bypass"),
        r"\b(?:ignore|disregard|forget|override|bypass)\b[^.!?|]{0,50}"
        r"\b(?:(?:all|any|previous|prior|earlier|above|preceding|your|the|these|those|other)\b"
        rf"[^.!?|]{{0,30}}\b{_ENGLISH_RULES}\b"
        r"|everything\b|the above\b|what (?:you|was)\b)",
    ),
    (
        ("neue anweisung", "neue instruktion", "geänderte anweisung", "new instruction", "wichtige anweisung"),
        r"\b(?:neue|geänderte|wichtige)\s(?:anweisung|instruktion)(?:en)?\s*:|\bnew instructions?\s*:",
    ),
    # Telling what to answer or to cite.
    (
        ("antwort", "erwider", "entgegne"),
        rf"\b{_ANSWER}\s+(?:\w+\s+){{0,4}}"
        rf"(?:{_EVERY_TIME}|ausschließlich|nur (?:noch )?mit|auf (?:jede|alle|sämtliche)|jede frage|alle fragen|mit „|mit \")",
    ),
    (
        ("antwort", "zitier", "sag", "schreib", "behaupt", "nenn"),
        rf"\b{_EVERY_TIME}\s+(?:\w+\s+){{0,2}}(?:{_ANSWER}|zitiere|zitieren sie|sage|sagen sie|schreibe|behaupte)\b",
    ),
    (
        ("gefragt", "fragt", "frage", "liest"),
        r"\b(?:wenn|falls|sobald|sooft)\b[^.!?|]{0,60}\b(?:gefragt|fragt|fragen|frage|liest|lesen)\b[^.!?|]{0,60},\s*"
        rf"(?:dann\s|so\s)?(?:{_ANSWER}|{_SAY})\b",
    ),
    (
        ("antwort",),
        r"\b(?:richtige|korrekte|einzige|deine|ihre)\s(?:\w+\s)?antwort\s(?:auf (?:jede|alle)\s\w+\s)?"
        r"(?:lautet|ist|muss|soll|hat)\s"
        r"(?:immer|stets|ab|jetzt|nun|künftig|lauten)\b|\bauf (?:jede|alle) fragen?\b[^.!?|]{0,40}\b(?:lautet|antwort)\w*",
    ),
    (
        ("zitier", "erwähn", "verwend", "bevorzug", "empfiehl", "empfehl", "nutze"),
        r"\b(?:zitiere|zitieren sie|erwähne|erwähnen sie|verwende|verwenden sie|bevorzuge|bevorzugen sie|nutze|nutzen sie)\s+"
        r"(?:\w+\s+){0,4}(?:diesen|dieses|diese|den vorliegenden|keine anderen?|keine weiteren?|keinen anderen)\s(?:\w+\s)?"
        r"(?:eintr[aä]g|quelle|dokument|text|block)\w*\b",
    ),
    (
        ("nutzer", "benutzer", "anwender", "user", "fragend"),
        rf"\b{_SAY}\s+(?:\w+\s+){{0,3}}(?:dem|den|der)\s(?:nutzer|benutzer|anwender|user|fragenden)\w*\b",
    ),
    (
        ("always", "only", "just", "answer", "respond", "reply"),
        r"\b(?:always|only|just)\s(?:answer|respond|reply|cite|say|output)\b"
        r"|\b(?:answer|respond|reply)\s(?:only|always|every|to (?:all|every|any)|with)\b",
    ),
    (
        ("cite", "mention", "reveal", "do not tell", "never tell"),
        r"\b(?:do not|don't|never|always)\s(?:cite|mention|reveal|tell)\b"
        r"|\bcite (?:only |always )?this (?:entry|source|document)\b",
    ),
    # Giving the model a role, or asking for its prompt.
    (
        ("du bist", "sie sind", "you are", "deine aufgabe", "your task"),
        rf"\bdu bist\s(?:jetzt|nun|ab (?:jetzt|sofort|nun))\b|\b(?:du bist|sie sind)\sein\w*\s(?:\w+\s){{0,3}}{_MODEL}\b"
        rf"|\byou are (?:now\b|an? (?:\w+ ){{0,3}}{_MODEL}\b)|\bdeine aufgabe (?:ist|lautet|besteht)\b|\byour (?:new )?task is\b",
    ),
    (
        ("so, als", "so als", "act as", "behave as", "pretend", "from now on"),
        r"\b(?:tu|tue|verhalte dich)\sso,?\sals\b|\b(?:act|behave)\sas\b|\bpretend\s(?:to be|that)\b|\bfrom now on\b",
    ),
    (
        ("system-prompt", "system prompt", "systemprompt", "systemanweisung", "jailbreak", "developer mode", "injection"),
        r"\bsystem[- ]?prompt|\bsystemanweisung|\bjailbreak|\bdeveloper mode\b|\bprompt[- ]injection\b",
    ),
    (
        ("hinweis", "nachricht", "anweisung", "befehl", "auftrag", "note", "message", "instruction"),
        r"\b(?:hinweis|nachricht|anweisung|befehl|auftrag|note|message|instruction)\w*\s(?:an|für|to|for)\s(?:alle\s|any\s)?"
        rf"(?:die\s|das\s|den\s|the\s|jede[sn]?\s)?{_MODEL}(?:s|en|e)?\s*:",
    ),
    (
        ("ki", "llm", "sprachmodell", "assistent", "language model", " ai"),
        r"^[ \t>#\-]*(?:an (?:das|die|den|alle)|liebe[rs]?|dear|achtung|attention)\s(?:große[rs]?\s)?"
        r"(?:ki|llms?|sprachmodelle?|ki-modelle?|ki-assistent\w*|assistent\w*|language models?|ai(?: models?| assistants?)?)"
        r"\s*[:,!]"
        r"|\b(?:als|as an?)\s(?:große[rs]?\s)?"
        r"(?:ki|llm|sprachmodell|ki-modell|ki-assistent\w*|language model|ai(?: model| assistant)?)\b"
        r"[^.!?|]{0,40}\b(?:musst du|sollst du|darfst du|hast du|antworte|you must|you should|you will)\b",
    ),
)
_PATTERNS = tuple((hints, re.compile(source, re.IGNORECASE | re.MULTILINE)) for hints, source in _SOURCES)
_MARKUP = "*_`~"
_SENTENCE_END = re.compile(r"[.!?]\s+")
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n")


def find_instructions(text: str) -> tuple[tuple[int, int], ...]:
    """The half-open parts of `text` that speak to a model, in order, not overlapping; empty for ordinary text.

    A part goes from the beginning of the sentence that gives it away to the end of its paragraph, because what follows an
    instruction belongs to it; in a table it is the whole row. This is a filter for what curated text has no reason to
    contain, not a proof: what is cited is still checked against the section.
    """
    plain = text
    for mark in _MARKUP:
        plain = plain.replace(mark, " ")
    lowered = plain.lower()
    matches = sorted(
        match.span()
        for hints, pattern in _PATTERNS
        if any(hint in lowered for hint in hints)
        for match in pattern.finditer(plain)
    )
    spans: list[tuple[int, int]] = []
    for start, end in matches:
        if spans and end <= spans[-1][1]:
            continue
        part = _around(text, start, end)
        if spans and part[0] <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(spans[-1][1], part[1]))
        else:
            spans.append(part)
    return tuple(spans)


def blanked(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """`text` with every character of the spans but line ends replaced by a blank; same length."""
    for start, end in spans:
        text = text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]
    return text


def _around(text: str, start: int, end: int) -> tuple[int, int]:
    """From the beginning of the sentence (or table row) at `start` to the end of the paragraph (or row) at `end`."""
    while start < end - 1 and text[start].isspace():
        start += 1
    line_start = text.rfind("\n", 0, start) + 1
    if text[line_start : start + 1].lstrip().startswith("|"):
        line_end = text.find("\n", end)
        return line_start, len(text) if line_end < 0 else line_end
    before = [boundary.end() for boundary in _SENTENCE_END.finditer(text, line_start, start)]
    after = _PARAGRAPH_END.search(text, end)
    return before[-1] if before else line_start, after.start() if after else len(text)
