"""A bake-off as Markdown: the report with everything in it, the decision record, and the table of both."""

from collections.abc import Iterator

from evaluation.answers import AnsweredQuestion
from evaluation.decision import EQUAL_WITHIN, Versus
from evaluation.intervals import Rate
from evaluation.model_report import BakeoffReport, ModelReport
from evaluation.plots import KIND_NAMES, right_share
from pipelines.answer_text import REASON_TEXT, STATUS_TEXT

COLUMNS = ("Kandidat", "Zitier-Präzision", "Verweigerung korrekt", "erwartete Quelle", "mean/p95", "Regen")
PROTOCOL = (
    "Zuerst zählt die Zitier-Präzision (Anteil der Aussagen des ersten Entwurfs, deren Quellen, Werte und Beleg die Prüfung "
    "bestehen), dann der Anteil der richtig beantworteten oder richtig verweigerten Fragen, dann die Latenz. Ein schnelleres "
    "Modell gewinnt nur bei gleicher Zitier-Präzision. Gleich heißt: höchstens "
    f"{EQUAL_WITHIN * 100:.0f} Prozentpunkt Unterschied, und der exakte gepaarte Test über dieselben Fragen (Vorzeichentest, "
    "zweiseitig, 5 %) findet keinen."
)


def table_rows(report: BakeoffReport) -> list[tuple[str, ...]]:
    """The table of the decision: one row per model, best first, cells as text."""
    models = [model for name in report.decision.ranking if (model := report.model(name)) is not None]
    return [
        (
            model.name,
            rate_text(model.rates["draft_citation_precision"]),
            rate_text(model.rates["refusal_correct"]),
            rate_text(model.rates["expected_source"]),
            f"{_seconds(model.latency_ms.mean)} / {_seconds(model.latency_ms.p95)}",
            f"{model.regenerated} von {model.questions}",
        )
        for model in models
    ]


def decision_record(report: BakeoffReport, number: int) -> str:
    """The decision as a document of its own, to be committed beside the code."""
    manifest, decision = report.manifest, report.decision
    lines = [
        f"# D{number}: {_title(decision.winner)}",
        "",
        f"Datum: {report.created_at:%Y-%m-%d} · Lauf: `{report.run_id}` · Status: vorgeschlagen",
        "",
        "## Entscheidung",
        "",
        decision.reason,
        "",
        "## Zahlen",
        "",
        *_markdown_table(COLUMNS, table_rows(report)),
        "",
        f"{manifest.questions} Fragen, Anteile mit 95-%-Intervall nach Wilson, Latenz je Frage in Sekunden, „Regen“: Fragen mit "
        "zweitem Entwurf.",
        "",
        "## Protokoll",
        "",
        PROTOCOL,
        "",
        "## Gepaarter Vergleich mit dem Sieger",
        "",
        *_versus_lines(report),
        "",
        "## Gemessen an",
        "",
        *_measured_lines(report),
        "",
    ]
    return "\n".join(lines)


def markdown_report(report: BakeoffReport) -> str:
    """The whole report: decision, figures, kinds, every failure with question, answer and violations."""
    lines = [f"# Modellvergleich {report.run_id}", "", report.decision.reason, ""]
    lines += [
        *_markdown_table(COLUMNS, table_rows(report)),
        "",
        PROTOCOL,
        "",
        f"Entscheidung als Dokument: `{report.record}`",
        "",
    ]
    lines += ["## Alle Kennzahlen", "", *_figures_table(report), ""]
    lines += ["## Nach Art der Frage", "", "Anteil der Fragen, an denen nichts falsch ist.", "", *_kinds_table(report), ""]
    lines += ["## Gepaarter Vergleich mit dem Sieger", "", *_versus_lines(report), ""]
    for model in report.models:
        lines += [f"## Fehler von {model.name}: {len(model.failures)} von {model.questions}", "", *_failure_lines(model)]
    lines += ["## Gemessen an", "", *_measured_lines(report), ""]
    return "\n".join(lines)


def figures_rows(report: BakeoffReport) -> list[tuple[str, ...]]:
    """Every figure as a row: its German name, then one cell per model in the order of the run."""
    rates = (
        ("Zitier-Präzision, erster Entwurf", "draft_citation_precision"),
        ("Zitier-Präzision, gezeigt (muss 1,000 sein)", "citation_precision"),
        ("Verweigerung korrekt", "refusal_correct"),
        ("falsche Verweigerungen", "false_refusals"),
        ("falsche Antworten", "false_answers"),
        ("erwartete Quelle", "expected_source"),
        ("Werte korrekt", "values_correct"),
        ("Zitate aus erwarteten Einträgen", "quote_precision"),
        ("zweiter Entwurf", "regenerated"),
    )
    rows = [(title, *(rate_text(model.rates[name]) for model in report.models)) for title, name in rates]
    rows.insert(5, ("Zitier-Trefferquote (Mittel)", *(number(model.citation_recall) for model in report.models)))
    rows += [
        ("verworfene Aussagen", *(str(model.dropped_claims) for model in report.models)),
        ("nicht verfügbar / abgestürzt", *(f"{model.unavailable} / {len(model.crashed)}" for model in report.models)),
        ("Latenz Mittel / Median / p95", *(_latency(model) for model in report.models)),
        ("erste geprüfte Aussage (Mittel)", *(_optional_seconds(model.first_claim_ms) for model in report.models)),
        ("Token je Sekunde", *(_optional(model.tokens_per_second, "{:.1f}") for model in report.models)),
        ("Speicher (size_vram), Kontext", *(memory_text(model) for model in report.models)),
    ]
    return rows


