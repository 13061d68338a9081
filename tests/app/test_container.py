"""What the image does, without an image: its entry point as an unprivileged user over a source tree that nobody can write to."""

import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
import yaml

from app.settings import PREFIX, ROOT, Settings
from tests.app.process import free_port, until_ready
from tests.app.test_ingest import Folder, entry

KEY, PASSWORD = "service-key-of-the-container", "vier lange Wörter hier"
NOBODY = 65534
PACKAGES = ("app", "evaluation", "pipelines", "custom_postprocessors", "docker")
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")


def _interpreter() -> str:
    """An interpreter of this version that every user may run."""
    own = Path(sys.executable).resolve()
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    if os.getuid() != 0 or all(parent.stat().st_mode & 0o001 for parent in own.parents):
        return str(own)
    found = shutil.which(name, path="/usr/local/bin:/usr/bin")
    if found is None:
        pytest.skip(f"{own} is closed to other users, and there is no other {name}")
    return found


class Container:
    """A source tree without write permission, a knowledge base, and one folder that its user may write to."""

    def __init__(self, root: Path) -> None:
        self.kb, self.data, self._source, self._log = root / "kb", root / "data", root / "source", root / "log"
        for package in PACKAGES:
            shutil.copytree(ROOT / package, self._source / package, ignore=shutil.ignore_patterns("__pycache__"))
        self.data.mkdir()
        (root / "bin").mkdir()
        (root / "bin" / "python").write_text(f'#!/bin/sh\nexec {_interpreter()} "$@"\n', encoding="utf-8")
        (root / "bin" / "python").chmod(0o755)
        self._bin = root / "bin"
        self._as_user: list[str] = []
        if os.getuid() == 0:
            os.chown(self.data, NOBODY, NOBODY)
            self._as_user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]

    def seal(self) -> None:
        """Takes every write permission but that of the data folder."""
        for path in (*self._source.rglob("*"), self._source, *self.kb.rglob("*"), self.kb):
            path.chmod(0o555 if path.is_dir() or path.suffix == ".sh" else 0o444)

    def environment(self, port: int) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.upper().startswith(PREFIX)}
        path, packages = f"{self._bin}:{os.environ['PATH']}", sysconfig.get_path("purelib")
        given = {"PV_KB_DIR": str(self.kb), "PV_DATA_DIR": str(self.data), "PV_HOST": "0.0.0.0", "PV_PORT": str(port)}
        given |= {"PV_API_KEY": KEY, "PV_OLLAMA_URL": "http://127.0.0.1:9", "PV_EMBED_MODEL": "embedded"}
        return {**kept, **given, "PATH": path, "PYTHONPATH": packages, "HOME": "/nonexistent", "PYTHONDONTWRITEBYTECODE": "1"}

    def run(self, *command: str, stdin: str = "", port: int = 7860) -> subprocess.CompletedProcess[str]:
        argv = [*self._as_user, "docker/entrypoint.sh", *command]
        environment = self.environment(port)
        return subprocess.run(
            argv, cwd=self._source, env=environment, input=stdin, text=True, capture_output=True, timeout=300, check=False
        )

    @contextmanager
    def serving(self, port: int) -> Iterator[subprocess.Popen[str]]:
        argv = [*self._as_user, "docker/entrypoint.sh"]
        with self._log.open("w", encoding="utf-8") as log:
            process = subprocess.Popen(argv, cwd=self._source, env=self.environment(port), stderr=log, text=True)
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()

    def log(self) -> str:
        return self._log.read_text(encoding="utf-8")


@pytest.fixture
def container() -> Iterator[Container]:
    # The temporary folders of pytest are closed to other users.
    root = Path(tempfile.mkdtemp(prefix="pv-container-"))
    root.chmod(0o755)
    yield Container(root)
    for path in (root, *root.rglob("*")):
        if path.is_dir():
            path.chmod(0o755)
    shutil.rmtree(root)


def stop(process: subprocess.Popen[str]) -> int:
    process.send_signal(signal.SIGTERM)
    return process.wait(60)


