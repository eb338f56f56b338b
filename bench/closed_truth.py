"""Closed loads against servers that misbehave in one way each: what tools say beside what the server did.

Where a tool can be asked for a number of requests, its counts must be the server's to the last one. A tool that only
knows a duration may be off by what was in flight when it stopped: one request per connection.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from bench import engine
from bench.build import Built
from bench.paired import end, start
from bench.peers import Ask, Peer, Said
from bench.reference import Books, Reference
from webdyno.rig.ports import free_port

OURS = "webdyno-engine"
CONNECTIONS = 16
REQUESTS = 2000
_SECONDS = 2
_TIMEOUT_S = 1
_LONGEST_S = 12.0
_SECOND_NS = 1_000_000_000

BEHAVIOURS: dict[str, str] = {
    "right": "keep-alive, Content-Length",
    "silent-close": "closes after each answer without saying so",
    "announced-close": "Connection: close",
    "until-close": "HTTP/1.0, body ends by close",
    "truncated": "12 of 100 bytes, then close",
    "reset": "12 of 100 bytes, then RST",
    "all-500": "every answer is a 500",
    "never": "1 % never answered",
    "chunked": "Transfer-Encoding: chunked",
    "no-header": "keep-alive without saying so, also to HTTP/1.0",
    "surplus": "bytes behind the end of each answer",
    "refused": "nobody listens",
}


class Row(NamedTuple):
    """One tool against one behaviour."""

    behaviour: str
    tool: str
    right: int | None
    """By the server; None where there was none."""
    wrong: int | None
    said: Said | None
    ended: bool
    slack: int
    """In flight when the tool stopped: of correct answers, and of broken ones."""
    slack_wrong: int = 0

    @property
    def verdict(self) -> str:
        return judge(self)


def judge(row: Row) -> str:
    """One phrase: exact, or how the tool's counts differ from the server's."""
    hung = "" if row.ended else f"did not end within {_LONGEST_S:g} s; "
    if row.said is None:
        return f"{hung}no result"
    wrong = sum(row.said.wrong.values())
    if row.right is None or row.wrong is None:
        good = row.said.right == 0 and wrong > 0
        return f"{hung}exact" if good else f"{hung}refused connections are hidden"
    faults = []
    for difference, slack, more, fewer in (
        (row.said.right - row.right, row.slack, "claims {} correct answers too many", "{} correct answers missing"),
        (wrong - row.wrong, row.slack_wrong, "{} false errors", "hides {} errors"),
    ):
        if abs(difference) > slack:
            faults.append((more if difference > 0 else fewer).format(abs(difference)))
    return hung + (", ".join(faults) or ("exact" if row.slack == 0 else f"right (to {row.slack} in flight)"))


def said_by_engine(text: str) -> Said:
    """Our own summary in the form of the others."""
    summary = engine.last_line(text)
    if summary["event"] == "fault":
        raise ValueError(f"the engine refused: {summary['message']}")
    return Said(summary["ok"], {kind: n for kind, n in summary["errors"].items() if n})


def run(behaviour: str, built: Built, peer: Peer | None, server_cpus: set[int], cpus: set[int]) -> Row:
    """One fresh server, one tool (None: ours), and both their books."""
    name = peer.name if peer else OURS
    if behaviour == "refused":
        ended, said = _load(peer, built, free_port(), cpus, timed=True)
        return Row(behaviour, name, None, None, said, ended, 0)
    timed = peer is not None and not peer.can_count
    with Reference(built.example("truth_server"), behaviour, server_cpus) as server:
        ended, said = _load(peer, built, server.port, cpus, timed=timed)
        books = server.books()
    return _row(behaviour, name, books, said, ended, CONNECTIONS if timed else 0)


def _row(behaviour: str, name: str, books: Books, said: Said | None, ended: bool, slack: int) -> Row:
    wrong = books.broken + books.silent
    return Row(behaviour, name, books.right, wrong, said, ended, slack, slack if books.broken else 0)


def _load(peer: Peer | None, built: Built, port: int, cpus: set[int], *, timed: bool) -> tuple[bool, Said | None]:
    if peer is None:
        limit: dict[str, Any] = {"seconds": _SECONDS} if timed else {"count": REQUESTS}
        order = engine.order(
            port, engine.closed(CONNECTIONS), timeout_ns=_TIMEOUT_S * _SECOND_NS, body_length=13, **limit
        )
        ended, text = _run([str(built.engine)], json.dumps(order).encode(), cpus)
        return ended, said_by_engine(text)
    ask = Ask(f"http://127.0.0.1:{port}/", CONNECTIONS, timeout_s=_TIMEOUT_S)
    ask = ask._replace(seconds=_SECONDS) if timed else ask._replace(requests=REQUESTS)
    ended, text = _run(peer.closed(ask), b"", cpus)
    return ended, peer.said(text)


def _run(argv: list[str], stdin: bytes, cpus: set[int]) -> tuple[bool, str]:
    """Whether it ended by itself, and what it printed until then."""
    with tempfile.TemporaryDirectory() as folder:
        given, said = Path(folder) / "in", Path(folder) / "out"
        given.write_bytes(stdin)
        with given.open("rb") as source, said.open("wb") as sink:
            process = start(argv, cpus, stdin=source, stdout=sink, stderr=subprocess.STDOUT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_LONGEST_S)
            ended = process.poll() is not None
            end(process)
        return ended, said.read_text(errors="replace")
