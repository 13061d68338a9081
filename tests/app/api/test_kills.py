"""The service is killed while it writes; what it had acknowledged is there, and the audit chain holds."""

import multiprocessing
import random
import shutil
import threading
import time
from pathlib import Path

import httpx
import pytest

from app.settings import Settings
from app.store.audit import AuditLog
from app.store.database import Database
from app.store.feedback import Feedback
from tests.app.api import small_server
from tests.app.api.conftest import QUESTION
from tests.app.api.port import wait_for
from tests.app.process import free_port

pytestmark = pytest.mark.crash
KILLS = 20
WRITERS = 4


class Acknowledged:
    """What the service said was kept."""

    def __init__(self) -> None:
        self.answers: list[str] = []
        self.ratings: list[str] = []
        self.comments: list[tuple[str, str]] = []


def write(url: str, kept: Acknowledged) -> None:
    """Asks, rates and comments until the service is gone."""
    with httpx.Client(base_url=url, timeout=30) as client:
        try:
            while True:
                request_id = client.post("/v1/ask", json={"question": QUESTION}).json()["request_id"]
                kept.answers.append(request_id)
                if client.post("/v1/ratings", json={"request_id": request_id, "up": True}).status_code == 201:
                    kept.ratings.append(request_id)
                text = f"Kommentar {random.random()}"
                if client.post("/v1/comments", json={"request_id": request_id, "text": text}).status_code == 201:
                    kept.comments.append((request_id, text))
        except (httpx.TransportError, ValueError):
            return


# Its processes are forks of one that has imported everything, so that a start takes moments.
SERVERS = multiprocessing.get_context("forkserver")
SERVERS.set_forkserver_preload([small_server.__name__])


def is_up(url: str) -> bool:
    try:
        return httpx.get(f"{url}/v1/health", timeout=10).is_success
    except httpx.TransportError:
        return False


def run_and_kill(settings: Settings, kept: Acknowledged, after_seconds: float) -> None:
    process = SERVERS.Process(target=small_server.run, args=(settings.model_dump_json(),))
    process.start()
    url = f"http://127.0.0.1:{settings.port}"
    wait_for(lambda: is_up(url), 120)
    writers = [threading.Thread(target=write, args=(url, kept)) for _ in range(WRITERS)]
    before = len(kept.answers)
    for writer in writers:
        writer.start()
    while len(kept.answers) == before:
        time.sleep(0.01)
    time.sleep(after_seconds)
    process.kill()
    process.join()
    for writer in writers:
        writer.join()


def test_what_was_acknowledged_survives_every_kill(small_settings: Settings, tmp_path: Path) -> None:
    shutil.copytree(small_settings.data_dir, tmp_path / "data")
    kept, moments = Acknowledged(), random.Random(7)
    for _ in range(KILLS):
        settings = small_settings.model_copy(update={"data_dir": tmp_path / "data", "port": free_port()})
        run_and_kill(settings, kept, moments.uniform(0.0, 0.8))
        database = Database(settings.data_dir)
        audit, feedback = AuditLog(database), Feedback(database)
        assert audit.verify() == ()
        assert all(audit.get(request_id).outcome is not None for request_id in kept.answers)
        assert all(feedback.rating(request_id) is not None for request_id in kept.ratings)
        assert all(text in [c.text for c in feedback.comments(request_id)] for request_id, text in kept.comments)
        database.close()
    assert len(kept.answers) >= KILLS
    assert kept.ratings
    assert kept.comments