@pytest.mark.load
def test_an_unprivileged_user_builds_the_first_index_serves_stops_and_starts_again(container: Container) -> None:
    folder, port = Folder(container.kb), free_port()
    folder.put("pv-a-01", entry("pv-a-01"))
    container.seal()
    refused = container.run(port=port)
    assert (refused.returncode, "an account" in refused.stderr) == (2, True), refused.stderr
    added = container.run("users", "add", "anna", "--role", "admin", stdin=PASSWORD + "\n")
    assert added.returncode == 0, added.stderr
    for start in range(2):
        with container.serving(port) as process:
            states = until_ready(port, process)
            assert start > 0 or states[0] == "not_ready"
            url = f"http://127.0.0.1:{port}"
            asked = {"question": "Wie hoch ist die Grenze?"}
            assert httpx.post(f"{url}/v1/ask", json=asked, timeout=60).status_code == 401
            answer = httpx.post(f"{url}/v1/ask", json=asked, headers={"Authorization": f"Bearer {KEY}"}, timeout=60)
            assert "551,10 €" in answer.json()["answer"]
            assert httpx.get(f"{url}/", timeout=60).headers["location"] == "/login"
            logged_in = httpx.post(f"{url}/login", data={"name": "anna", "password": PASSWORD}, timeout=60)
            page = httpx.get(f"{url}/", cookies={"pv_session": logged_in.cookies["pv_session"]}, timeout=60)
            assert (page.status_code, "pv-agent" in page.text) == (200, True)
            assert stop(process) == 0, container.log()
        assert f":{port} in a browser." in container.log()
        assert "Traceback" not in container.log()
        assert not any(secret in container.log() for secret in (KEY, PASSWORD))


@pytest.mark.load
def test_a_failed_first_build_is_told_and_ends_the_container_with_a_code(container: Container) -> None:
    folder, port = Folder(container.kb), free_port()
    folder.put("pv-a-01", entry("pv-a-01", stand="2026-13"))
    container.seal()
    container.run("users", "add", "anna", "--role", "admin", stdin=PASSWORD + "\n")
    with container.serving(port) as process:
        assert process.wait(400) == 1, container.log()
    assert "The service does not start" in container.log()
    assert "Traceback" not in container.log()


def test_the_entry_point_does_nothing_but_start_the_program() -> None:
    lines = (ROOT / "docker" / "entrypoint.sh").read_text(encoding="utf-8").splitlines()
    code = [line for line in lines if line and not line.startswith("#")]
    assert code == ["set -eu", '[ "$#" -gt 0 ] || set -- serve', 'exec python -m app "$@"']
    assert os.access(ROOT / "docker" / "entrypoint.sh", os.X_OK)


def test_the_image_is_built_in_stages_for_a_user_without_privileges_and_holds_neither_secret_nor_corpus() -> None:
    assert len(re.findall(r"^FROM ", DOCKERFILE, flags=re.MULTILINE)) == 2
    assert [re.search(rf"^ARG {name}=\d+$", DOCKERFILE, flags=re.MULTILINE) is not None for name in ("UID", "GID")] == [True] * 2
    after_user = DOCKERFILE.split("USER pv", 1)[1]
    assert 'ENTRYPOINT ["docker/entrypoint.sh"]' in after_user
    assert "HEALTHCHECK" in after_user
    assert "RUN" not in after_user
    copied = {
        source for line in re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, flags=re.MULTILINE) for source in line.split()[:-1]
    }
    assert copied == {"requirements.txt", "constraints.txt", "docker/entrypoint.sh", *PACKAGES} - {"docker"}
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert (ignored[0], [line for line in ignored if line in ("!storage", "!.env", "!tests")]) == ("*", [])
    assert not re.search(r"PV_(API|ADMIN)_KEY", DOCKERFILE)


def test_compose_asks_for_a_service_key_and_leaves_the_root_read_only() -> None:
    service = COMPOSE["services"]["pv-agent"]
    assert service["environment"]["PV_API_KEY"].startswith("${PV_API_KEY:?")
    assert (service["read_only"], service["cap_drop"], service["tmpfs"]) == (True, ["ALL"], ["/tmp"])
    assert COMPOSE["networks"]["ollama"] == {"external": True}
    assert service["volumes"] == ["${KNOWLEDGE_BASE:-./storage/wissensbasis}:/kb:ro", "data:/data"]


def test_every_setting_that_image_and_compose_name_exists() -> None:
    named = set(re.findall(r"\bPV_[A-Z_]+", DOCKERFILE + (ROOT / "compose.yaml").read_text(encoding="utf-8")))
    assert {name for name in named if name.removeprefix(PREFIX).lower() not in Settings.model_fields} == set()
