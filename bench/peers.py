"""Other people's load tools: how each is asked for the same load, and what it says it counted.

Only what a tool prints by itself is read, because that is what its users believe. Each parser is a pure function of
the text. A tool is looked for on PATH; one that is not there costs one line in the report, never a silent gap.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

_AB_MOST_PER_S = 100_000
"""ab keeps room for this many answers even when it runs for a time; one thread reaches less."""

_PIPELINE = Path(__file__).with_name("pipeline.lua")

_WRK_LONGEST_S = 10
"""wrk keeps eight bytes for every microsecond of its timeout."""


class Ask(NamedTuple):
    """A closed load, as every tool understands it: for ``seconds``, or until ``requests`` requests have ended."""

    url: str
    connections: int
    threads: int = 1
    seconds: int | None = None
    requests: int | None = None
    close: bool = False
    timeout_s: int = 3600
    pipeline: int = 1


class Said(NamedTuple):
    """What a tool claims: answers it calls right, and everything it calls wrong, under its own names."""

    right: int
    wrong: dict[str, int]


class Peer(NamedTuple):
    """One load tool."""

    name: str
    closed: Callable[[Ask], list[str]]
    said: Callable[[str], Said | None]
    many_threads: bool = False
    can_close: bool = True
    can_count: bool = True
    can_pipeline: bool = False


def installed() -> tuple[list[Peer], list[str]]:
    """The peers that are here, and the names of those that are not."""
    here = [peer for peer in PEERS if shutil.which(peer.name)]
    return here, [peer.name for peer in PEERS if peer not in here]


def _wrk(ask: Ask) -> list[str]:
    close = ["-H", "Connection: close"] if ask.close else []
    timeout = min(ask.timeout_s, _WRK_LONGEST_S)
    until = ["-d", f"{ask.seconds}s", "--timeout", f"{timeout}s"]
    script = ["-s", str(_PIPELINE)] if ask.pipeline > 1 else []
    depth = ["--", str(ask.pipeline)] if ask.pipeline > 1 else []
    return ["wrk", "-t", str(ask.threads), "-c", str(ask.connections), *until, *close, *script, ask.url, *depth]


def _ab(ask: Ask) -> list[str]:
    timed = [] if ask.seconds is None else ["-t", str(ask.seconds), "-n", str(ask.seconds * _AB_MOST_PER_S)]
    until = timed or ["-n", str(ask.requests)]
    keep = [] if ask.close else ["-k"]
    return ["ab", "-q", "-r", *keep, "-c", str(ask.connections), *until, "-s", str(ask.timeout_s), ask.url]


def _like_hey(program: str, *flags: str, close: str, seconds_unit: str = "") -> Callable[[Ask], list[str]]:
    def argv(ask: Ask) -> list[str]:
        until = ["-n", str(ask.requests)] if ask.seconds is None else ["-z", f"{ask.seconds}s"]
        closing = [close] if ask.close else []
        timeout = ["-t", f"{ask.timeout_s}{seconds_unit}"]
        return [program, *flags, "-c", str(ask.connections), *until, *timeout, *closing, ask.url]

    return argv


def _h2load(ask: Ask) -> list[str]:
    until = ["-n", str(ask.requests)] if ask.seconds is None else ["-D", str(ask.seconds)]
    return ["h2load", "--h1", "-c", str(ask.connections), "-t", str(ask.threads), *until, ask.url]


def _bombardier(ask: Ask) -> list[str]:
    until = ["-n", str(ask.requests)] if ask.seconds is None else ["-d", f"{ask.seconds}s"]
    close = ["--disableKeepAlives"] if ask.close else []
    return ["bombardier", "-c", str(ask.connections), *until, "-t", f"{ask.timeout_s}s", *close, ask.url]


def said_by_wrk(text: str) -> Said | None:
    """``requests in`` are the complete answers, those of 400 and above among them."""
    total = _number(r"(\d+) requests in ", text)
    if total is None:
        return None
    status = _number(r"Non-2xx or 3xx responses: (\d+)", text) or 0
    errors = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", text)
    names = ("connect", "read", "write", "timeout")
    wrong = dict(zip(names, map(int, errors.groups()), strict=True)) if errors else {}
    return Said(total - status, _only({"status": status, **wrong}))


def said_by_ab(text: str) -> Said | None:
    """``Complete requests`` holds the failed ones too; answers that are not 2xx are counted beside the failed ones."""
    complete, failed = _number(r"Complete requests:\s+(\d+)", text), _number(r"Failed requests:\s+(\d+)", text)
    if complete is None or failed is None:
        return None
    status = _number(r"Non-2xx responses:\s+(\d+)", text) or 0
    return Said(max(0, complete - failed - status), _only({"failed": failed, "non-2xx": status}))


def said_by_hey(text: str) -> Said | None:
    """Also oha's: it kept the form."""
    if "Summary:" not in text:
        return None
    statuses = {code: int(n) for code, n in re.findall(r"^\s*\[(\d{3})\]\s+(\d+) responses", text, re.M)}
    after = text.partition("Error distribution:")[2]
    errors = sum(int(n) for n in re.findall(r"^\s*\[(\d+)\]\s", after, re.M))
    right = sum(n for code, n in statuses.items() if code.startswith("2"))
    return Said(right, _only({"status": sum(statuses.values()) - right, "errors": errors}))


def said_by_h2load(text: str) -> Said | None:
    """``failed`` holds the errored ones, those that took too long, and answers of 400 and above."""
    found = re.search(r"(\d+) succeeded, (\d+) failed, (\d+) errored, (\d+) timeout", text)
    if not found:
        return None
    succeeded, failed, errored, timeout = map(int, found.groups())
    other = max(0, failed - errored - timeout)
    return Said(succeeded, _only({"failed": other, "errored": errored, "timeout": timeout}))


def said_by_bombardier(text: str) -> Said | None:
    codes = re.search(r"1xx - (\d+), 2xx - (\d+), 3xx - (\d+), 4xx - (\d+), 5xx - (\d+)", text)
    if not codes:
        return None
    first, right, *rest = map(int, codes.groups())
    return Said(right, _only({"status": first + sum(rest), "others": _number(r"others - (\d+)", text) or 0}))


def _number(pattern: str, text: str) -> int | None:
    found = re.search(pattern, text)
    return int(found[1]) if found else None


def _only(wrong: dict[str, int]) -> dict[str, int]:
    """Without what did not happen."""
    return {name: count for name, count in wrong.items() if count}


PEERS: tuple[Peer, ...] = (
    Peer("wrk", _wrk, said_by_wrk, many_threads=True, can_count=False, can_pipeline=True),
    Peer("ab", _ab, said_by_ab),
    Peer("oha", _like_hey("oha", "--no-tui", close="--disable-keepalive", seconds_unit="s"), said_by_hey),
    Peer("hey", _like_hey("hey", close="-disable-keepalive"), said_by_hey),
    Peer("h2load", _h2load, said_by_h2load, many_threads=True, can_close=False),
    Peer("bombardier", _bombardier, said_by_bombardier),
)
