"""The main job on the bundled knowledge base: no Ollama, no key, the embedded default."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from app.assembly import Assembly
from app.cli.main import app as product
from app.settings import Settings
from pipelines.contracts import Answer, Outcome, Refusal
from pipelines.intake import read_question
from tests import fake_models as fake
from tests.app.bundled import KNOWLEDGE_BASE, NOBODY, ROOT, copied, copy_embeddings, indexed
from tests.fake_ollama import FakeOllama
from tests.fake_wire import FakeModel

COUNTERFACTUALS = 20
MODEL = "qwen3.8:27b"


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory, bundled_data: Path) -> Settings:
    return copied(bundled_data, tmp_path_factory.mktemp("bundled"))


@pytest.fixture(scope="module")
def assembly(settings: Settings) -> Iterator[Assembly]:
    with Assembly(settings) as assembly:
        yield assembly


def asked(assembly: Assembly, question: str, **fields: str) -> Outcome:
    return assembly.service.ask(read_question(question, **fields))


@pytest.fixture
def command(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Runs `python -m app …` in this process, under the settings of the module."""
    for name in [name for name in os.environ if name.startswith("PV_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PV_DATA_DIR", str(settings.data_dir))
    monkeypatch.setenv("PV_OLLAMA_URL", NOBODY)
    monkeypatch.setenv("PV_TODAY", "2026-06-15")
    return lambda *arguments: CliRunner().invoke(product, arguments)


def test_a_value_is_answered_with_the_place_that_proves_it(assembly: Assembly) -> None:
    outcome = asked(assembly, "Wie hoch ist die Geringfügigkeitsgrenze 2026?")
    assert isinstance(outcome, Answer)
    assert (outcome.status, outcome.grounding.mode, outcome.model.name) == ("answered", "extractive", "extractive")
    claim = next(claim for claim in outcome.claims if "551,10 €" in claim.text)
    assert "pv-sv-05" in outcome.grounding.cited_ids
    assert any(value.normalized for value in claim.values if value.text == "551,10 €")
    assert f"(Stand {claim.citations[0].stand}) [{claim.citations[0].entry_id}]." in outcome.answer


def test_every_quote_is_exactly_the_text_at_its_offsets(assembly: Assembly) -> None:
    sections = {(node.entry_id, node.section): node.text for node in assembly.service.engine.index.nodes}
    for question in ("Wie hoch ist der Dienstgeberbeitrag 2026?", "Welche Kündigungsfristen gelten für Angestellte?"):
        outcome = asked(assembly, question)
        assert isinstance(outcome, Answer)
        for claim in outcome.claims:
            for citation in claim.citations:
                assert sections[citation.entry_id, citation.section][citation.start : citation.end] == citation.quote
        assert set(outcome.grounding.cited_ids) <= set(outcome.grounding.retrieved_ids)


def test_what_the_knowledge_base_does_not_say_is_refused(assembly: Assembly) -> None:
    outcome = asked(assembly, "Wann ist die UVA abzugeben?")
    assert isinstance(outcome, Refusal)
    assert outcome.refusal_reason in ("kb_silent", "weak_evidence")
    assert outcome.answer.startswith("Dazu enthält die Wissensbasis keine Aussage.")
    assert outcome.claims == ()


def test_a_conflict_shows_both_sides(assembly: Assembly) -> None:
    outcome = asked(assembly, "Wie hoch ist der Nachtschwerarbeitsbeitrag 2026?")
    assert isinstance(outcome, Answer)
    sides = {(side.entry_id, side.value[:6]) for conflict in outcome.conflicts for side in conflict.sides}
    assert {("pv-nsch-01", "3,80 %"), ("pv-sv-03", "3,70 %")} <= sides
    assert outcome.answer.count("⚠") >= 3


def test_every_outcome_is_in_the_audit_log_and_the_chain_holds(assembly: Assembly) -> None:
    before = assembly.audit.count()
    outcome = asked(assembly, "Wie hoch ist die E-Card-Gebühr?")
    record = assembly.audit.get(outcome.request_id)
    assert record.outcome == outcome
    assert assembly.audit.count() == before + 1
    assert assembly.audit.verify() == ()


def test_a_named_model_that_is_missing_is_unavailable_and_not_exchanged(assembly: Assembly) -> None:
    outcome = asked(assembly, "Wie hoch ist die Geringfügigkeitsgrenze 2026?", model="qwen3.8:27b")
    assert isinstance(outcome, Refusal)
    assert (outcome.status, outcome.refusal_reason, outcome.claims) == ("unavailable", "model_unavailable", ())


def test_personal_data_goes_nowhere(assembly: Assembly) -> None:
    outcome = asked(assembly, "Geringfügigkeitsgrenze 2026 für anna@example.org, SVNR 1237 010180?")
    dumped = outcome.model_dump_json()
    assert "anna@example.org" not in dumped
    assert "1237 010180" not in dumped
    assert outcome.notices != ()


def test_the_command_line_prints_one_document_and_nothing_else(settings: Settings) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PV_")}
    environment = {**kept, "PV_DATA_DIR": str(settings.data_dir), "PV_OLLAMA_URL": NOBODY, "PV_TODAY": "2026-06-15"}
    line = [sys.executable, "-m", "app", "ask", "Wie hoch ist die Geringfügigkeitsgrenze 2026?", "--json"]
    answered = subprocess.run(line, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert (answered.returncode, answered.stderr) == (0, "")
    assert json.loads(answered.stdout)["status"] == "answered"


def test_a_refusal_ends_with_0_and_an_unavailable_model_with_3(command: Callable[..., Result]) -> None:
    refused = command("ask", "Wann ist die UVA abzugeben?", "--json")
    assert (refused.exit_code, json.loads(refused.stdout)["status"]) == (0, "refused")
    unavailable = command("ask", "Wie hoch ist die Geringfügigkeitsgrenze?", "--model", "qwen3.8:27b", "--json")
    assert (unavailable.exit_code, json.loads(unavailable.stdout)["refusal_reason"]) == (3, "model_unavailable")


@pytest.mark.parametrize(
    "arguments", [("ask", "   "), ("ask", "x" * 2001), ("ask", "Wie hoch?", "--as-of", "2026-13"), ("search",), ("asks", "x")]
)
def test_bad_input_ends_with_2_and_prints_nothing_on_stdout(command: Callable[..., Result], arguments: tuple[str, ...]) -> None:
    result = command(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Traceback" not in result.stderr


def test_search_lists_sections_with_every_score(command: Callable[..., Result]) -> None:
    found = json.loads(command("search", "Geringfügigkeitsgrenze 2026", "--k", "5", "--json").stdout)
    assert found["entries"][0] == "pv-sv-05"
    assert [hit["rank"] for hit in found["results"]] == [1, 2, 3, 4, 5]
    assert set(found["results"][0]["scores"]) == {"bm25", "similarity", "ngram", "fused"}
    assert (found["degraded"], found["plan"]["as_of"]) == ([], "2026-06")


def test_doctor_finds_nothing_broken_without_ollama(command: Callable[..., Result]) -> None:
    result = command("doctor", "--json")
    diagnosis = json.loads(result.stdout)
    assert (result.exit_code, diagnosis["ok"]) == (0, True)
    names = {check["name"] for check in diagnosis["checks"]}
    assert names >= {"settings", "knowledge_base", "index", "ollama", "answering_model"}


def single_values(assembly: Assembly) -> list[tuple[str, str, str]]:
    """(entry, key value, number) of rows whose number stands in no other entry: where a change has one place to show."""
    texts = [path.read_text(encoding="utf-8") for path in sorted((KNOWLEDGE_BASE / "dokumente").glob("*.md"))]
    found = {}
    for fact in assembly.service.engine.index.facts:
        number = re.match(r"(\d{1,3}(?:\.\d{3})*,\d{2}) [€%]", fact.value)
        if number and sum(number[1] in text for text in texts) == 1:
            found.setdefault(fact.entry_id, (fact.entry_id, fact.quantity, number[1]))
    return list(found.values())


@pytest.mark.load
def test_the_answer_follows_a_changed_knowledge_base(assembly: Assembly, settings: Settings, tmp_path: Path) -> None:
    chosen = single_values(assembly)[:COUNTERFACTUALS]
    assert len(chosen) == COUNTERFACTUALS
    copy = tmp_path / "kb"
    shutil.copytree(KNOWLEDGE_BASE, copy)
    changed = {}
    for entry_id, _, amount in chosen:
        path = copy / "dokumente" / f"{entry_id}.md"
        other = amount[:-2] + ("37" if amount[-2:] != "37" else "73")
        path.write_text(path.read_text(encoding="utf-8").replace(amount, other), encoding="utf-8")
        changed[entry_id] = other
    copy_embeddings(settings.data_dir, tmp_path / "data")
    of_copy = indexed(tmp_path / "data", copy)
    with FakeOllama([FakeModel(MODEL, fake.honest(most=4, least_share=0.2))]) as server:
        with Assembly(of_copy.model_copy(update={"ollama_url": server.url})) as counterfactual:
            titles = {entry_id: info.title for entry_id, info in counterfactual.service.engine.index.entries.items()}
            for model in ("extractive", MODEL):
                for entry_id, quantity, amount in chosen:
                    outcome = asked(counterfactual, f"Wie hoch: {quantity}? ({titles[entry_id]})", model=model)
                    assert outcome.model.name == model
                    assert amount not in outcome.answer, (model, entry_id)
                    assert changed[entry_id] in outcome.answer, (model, entry_id, quantity, outcome.answer)


def test_the_answer_in_the_readme_is_the_products(assembly: Assembly) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = readme.split("<!-- answer:begin -->\n")[1].split("\n<!-- answer:end -->")[0]
    question = re.search(r'app ask "([^"]+)"', readme)
    assert question is not None
    assert shown == quoted(asked(assembly, question[1]))


def quoted(outcome: Outcome) -> str:
    """The answer as the README shows it: a block quote, without the parts that change with every question."""
    return "\n".join(f"> {line}".rstrip() for line in outcome.answer.split("\n"))
