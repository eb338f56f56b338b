"""Sentences of the doubts that one load can have as well as a table: said alike in both, of ``who`` was asked.

Figures only: whether there is a doubt at all is for the rules that call these.
"""

from __future__ import annotations

from webdyno.analyse import words
from webdyno.analyse.doubts.held_back import follows
from webdyno.model.load import Load


def busy(who: str, share: float, load: Load) -> str:
    """Of a load generator that had something to do for ``share`` of its time."""
    return f"the load generator used {words.per_cent(share)} of its CPU against {who}: {follows(load)}"


def starved_generator(who: str, share: float, load: Load) -> str:
    """Of one that had no core for ``share`` of its time."""
    return (
        f"something else ran on the load generator's cores for {words.per_cent(share)} of the time against "
        f"{who}, and it had to wait: {follows(load)}"
    )


def starved_beside_full(who: str, share: float, used: float) -> str:
    """Of one that had none for ``share`` of its time, beside a server that ``used`` its cores in full."""
    return (
        f"something else ran on the load generator's cores for {words.per_cent(share)} of the time against "
        f"{who}, and it had to wait: the tail of its latency may be shorter; its rate is its own, because it used "
        f"{words.per_cent(used)} of its cores"
    )


def near_ceiling(who: str, per_s: float, most_per_s: float, load: Load) -> str:
    """Of a rate that is nearly the most that calibration reached."""
    return (
        f"{words.rate(per_s)} of {who} is 90 % or more of {words.rate(most_per_s)}, which the load "
        f"generator reached here against a server that answers at once: {follows(load)}"
    )


def not_offered(who: str, share: float) -> str:
    """Of a schedule of which only ``share`` was sent, because connections were missing."""
    return (
        f"only {words.per_cent(share)} of the requests that were due were sent to {who}: it was measured at a "
        "lower rate than requested"
    )


def not_sent(who: str, share: float) -> str:
    """Of one of which only ``share`` was sent, by a load generator at its own limit."""
    return (
        f"the load generator, at its own limit, sent only {words.per_cent(share)} of the requests that "
        f"were due to {who}: that is not the server's fault"
    )


def late(who: str, lag_ns: float, p99_ns: float) -> str:
    """Of requests that were sent after they were due."""
    return (
        f"the load generator sent {words.time_ns(lag_ns)} late at p99, which is part of the p99 of "
        f"{words.time_ns(p99_ns)} of {who}"
    )


def closes(who: str, each: float | None, *, quietly: bool) -> str:
    """Of a server that had ``each`` requests per connection although keep-alive was asked."""
    manner = "without announcing it" if quietly else "and says so in its answer"
    figure = f" ({each:.2f} requests per connection)" if each is not None else ""
    return f"{who} closes the connection after an answer {manner}{figure}: its rate includes a new connection each time"


def http_1_0(who: str, others: str = "the others") -> str:
    """Of a server that was asked in HTTP/1.1, beside ``others``."""
    return f"{who} answers in HTTP/1.0, so it does less than {others} and cannot keep connections as they do"


def starved(who: str, unanswered: int, connections: int) -> str:
    """Of connections that never got an answer."""
    return f"{who} left {unanswered:,} of {connections:,} connections without a single answer; no percentile shows them"


def few_cycles(who: str, each: float, connections: int) -> str:
    """Of a steady phase with ``each`` answers for a connection."""
    return (
        f"{who} answered each of {words.count(connections, 'connection')} {each:.1f} times in its steady phase: "
        "its figures depend on which connection came first"
    )


def short_window(who: str, left: int, load: Load) -> str:
    """Of requests that ``left`` a window without an answer, before their time-out."""
    return (
        f"{words.count(left, 'request')} to {who} had no answer when a window of {load.duration_s:g} s ended, before "
        f"their time-out of {load.timeout_s:g} s: no count of errors includes them"
    )
