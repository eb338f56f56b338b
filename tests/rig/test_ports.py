"""Free ports, and who listens."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from webdyno.model.errors import MachineError
from webdyno.rig import ports, sockets
from webdyno.rig.fingerprint import port_range
from webdyno.rig.ports import describe_owners, free_port, listeners, wait_free

pytestmark = pytest.mark.live

LISTEN = """
import socket, sys, time
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("127.0.0.1", int(sys.argv[1])))
s.listen(7)
print("up", flush=True)
time.sleep(60)
"""


@pytest.fixture
def foreign() -> Iterator[tuple[int, int]]:
    """A process that is not ours, and its port."""
    port = free_port()
    with subprocess.Popen([sys.executable, "-S", "-c", LISTEN, str(port)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process.pid, port
        process.kill()


def test_a_free_port_is_outside_the_ephemeral_range_and_can_be_bound() -> None:
    low, high = port_range() or (0, 0)
    port = free_port()
    assert not low <= port <= high
    with socket.create_server(("127.0.0.1", port)):
        pass


def test_no_port_is_given_twice_in_a_row() -> None:
    assert len({free_port() for _ in range(20)}) == 20


def test_a_machine_without_free_ports_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "_can_bind", lambda *_, **__: False)
    with pytest.raises(MachineError, match=r"^no port of 127\.0\.0\.1 is free; see what listens with: ss -ltn$"):
        free_port()


def test_an_address_that_is_not_ours_is_told() -> None:
    with pytest.raises(MachineError, match=r"192\.0\.2\.1 cannot be bound on this machine: "):
        free_port("192.0.2.1")


def test_a_machine_whose_every_port_is_ephemeral_still_gets_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "port_range", lambda: (1024, 65535))
    assert free_port() >= 10_000


def test_a_listener_is_told_with_its_backlog_and_its_owner(foreign: tuple[int, int]) -> None:
    pid, port = foreign
    (listener,) = listeners(port)
    assert (listener.address, listener.port, listener.backlog, listener.queue) == ("127.0.0.1", port, 7, 0)
    assert listener.pids == (pid,)
    assert listener.inode > 0
    assert describe_owners(port).startswith(f"pid {pid} (python")


def test_a_foreign_listener_has_no_owner_among_our_own(foreign: tuple[int, int]) -> None:
    (listener,) = listeners(foreign[1], [os.getpid()])
    assert listener.pids == ()


def test_nobody_listens_on_a_free_port() -> None:
    assert listeners(free_port()) == []


def test_listeners_on_ipv6_are_found() -> None:
    with socket.socket(socket.AF_INET6) as server:
        try:
            server.bind(("::1", 0))
        except OSError as error:
            pytest.skip(f"no IPv6 here: {error}")
        server.listen(3)
        (listener,) = listeners(server.getsockname()[1], [os.getpid()])
        assert (listener.address, listener.backlog, listener.pids) == ("::1", 3, (os.getpid(),))


def test_without_netlink_proc_says_the_same_but_the_queue(
    foreign: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, port = foreign
    (by_netlink,) = sockets.listening(port)

    def refuse(family: int) -> list[sockets.Listening]:
        raise OSError

    monkeypatch.setattr(sockets, "_ask", refuse)
    assert sockets.listening(port) == [by_netlink._replace(backlog=None, queue=None)]


def test_ipv6_is_read_from_proc(tmp_path: Path) -> None:
    words = "B80D0120000000000000000001000000" if sys.byteorder == "little" else "20010DB8000000000000000000000001"
    line = f"   0: {words}:1F90 {'0' * 32}:0000 0A 00000000:00000000 00:00000000 00000000     0        0 77 1 0"
    (tmp_path / "tcp6").write_text(f"  sl  local_address ...\n{line}\n")
    assert sockets._read(tmp_path / "tcp6") == [sockets.Listening("2001:db8::1", 8080, 77, None, None)]
    assert sockets._read(tmp_path / "tcp") == []


def test_a_port_that_is_freed_at_once_is_not_worth_a_word() -> None:
    assert wait_free("127.0.0.1", free_port()) is None


def test_closing_connections_do_not_count_against_a_port() -> None:
    port = free_port()
    with socket.create_server(("127.0.0.1", port)) as server, socket.create_connection(("127.0.0.1", port)) as client:
        accepted, _ = server.accept()
        accepted.close()  # the server's side closes first, and its port stays in TIME_WAIT
        client.recv(1)
    assert wait_free("127.0.0.1", port) is None


def test_a_port_that_stays_taken_is_told_with_its_owner(foreign: tuple[int, int]) -> None:
    pid, port = foreign
    begun = time.monotonic()
    note = wait_free("127.0.0.1", port, within_s=0.05)
    assert time.monotonic() - begun < 5
    assert note is not None
    assert note.startswith(f"its port {port} is not free again: pid {pid} (python")
    assert note.endswith("listens on it")
