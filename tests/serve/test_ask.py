"""One request and its whole answer, against scripted servers."""

from __future__ import annotations

import time

import pytest

from tests.serve.scripted import scripted
from webdyno.model.workload import Request
from webdyno.rig.ports import free_port
from webdyno.serve.ask import Answer, NoAnswer, ask

pytestmark = pytest.mark.live

GET = Request(name="hello", path="/hello?x=1")


def asked(port: int, request: Request = GET, timeout_s: float = 5.0) -> Answer:
    return ask("127.0.0.1", port, request, timeout_s, lambda: None)


def test_an_answer_is_read_whatever_its_framing() -> None:
    answers = [
        b"HTTP/1.1 200 OK\r\nContent-Type: Text/Plain; charset=utf-8\r\nContent-Length: 2\r\n\r\nhi",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nh\r\n1\r\ni\r\n0\r\n\r\n",
        b"HTTP/1.0 200 OK\r\n\r\nhi",
    ]
    with scripted(*([each] for each in answers)) as port:
        headers = {"content-type": "Text/Plain; charset=utf-8", "content-length": "2"}
        assert asked(port) == Answer(200, "text/plain", b"hi", headers)
        assert asked(port) == Answer(200, None, b"hi", {"transfer-encoding": "chunked"})
        assert asked(port) == Answer(200, None, b"hi", {})


def test_the_request_is_sent_as_the_workload_says() -> None:
    seen: list[bytes] = []
    post = Request(name="p", method="POST", path="/p", headers=[("X-A", "1"), ("Host", "example.org")], body="Grüße")
    with scripted([b"HTTP/1.1 204 No Content\r\n\r\n"], received=seen) as port:
        assert asked(port, post).status == 204
    assert seen == [b"POST /p HTTP/1.1\r\nX-A: 1\r\nHost: example.org\r\nContent-Length: 7\r\n\r\nGr\xc3\xbc\xc3\x9fe"]


NO_ANSWERS = [
    ([b"SSH-2.0-OpenSSH_9.2\r\n\r\n"], "what came is not HTTP (BadStatusLine: SSH-2.0-OpenSSH_9.2"),
    (
        [b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi"],
        "the connection was closed in the middle of it (after 2 bytes)",
    ),
    ([b""], "there was none within 0.2 s"),
]


@pytest.mark.parametrize(("answers", "reason"), NO_ANSWERS)
def test_what_is_no_answer_is_told(answers: list[bytes], reason: str) -> None:
    with scripted(answers) as port, pytest.raises(NoAnswer) as caught:
        asked(port, timeout_s=0.2)
    assert str(caught.value).startswith(reason)


def test_a_connection_closed_at_once_is_told() -> None:
    with scripted([]) as port, pytest.raises(NoAnswer, match=r"^the connection was closed before it came$"):
        asked(port)


def test_a_refused_connection_is_told() -> None:
    with pytest.raises(NoAnswer, match=r"^the connection was refused$"):
        asked(free_port())


def test_what_the_watch_raises_ends_the_waiting_at_once() -> None:
    def watch() -> None:
        raise KeyboardInterrupt

    begun = time.monotonic()
    with scripted([b""]) as port, pytest.raises(KeyboardInterrupt):
        ask("127.0.0.1", port, GET, 30.0, watch)
    assert time.monotonic() - begun < 5


ENDLESS = [b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n", b""]


def test_an_answer_without_an_end_is_given_up_after_its_time() -> None:
    with scripted(ENDLESS) as port, pytest.raises(NoAnswer, match=r"^it had no end within 0\.2 s$"):
        asked(port, timeout_s=0.2)


def test_the_watch_is_heeded_in_the_middle_of_an_answer_too() -> None:
    looks = 0

    def watch() -> None:
        nonlocal looks
        looks += 1
        if looks == 3:
            raise KeyboardInterrupt

    begun = time.monotonic()
    with scripted(ENDLESS) as port, pytest.raises(KeyboardInterrupt):
        ask("127.0.0.1", port, GET, 30.0, watch)
    assert time.monotonic() - begun < 5


@pytest.mark.parametrize("size", [b"Content-Length: 3000000\r\n", b""])
def test_an_answer_longer_than_is_read_is_told(size: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = b"HTTP/1.1 200 OK\r\n" + size + b"\r\n" + b"x" * 3_000_000
    with scripted([answer], [answer]) as port:
        assert len(asked(port).body) == 3_000_000
        monkeypatch.setattr("webdyno.serve.ask.MOST_BYTES", 2**21)
        with pytest.raises(NoAnswer, match=r"^it is longer than 2 MiB$"):
            asked(port)


def test_a_chunked_answer_that_is_cut_off_is_told() -> None:
    cut = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n5\r\nde"
    with scripted([cut]) as port, pytest.raises(NoAnswer, match=r"in the middle of it \(after [35] bytes\)"):
        asked(port)
