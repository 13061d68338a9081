"""A service with real entries and prepared outcomes, for what the real one cannot be made to do at will."""

import re
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path

import yaml

from app.ui.service import (
    AnalysedWord,
    ChannelRanks,
    CrossRef,
    EntrySection,
    EntrySource,
    EntryView,
    EvidenceSheet,
    Overview,
    SearchRequest,
    SearchRow,
    SearchView,
    Topic,
)
from custom_postprocessors.evidence import ChannelScores, Citation, Claim, Conflict, ConflictSide, Formula, Operand, Violation
from pipelines.answer_text import answer_text
from pipelines.contracts import (
    Answer,
    Cancelled,
    ClaimEvent,
    Event,
    FinalEvent,
    Grounding,
    IndexInfo,
    ModelInfo,
    Plan,
    PlanEvent,
    Question,
    Refusal,
    RegeneratingEvent,
    Source,
    SourcesEvent,
    Timings,
)
from pipelines.errors import BadInput, IndexMissing, NotFound

DOCUMENTS = Path(__file__).resolve().parents[3] / "storage" / "wissensbasis" / "dokumente"
LIMIT = "Geringfügigkeitsgrenze"
ROW = "| Geringfügigkeitsgrenze monatlich | 551,10 € | 2026 (unverändert zu 2025) | § 5 Abs 2 ASVG, Budgetbegleitgesetz 2025 |"
HOSTILE = """Der Wert beträgt <script>window.pwned = 1</script> **551,10 €** <img src=x onerror="window.pwned = 2">.

| Kennzahl | Wert |
|---|---|
| <b onmouseover="window.pwned = 3">Grenze</b> | ![x](https://evil.example/pixel.png) [klick](javascript:window.pwned=4) |
"""


def read_entry(path: Path) -> EntryView:
    _, head, body = path.read_text(encoding="utf-8").split("---\n", 2)
    meta = yaml.safe_load(head)
    parts = re.split(r"^## (.+)\n", body, flags=re.M)[1:]
    sections = tuple(
        EntrySection(name, text.strip("\n")) for name, text in zip(parts[::2], parts[1::2], strict=True) if name != "Verweise"
    )
    return EntryView(
        entry_id=meta["id"],
        title=meta["title"],
        stand=meta["stand"],
        work=meta["work"],
        topic=meta["topic"],
        tags=tuple(meta["tags"]),
        legal_bases=tuple(meta["legal_bases"]),
        sections=sections,
        sources=tuple(EntrySource(**source) for source in meta["sources"]),
        cross_refs=tuple(CrossRef(i, _title(i), "2026-01") for i in meta["cross_refs"]),
    )


def _title(entry_id: str) -> str:
    path = DOCUMENTS / f"{entry_id}.md"
    if not path.is_file():
        return ""
    return str(yaml.safe_load(path.read_text(encoding="utf-8").split("---\n", 2)[1])["title"])


