"""The head of a cluster: whether it takes connections, and when it counts as lost."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from tests.rig.strapping import wait_for
from webdyno.rig.head import Head


@pytest.fixture
def server() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


def head_of(server: socket.socket) -> Head:
    return Head(f"127.0.0.1:{server.getsockname()[1]}")


def test_a_head_answers_as_long_as_it_takes_connections(server: socket.socket) -> None:
    head = head_of(server)
    assert head.answers()
    server.close()
    assert not head.answers()


def test_a_head_without_an_answer_for_long_enough_is_lost_and_said_to_be(server: socket.socket) -> None:
    head, over = head_of(server), threading.Event()
    watching = threading.Thread(target=head.watch, args=(over, 0.05, 0.01))
    watching.start()
    try:
        wait_for(head.answers)
        assert head.lost == ""
        server.close()
        watching.join(10.0)
        assert head.lost == f"{head.address}, the head of the cluster, has not answered for 0.05 s"
    finally:
        over.set()
        watching.join()


def test_what_cannot_be_found_does_not_answer() -> None:
    assert not Head("no-such-host.invalid:6379").answers()
