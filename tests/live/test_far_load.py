"""``load URL --far``: one load from several hosts of a cluster."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

import pytest

from tests.live.hosts import Made, hosts_joined, why_not
from tests.live.test_far import WEBDYNO
from webdyno.histogram import merge

REASON = why_not()
pytestmark = [
    pytest.mark.live,
    pytest.mark.timeout(300),
    pytest.mark.skipif(REASON is not None, reason=str(REASON)),
    pytest.mark.xdist_group("far"),
]
SERVER = """
import http.server, os, sys
books = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
class Books(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        os.write(books, b".")
        self.send_response(200); self.send_header("Content-Length", "2"); self.end_headers(); self.wfile.write(b"ok")
    def log_message(self, *_): pass
http.server.ThreadingHTTPServer((sys.argv[1], 8080), Books).serve_forever()
"""
AHEAD_S = 60
DRIVERS = 4
BOOKS = "books"


@pytest.fixture(scope="module")
def hosts() -> Iterator[list[Made]]:
    """The last one's clock is wrong by a minute, in all of these tests."""
    with hosts_joined(1 + DRIVERS, ahead_s=AHEAD_S) as made:
        yield made


@pytest.fixture
def books(hosts: list[Made]) -> Iterator[Made]:
    """The head, with a server that writes a character for each request."""
    head = hosts[0]
    (head.folder / BOOKS).unlink(missing_ok=True)
    with head.start(sys.executable, "-c", SERVER, head.address, BOOKS) as server:
        yield head
        server.kill()


def loading(head: Made, *more: str) -> tuple[str, ...]:
    return (*WEBDYNO, "load", f"http://{head.address}:8080/", *more, "--far", f"{head.address}:6379")


def test_four_hosts_share_a_load_exactly_by_the_books_of_the_server_though_a_clock_is_wrong(
    hosts: list[Made], books: Made
) -> None:
    done = books.run(*loading(books, "-c", "4", "-n", "2001", "--drivers", f"{DRIVERS}", "--json"))
    assert done.returncode == 0, done.stderr + done.stdout
    told = json.loads(done.stdout)
    shares = {share["host"]: share["ok"] for share in told["summary"]["drivers"]}
    assert shares.keys() == {host.address for host in hosts[1:]}
    assert sorted(shares.values()) == [500, 500, 500, 501]
    merged = merge(slice_["latency_hdr"] for slice_ in told["slices"] if slice_.get("latency_hdr"))
    by_server = (books.folder / BOOKS).stat().st_size
    counts = {"server": by_server, "engines": told["summary"]["ok"], "histogram": merged.count}
    assert set(counts.values()) == {2001}, counts


def test_more_drivers_than_hosts_are_refused_in_a_sentence(books: Made) -> None:
    done = books.run(*loading(books, "-n", "9", "--drivers", "5", "-c", "5"))
    assert done.returncode == 3 and "not 5 hosts beside this one" in done.stderr
    assert len(done.stderr.splitlines()) == 1
