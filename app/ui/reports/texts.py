"""Every German text of the tab Auswertung that is not data."""

from app.store.feedback import GapStatus

TITLE = "Auswertung"
RETRIEVAL = "Suche"
RETRIEVAL_HELP = "Jeder Punkt ist eine Messung mit `python -m evaluation retrieval` über dieselben Fragen."
REFRESH = "Aktualisieren"
HISTORY, RUNS, COVERAGE, GAPS, FAILURES = "Verlauf", "Läufe", "Abdeckung der Themen", "Gemeldete Lücken", "Fehlschläge"
NO_RUNS = (
    "Noch keine Messung von Antworten. Ein Lauf im Tab „Modellvergleich“ oder der Befehl `python -m evaluation answers` "
    "legt hier einen Bericht ab."
)
NO_HISTORY = "Ein Verlauf entsteht ab dem zweiten Lauf über dieselben Fragen."
DETAIL_EMPTY = "Wählen Sie links einen Lauf: Hier erscheinen seine Kennzahlen und jede Frage, an der etwas falsch ist."
NO_FAILURES = "An keiner Frage ist etwas falsch."
HISTORY_HELP = "Jeder Punkt ist ein Lauf über dieselben Fragen, von links nach rechts in der Reihenfolge der Zeit."
COVERAGE_HELP = "Wie viele Einträge eines Themas in den mitgelieferten Fragen als Fundstelle erwartet werden."
COVERAGE_HEAD = ("Thema", "Einträge", "davon gefragt", "Fragen")
COVERAGE_NONE = "Ohne Index lässt sich die Abdeckung nicht bestimmen."
COVERAGE_FOREIGN = "Die mitgelieferten Fragen gehören zu einer anderen Wissensbasis."
GAPS_NONE = "Niemand hat eine Lücke gemeldet."
GAP_TEXT: dict[GapStatus, str] = {"open": "offen", "accepted": "angenommen", "done": "erledigt", "dismissed": "verworfen"}
NO_QUESTION = "Frage nicht gespeichert"
LOOK, REUSE = "In der Suche ansehen", "Frage übernehmen"
FIGURES = "Alle Kennzahlen"
UNREADABLE = "Bericht nicht lesbar"
ERROR = "Die Berichte konnten nicht gelesen werden."
KIND = {"bakeoff": "Modellvergleich", "answers": "Messung"}
MEASURES = (
    ("citation_recall", "Erwartete Quellen zitiert"),
    ("draft_citation_precision", "Zitier-Präzision (Entwurf)"),
    ("refusal_correct", "Verweigerung korrekt"),
    ("p50_seconds", "Latenz, Median (s)"),
)
"""What the history shows, as (field of a model's summary, title)."""
