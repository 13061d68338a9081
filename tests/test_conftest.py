import socket

import pytest

from tests.conftest import is_local


@pytest.mark.parametrize("address", [("127.0.0.1", 80), ("::1", 80, 0, 0), ("localhost", 80), "/run/x.sock", b"\0abstract"])
def test_this_machine_is_local(address: object) -> None:
    assert is_local(address)


@pytest.mark.parametrize("address", [("192.0.2.1", 80), ("example.org", 443), ("2001:db8::1", 80, 0, 0)])
def test_every_other_machine_is_not(address: object) -> None:
    assert not is_local(address)


def test_connecting_to_another_machine_is_refused_and_noted(network_guard: list[object]) -> None:
    with socket.socket() as connection, pytest.raises(ConnectionRefusedError):
        connection.connect(("192.0.2.1", 9))
    with pytest.raises(ConnectionRefusedError):
        socket.getaddrinfo("example.org", 443)
    assert network_guard == [("192.0.2.1", 9), ("example.org", 0)]
    network_guard.clear()


def test_this_machine_can_be_reached() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as connection:
        assert connection.getpeername() == server.getsockname()


def test_the_bundled_knowledge_base_is_complete(bundled_entries, bundled_nodes) -> None:
    assert len(bundled_entries) == 190
    assert len(bundled_nodes) == 772
