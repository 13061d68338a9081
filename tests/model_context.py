"""A small grounded context with real wording, for tests of what talks to a model."""

from custom_postprocessors.evidence import ChannelScores, GroundedContext, Passage
from pipelines.contracts import Plan

QUESTION = "Wie hoch ist die Geringfügigkeitsgrenze monatlich 2026?"
PLAN = Plan(type="value", queries=(QUESTION,), as_of="2026-01", as_of_named=True)
LIMIT = "Geringfügigkeitsgrenze monatlich: 551,10 € (2026 (unverändert zu 2025))"


def passage(block_id: str, text: str, **changes: object) -> Passage:
    entry_id = block_id.partition("#")[0]
    values: dict[str, object] = {
        "block_id": block_id,
        "node_id": f"{entry_id}#kernwerte-fristen",
        "entry_id": entry_id,
        "section": "Kernwerte & Fristen",
        "title": "Geringfügige Beschäftigung 2026",
        "stand": "2026-01",
        "work": "pv",
        "topic": "sozialversicherung",
        "text": text,
        "shown": ((0, len(text)),),
        "scores": ChannelScores(bm25=9.0, fused=0.1),
    }
    return Passage(**{**values, **changes})  # type: ignore[arg-type]


LIMITS = passage(
    "pv-sv-05",
    "| Kennzahl | Wert | Gültig | Grundlage |\n|---|---|---|---|\n"
    "| Geringfügigkeitsgrenze monatlich | 551,10 € | 2026 (unverändert zu 2025) | § 5 Abs 2 ASVG |\n"
    "| Geringfügigkeitsgrenze 2024 | 518,44 € | 2024 | § 5 Abs 2 ASVG |\n"
    "| BV-Beitrag | 1,53 % | laufend | BMSVG |",
)
LEVY = passage(
    "pv-sv-07",
    "Die Dienstgeberabgabe beträgt 19,4 % der Beitragsgrundlage. Sie fällt an, wenn die Summe der monatlichen Entgelte "
    "der geringfügig Beschäftigten 826,65 € übersteigt.",
    section="Zusammenfassung",
    title="Dienstgeberabgabe für geringfügig Beschäftigte",
)
CONTEXT = GroundedContext(passages=(LIMITS, LEVY))
