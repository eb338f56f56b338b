"""How servers speak HTTP, told from what scripted ones send."""

from __future__ import annotations

import pytest

from tests.serve.scripted import scripted
from webdyno.model.run import Probe
from webdyno.model.workload import Request
from webdyno.serve.probe import probe

pytestmark = pytest.mark.live

GET = Request(name="hello", path="/")
LENGTH = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=1\r\nhi\r\n0\r\nX-Trailer: 1\r\n\r\n"
CLOSING = b"HTTP/1.1 200 OK\r\nconnection: Close\r\nContent-Length: 2\r\n\r\nhi"
OLD = b"HTTP/1.0 200 OK\r\n\r\nhi"
OLD_KEPT = b"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 2\r\n\r\nhi"
EMPTY = b"HTTP/1.1 204 No Content\r\n\r\n"
NOT_YET = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n"


def probed(*answers: bytes, request: Request = GET) -> Probe | None:
    with scripted(answers) as port:
        return probe("127.0.0.1", port, request, 1.0, 128, 77)


# answers on one connection: version, framing, keep-alive, announces close
TABLE = [
    ([LENGTH, LENGTH], ("1.1", "content-length", True, False)),
    ([CHUNKED, CHUNKED], ("1.1", "chunked", True, False)),
    ([LENGTH], ("1.1", "content-length", False, False)),  # closes without a word
    ([CLOSING], ("1.1", "content-length", False, True)),
    ([OLD], ("1.0", "close", False, False)),
    ([OLD_KEPT, OLD_KEPT], ("1.0", "content-length", True, False)),
    ([EMPTY, EMPTY], ("1.1", "content-length", True, False)),
    ([NOT_YET + LENGTH, LENGTH], ("1.1", "content-length", True, False)),
    ([LENGTH, b""], ("1.1", "content-length", False, False)),  # reads the second request and never answers
    ([LENGTH, b"garbage\r\n\r\n"], ("1.1", "content-length", False, False)),
]


@pytest.mark.parametrize(("answers", "expected"), TABLE)
def test_the_way_of_speaking_is_told(answers: list[bytes], expected: tuple[str, str, bool, bool]) -> None:
    found = probed(*answers)
    assert found is not None
    assert (found.http_version, found.framing, found.keep_alive, found.announces_close) == expected


def test_an_answer_to_head_has_no_body_to_wait_for() -> None:
    head = LENGTH.removesuffix(b"hi")
    found = probed(head, head, request=Request(name="h", method="HEAD", path="/"))
    assert found is not None
    assert found.keep_alive


def test_the_header_block_is_kept_but_not_more_than_2_kib() -> None:
    found = probed(LENGTH, LENGTH)
    assert found is not None
    assert found.header == "HTTP/1.1 200 OK\r\nContent-Length: 2"
    assert (found.backlog, found.ready_ns) == (128, 77)
    long = probed(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 9000 + b"\r\nContent-Length: 0\r\n\r\n")
    assert long is not None
    assert len(long.header) == 2048


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi",
        b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70_000,
        b"HTTP/1.1\r\n\r\n",
    ],
)
def test_what_is_not_http_is_not_described(answer: bytes) -> None:
    assert probed(answer) is None


def test_a_port_nobody_listens_on_is_not_described() -> None:
    assert probe("127.0.0.1", 1, GET, 1.0, None, 0) is None
