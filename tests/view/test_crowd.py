"""Many clients and slow ones: none holds a thread, none keeps a page from another, and a page is made once for all."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from tests.view.serving import Answer, Asked, Writer, made, rounds, serving
from webdyno.model.errors import UsageError
from webdyno.view.server import connections, making
from webdyno.view.server.connections import MOST_HEAD_BYTES, MOST_STREAMS, Limits
from webdyno.view.server.making import LONG, QUICK
from webdyno.view.shell import Reply
from webdyno.view.site import Site

SLOW = "/results/slow/"
LARGE = 8 << 20


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made(tmp_path / "one", rounds("go"))
    made(tmp_path / "slow", rounds("go"))
    return tmp_path


@pytest.fixture
def asked(root: Path) -> Iterator[Asked]:
    with serving(root) as there:
        yield there
    assert there.complaints == []


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that no kernel takes all of while nobody reads it."""
    real = Site.answer
    page = Reply(200, "text/plain", b"x" * LARGE)
    monkeypatch.setattr(Site, "answer", lambda self, path, query: page if path == "/large" else real(self, path, query))


class Oven:
    """Reports of the folder ``slow`` are not done before ``open`` is set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked, self.begun, self.open = 0, threading.Event(), threading.Event()
        self._real = Site._rendered
        monkeypatch.setattr(Site, "_rendered", lambda site, name: self._rendered(site, name))  # noqa: PLW0108 - bound

    def _rendered(self, site: Site, name: str) -> Reply:
        if name == "slow":
            self.asked += 1
            self.begun.set()
            self.open.wait(60)
        return self._real(site, name)


@pytest.fixture
def oven(monkeypatch: pytest.MonkeyPatch) -> Iterator[Oven]:
    there = Oven(monkeypatch)
    yield there
    there.open.set()


def connected(asked: Asked, said: bytes = b"") -> socket.socket:
    there = socket.create_connection(("127.0.0.1", asked.port), timeout=60)
    there.sendall(said)
    return there


def request(asked: Asked, path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{asked.port}\r\n\r\n".encode()


@pytest.mark.usefixtures("large")
def test_clients_that_are_slow_hold_no_thread_and_keep_no_other_waiting(asked: Asked) -> None:
    assert asked.get("/results/one/").status == 200
    before = threading.active_count()
    with ExitStack() as slow:
        for at in range(150):
            said = (b"", b"GET / HT", request(asked, "/large"))[at % 3]
            slow.enter_context(connected(asked, said))
        assert asked.get("/view.css").status == 200
        assert asked.get("/results/one/").status == 200
        assert threading.active_count() <= before


def test_pages_that_follow_a_run_hold_no_thread(root: Path) -> None:
    with Writer(root / "live-1"), serving(root) as there, ExitStack() as followed:
        assert there.get("/results/one/").status == 200
        before = threading.active_count()
        for _ in range(MOST_STREAMS):
            assert next(followed.enter_context(there.events("/results/live-1/events")))[0] == "done"
        assert threading.active_count() <= before
        assert MOST_STREAMS > QUICK + LONG
        assert there.get("/view.css").status == 200


def test_a_page_is_made_once_for_all_that_ask_meanwhile_and_those_that_are_there_are_served(
    asked: Asked, oven: Oven
) -> None:
    there = asked.get("/results/one/")
    with ThreadPoolExecutor(10) as clients:
        waiting = [clients.submit(asked.get, SLOW) for _ in range(10)]
        oven.begun.wait(60)
        assert asked.get("/results/one/").text == there.text
        assert asked.get("/").status == 200
        assert asked.get("/view.css").status == 200
        oven.open.set()
        answers: list[Answer] = [each.result() for each in waiting]
    assert {answer.status for answer in answers} == {200}
    assert len({answer.text for answer in answers}) == 1
    assert asked.get(SLOW).text == answers[0].text
    assert oven.asked == 1


def test_a_page_that_could_not_be_made_is_tried_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    faults = [UsageError("the disk fails"), ZeroDivisionError("a bug")]
    real = Site._rendered

    def fails(self: Site, name: str) -> Reply:
        if faults:
            raise faults.pop(0)
        return real(self, name)

    monkeypatch.setattr(Site, "_rendered", fails)
    with serving(root) as there:
        first, second, third = (there.get("/results/one/") for _ in range(3))
        assert (first.status, "the disk fails." in first.text) == (500, True)
        assert (second.status, second.text) == (500, "This page could not be made (ZeroDivisionError).\n")
        assert third.status == 200
        assert len(there.complaints) == 1


def test_more_different_pages_than_may_wait_are_asked_to_come_again(
    asked: Asked, oven: Oven, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "MOST_WAITING", 1)
    assert asked.get("/results/one/").status == 200
    with ThreadPoolExecutor(1) as client:
        waiting = client.submit(asked.get, SLOW)
        oven.begun.wait(60)
        full = asked.get("/compare?base=one&head=slow")
        assert (full.status, full.headers["Retry-After"]) == (503, "5")
        assert asked.get("/results/one/").status == 200
        oven.open.set()
        assert waiting.result().status == 200


def test_the_end_waits_for_no_page_that_is_being_made(root: Path, oven: Oven) -> None:
    with serving(root) as there, connected(there, request(there, SLOW)) as client:
        oven.begun.wait(60)
        there.server.end()
        assert client.recv(1) == b""
        assert not oven.open.is_set()


def test_connections_beyond_those_that_may_be_open_are_asked_to_come_again(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(root, limits=Limits(most_open=2)) as there:
        with connected(there, b"G"), connected(there, b"G"):
            reply = there.get("/")
            assert (reply.status, reply.headers["Retry-After"], reply.headers["Connection"]) == (503, "5", "close")
            assert reply.text == "2 connections are open: come again.\n"
            monkeypatch.setattr(connections, "SPARE", 0)
            with connected(there) as refused:
                assert refused.recv(1) == b""
        while there.get("/").status == 503:  # until the server has seen that they are gone
            pass
        assert there.complaints == []


def test_a_request_has_to_be_there_in_time(root: Path) -> None:
    with serving(root, limits=Limits(head_s=0.05)) as there:
        with connected(there, b"GET / HTTP/1.1\r\nHost: ") as slow, slow.makefile("rb") as answer:
            assert answer.read().startswith(b"HTTP/1.1 408 ")
        assert there.get("/view.css").status == 200
        assert there.complaints == []


def test_a_connection_without_a_request_is_closed(root: Path) -> None:
    with serving(root, limits=Limits(idle_s=0.05)) as there:
        with connected(there) as idle:
            assert idle.recv(1) == b""
        with connected(there, request(there, "/view.css")) as kept, kept.makefile("rb") as answer:
            assert answer.read().startswith(b"HTTP/1.1 200 OK")  # and then it is idle
        assert there.complaints == []


@pytest.mark.usefixtures("large")
def test_a_client_that_does_not_take_what_it_asked_for_loses_its_place(root: Path) -> None:
    with serving(root, limits=Limits(most_open=1, idle_s=0.2)) as there:
        with connected(there, request(there, "/large")) as deaf:
            assert deaf.recv(8) == b"HTTP/1.1"
            while there.get("/view.css").status == 503:
                pass
            with suppress(ConnectionError), deaf.makefile("rb") as rest:
                assert len(rest.read()) < LARGE // 2
        assert there.complaints == []


@pytest.mark.usefixtures("large")
def test_a_client_that_reads_slowly_gets_all_of_it(asked: Asked) -> None:
    with connected(asked, request(asked, "/large").replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")) as slow:
        got = 0
        while part := slow.recv(10_000):
            got += len(part)
        assert got > LARGE


@pytest.mark.parametrize("head", [b"X: " + b"x" * MOST_HEAD_BYTES, b"X: x\r\n" * (MOST_HEAD_BYTES // 6)])
def test_a_head_that_is_too_long_is_refused(head: bytes, asked: Asked) -> None:
    answer = asked.raw(b"GET / HTTP/1.1\r\n" + head + b"\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 431 ")
    assert b"xxx" not in answer


def test_a_connection_is_kept_for_the_next_request(asked: Asked) -> None:
    with connected(asked, request(asked, "/view.css") * 2 + request(asked, "/nothing")) as kept:
        kept.shutdown(socket.SHUT_WR)
        with kept.makefile("rb") as answer:
            said = answer.read()
    assert [said.count(status) for status in (b"HTTP/1.1 200 ", b"HTTP/1.1 404 ")] == [2, 1]
