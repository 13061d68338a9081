"""Fifty programs ask at once, from another process, with keys, limits and the audit log on."""

import os
import re
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import numpy as np
import pytest

from app.store.audit import AuditLog
from app.store.database import Database
from app.store.keys import KeyStore
from tests.app.api.conftest import ENTRIES
from tests.app.process import free_port, serving, until_ready
from tests.conftest import BUNDLED_FOLDER

pytestmark = pytest.mark.load
CLIENTS = 50
QUESTIONS = int(os.environ.get("PV_TEST_LOAD_QUESTIONS", "500"))
WARM_UP = 100
TEXTS = (
    "Wie hoch ist die Geringfügigkeitsgrenze 2026?",
    "geringfügig beschäftigt wieviel darf man verdienen",
    "Wie hoch ist der Beitrag zur betrieblichen Vorsorge?",
    "Welche Höchstbeitragsgrundlage gilt?",
    "Was ist bei Altersteilzeit zu beachten?",
    "Wie wird das Wetter morgen in Graz?",
)


def resident_mib(pid: int) -> float:
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(encoding="ascii"))
    assert found
    return int(found[1]) / 1024


def make_folder(root: Path) -> None:
    documents = root / "kb" / "dokumente"
    documents.mkdir(parents=True)
    for entry_id in ENTRIES:
        text = (BUNDLED_FOLDER / "dokumente" / f"{entry_id}.md").read_text(encoding="utf-8")
        text = re.sub(r"^cross_refs:\n(?:  - .*\n)+", "cross_refs: []\n", text, flags=re.MULTILINE)
        (documents / f"{entry_id}.md").write_text(text.partition("\n## Verweise")[0] + "\n", encoding="utf-8")


def test_fifty_clients_are_answered_without_an_error(tmp_path, capsys):
    make_folder(tmp_path)
    database = Database(tmp_path / "data")
    secrets = [KeyStore(database).add(f"client-{number}", "service") for number in range(CLIENTS)]
    port = free_port()
    url = f"http://127.0.0.1:{port}/v1/ask"
    limits = httpx.Limits(max_connections=CLIENTS, max_keepalive_connections=CLIENTS)
    with serving(tmp_path, port, PV_RATE_LIMIT_PER_MINUTE="600") as process, httpx.Client(timeout=120, limits=limits) as client:
        until_ready(port, process)

        def ask(number: int) -> tuple[int, float]:
            begun = time.perf_counter()
            headers = {"Authorization": f"Bearer {secrets[number % CLIENTS]}"}
            answer = client.post(url, json={"question": TEXTS[number % len(TEXTS)]}, headers=headers)
            return answer.status_code, time.perf_counter() - begun

        with ThreadPoolExecutor(CLIENTS) as pool:
            list(pool.map(ask, range(WARM_UP)))
            before, begun = resident_mib(process.pid), time.perf_counter()
            answers = list(pool.map(ask, range(QUESTIONS)))
            seconds, after = time.perf_counter() - begun, resident_mib(process.pid)
    p50, p95 = np.percentile([taken for _, taken in answers], [50, 95])
    with capsys.disabled():
        print(  # noqa: T201 - the figures are what the test is for
            f"\n{QUESTIONS} questions, {CLIENTS} clients: {QUESTIONS / seconds:.1f}/s, p50 {p50:.2f} s, p95 {p95:.2f} s, "
            f"{before:.0f} → {after:.0f} MiB"
        )
    assert Counter(status for status, _ in answers) == {200: QUESTIONS}
    audit = AuditLog(database)
    assert (audit.count(), audit.verify()) == (QUESTIONS + WARM_UP, ())
    database.close()
    assert after <= before * 1.1
