"""The engine's CPU per request beside every other load tool that is installed: ``python -m bench.speed``.

Prints one table with the goal of each case and whether it was reached. See ``paired`` for the method.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench import engine, machine, nginx
from bench.build import PROFILES, Built, build
from bench.cases import CASES, FEW, MANY, MEMORY, MEMORY_GOAL_BYTES, NOT_YET, Case
from bench.estimate import Estimate, median_with_interval, ratio, verdict
from bench.nginx import Nginx
from bench.paired import Client, Counting, Instant, Window, measure
from bench.peers import Ask, Peer, installed
from bench.table import table

OURS, FLOOR = "webdyno-engine", "(send and receive only)"
_LIFE_S = 900
_HOUR_NS = 3_600_000_000_000
_QUICK_S = 5.0
"""So long may the windows of one case take in a quick run."""
_FEWEST = 20
"""A window with fewer answers says nothing."""


def places(case: Case) -> tuple[set[int], set[int]]:
    """Cores of the server and of the client."""
    cores = sorted(os.sched_getaffinity(0))
    if case.placement == "same" or len(cores) == 1:
        return {cores[0]}, {cores[0]}
    return (set(cores[:2]), set(cores[:2])) if case.placement == "both" else ({cores[0]}, {cores[1]})


def commands(
    case: Case, built: Built, peers: list[Peer], port: int, name: str, cpus: set[int]
) -> tuple[list[str], bytes]:
    """What starts client ``name``, and its standard input."""
    if name == OURS:
        order = engine.order(
            port,
            engine.closed(case.connections),
            seconds=_LIFE_S,
            threads=case.threads,
            cpus=sorted(cpus),
            keep_alive=not case.close,
            **engine.driven_by(case.backend),
            **({"schema": 3, "pipeline": case.pipeline} if case.pipeline > 1 else {}),
            slice_ns=3_000_000_000,  # it runs a third of the time or less: about one slice per second of its own
            body_length=None if case.server == "nginx" else case.body,
            connect_timeout_ns=_HOUR_NS,
        )
        return [str(built.engine)], json.dumps(order).encode()
    if name == FLOOR:
        return [str(built.example("floor_client")), str(port), str(case.connections), str(_LIFE_S)], b""
    url = f"http://127.0.0.1:{port}/"
    ask = Ask(url, case.connections, case.threads, seconds=_LIFE_S, close=case.close, pipeline=case.pipeline)
    return next(peer for peer in peers if peer.name == name).closed(ask), b""


def contestants(case: Case, peers: list[Peer]) -> list[str]:
    """Who can carry out this case."""
    able = [p for p in peers if (p.many_threads or case.threads == 1) and (p.can_close or not case.close)]
    plain = case.threads == 1 and case.pipeline == 1 and not case.close and not case.megabytes
    return [OURS, *([FLOOR] if plain else []), *(p.name for p in able if p.can_pipeline or case.pipeline == 1)]


@contextlib.contextmanager
def clients(case: Case, built: Built, peers: list[Peer]) -> Iterator[tuple[list[Client], list[str]]]:
    """All clients that came to life, stopped, each with its server; and a line for each that did not."""
    server_cpus, client_cpus = places(case)
    instant = [str(built.instant), "--body", str(case.body), "--close", str(int(case.close))]
    instant += ["--seconds", str(_LIFE_S)]
    alive, failed = [], []
    with contextlib.ExitStack() as stack:
        for name in contestants(case, peers):
            server: Counting = Nginx(server_cpus) if case.server == "nginx" else Instant(instant, server_cpus)
            stack.callback(server.close)
            argv, stdin = commands(case, built, peers, server.port, name, client_cpus)
            client = stack.enter_context(Client(name, argv, client_cpus, server, stdin))
            try:
                client.warm_up(2 * case.connections)
                alive.append(client)
            except RuntimeError as error:
                failed.append(f"{case.name}: {error}")
        yield alive, failed


def run(case: Case, built: Built, peers: list[Peer], rounds: int | None, window_s: float) -> dict[str, Any]:
    """One case: per client the cost, and how many times cheaper ours is."""
    with clients(case, built, peers) as (alive, failed):
        n = rounds or max(5, int(_QUICK_S / (window_s * max(1, len(alive)))))
        windows: dict[str, list[Window]] = {client.name: [] for client in alive}
        try:
            for each in measure(alive, n, window_s):
                for name, window in each.items():
                    windows[name].append(window)
        except RuntimeError as error:
            failed.append(f"{case.name}: {error}")
    costs = {name: [cost_us(window, case) for window in seen] for name, seen in windows.items()}
    return {"case": case.name, "failed": failed} | {"rows": [_row(name, costs, windows, case) for name in windows]}


def memory(built: Built, peers: list[Peer]) -> dict[str, Any]:
    """Bytes of resident memory that each connection adds, while nothing moves."""
    seen: list[dict[str, int]] = []
    failed: list[str] = []
    for case in (FEW, MANY):
        with clients(case, built, peers) as (alive, broken):
            seen.append({client.name: client.memory_bytes() for client in alive})
            failed += broken
    few, many = seen
    more = MANY.connections - FEW.connections
    grown = {name: (many[name] - few[name]) / more for name in many if name in few and name != FLOOR}
    return {"case": MEMORY, "failed": failed, "rows": [_memory_row(name, bytes_) for name, bytes_ in grown.items()]}


def _memory_row(name: str, grown: float) -> dict[str, Any]:
    cost = {"median": grown, "low": grown, "high": grown, "rounds": 1}
    row = {"tool": name, "unit": "B/connection", "cost": cost, "busy": None, "wrk_divided_by_it": None}
    if name != OURS:
        return row
    verdict = "met" if grown <= MEMORY_GOAL_BYTES else f"missed by {100 * (grown / MEMORY_GOAL_BYTES - 1):.0f} %"
    return row | {"goal": MEMORY_GOAL_BYTES, "verdict": verdict}


def cost_us(window: Window, case: Case) -> float | None:
    """CPU microseconds per request, or per megabyte of body."""
    if window.answered < _FEWEST:
        return None
    per = window.cpu_ns / 1000 / window.answered
    return per / (case.body / 1e6) if case.megabytes else per


def _row(
    name: str, costs: dict[str, list[float | None]], windows: dict[str, list[Window]], case: Case
) -> dict[str, Any]:
    mine = [cost for cost in costs[name] if cost is not None]
    share = [window.cpu_ns / window.wall_ns for window in windows[name]]
    against = ratio(costs[name], costs["wrk"]) if "wrk" in costs and name != "wrk" else None
    row: dict[str, Any] = {
        "tool": name,
        "unit": "us/MB" if case.megabytes else "us/request",
        "cost": median_with_interval(mine)._asdict() if mine else None,
        "cost_q25": statistics.quantiles(mine, n=4)[0] if len(mine) > 1 else None,
        "busy": statistics.median(share) if share else None,
        "wrk_divided_by_it": against._asdict() if against else None,
    }
    if name == OURS and case.goal:
        row |= {
            "goal": round(case.goal, 2),
            "verdict": verdict(against, case.goal) if against else "no wrk to compare with",
        }
    return row


def lines(results: list[dict[str, Any]]) -> list[str]:
    """The whole table as text."""
    rows = [_cells(result["case"], row) for result in results for row in result["rows"]]
    heads = ["case", "tool", "CPU", "unit", "busy", "wrk / it", "95 %", "rounds", "goal", "verdict"]
    failed = [line for result in results for line in result["failed"]]
    return [*table(heads, rows), "", *failed, *NOT_YET]


def _cells(case: str, row: dict[str, Any]) -> list[str]:
    cost, against = row["cost"], row["wrk_divided_by_it"]
    estimate = Estimate(**against) if against else None
    return [
        case,
        row["tool"],
        f"{cost['median']:.2f}" if cost else "-",
        row["unit"],
        f"{100 * row['busy']:.0f} %" if row["busy"] is not None else "-",
        f"{estimate.median:.2f}" if estimate else "-",
        f"{estimate.low:.2f} to {estimate.high:.2f}" if estimate else "",
        str(cost["rounds"]) if cost else "-",
        f"{row['goal']:.2f}" if "goal" in row else "",
        row.get("verdict", ""),
    ]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.speed", description=__doc__)
    parser.add_argument(
        "--case", action="append", choices=[*(case.name for case in CASES), MEMORY], help="only this one; repeatable"
    )
    parser.add_argument("--rounds", type=int, help="paired windows per case (default 25)")
    parser.add_argument("--window", type=float, default=0.2, metavar="S", help="length of a window (default 0.2 s)")
    parser.add_argument(
        "--quick", action="store_true", help="under two minutes: few rounds, without 10,000 connections"
    )
    parser.add_argument(
        "--profile", choices=PROFILES, default="dist", help="Cargo profile (default dist: what users get)"
    )
    parser.add_argument("--engine", type=Path, help="measure this webdyno-engine instead of the one from these sources")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    chosen = parser.parse_args(arguments)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    built, watch, (peers, absent) = build(chosen.profile, chosen.engine), machine.Watch(), installed()
    cases = [case for case in CASES if (case.name in chosen.case if chosen.case else case.quick or not chosen.quick)]
    rounds = chosen.rounds or (None if chosen.quick else 25)
    results = []
    for case in cases:
        if case.server == "nginx" and not nginx.found():
            results.append({"case": case.name, "failed": [f"{case.name}: nginx is not installed"], "rows": []})
            continue
        print(f"{case.name} ...", file=sys.stderr, flush=True)
        results.append(run(case, built, peers, rounds, chosen.window))
        watch.look()
    if MEMORY in chosen.case if chosen.case else not chosen.quick:
        results.append(memory(built, peers))
    report = {"profile": built.profile, "not_installed": absent, "machine": watch.seen(), "results": results}
    print(json.dumps(report, indent=1) if chosen.json else "\n".join(_page(report)))
    return 0


def _page(report: dict[str, Any]) -> list[str]:
    absent = [f"{name}: not installed" for name in report["not_installed"]]
    cores = sorted(os.sched_getaffinity(0))
    return [
        "CPU time (user and system) of the load tool per request, counted by the server; median over paired windows.",
        f"Profile {report['profile']}. cross: server on core {cores[0]}, tool on core {cores[min(1, len(cores) - 1)]}; "
        f"same: both on core {cores[0]}; two-threads: both on two cores; body: same core, 8 connections.",
        *machine.lines(report["machine"]),
        "",
        *lines(report["results"]),
        *absent,
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
