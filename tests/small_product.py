"""A small product for bake-offs: nine bundled entries, eight questions, and models of known behaviour behind a fake Ollama."""

import re
from dataclasses import replace
from datetime import date
from pathlib import Path

from app.assembly import Assembly
from app.ingest import IngestOptions
from app.settings import Settings
from pipelines.index import silent
from tests import fake_models as fake
from tests.conftest import BUNDLED_FOLDER
from tests.fake_wire import Behaviour, ChatCall, FakeModel, Reply

ENTRIES = ("pv-sv-05", "pv-sv-06", "pv-sv-07", "pv-sv-08", "pv-sv-14", "pv-bv-01", "pv-atz-01", "pv-azt-01", "kv-allg-01")
ANSWERS = {
    "Wie hoch ist der Pauschalbeitrag für mehrfach geringfügig Beschäftigte?": ("pv-sv-08", "14,12 %"),
    "Wie hoch ist der Grenzwert der Dienstgeberabgabe 2026?": ("pv-sv-07", "826,65 €"),
    "Wie hoch ist der BV-Beitrag bei geringfügiger Beschäftigung?": ("pv-sv-05", "1,53 %"),
    "Wie hoch ist die Geringfügigkeitsgrenze 2026?": ("pv-sv-05", "551,10 €"),
    "Wie hoch ist die Dienstgeberabgabe samt UV?": ("pv-sv-07", "20,50 %"),
    "Wie hoch ist die Höchstarbeitszeit täglich?": ("pv-azt-01", "12 Stunden"),
}
"""The answerable questions, each with its entry and the value that stands there."""
STOPPED = "Wie wird das Wetter morgen in Graz?"
"""Nothing is retrieved for it, so that no model is asked."""
SIMILAR = "Wann muss der Pauschalbeitrag von mehrfach geringfügig Beschäftigten spätestens überwiesen sein?"
"""Nothing answers it, but much is similar: the model has to notice, and the Zitatmodus does not."""
PERFECT, WRONG, SHY = "perfect:1b", "wrong:1b", "shy:1b"
MODELS = (PERFECT, WRONG, SHY, "extractive")


def small_settings(root: Path, ollama_url: str = "http://127.0.0.1:9") -> Settings:
    """Settings of an index over the nine entries in `root`, without cross references; built when it is not there."""
    documents = root / "kb" / "dokumente"
    made = Settings(
        kb_dir=root / "kb",
        data_dir=root / "data",
        embed_model="embedded",
        llm_model="extractive",
        today=date(2026, 6, 1),
        ollama_url=ollama_url,
    )
    if not documents.exists():
        documents.mkdir(parents=True)
        for entry_id in ENTRIES:
            text = (BUNDLED_FOLDER / "dokumente" / f"{entry_id}.md").read_text(encoding="utf-8")
            text = re.sub(r"^cross_refs:\n(?:  - .*\n)+", "cross_refs: []\n", text, flags=re.MULTILINE)
            (documents / f"{entry_id}.md").write_text(text.partition("\n## Verweise")[0] + "\n", encoding="utf-8")
        with Assembly(made) as assembly:
            assembly.indexer().ingest(made.kb_dir, IngestOptions(), full=False, progress=silent)
    return made


def write_goldset(path: Path) -> Path:
    """The eight questions as a goldset file."""
    lines = [
        f"- id: q-small-{n}\n  question: '{question}'\n  kind: value\n  expected_ids: [{entry}]\n  must_contain: ['{value}']\n"
        for n, (question, (entry, value)) in enumerate(ANSWERS.items(), start=1)
    ]
    lines += [
        f"- id: q-small-{n}\n  question: '{question}'\n  kind: out_of_kb\n  expected_ids: []\n  must_contain: []\n"
        for n, question in ((7, STOPPED), (8, SIMILAR))
    ]
    path.write_text("".join(lines), encoding="utf-8")
    return path


def perfect() -> Behaviour:
    """Copies the statement that has the value from the block of the right entry; silent where there is none."""

    def answer(call: ChatCall) -> Reply:
        entry, value = ANSWERS.get(call.question, ("", ""))
        found = [text for text, block in fake.statements(call.blocks) if entry and block.id == entry and value in text]
        return Reply(fake.as_json(fake.draft((found[0], [entry])) if found else fake.SILENT))

    return answer


def wrong() -> Behaviour:
    """Invents the source of its first draft on the first three questions, and of its second draft too on the first one."""
    lying, honest = fake.citing(perfect(), "pv-xx-99"), perfect()
    never, once = next(iter(ANSWERS)), list(ANSWERS)[1:3]

    def answer(call: ChatCall) -> Reply:
        lies = call.question == never or (call.question in once and not call.second_draft)
        return (lying if lies else honest)(call)

    return answer


def shy() -> Behaviour:
    """Says that it knows nothing on the first three questions, and takes its time on every one."""

    def answer(call: ChatCall) -> Reply:
        silent_here = call.question in list(ANSWERS)[:3]
        reply = Reply(fake.as_json(fake.SILENT)) if silent_here else perfect()(call)
        return replace(reply, first_delay_seconds=0.3)

    return answer


def small_models() -> list[FakeModel]:
    """The three models, with memory of 17, 30 and 17 GB."""
    return [FakeModel(PERFECT, perfect()), FakeModel(WRONG, wrong(), size=30_000_000_000), FakeModel(SHY, shy())]
