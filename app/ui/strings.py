"""Every German text of the interface that is not data."""

from custom_postprocessors.evidence import Mark, Scope
from pipelines.contracts import Channel, QuestionType, RefusalReason

PRODUCT = "pv-agent"
TAGLINE = "Personalverrechnung Österreich – Antworten mit Beleg"

TAB_ASK = "Fragen"
TAB_SEARCH = "Suche"
LOGOUT = "Abmelden"
LOGOUT_PATH = "/logout"

QUESTION_LABEL = "Ihre Frage"
QUESTION_PLACEHOLDER = "Frage zur Personalverrechnung stellen …"
ASK = "Fragen"
STOP = "Anhalten"
AS_OF_LABEL = "Stichtag (Monat)"
AS_OF_DEFAULT = "aktueller Monat"
SCOPES_LABEL = "Bereiche"
ANSWERED_BY_LABEL = "Antwort durch"
MODEL_AUTO = "Automatisch"
MODEL_EXTRACTIVE = "Zitatmodus"

WELCOME_TITLE = "Was möchten Sie wissen?"
WELCOME_TEXT = (
    "pv-agent beantwortet Fragen zur österreichischen Personalverrechnung ausschließlich aus der Wissensbasis Ihres Hauses. "
    "Jede Aussage wird gegen ihre Fundstelle geprüft und nennt Eintrag und Stand. Wo die Wissensbasis schweigt, steht das da."
)
STARTING_TITLE = "Die Wissensbasis wird eingelesen …"
STARTING_TEXT = "Beim ersten Start dauert das etwa eine Minute. Danach ist diese Seite von selbst bereit."
EXAMPLES_TITLE = "Zum Beispiel"
TOPICS_TITLE = "Was die Wissensbasis behandelt"
EXAMPLES = (
    "Wie hoch ist die Geringfügigkeitsgrenze 2026?",
    "Bis wann ist die mBGM zu übermitteln?",
    "Wie lange habe ich bei einer Kündigung die Entgeltfortzahlung im Krankenstand zu leisten?",
    "Wie wird ein Sachbezug für ein Elektroauto berechnet?",
    "Welche Kündigungsfristen gelten für Angestellte?",
    "Wie viel Lehrlingseinkommen gebührt im Handel?",
)

EVIDENCE_TITLE = "Beleg"
EVIDENCE_EMPTY = "Klicken Sie in einer Antwort auf einen Beleg: Hier erscheint der Eintrag, die belegende Stelle ist markiert."
SEARCH_PANE_EMPTY = "Klicken Sie auf einen Abschnitt: Hier erscheint der Eintrag."
EVIDENCE_CLOSE = "Beleg schließen"

SCOPE_TEXT: dict[Scope, str] = {
    "gesetz": "Gesetz",
    "kv": "KV",
    "rechtsprechung": "Rechtsprechung",
    "briefing": "Briefing",
}
WORK_TEXT = {"pv": "Briefing", "ris": "Gesetz", "kv": "Kollektivvertrag", "rj": "Rechtsprechung"}
MARK_TEXT: dict[Mark, str] = {
    "outdated": "älterer Stand",
    "superseded": "überholt",
    "secondary_source": "laut Sekundärquelle",
}
MARK_HELP: dict[Mark, str] = {
    "outdated": "Der Eintrag wurde länger nicht geprüft als eingestellt.",
    "superseded": "Für den gefragten Monat gibt es einen neueren Wert.",
    "secondary_source": "Der Eintrag beruht nicht auf einer amtlichen Quelle.",
}
CHANNEL_TEXT: dict[Channel, str] = {
    "lexical": "Wortsuche",
    "dense": "Bedeutungssuche",
    "typo": "Schreibfehlersuche",
}
QUESTION_TYPE_TEXT: dict[QuestionType, str] = {
    "fact": "Sachfrage",
    "value": "Wertfrage",
    "multi": "mehrteilige Frage",
    "survey": "Überblicksfrage",
    "decision": "Entscheidungsfrage",
    "comparison": "Vergleichsfrage",
}

REFUSED_TITLE: dict[RefusalReason, str] = {
    "kb_silent": "Dazu enthält die Wissensbasis keine Aussage.",
    "weak_evidence": "Dazu enthält die Wissensbasis keine Aussage.",
    "verification_failed": "Keine belegbare Antwort.",
    "out_of_period": "Kein gültiger Wert für diesen Zeitraum.",
    "model_unavailable": "Ollama ist nicht erreichbar.",
    "model_failed": "Das Sprachmodell hat nicht brauchbar geantwortet.",
}
REFUSED_TEXT: dict[RefusalReason, str] = {
    "kb_silent": "Es wurde gesucht, aber kein Eintrag behandelt diese Frage.",
    "weak_evidence": "Es gibt entfernt verwandte Einträge, aber keiner trägt eine Antwort.",
    "verification_failed": "Ein Entwurf lag vor, seine Aussagen ließen sich nicht belegen. Deshalb wird nichts davon gezeigt.",
    "out_of_period": "Die Wissensbasis behandelt das Thema, aber nicht den gefragten Zeitraum.",
    "model_unavailable": (
        "Das ist eine Störung und keine Aussage über die Wissensbasis. Die Frage kann ohne Sprachmodell mit wörtlichen Zitaten "
        "beantwortet werden."
    ),
    "model_failed": (
        "Das ist eine Störung und keine Aussage über die Wissensbasis. Die Frage kann ohne Sprachmodell mit wörtlichen Zitaten "
        "beantwortet werden."
    ),
}
ASK_EXTRACTIVE = "Im Zitatmodus antworten"
NEAREST = "Am nächsten liegen"
SEARCHED = "Gesucht wurde"
RELATED = "Siehe auch"

