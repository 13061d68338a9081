"""German texts of the tab Verwaltung that are not part of one view."""

from app.ui.manage.commands import View

TITLE = "Verwaltung"
GROUPS: tuple[tuple[str, tuple[tuple[View, str], ...]], ...] = (
    ("Inhalt", (("documents", "Dokumente"), ("tags", "Schlagworte"))),
    ("Pflege", (("conflicts", "Widersprüche"), ("gaps", "Lücken"))),
    ("Betrieb", (("jobs", "Aufträge"), ("index", "Indexfassungen"), ("prompts", "Prompts"), ("endpoints", "Endpunkte"))),
)
LOADING = "Wird geladen …"
ADMIN_ONLY = '<p class="pv-mg-empty">Dafür ist die Rolle „admin“ nötig. Eine Administratorin kann sie vergeben.</p>'
FORBIDDEN = "Dafür fehlt Ihnen die Berechtigung. Es wurde nichts geändert."
GONE = "Das gibt es nicht mehr. Bitte die Liste neu öffnen."
UNKNOWN_ENTRY = "Mindestens eine Kennung gibt es nicht, oder das Schlagwort wurde inzwischen gelöscht. Es wurde nichts geändert."
NOT_STORED = "Die Datenbank konnte nicht benutzt werden. Es wurde nichts geändert; bitte Speicherplatz und Rechte prüfen lassen."
BUSY = "Gerade wird am Index gebaut. Bitte warten, bis der Auftrag beendet ist."
NO_INDEX = "Der Index kann dafür nicht benutzt werden, oder es gibt keine Fassung davor."
FAILED = "Das ist nicht gelungen. Näheres steht im Protokoll des Dienstes."
WITH_ENTRIES = ("tag-create", "tag-assign")
BAD_INPUT = {
    "tag-create": "Der Name ist leer, länger als 80 Zeichen oder schon vergeben.",
    "tag-adopt": "Der Name ist schon vergeben.",
    "tag-merge": "Das sind zweimal dieselben. Bitte zwei verschiedene wählen.",
    "take-out": "Das Dokument ist schon herausgenommen.",
    "prompt-add": "Der Text ist leer oder länger als 4.000 Zeichen.",
    "endpoint-add": (
        "Name, Adresse oder Modell ist nicht verwendbar. Die Adresse ist http://rechner:port oder https://rechner:port ohne "
        "Benutzer und Passwort; Modelle aus der Cloud sind nicht erlaubt."
    ),
}
