"""Doubts about connections: what a server does with them decides more about its rate than how fast it answers.

Keep-alive that is silently off cost published contenders a factor of 4 to 165; a connection that is never served makes
every percentile look better, because who never got an answer is in none of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from webdyno.analyse import words
from webdyno.analyse.doubts import sentences
from webdyno.analyse.table import Cell
from webdyno.analyse.unanswered import never_answered
from webdyno.analyse.window import Window
from webdyno.model.doubt import Doubt

CLOSING_BELOW = 1.5
STARVED_VOIDS = 0.10
SILENT = 0.001
"""Silent closes per answer."""
_QUEUE = ("--backlog", "--listen", "-backlog")
"""What servers call the length of their listen queue on the command line."""
CLOSES_CONNECTIONS_ADVICE = (
    "turn keep-alive on in its settings if it has any, or compare all contenders with keep-alive off"
)
SILENT_CLOSE_ADVICE = (
    "make it send Connection: close with its last answer, or keep connections longer than its clients do"
)
HTTP_1_0_ADVICE = "put a proxy in front of it in production; compare it only with servers that speak HTTP/1.0 too"
STARVED_CONNECTIONS_ADVICE = (
    "give it more workers or threads than connections, or a model that does not tie a worker to a connection, or "
    "raise its limit of connections"
)
SMALL_BACKLOG_ADVICE = "raise its backlog setting, and net.core.somaxconn if that is the smaller"


def closes_connections(cell: Cell) -> Doubt | None:
    """Keep-alive was requested, but every answer, or nearly every one (1.5 per connection), costs a new connection."""
    if not cell.load.keep_alive or not cell.windows:
        return None
    each = cell.requests_per_connection
    probes = [window.run.probe for window in cell.windows if window.run.probe]
    if each is not None:
        if each >= CLOSING_BELOW or not any(_opened_again(cell, window) for window in cell.windows):
            return None
    elif all(probe.keep_alive for probe in probes):
        return None
    slices = [slice_ for window in cell.windows for slice_ in window.run.slices]
    announced, silent = sum(s.closes_announced or 0 for s in slices), sum(s.closes_silent or 0 for s in slices)
    quietly = silent > announced if announced or silent else not any(probe.announces_close for probe in probes)
    return Doubt(
        kind="closes-connections",
        severity="shades",
        subject=cell.name,
        sentence=sentences.closes(cell.name, each, quietly=quietly),
        advice=CLOSES_CONNECTIONS_ADVICE,
        numbers={"requests_per_connection": each or 0.0, "announced": announced, "silent": silent},
    )


def _opened_again(cell: Cell, window: Window) -> bool:
    """More connections were opened than were wanted; slow answers alone make few of them per connection, too."""
    opened = sum(slice_.connections_opened or 0 for slice_ in window.run.slices)
    return opened > (cell.load.max_connections or cell.load.connections)


def silent_close(cell: Cell) -> Doubt | None:
    """It closed connections unannounced, more than once in 1,000 answers, although keep-alive was requested.

    RFC 9112 section 9.6: a server that intends to close should say so. A request that is on its way at that moment is
    lost, and most clients treat that as an error. The engine sends it again (stale_retries), unless its method must not
    be repeated, such as POST.
    """
    if not cell.load.keep_alive or not cell.windows:
        return None
    slices = [slice_ for window in cell.windows for slice_ in window.run.slices]
    silent, retries = sum(s.closes_silent or 0 for s in slices), sum(s.stale_retries or 0 for s in slices)
    answers = sum(slice_.ok for slice_ in slices)
    if silent + retries <= SILENT * answers:
        return None
    return Doubt(
        kind="silent-close",
        severity="shades",
        subject=cell.name,
        sentence=f"{cell.name} closed {words.count(silent + retries, 'connection')} unannounced in {answers:,} "
        "answers: requests that cross such a close are lost, and other clients see errors",
        advice=SILENT_CLOSE_ADVICE,
        numbers={"silent": silent, "retries": retries, "answers": answers},
    )


def http_1_0(cell: Cell) -> Doubt | None:
    """The request was HTTP/1.1, and the answer HTTP/1.0."""
    if cell.load.http == "1.0" or not cell.windows:
        return None
    old = sum(slice_.http10_answers or 0 for window in cell.windows for slice_ in window.run.slices)
    probed = any(window.run.probe and window.run.probe.http_version == "1.0" for window in cell.windows)
    if not old and not probed:
        return None
    return Doubt(
        kind="http-1.0",
        severity="shades",
        subject=cell.name,
        sentence=sentences.http_1_0(cell.name),
        advice=HTTP_1_0_ADVICE,
        numbers={"http10_answers": old},
    )


def starved_connections(cell: Cell) -> Doubt | None:
    """Connections that never got an answer. They are absent from every percentile, so they are reported here.

    Voids if they are one in ten or more.
    """
    worst = max((never_answered(window.run) or 0 for window in cell.windows), default=0)
    if not worst:
        return None
    part = worst / cell.load.connections
    return Doubt(
        kind="starved-connections",
        severity="voids" if part >= STARVED_VOIDS else "shades",
        subject=cell.name,
        sentence=sentences.starved(cell.name, worst, cell.load.connections),
        advice=STARVED_CONNECTIONS_ADVICE,
        numbers={"unanswered": worst, "connections": cell.load.connections},
    )


def small_backlog(cell: Cell) -> Doubt | None:
    """The kernel's listen queue is shorter than was requested, or than the number of connections that arrive."""
    queues = [(w.run.probe.backlog, w.run) for w in cell.windows if w.run.probe and w.run.probe.backlog is not None]
    if not queues:
        return None
    shortest, run = min(queues, key=lambda pair: pair[0])
    asked = _asked_backlog(run.command)
    cut = asked is not None and shortest < asked
    if shortest >= cell.load.connections and not cut:
        return None
    told = f", though it asks for {asked:,}" if cut else ""
    late = ": those that do not fit wait for a second or more" if shortest < cell.load.connections else ""
    return Doubt(
        kind="small-backlog",
        severity="shades",
        subject=cell.name,
        sentence=f"{cell.name} listens with a queue of {words.count(shortest, 'place')} for {cell.load.connections:,} "
        f"connections{told}{late}",
        advice=SMALL_BACKLOG_ADVICE,
        numbers={"backlog": shortest, "connections": cell.load.connections, **({"asked": asked} if asked else {})},
    )


def _asked_backlog(command: Sequence[str]) -> int | None:
    """The length on a command line, as in ``--backlog 2048`` or ``--backlog=2048``."""
    spread = [part for word in command for part in word.split("=", 1)]
    asked = (int(value) for name, value in pairwise(spread) if name in _QUEUE and value.isdecimal())
    return next(asked, None)
