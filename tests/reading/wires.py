"""Readers of what comes over a socket."""

from __future__ import annotations

import json
import socket
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace

from tests.reading.registry import Reader, text
from webdyno.rig.by_ray import versions_in
from webdyno.serve import probe, verify
from webdyno.serve.first_answer import first_answer
from webdyno.service import redis
from webdyno.service.unanswered import Unanswered
from webdyno.session.tryout import image
from webdyno.view.server.exchange import Exchange

WANTED = '{"a": [1, true, null], "b": {"c": 0.5}}'


def _browser(data: bytes, _: Path) -> object:
    exchange = Exchange(data, {"127.0.0.1:8000"}, "http://127.0.0.1:8000/")
    if exchange.is_read and not exchange.refused:
        assert exchange.command in ("GET", "HEAD")
        return exchange.asked
    return exchange.refused


def _probe(data: bytes, _: Path) -> object:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(data)
        theirs.shutdown(socket.SHUT_WR)
        request = SimpleNamespace(method="GET")
        head, rest = probe._read_head(ours)
        framing, length = probe._framing(request, head)  # type: ignore[arg-type]
        return probe._skip_body(ours, framing, length, rest)


def _body(data: bytes, _: Path) -> object:
    answer = SimpleNamespace(body=data, content_type=None, headers={})
    came = verify._came(answer, asked=False)  # type: ignore[arg-type]
    assert came
    assert first_answer(200, {}, data) is None or isinstance(first_answer(200, {"content-type": text(data)}, data), str)
    return verify._wrong_json(data, WANTED), verify._matches("a*", data)


def _inspected(data: bytes, _: Path) -> object:
    answer = image.Answered(0, text(data), "")
    return image._inspected(SimpleNamespace(ask=lambda argv: answer, program="podman"), "x")  # type: ignore[arg-type]


ANSWER = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a\r\nhello\r\n0\r\nA: b\r\n\r\n"
WIRES = [
    Reader(
        "what a browser asks",
        "view/server/exchange.py",
        _browser,
        [b"GET /r?q=a HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nRange: bytes=0-5\r\n\r\n", b"GET /\r\n\r\n"],
    ),
    Reader(
        "an answer to the probe",
        "serve/probe.py",
        _probe,
        [ANSWER, b"HTTP/1.1 100 C\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"],
        (ValueError, OSError),
    ),
    Reader("a body", "serve/verify.py", _body, [WANTED.encode(), b"<html>\xc3\xa4</html>", json.dumps([1.0]).encode()]),
    Reader(
        "what a cluster says of itself",
        "rig/by_ray.py",
        lambda data, _: versions_in(text(data), "10.0.0.1:6379"),
        [b'{"ray_version":"2.60.0","python_version":"3.12.3","ray_commit":"abc"}'],
    ),
    Reader(
        "a reply of Redis",
        "service/redis.py",
        lambda data, _: redis._answer(BytesIO(data)),  # type: ignore[arg-type]
        [b"+OK\r\n", b":12\r\n", b"$5\r\nhello\r\n", b"$-1\r\n", b"-ERR x\r\n"],
        (Unanswered,),
    ),
    Reader(
        "what a container engine knows of an image",
        "session/tryout/image.py",
        _inspected,
        [b'[{"Id":"x","Config":{}}]'],
    ),
]