def memory_text(model: ModelReport) -> str:
    """What the model took, and its real context length."""
    if model.memory is None:
        return "–"
    context = f", {model.memory.context_length} Token" if model.memory.context_length else ""
    return f"{model.memory.size_vram_bytes / 1e9:.1f} GB{context}".replace(".", ",")


def rate_text(rate: Rate) -> str:
    """`0,950 [0,764–0,991]`; a dash for a rate of nothing."""
    if not rate.n:
        return "–"
    return f"{number(rate.value)} [{number(rate.interval[0])}–{number(rate.interval[1])}]"


def number(value: float) -> str:
    """Three decimals with a comma."""
    return f"{value:.3f}".replace(".", ",")


def _title(winner: str | None) -> str:
    return f"{winner} beantwortet die Fragen" if winner else "Kein Modell darf antworten"


def _figures_table(report: BakeoffReport) -> list[str]:
    return _markdown_table(("Kennzahl", *(model.name for model in report.models)), figures_rows(report))


def _kinds_table(report: BakeoffReport) -> list[str]:
    kinds = [kind for kind in KIND_NAMES if any(kind in model.by_kind for model in report.models)]
    rows = [(f"{KIND_NAMES[kind]} (`{kind}`)", *(_kind_cell(model, kind) for model in report.models)) for kind in kinds]
    return _markdown_table(("Art", *(model.name for model in report.models)), rows)


def _kind_cell(model: ModelReport, kind: str) -> str:
    if kind not in model.by_kind:
        return "–"
    return f"{number(right_share(model, kind))} von {model.by_kind[kind].questions}"


def _versus_lines(report: BakeoffReport) -> list[str]:
    if not report.decision.versus:
        return ["Es gibt nichts zu vergleichen."]
    rows = [_versus_row(one) for one in report.decision.versus]
    head = (f"{report.decision.winner} gegen", "gleiche Zitier-Präzision", "Zitier-Präzision", "Verweigerung", "schneller")
    note = "Besser : schlechter (gleich), dazu das exakte zweiseitige p."
    return [*_markdown_table(head, rows), "", note]


def _versus_row(one: Versus) -> tuple[str, ...]:
    tests = (one.draft_citation_precision, one.refusal_correct, one.latency)
    cells = [f"{t.a_better} : {t.b_better} ({t.equal}), p = {number(t.p_value)}" for t in tests]
    return (one.model, "ja" if one.equal_citation_precision else "nein", *cells)


def _failure_lines(model: ModelReport) -> Iterator[str]:
    if not model.failures:
        yield "Keine."
        yield ""
    for one in model.failures:
        yield f"### {one.id} · {KIND_NAMES.get(one.kind, one.kind)}: {_line(one.question)}"
        yield ""
        yield from (f"- {fact}" for fact in failure_facts(one))
        yield ""
        if one.answer:
            yield from (f"> {line}".rstrip() for line in one.answer.splitlines())
            yield ""


def failure_facts(one: AnsweredQuestion) -> list[str]:
    """What is wrong with a question, as German lines."""
    reason = REASON_TEXT.get(one.refusal_reason, one.refusal_reason) if one.refusal_reason else ""  # type: ignore[call-overload]
    facts = [f"Ergebnis: {STATUS_TEXT.get(one.status, one.status)}" + (f" ({reason})" if reason else "")]
    facts.append(f"erwartet: {', '.join(one.expected_ids) or 'Verweigerung'} · zitiert: {', '.join(one.cited_ids) or '–'}")
    if one.values_correct is False:
        facts.append(f"verlangte Werte fehlen: {', '.join(one.must_contain)}")
    facts += [f"nicht belegt: {_line(fault)}" for fault in one.faults]
    facts += [f"beanstandet: {_line(message)}" for message in one.violations]
    if one.error:
        facts.append(f"abgestürzt: {_line(one.error)}")
    return facts


def _measured_lines(report: BakeoffReport) -> list[str]:
    manifest = report.manifest
    lines = [
        f"- Wissensbasis `{manifest.knowledge_base_hash}`, Index `{manifest.index_version}`, "
        f"Embeddings `{manifest.embedding_model}`",
        f"- Goldset `{manifest.goldset_version}` ({', '.join(manifest.goldset_files)}), {manifest.questions} Fragen, "
        f"Stichtag {manifest.as_of}",
        f"- Prompt `{manifest.prompt_version}`, Einstellungen {_options(manifest.options)}",
        f"- Versionen: {_options(manifest.versions)}",
        "- Abruf eingefroren: jede Frage wurde einmal gesucht, alle Modelle bekamen denselben Kontext.",
    ]
    lines += [
        f"- {model.name}: Digest `{model.digest or '–'}`, Prompt `{model.prompt_version or '–'}`, "
        f"Optionen {_options(model.options)}, Speicher {memory_text(model)}"
        for model in report.models
    ]
    lines += [
        f"- ⚠ {name} braucht mehr Speicher als das Budget von {report.vram_budget_gb:g} GB (PV_VRAM_BUDGET_GB)."
        for name in report.over_budget
    ]
    return lines


def _options(values: dict[str, str] | dict[str, str | int | float | bool]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items()) or "–"


def _markdown_table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    lines = ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in (head, *rows)]
    return [lines[0], "|" + "---|" * len(head), *lines[1:]]


def _cell(text: str) -> str:
    return _line(text).replace("|", "\\|")


def _line(text: str) -> str:
    return " ".join(text.split())


def _latency(model: ModelReport) -> str:
    return " / ".join(_seconds(value) for value in (model.latency_ms.mean, model.latency_ms.p50, model.latency_ms.p95))


def _seconds(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.2f} s".replace(".", ",")


def _optional_seconds(milliseconds: float | None) -> str:
    return "–" if milliseconds is None else _seconds(milliseconds)


def _optional(value: float | None, form: str) -> str:
    return "–" if value is None else form.format(value).replace(".", ",")