WORKING = {
    "start": "Frage wird gelesen …",
    "search": "Wissensbasis wird durchsucht …",
    "write": "Die Antwort wird geschrieben, jede Aussage wird vorher geprüft …",
    "regenerate": "Ein Entwurf hielt der Prüfung nicht stand. Es wird neu geschrieben …",
}
WAITING = ("Frage in der Warteschlange des Sprachmodells", "Fragen in der Warteschlange des Sprachmodells")
STOPPED = "Angehalten. Was oben steht, ist geprüft, aber unvollständig."
STOPPED_EMPTY = "Angehalten, bevor eine geprüfte Aussage vorlag."
CONFLICT = "Widersprüchliche Angaben"
DERIVED = "berechnet"
NOT_ANSWERED = "Keine Antwort"
UNANSWERED = "Nicht belegt beantwortet"
FOLLOW_UP = "Rückfrage"
STANDALONE = "Verstanden als"
EDIT = "bearbeiten"
SOURCES = "Quellen"
PROOF = "Prüfung"
DEGRADED = "Eingeschränkte Suche"

COPY = "Mit Belegen kopieren"
COPIED = "Kopiert"
COPY_FAILED = "Kopieren nicht erlaubt"
THUMB_UP = "Hilfreich"
THUMB_DOWN = "Nicht hilfreich"
GAP = "Lücke melden"
SHEET = "Beweisblatt"
COMMENT_LABEL = "Kommentar zu dieser Antwort"
COMMENT_PLACEHOLDER = "Kommentar für die Redaktion …"
COMMENT_SEND = "Senden"
THANKS_RATING = "Danke, bewertet."
THANKS_COMMENT = "Kommentar gespeichert."
THANKS_GAP = "Lücke gemeldet."

ERROR_TITLE = "Das hat nicht geklappt."
ERROR_TEXT = "Es ist ein technischer Fehler aufgetreten. Die Frage wurde nicht beantwortet; bitte noch einmal versuchen."
ERROR_NO_INDEX = "Es gibt noch keinen Index der Wissensbasis. Er wird gerade aufgebaut; bitte gleich noch einmal fragen."
ERROR_QUEUE = "Gerade warten zu viele Fragen auf das Sprachmodell. Diese wurde nicht gestellt; bitte gleich noch einmal."
ERROR_INDEX = "Der Index der Wissensbasis passt nicht zu den Einstellungen. Bitte die Verwaltung verständigen."
ERROR_FORBIDDEN = "Dafür fehlt Ihnen die Berechtigung. Die Verwaltung kann sie vergeben."
ERROR_ENTRY_GONE = "Dieser Eintrag ist nicht mehr in der Wissensbasis."
ERROR_NOT_KEPT = "Das konnte nicht gespeichert werden."
ERROR_COMMENT = "Bitte einen Kommentar eingeben."
SECTION_CHANGED = "Die zitierte Stelle gibt es in der aktuellen Fassung des Eintrags nicht mehr an dieser Position."

LEGAL_BASES = "Rechtsgrundlagen"
ENTRY_SOURCES = "Quellen des Eintrags"
CROSS_REFS = "Verweise"
STAND = "Stand"

SEARCH_LABEL = "Suchtext"
SEARCH_PLACEHOLDER = "Wie in der Frage: ganze Sätze oder Stichworte"
SEARCH_BUTTON = "Suchen"
SEARCH_EMPTY = (
    "Die Suche zeigt, was der Antwort zugrunde liegt: wie die Frage gelesen wird, was jeder Suchkanal findet und warum ein "
    "Abschnitt in den Kontext kommt oder nicht."
)
SEARCH_ANALYSIS = "So wird die Frage gelesen"
SEARCH_NOTHING = "Kein Abschnitt gefunden."


def german_month(month: str) -> str:
    """`2026-01` as „Jänner 2026“; anything else as it is."""
    names = "Jänner Februar März April Mai Juni Juli August September Oktober November Dezember".split()
    year, _, number = month.partition("-")
    if not number.isdigit() or not 1 <= int(number) <= 12:
        return month
    return f"{names[int(number) - 1]} {year}"


def counted(number: int, one: str, many: str) -> str:
    """A number with its noun: „1 Eintrag“, „190 Einträge“; thousands with a point."""
    return f"{number:,}".replace(",", ".") + " " + (one if number == 1 else many)
