"""Open paces against servers whose delays are known: is the response time we report the one that users had?

Requests are due at n / rate, whatever the server does, and response time counts from there. What it must be follows
from the due times and from what the server logged: the delay itself, the time until a frozen server thaws, or the
queue before a server that serves one at a time. The truth leaves out what the network and the wake-ups of both sides
cost; that is what the tolerance is for.
"""

from __future__ import annotations

import itertools
import json
import math
import operator
import statistics
import subprocess
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from bench import engine
from bench.build import Built
from bench.open_peers import OpenPeer
from bench.paired import end, may_go_first, start
from bench.reference import Books, Reference
from bench.table import table

POINTS: tuple[tuple[str, float], ...] = (("p50", 50), ("p90", 90), ("p99", 99), ("p99.9", 99.9), ("max", 100))
RATE = 1000
_SECOND = 1_000_000_000
_TEN_MS = 10_000_000
_SHARE, _FLOOR_NS = 0.01, 50_000
"""Within 1 %, or 50 us where that is more."""
_GOAL_OF_THE_FLOOR_NS = 100_000
_PATIENCE_S = 10
OURS = "webdyno-engine"


class Schedule(NamedTuple):
    """When requests were due and when the run was over, on the clock that server and engine share."""

    start_ns: int
    seconds: int

    @property
    def end_ns(self) -> int:
        return self.start_ns + self.seconds * _SECOND

    def due(self) -> list[int]:
        return [self.start_ns + n * _SECOND // RATE for n in range(RATE * self.seconds)]


def held_back(books: Books, schedule: Schedule) -> list[int]:  # noqa: ARG001 - the form that all truths have
    """Independent delays: the truth is what the server logged, in any order."""
    return list(books.delays_ns)


def in_order(books: Books, schedule: Schedule) -> list[int]:
    """A server that stands still in the last second of every five and then answers everybody, the longest waiting
    first: the n-th answer belongs to the n-th due time. (In closed form, where nothing but the standing still costs
    time: four fifths of the answers at once, the rest evenly from 0 to 1000 ms.)
    """
    answered = sorted(books.began_ns + at for at in books.answered_ns)
    pairs = itertools.zip_longest(schedule.due(), answered[: RATE * schedule.seconds])
    return [(schedule.end_ns if at is None else min(at, schedule.end_ns)) - due for due, at in pairs]


def in_turn(books: Books, schedule: Schedule) -> list[int]:
    """One at a time, first come, first served. Who is not done at the end has waited until then."""
    done, waited = 0, []
    for due, service in itertools.zip_longest(schedule.due(), books.delays_ns):
        if due is None:
            break
        done = max(done, due) + service if service is not None else schedule.end_ns
        waited.append(min(done, schedule.end_ns) - due)
    return waited


def fano(books: Books) -> float | None:
    """How unevenly requests arrived: variance of the counts per 10 ms by their mean. 1 is Poisson's, 0 a ruler's.

    The server's own log of an instant server; its first and last tenth are left out (opening, ending).
    """
    if len(books.answered_ns) < RATE:
        return None
    times = sorted(books.answered_ns)
    first, last = (times[len(times) * tenth // 10] // _TEN_MS for tenth in (1, 9))
    counts = [0] * (last - first)
    for at in times:
        if first <= at // _TEN_MS < last:
            counts[at // _TEN_MS - first] += 1
    return statistics.pvariance(counts) / statistics.fmean(counts)


class Case(NamedTuple):
    """A server, how long it is loaded, and how its truth follows from its books."""

    behaviour: str
    seconds: int
    truth: Callable[[Books, Schedule], list[int]] | None


CASES: dict[str, Case] = {
    "open-floor": Case("right", 5, None),
    "open-freeze": Case("freeze", 12, in_order),
    "open-uniform": Case("uniform", 10, held_back),
    "open-bimodal": Case("bimodal", 10, held_back),
    "open-log-normal": Case("log-normal", 10, held_back),
    "open-serial": Case("serial", 10, in_turn),
}


def percentile(values: Sequence[int], percent: float) -> int:
    """The lowest value that at least ``percent`` of the sorted ``values`` do not exceed, as in HdrHistogram."""
    return values[max(1, math.ceil(math.nextafter(percent, -math.inf) * len(values) / 100)) - 1]


def error_of(said: int, truth: int) -> tuple[bool, str]:
    """Whether it is within the tolerance, and the error for people."""
    off = said - truth
    text = f"{off / 1000:+.0f} us" if abs(off) < _FLOOR_NS or not truth else f"{100 * off / truth:+.1f} %"
    return abs(off) <= max(_FLOOR_NS, _SHARE * truth), text


def run(name: str, built: Built, server_cpus: set[int], cpus: set[int]) -> dict[str, Any]:
    """One row: what the engine said and what was true, or why the engine cannot."""
    case = CASES[name]
    pace = {"kind": "constant", "rate_per_s": RATE, "connections": 64, "max_connections": 2000}
    first = may_go_first()
    with Reference(built.example("truth_server"), case.behaviour, server_cpus, first=first) as server:
        order = engine.order(
            server.port,
            pace,
            seconds=case.seconds,
            schema=2,
            cpus=sorted(cpus),
            timeout_ns=60 * _SECOND,
            body_length=13,
        )
        said = _load([str(built.engine)], order, cpus, first=first)
        books = server.books()
    if said["event"] == "fault":
        return {"case": name, "tool": OURS, "cannot": f"engine cannot (schema 1): {said['message']}"}
    response = said.get("response_ns")
    if not isinstance(response, dict):
        return {"case": name, "tool": OURS, "cannot": "engine cannot: its summary has no response_ns"}
    truth = sorted(case.truth(books, Schedule(said["start_ns"], case.seconds))) if case.truth else []
    wrong = {kind: count for kind, count in said["errors"].items() if count}
    counts = {"offered": said["offered"], "ok": said["ok"], "errors": wrong, "server_right": books.right}
    counts["verdict"] = judge_counts(counts, RATE * case.seconds)
    return {
        "case": name,
        "tool": OURS,
        "first": first,
        "counts": counts,
        "fano": None if case.truth else fano(books),
        "lag_ns": said["lag_ns"],
        "points": [_point(each, percent, response, truth) for each, percent in POINTS],
    }


def run_peer(name: str, built: Built, peer: OpenPeer, server_cpus: set[int], cpus: set[int]) -> dict[str, Any]:
    """One row: what another tool said, beside the truth of what the server did to it.

    No other tool says when its schedule began: it is taken to begin with the first request that the server saw.
    """
    case, first = CASES[name], may_go_first()
    result: dict[str, Any] = {"case": name, "tool": peer.name, "first": first}
    seconds = case.seconds + peer.before_s
    with Reference(built.example("truth_server"), case.behaviour, server_cpus, first=first) as server:
        argv = peer.argv(f"http://127.0.0.1:{server.port}/", RATE, seconds)
        text = _ask(argv, seconds, cpus, first=first)
        books = server.books()
    try:
        said = peer.said(text) if text is not None else {}
    except (ValueError, KeyError):
        said = {}
    if not said or not books.answered_ns:
        return result | {"cannot": "no result" if text is not None else f"did not end {_PATIENCE_S} s after its time"}
    start_ns = books.began_ns + min(map(operator.sub, books.answered_ns, books.delays_ns or itertools.repeat(0)))
    truth = sorted(case.truth(books, Schedule(start_ns, seconds))) if case.truth else []
    response = {each: said.get(each) for each, _ in POINTS}
    points = [_point(each, percent, response, truth) for each, percent in POINTS if response[each] is not None]
    return result | {"fano": None if case.truth else fano(books), "lag_ns": None, "points": points}


def _ask(argv: list[str], seconds: int, cpus: set[int], *, first: bool) -> str | None:
    """What a tool printed; None: it did not end."""
    process = start(argv, cpus, first=first, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        return process.communicate(timeout=seconds + _PATIENCE_S)[0].decode(errors="replace")
    except subprocess.TimeoutExpired:
        return None
    finally:
        end(process)


def judge_counts(counts: dict[str, Any], due: int) -> str:
    """Every due request has one outcome, and what the server answered correctly is ok, or was on its way at the end."""
    wrong = counts["errors"]
    if counts["offered"] != due or counts["ok"] + sum(wrong.values()) != due:
        return f"missed: {due} requests were due"
    on_its_way = counts["server_right"] - counts["ok"]
    return (
        "exact"
        if 0 <= on_its_way <= wrong.get("unfinished", 0)
        else f"missed: {on_its_way} answers are not booked as ok"
    )


def _point(name: str, percent: float, response: dict[str, Any], truth: Sequence[int]) -> dict[str, Any]:
    said = int(response[name])
    at_least = name in response.get("at_least", [])
    if not truth:
        met, text = name != "p50" or said <= _GOAL_OF_THE_FLOOR_NS, "goal <= 100 us" if name == "p50" else ""
        return {"point": name, "said_ns": said, "truth_ns": None, "met": met, "error": text, "at_least": at_least}
    true = percentile(truth, percent)
    met, text = error_of(said, true)
    return {"point": name, "said_ns": said, "truth_ns": true, "met": met, "error": text, "at_least": at_least}


def _load(argv: list[str], order: dict[str, Any], cpus: set[int], *, first: bool) -> dict[str, Any]:
    process = start(argv, cpus, first=first, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        said, _ = process.communicate(json.dumps(order).encode(), timeout=60)
    finally:
        end(process)
    return engine.last_line(said.decode())


def lines(results: list[dict[str, Any]]) -> list[str]:
    """The rows as text; goal and reached beside each other."""
    rows = [_cells(result, point) for result in results for point in result.get("points", [])]
    heads = ["case", "tool", "point", "says, ms", "truth, ms", "error", "verdict"]
    cannot = [f"{result['case']}, {result['tool']}: {result['cannot']}" for result in results if "cannot" in result]
    counts = [f"{each['case']}: {json.dumps(each['counts'])}" for each in results if "counts" in each]
    title = f"Open, constant {RATE}/s; goal: every point within 1 % of the truth, or 50 us; + means at least"
    first = any(result.get("first") for result in results)
    ranks = "Server and tool at real-time priority." if first else "No real-time priority: neighbours show in the tail."
    title = f"{title}. {ranks}" if rows else title
    return [title, *(table(heads, rows) if rows else []), *counts, *_evenness(results), *cannot]


def _evenness(results: list[dict[str, Any]]) -> list[str]:
    """How evenly each tool's requests arrived, and how late our own left."""
    even = [(each["tool"], each["fano"]) for each in results if each.get("fano") is not None]
    text = [f"Arrivals per 10 ms, Fano factor (goal of ours: at most 0.2): {tool} {value:.2f}" for tool, value in even]
    lags = [(each["case"], each["lag_ns"]) for each in results if each.get("lag_ns")]
    late = [
        f"{case}: requests left late by p50 {lag['p50'] / 1000:.0f} us, p99 {lag['p99'] / 1000:.0f} us, "
        f"max {lag['max'] / 1000:.0f} us"
        for case, lag in lags
    ]
    return [*text, *late]


def _cells(result: dict[str, Any], point: dict[str, Any]) -> list[str]:
    truth = "-" if point["truth_ns"] is None else f"{point['truth_ns'] / 1e6:.3f}"
    said = f"{point['said_ns'] / 1e6:.3f}" + ("+" if point["at_least"] else "")
    verdict = "met" if point["met"] else "missed"
    return [result["case"], result["tool"], point["point"], said, truth, point["error"], verdict]
