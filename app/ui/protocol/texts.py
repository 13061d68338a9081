"""Every German text of the tab Protokoll that is not data."""

from app.drift import QuoteState
from pipelines.answer_text import STATUS_TEXT

TITLE = "Protokoll"
FILTERS = "Antworten eingrenzen"
SINCE, UNTIL, DAY_HINT = "Von", "Bis", "TT.MM.JJJJ"
STATUS = "Ergebnis"
ENTRY, ENTRY_HINT = "Zitierter Eintrag", "z. B. pv-sv-05"
TEXT, TEXT_HINT = "Text in Frage oder Antwort", "Wort oder Wortteil"
FEEDBACK = "Rückmeldung"
SHOW, MORE, EXPORT = "Anzeigen", "Ältere anzeigen", "Als JSONL exportieren"
DRIFT, CHAIN = "Überholte Antworten suchen", "Kette prüfen"
STATUS_CHOICES = (("", "alle"), *STATUS_TEXT.items())
FEEDBACK_CHOICES = (
    ("", "alle"),
    ("down", "nicht hilfreich"),
    ("up", "hilfreich"),
    ("any", "bewertet"),
    ("commented", "mit Kommentar"),
)
RATED_UP, RATED_DOWN = "hilfreich", "nicht hilfreich"
NO_CONTENT = "Inhalt gelöscht oder nie gespeichert"
NO_CONTENT_HELP = (
    "Von dieser Antwort sind nur Kennungen, Zeiten, Fassungen und Prüfsummen vorhanden. Frage, Antwort und Zitate wurden nach "
    "Ablauf der Aufbewahrungsfrist gelöscht oder nach der Einstellung nie gespeichert."
)
METADATA_ONLY = (
    "Nach der Einstellung PV_AUDIT_CONTENT=metadata werden Fragen, Antworten und Kommentare nicht gespeichert. Sichtbar sind "
    "Zeit, Ergebnis, zitierte Einträge, Fassungen und Prüfsummen; im Text zu suchen findet deshalb nichts Neues."
)
NONE_YET = "Noch keine Antwort im Protokoll. Jede Antwort und jede Ablehnung wird hier festgehalten, bevor sie jemand sieht."
NONE_FOUND = "Keine Antwort passt zu dieser Auswahl."
DETAIL_EMPTY = "Wählen Sie links eine Antwort: Hier erscheint, was sie belegt und was daraus geworden ist."
CHAIN_WHOLE = "Kette unversehrt"
CHAIN_BROKEN = "Kette verletzt"
CHAIN_HELP = (
    "Jede Zeile des Protokolls enthält die Prüfsumme der vorigen. So fällt auf, wenn eine Zeile geändert, entfernt oder "
    "eingefügt wurde."
)
CHAIN_KIND = {
    "changed": "wurde nach dem Schreiben geändert oder eingefügt",
    "missing": "fehlt",
    "content_changed": "hat einen geänderten Inhalt",
    "head": "ist nicht das Ende, das zuletzt geschrieben wurde",
}
DRIFT_NONE = "Keine Antwort dieser Auswahl zitiert etwas, das sich seither geändert hat."
DRIFT_HELP = "Diese Antworten zitieren etwas, das die Wissensbasis heute anders oder nicht mehr sagt."
QUOTE_TEXT: dict[QuoteState, str] = {"unchanged": "unverändert", "changed": "geändert", "gone": "nicht mehr da"}
QUOTES = "Zitate heute"
QUOTES_UNKNOWN = "Ohne Index lässt sich nicht prüfen, ob die Zitate noch gelten."
QUOTED_THEN, SAYS_NOW = "damals", "heute"
CLAIMS, REFUSAL, SAID, VIOLATIONS, PROOF = "Aussagen", "Warum nicht geantwortet wurde", "Rückmeldungen", "Beanstandet", "Nachweis"
NOT_SAID = "Keine Rückmeldung."
SHEET = "Beweisblatt"
ASK_AGAIN = "Frage übernehmen"
TEXT_GONE = "Text nicht gespeichert"
ERROR = "Das Protokoll konnte nicht gelesen werden."
BAD_DATE = "Bitte ein Datum als TT.MM.JJJJ angeben."


def rows_found(number: int, *, more: bool) -> str:
    """How many answers are listed."""
    shown = "1 Antwort" if number == 1 else f"{number} Antworten"
    return f"Die {number} neuesten Antworten dieser Auswahl" if more else shown
