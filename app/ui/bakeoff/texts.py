"""What the tab Modellvergleich says."""

from collections.abc import Mapping

from evaluation.ballots import Criterion

TITLE = "Modellvergleich"
QUESTION = "Frage an alle gewählten Modelle"
MODELS = "Modelle (zwei bis vier)"
BLIND = "blind: Reihenfolge zufällig, Namen erst nach der Abstimmung"
ASK = "Vergleichen"
STOP = "Anhalten"
AGAIN = "Neue Frage"
HIDDEN = "Namen und Zeiten bleiben bis zur Abstimmung verborgen. Alle Modelle bekommen denselben Kontext."
OPEN_ROUND = "Alle Modelle bekommen denselben Kontext."
EMPTY = "Stellen Sie zwei bis vier Modellen dieselbe Frage und lesen Sie die Antworten nebeneinander."
WRITING = "Die Antworten werden geschrieben und geprüft …"
WAITS = "wartet"
WRITES = "schreibt …"
REWRITES = "schreibt neu, der erste Entwurf hielt der Prüfung nicht stand …"
FAILED_HIDDEN = "Dieses Modell hat keine Antwort geliefert."
FAILED = "Dieses Modell ist gescheitert"
STOPPED = "angehalten"
VIOLATIONS = "Beanstandet"
TIMING = "Zeit"
VOTE = "Ihre Stimme"
VOTE_SEND = "Abstimmen"
VOTE_SEND_BLIND = "Abstimmen und Namen aufdecken"
REVEAL = "Ohne Stimme aufdecken"
VOTED = "Danke, Ihre Stimme zählt."
REVEALED = "Aufgedeckt ohne Stimme."
TIE = "gleich gut"
NONE_OF_TWO = "beide falsch"
NONE_OF_MORE = "alle falsch"
MISSING_VOTE = "Bitte in jedem Kriterium eine Wahl treffen."
CRITERION: Mapping[Criterion, str] = {
    "correctness": "Richtigkeit",
    "citations": "Belege",
    "completeness": "Vollständigkeit",
}
RANKING = "Rangliste aus Stimmen"
RANKING_EMPTY = "Noch hat niemand abgestimmt."
RANKING_HIDDEN = "Rangliste und Läufe erscheinen nach der Abstimmung wieder, damit sie nichts verraten."
RANKING_HELP = (
    "Siege und Niederlagen zählen je Paar; der exakte Vorzeichentest lässt Gleichstände weg. Ab 30 Stimmen je Kriterium kommen "
    "Bradley–Terry-Stärken mit 95-%-Intervall dazu."
)
RANKING_HEAD = (
    "Modell",
    "Siege",
    "Niederlagen",
    "gleich",
    "alle falsch",
    "Anteil",
    "Stärke",
    "Zitier-Präzision",
    "Verweigerung korrekt",
    "Latenz",
)
VOTES_CSV = "Stimmen als CSV"
RUNS = "Läufe über Goldsets"
RUNS_EMPTY = (
    "Noch kein Lauf. Ein Lauf stellt allen gewählten Modellen alle Fragen der Goldsets und entscheidet nach dem Protokoll."
)
GOLDSETS = "Goldsets"
START = "Lauf starten"
STARTED = "Der Lauf {run} ist angefordert."
CANCELLED = "Der Lauf {run} wird angehalten und kann fortgesetzt werden."
SHOW = "Ansehen"
CANCEL = "Abbrechen"
RESUME = "Fortsetzen"
CSV = "CSV"
COMPARE = "Zwei Läufe vergleichen"
COMPARE_SEND = "Vergleichen"
BEFORE, AFTER = "vorher", "nachher"
RUN_STATE = {
    "waiting": "wartet",
    "running": "läuft",
    "stopping": "hält an …",
    "finished": "fertig",
    "failed": "fehlgeschlagen",
    "stopped": "unterbrochen",
}
REFRESH = "Aktualisieren"
ERROR = "Das hat nicht geklappt. Im Protokoll des Dienstes steht, warum."
