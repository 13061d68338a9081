"""A knowledge base of real size is read as a stream."""

import time
import tracemalloc
from pathlib import Path

import pytest

from pipelines.knowledge_base import iter_entries
from pipelines.nodes import split_entry
from tests.pipelines.entries import SUMMARY, body, entry_text, write_folder

PARAGRAPH = "(1) Der Dienstgeber hat dem Dienstnehmer die Anweisungen, Regeln und Vorgaben schriftlich mitzuteilen.\n\n"


def large_folder(folder: Path, entries: int) -> Path:
    """Source texts of some 100,000 characters in 21 sections each."""
    articles = [f"## § {number} Gesetz\n\n{PARAGRAPH * 47}" for number in range(20)]
    for number in range(entries):
        entry_id = f"ris-gesetz-{number:04}"
        text = entry_text({"id": entry_id, "work": "ris"}, text=body(SUMMARY, *articles))
        write_folder(folder, {f"{entry_id}.md": text})
    return folder


@pytest.mark.load
def test_thirty_million_characters_take_less_than_a_minute_of_one_core(tmp_path: Path) -> None:
    folder = large_folder(tmp_path, 300)
    started = time.process_time()
    sections = [len(node.text) for entry in iter_entries(folder) for node in split_entry(entry)]
    assert time.process_time() - started < 60
    assert (len(sections), sum(sections) > 29_000_000) == (6300, True)


def test_only_one_entry_is_in_memory_at_a_time(tmp_path: Path) -> None:
    folder = large_folder(tmp_path, 40)
    for _ in iter_entries(folder):
        break
    tracemalloc.start()
    entries = sum(1 for _ in iter_entries(folder))
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert entries == 40
    assert peak_bytes < 2_500_000