@dataclass
class FakeService:
    """Answers by words in the question: see `ask_events`."""

    pause_seconds: float = 0.0
    ratings: list[tuple[str, bool]] = field(default_factory=list)
    comments: list[tuple[str, str]] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)
    authors: list[str] = field(default_factory=list)
    asked: list[Question] = field(default_factory=list)
    was_cancelled: threading.Event = field(default_factory=threading.Event)

    def today(self) -> date:
        return date(2026, 3, 15)

    def models(self) -> tuple[str, ...]:
        return ("qwen3.8:27b", "gemma4:12b")

    def waiting(self) -> int:
        return 2

    def overview(self) -> Overview:
        return Overview(
            entries=190,
            sections=772,
            topics=tuple(Topic(f"thema-{n}", 7) for n in range(25)),
            newest_stand="2026-03",
            index_version="20260315-0001",
            embedding_model="embedded",
            mode="extractive",
            model="Zitatmodus",
            model_reason="Ollama ist nicht erreichbar, daher antwortet der Zitatmodus.",
        )

    def entry(self, entry_id: str) -> EntryView:
        if entry_id == "pv-evil-01":
            return EntryView(
                entry_id,
                "Titel <script>window.pwned = 5</script>",
                "2026-01",
                "pv",
                "x",
                sections=(EntrySection("Böse <b>", HOSTILE),),
            )
        path = DOCUMENTS / f"{entry_id}.md"
        if not re.fullmatch(r"[a-z0-9-]+", entry_id) or not path.is_file():
            raise NotFound(f"No entry {entry_id!r}.")
        return read_entry(path)

    def cite(self, entry_id: str, section: str, quote: str) -> Citation:
        entry = self.entry(entry_id)
        found = entry.section(section)
        assert found is not None
        start = found.text.index(quote)
        return Citation(entry_id=entry_id, section=section, stand=entry.stand, quote=quote, start=start, end=start + len(quote))

    def ask_events(self, question: Question, cancelled: Cancelled) -> Iterator[Event]:
        """„UVA“ is refused, „Ollama“ is unavailable, „defekt“ raises, „langsam“ takes its time, „konflikt“ has one,
        „rechne“ is derived, „böse“ cites hostile text, „neu“ is regenerated; everything else is the textbook answer."""
        self.asked.append(question)
        text = question.text.lower()
        plan = Plan(type="value", queries=(question.text,), as_of=question.as_of or "2026-03", scopes=question.scopes)
        yield PlanEvent(plan)
        if "defekt" in text:
            raise IndexMissing("No index.")
        if "uva" in text:
            yield FinalEvent(self.refusal(question, plan))
            return
        if "ollama" in text and question.model != "extractive":
            yield FinalEvent(self.unavailable(question, plan))
            return
        claims = self.claims(text)
        yield SourcesEvent(self.sources())
        if "neu" in text:
            yield ClaimEvent(0, Claim(text="Dieser Entwurf ist falsch: 511,10 €", citations=claims[0].citations))
            time.sleep(0.5)
            yield RegeneratingEvent((Violation(kind="value_not_in_source", message="511,10 € steht in keiner Fundstelle."),))
            time.sleep(0.5)
        for index, claim in enumerate(claims):
            yield ClaimEvent(index, claim)
            if "langsam" in text:
                for _ in range(20):
                    if cancelled():
                        self.was_cancelled.set()
                        return
                    time.sleep(0.05)
        yield FinalEvent(self.answer(question, plan, claims))

    def claims(self, text: str) -> tuple[Claim, ...]:
        sentence = self.cite(
            "pv-sv-05", "Zusammenfassung", "Die monatliche Geringfügigkeitsgrenze beträgt 2026 unverändert **551,10 €**."
        )
        row = self.cite(
            "pv-sv-05",
            "Kernwerte & Fristen",
            ROW,
        )
        other = self.cite("pv-sv-07", "Zusammenfassung", self.entry("pv-sv-07").sections[0].text.split(". ")[0] + ".")
        if "böse" in text:
            evil = HOSTILE.split("\n", 1)[0]
            place = Citation(entry_id="pv-evil-01", section="Böse <b>", stand="2026-01", quote=evil, start=0, end=len(evil))
            return (Claim(text=evil, citations=(place,)),)
        if "rechne" in text:
            formula = Formula(
                expression="551,10 * 1,5", operands=(Operand(value="551,10", entry_id="pv-sv-05"),), result="826,65"
            )
            return (
                Claim(
                    text="Der Grenzwert beträgt 826,65 €",
                    derived=True,
                    formula=formula,
                    marks=("secondary_source",),
                    citations=(row,),
                ),
            )
        return (
            Claim(text="Die monatliche Geringfügigkeitsgrenze beträgt 2026 unverändert **551,10 €**", citations=(sentence,)),
            Claim(text="Geringfügigkeitsgrenze monatlich: 551,10 € (2026, unverändert zu 2025)", citations=(row,)),
            Claim(text=other.quote, citations=(other,), marks=("outdated",) if "konflikt" in text else ()),
        )

    def sources(self) -> tuple[Source, ...]:
        found = []
        for entry_id in ("pv-sv-05", "pv-sv-07", "pv-sv-06"):
            entry = self.entry(entry_id)
            found.append(
                Source(
                    entry_id=entry_id,
                    title=entry.title,
                    stand=entry.stand,
                    work=entry.work,
                    topic=entry.topic,
                    section="Zusammenfassung",
                    scores=ChannelScores(bm25=12.5, similarity=0.61, ngram=0.4, fused=0.09),
                )
            )
        return tuple(found)

    def _common(self, question: Question, plan: Plan) -> dict[str, object]:
        return {
            "request_id": f"r-{len(self.asked)}",
            "created_at": datetime(2026, 3, 15, tzinfo=UTC),
            "question": question.text,
            "as_of": plan.as_of,
            "plan": plan,
            "model": ModelInfo(name="Zitatmodus"),
            "index": IndexInfo(version="20260315-0001", embedding_model="embedded", entries=190, nodes=772),
            "timings_ms": Timings(total=212.0),
            "notices": question.notices,
        }

    def answer(self, question: Question, plan: Plan, claims: tuple[Claim, ...]) -> Answer:
        conflicts: tuple[Conflict, ...] = ()
        if "konflikt" in question.text.lower():
            sides = tuple(
                ConflictSide(
                    entry_id=c.entry_id, section=c.section, stand=c.stand, value=value, quote=c.quote, start=c.start, end=c.end
                )
                for c, value in ((claims[1].citations[0], "551,10 €"), (claims[2].citations[0], "518,44 €"))
            )
            conflicts = (Conflict(id="c1", quantity=LIMIT, note="möglicherweise überholt", sides=sides),)
        return Answer(
            **self._common(question, plan),
            status="answered",
            answer=answer_text(claims, conflicts),
            claims=claims,
            sources=self.sources(),
            conflicts=conflicts,
            standalone_question="Wie hoch ist die Geringfügigkeitsgrenze 2025?" if question.text.startswith("und") else None,
            degraded=("dense",) if "degradiert" in question.text else (),
            grounding=Grounding(
                verified=True,
                mode="extractive",
                retrieved_ids=("pv-sv-05", "pv-sv-07", "pv-sv-06"),
                cited_ids=tuple(dict.fromkeys(c.entry_id for claim in claims for c in claim.citations)),
            ),
        )

    def refusal(self, question: Question, plan: Plan) -> Refusal:
        return Refusal(
            **self._common(question, plan),
            status="refused",
            refusal_reason="weak_evidence",
            answer="Dazu enthält die Wissensbasis keine Aussage.",
            sources=self.sources(),
            related=("pv-sv-05",),
            grounding=Grounding(verified=False, mode="extractive"),
        )

    def unavailable(self, question: Question, plan: Plan) -> Refusal:
        return Refusal(
            **self._common(question, plan),
            status="unavailable",
            refusal_reason="model_unavailable",
            answer="Das Sprachmodell ist nicht erreichbar.",
            grounding=Grounding(verified=False, mode="structured"),
        )

    def titles(self, entry_ids: Sequence[str]) -> dict[str, str]:
        return {entry_id: _title(entry_id) for entry_id in entry_ids}

    def search(self, request: SearchRequest) -> SearchView:
        rows = [
            SearchRow(
                rank=n,
                entry_id=source.entry_id,
                section=source.section,
                title=source.title,
                stand=source.stand,
                work=source.work,
                topic=source.topic,
                scores=source.scores,
                ranks=ChannelRanks(bm25=n, similarity=n + 1, ngram=None if n == 3 else n),
                in_context=n < 3,
                reason="bester Abschnitt des Eintrags" if n < 3 else "zu schwacher Beleg: Ähnlichkeit unter der Schwelle",
            )
            for n, source in enumerate(self.sources(), start=1)
        ]
        return SearchView(
            question=request.question,
            plan=Plan(
                type="value", queries=(request.question,), as_of=request.as_of or "2026-03", topics=("sozialversicherung",)
            ),
            words=(
                AnalysedWord("Geringfügigkeitsgrenze", ("geringfugig", "grenz")),
                AnalysedWord("ist", (), "Stoppwort"),
            ),
            rows=tuple(rows),
            milliseconds=12.0,
            added_terms=("GFG",),
        )

    def rate(self, request_id: str, *, up: bool, author: str) -> None:
        if any(known == request_id for known, _ in self.ratings):
            raise BadInput("Diese Antwort wurde schon bewertet.")
        self.ratings.append((request_id, up))
        self.authors.append(author)

    def comment(self, request_id: str, text: str, *, author: str) -> None:
        self.comments.append((request_id, text))
        self.authors.append(author)

    def report_gap(self, request_id: str, note: str, *, author: str) -> None:
        self.gaps.append(request_id)
        self.authors.append(author)

    def evidence(self, request_id: str) -> EvidenceSheet:
        return EvidenceSheet(f"beweisblatt-{request_id}.html", "text/html", f"<!doctype html><p>Beweisblatt {request_id}</p>")
