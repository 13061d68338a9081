"""The same knowledge base and question give the same bytes and the same ranking in every process."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD_AND_ASK = """
import hashlib, json, sys
from pathlib import Path

import pytest
from pipelines.contracts import Plan
from tests.fake_encoder import FakeEncoder
from tests.retrieval_parts import build_parts, section

words = ["Abfertigung", "Sonderzahlung", "Urlaub", "Kündigungsfrist", "Pfändung", "Taggeld", "Lehrling", "Überstunden"]
sections = [
    section(f"pv-a-{n:02d}#x", f"{words[n % 8]} und {words[n * 3 % 8]} gelten zu {n},50 %.", title=f"{words[n * 5 % 8]} {n}")
    for n in range(24)
]
directory = Path(sys.argv[1])
retriever = build_parts(sections, directory, FakeEncoder()).retriever(FakeEncoder())
plan = Plan(type="multi", queries=("ueberstunden beim lehrling und taggeld", "kündigungs frist", "abfertigng"), as_of="2026-06")
found = [(hit.node.node_id, hit.score) for hit in retriever.retrieve_plan(plan).nodes]
files = sorted(path for path in directory.rglob("*") if path.suffix in (".json", ".npy", ".ndjson"))
print(json.dumps([found, {str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}]))
"""


def built_and_asked(directory: Path, hash_seed: str) -> object:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", BUILD_AND_ASK, str(directory)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=True)
    return json.loads(done.stdout)


@pytest.mark.load
def test_two_processes_with_other_hash_seeds_build_and_find_the_same(tmp_path: Path) -> None:
    one, other = built_and_asked(tmp_path / "one", "1"), built_and_asked(tmp_path / "other", "2")
    assert one == other
    found, files = one
    assert len(found) > 10
    assert {"bm25/terms.json", "typo/weights.npy", "nodes.ndjson"} <= files.keys()
