"""Ask: one request on a connection of its own, by Python's own HTTP client, and the whole answer.

The wait for the first byte is cut into short pieces, between which ``watch`` may raise: a server that never answers
must not keep a user's Ctrl-C waiting.
"""

from __future__ import annotations

import http.client
import select
import time
from collections.abc import Callable
from typing import NamedTuple

from webdyno.model.workload import Request

_PIECE_S = 0.05


class Answer(NamedTuple):
    """What came back, decoded from its framing."""

    status: int
    content_type: str | None
    """Media type without its parameters, in small letters."""
    body: bytes


class NoAnswer(Exception):  # noqa: N818  (an answer that did not come, not an error of ours)
    """No complete HTTP answer; its text continues the sentence "... but"."""


def ask(host: str, port: int, request: Request, timeout_s: float, watch: Callable[[], None]) -> Answer:
    """NoAnswer when there is none within ``timeout_s``; whatever ``watch`` raises."""
    connection = http.client.HTTPConnection(host, port, timeout=timeout_s)
    try:
        connection.connect()
        _send(connection, request)
        _wait(connection, timeout_s, watch)
        response = connection.getresponse()
        body = response.read()
    except TimeoutError:
        raise NoAnswer(f"there was none within {timeout_s:g} s") from None
    except ConnectionRefusedError:
        raise NoAnswer("the connection was refused") from None
    except (http.client.RemoteDisconnected, ConnectionError):
        raise NoAnswer("the connection was closed before it came") from None
    except http.client.IncompleteRead as error:
        raise NoAnswer(f"the connection was closed in the middle of it (after {len(error.partial)} bytes)") from None
    except (http.client.HTTPException, ValueError) as error:
        raise NoAnswer(f"what came is not HTTP ({type(error).__name__}: {str(error)[:80]})") from None
    except OSError as error:
        raise NoAnswer(f"the connection failed: {error.strerror or error}") from None
    finally:
        connection.close()
    media = response.headers.get("Content-Type")
    return Answer(response.status, media.partition(";")[0].strip().lower() if media else None, body)


def _send(connection: http.client.HTTPConnection, request: Request) -> None:
    names = {name.lower() for name, _ in request.headers}
    connection.putrequest(request.method, request.path, skip_host="host" in names, skip_accept_encoding=True)
    for name, value in request.headers:
        connection.putheader(name, value)
    body = None if request.body is None else request.body.encode()
    if body is not None and "content-length" not in names:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body)


def _wait(connection: http.client.HTTPConnection, timeout_s: float, watch: Callable[[], None]) -> None:
    """Until the first byte (or the end) is there."""
    poll = select.poll()  # select() itself cannot look at descriptors from 1024 on
    poll.register(connection.sock, select.POLLIN)
    deadline = time.monotonic() + timeout_s
    while not poll.poll(_PIECE_S * 1000):
        watch()
        if time.monotonic() > deadline:
            raise TimeoutError
