"""Which kind of source a question asks for: law, collective agreement, case law."""

from custom_postprocessors.evidence import Scope
from pipelines.rule_text import fold, rule

_ASKED: tuple[tuple[Scope, str], ...] = (
    (
        "gesetz",
        r"\b(?:laut|lt\.?|gemäß|im|nach dem|nach|was sagt das|steht im|vom) (?:dem |reinen |bloßen )?(?:gesetz|gesetzestext|"
        r"gesetzeswortlaut)\b|\bgesetzestext\b|\bwortlaut des gesetzes\b|\bgesetzeswortlaut\b",
    ),
    (
        "kv",
        r"\b(?:laut|lt\.?|gemäß|im|nach|nach dem|was sagt der|steht im) (?:jeweiligen |unserem )?(?:kv|kollektivvertrag|"
        r"kolektivvertrag|"
        r"kollektiv vertrag)\b|\bkollektivvertraglich\w*\b",
    ),
    (
        "rechtsprechung",
        r"\brechtsprechung\w*|\brechtssprechung\w*|\bjudikatur\w*|\b(?:ogh|vwgh|eugh|bfg|vfgh|höchstgericht\w*)\b|"
        r"\b(?:gerichts)?urteile?\b (?:zu|zum|zur|über|gibt)|\bgerichtsentscheid\w*",
    ),
)
_RULES = tuple((scope, rule(pattern)) for scope, pattern in _ASKED)
# „wenn der KV dazu nichts sagt“ asks for what holds beside it; „zwei Quellen, was stimmt“ wants every side.
_DENIED = rule(r"^.{0,25}\b(?:nichts|nix|kein\w*|schweigt|keine regelung)\b")
_BOTH_SIDES = rule(
    r"\b(?:was stimmt|wer hat recht|find beides|zwei (?:quellen|verschiedene)|einmal .* einmal|oder (?:doch )?nach)\b"
)


def scopes_of(question: str) -> tuple[Scope, ...]:
    """The scopes that the question explicitly asks for, in the order law, agreement, case law; empty: no filter."""
    folded = fold(question)
    if _BOTH_SIDES.search(folded):
        return ()
    found: list[Scope] = []
    for scope, pattern in _RULES:
        hit = pattern.search(folded)
        if hit is not None and not _DENIED.search(folded[hit.end() :]):
            found.append(scope)
    return tuple(found)
