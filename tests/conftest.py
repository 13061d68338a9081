"""What every test may use, and what none may do: no test connects to another machine."""

import fcntl
import ipaddress
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipelines.entry_schema import Entry
from pipelines.knowledge_base import read_folder
from pipelines.nodes import SectionNode, split_entry

ROOT = Path(__file__).resolve().parent.parent
BUNDLED_FOLDER = ROOT / "storage" / "wissensbasis"


def is_local(address: object) -> bool:
    """Whether an address of `socket.connect` stays on this machine; paths of Unix sockets do."""
    if not isinstance(address, tuple):
        return True
    host = str(address[0])
    try:
        return ipaddress.ip_address(host.split("%")[0]).is_loopback
    except ValueError:
        return host == "localhost"


@pytest.fixture(autouse=True)
def network_guard(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[object]]:
    """Fails the test that connects anywhere but to this machine, even if the code under test hides the error.

    Tests marked `ollama` may reach the server that they are given.
    """
    attempts: list[object] = []
    if request.node.get_closest_marker("ollama") is not None:
        yield attempts
        return
    connect, connect_ex, resolve = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo

    def refuse(address: object) -> None:
        if not is_local(address):
            attempts.append(address)
            raise ConnectionRefusedError(f"a test tried to connect to {address!r}")

    def guarded_connect(self, address):
        refuse(address)
        return connect(self, address)

    def guarded_connect_ex(self, address):
        refuse(address)
        return connect_ex(self, address)

    def guarded_resolve(host, *args, **kwargs):
        name = host.decode() if isinstance(host, bytes) else host
        if name not in (None, "", "0.0.0.0", "::"):
            refuse((name, 0))
        return resolve(host, *args, **kwargs)

    monkeypatch.setattr(socket.socket, "connect", guarded_connect)
    monkeypatch.setattr(socket.socket, "connect_ex", guarded_connect_ex)
    monkeypatch.setattr(socket, "getaddrinfo", guarded_resolve)
    yield attempts
    if attempts:
        pytest.fail(f"connected to another machine: {attempts}")


@pytest.fixture(scope="session")
def bundled_entries() -> tuple[Entry, ...]:
    """The entries of the bundled knowledge base, in order of their ids."""
    return read_folder(BUNDLED_FOLDER).entries


@pytest.fixture(scope="session")
def bundled_nodes(bundled_entries: tuple[Entry, ...]) -> tuple[SectionNode, ...]:
    """The sections of the bundled knowledge base, in order of entries and sections."""
    return tuple(node for entry in bundled_entries for node in split_entry(entry))


@pytest.fixture(scope="session")
def bundled_data(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A data folder with the index of the bundled knowledge base, built once for all workers; copy it, do not write into it."""
    own = tmp_path_factory.getbasetemp()
    shared = own if worker_id == "master" else own.parent
    built = shared / "bundled-data"
    with (shared / "bundled.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not built.exists():
            aside = shared / "bundled-data.new"
            build = f"from pathlib import Path; from tests.app.bundled import indexed; indexed(Path({str(aside)!r}))"
            subprocess.run([sys.executable, "-c", build], cwd=ROOT, check=True)
            aside.rename(built)
    return built
