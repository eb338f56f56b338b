"""Is it what was meant? A first answer that every server gives fast: a redirect, a login page, a refused Host.

``load`` has its first answer from the engine, and asks once more, when the load is over, only where the page itself
tells: a load of n requests is n requests as long as it lasts. What takes minutes (``capacity``) asks before.
"""

from __future__ import annotations

from collections.abc import Iterable

from webdyno.load.driver import Order, Tls
from webdyno.model.secret import asked
from webdyno.model.workload import Request
from webdyno.serve.ask import Answer, NoAnswer, ask
from webdyno.serve.first_answer import first_answer
from webdyno.serve.secure import Secure, secure
from webdyno.session.engine import Loaded

ANSWER_S = 5.0
"""For one answer while nothing else is asked."""
_SAFE = ("GET", "HEAD")
"""May be asked once more than was ordered (RFC 9110, 9.2.1)."""
_PAGES = (200, 400, 403)
"""Statuses of answers whose page tells what they are."""


def odd_answer(loaded: Loaded) -> str | None:
    """What is odd about the answers of a finished load of one request, where nobody said what a right one is."""
    order = loaded.order
    request = order.requests[0]
    head = loaded.summary.get("first_answer")
    if len(order.requests) > 1 or not request.expect.is_unsaid or not head:
        return None
    status, headers = _read(head)
    said = first_answer(status, headers, b"")
    if said is None and status in _PAGES and "html" in headers.get("content-type", "html").lower():
        answer = _asked_again(order, request)
        said = None if answer is None else first_answer(answer.status, answer.headers, answer.body)
    return None if said is None else f"{asked(request)}: {said}"


def judged(host: str, port: int, requests: Iterable[Request], tls: Tls | None) -> list[tuple[int, str]]:
    """Status and sentence of each first answer that is hardly meant, where nobody said what a right one is.

    NoAnswer when one does not come.
    """
    found = []
    for request in requests:
        answer = ask(host, port, request, ANSWER_S, lambda: None, _secure(host, tls))
        said = first_answer(answer.status, answer.headers, answer.body) if request.expect.is_unsaid else None
        if said is not None:
            found.append((answer.status, f"{asked(request)}: {said}"))
    return found


def _asked_again(order: Order, request: Request) -> Answer | None:
    """None where it must not be asked again, cannot be asked by our own client, or does not answer."""
    way = order.way
    if request.method not in _SAFE or way.template or way.unix is not None or order.load.http == "2":
        return None
    try:
        return ask(order.host, order.port, request, ANSWER_S, lambda: None, _secure(order.host, way.tls))
    except NoAnswer:
        return None


def _secure(host: str, tls: Tls | None) -> Secure | None:
    """As the engine is told."""
    return None if tls is None else secure(tls.server_name or host, verify=tls.verify, roots_pem=tls.roots_pem)


def _read(head: str) -> tuple[int, dict[str, str]]:
    """Status and fields of a header block as the engine tells it; names in small letters."""
    line, *lines = head.split("\r\n")
    code = line.split(" ")[1] if " " in line else ""
    fields = (line.partition(":") for line in lines if line)
    return int(code) if code.isdecimal() else 0, {name.strip().lower(): value.strip() for name, _, value in fields}
