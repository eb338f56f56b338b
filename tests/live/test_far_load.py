"""``load URL --far``: one load from several hosts of a cluster."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from tests.live.hosts import Made, hosts_joined, why_not
from tests.live.test_far import WEBDYNO

REASON = why_not()
pytestmark = [
    pytest.mark.live,
    pytest.mark.timeout(300),
    pytest.mark.skipif(REASON is not None, reason=str(REASON)),
    pytest.mark.xdist_group("far"),
]
SERVER = """
import http.server, sys
class Books(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        self.send_response(200); self.send_header("Content-Length", "2"); self.end_headers(); self.wfile.write(b"ok")
    def log_message(self, *_): pass
http.server.ThreadingHTTPServer((sys.argv[1], 8080), Books).serve_forever()
"""
AHEAD_S = 60


@pytest.fixture(scope="module")
def hosts() -> Iterator[list[Made]]:
    """The last one's clock is wrong by a minute, in all of these tests."""
    with hosts_joined(3, ahead_s=AHEAD_S) as made:
        yield made


@pytest.fixture
def books(hosts: list[Made]) -> Iterator[Made]:
    """The head, with a server."""
    head = hosts[0]
    with head.start(sys.executable, "-c", SERVER, head.address) as server:
        yield head
        server.kill()


def loading(head: Made, *more: str) -> tuple[str, ...]:
    return (*WEBDYNO, "load", f"http://{head.address}:8080/", "-c", "4", *more, "--far", f"{head.address}:6379")


def test_two_hosts_share_a_load_though_a_clock_is_wrong(hosts: list[Made], books: Made) -> None:
    done = books.run(*loading(books, "-n", "201", "--drivers", "2"))
    assert done.returncode == 0, done.stderr + done.stdout
    assert "201 correct of 201" in done.stdout
    assert all(f"on {host.address}" in done.stdout for host in hosts[1:])


def test_more_drivers_than_hosts_are_refused_in_a_sentence(books: Made) -> None:
    done = books.run(*loading(books, "-n", "9", "--drivers", "3"))
    assert done.returncode == 3 and "not 3 hosts beside this one" in done.stderr
    assert len(done.stderr.splitlines()) == 1
