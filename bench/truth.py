"""What load tools say beside what the server really did: ``python -m bench.truth``.

First closed loads against eleven ways to answer badly, counts held against the server's books; then open paces against
servers whose delays are known, percentiles held against the truth.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from bench import closed_truth, machine, open_peers, open_truth
from bench.build import PROFILES, build
from bench.peers import installed
from bench.table import table


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.truth", description=__doc__)
    rows = [*closed_truth.BEHAVIOURS, *open_truth.CASES]
    parser.add_argument("--case", action="append", choices=rows, help="only this row; repeatable")
    parser.add_argument(
        "--profile", choices=PROFILES, default="dist", help="Cargo profile (default dist: what users get)"
    )
    parser.add_argument("--engine", type=Path, help="measure this webdyno-engine instead of the one from these sources")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    chosen = parser.parse_args(arguments)
    wanted = chosen.case or rows
    built, watch, (peers, absent) = build(chosen.profile, chosen.engine), machine.Watch(), installed()
    open_here, open_absent = open_peers.installed()
    absent = sorted({*absent, *open_absent})
    cores = sorted(os.sched_getaffinity(0))
    server_cpus, cpus = {cores[0]}, {cores[-1]}
    closed = []
    for behaviour in (name for name in closed_truth.BEHAVIOURS if name in wanted):
        print(f"{behaviour} ...", file=sys.stderr, flush=True)
        closed += [closed_truth.run(behaviour, built, peer, server_cpus, cpus) for peer in (None, *peers)]
        watch.look()
    opened = []
    for name in (name for name in open_truth.CASES if name in wanted):
        print(f"{name} ...", file=sys.stderr, flush=True)
        opened.append(open_truth.run(name, built, server_cpus, cpus))
        opened += [open_truth.run_peer(name, built, peer, server_cpus, cpus) for peer in open_here]
        watch.look()
    report = {"profile": built.profile, "not_installed": absent, "machine": watch.seen()}
    if chosen.json:
        print(json.dumps(report | {"closed": [_as_json(row) for row in closed], "open": opened}, indent=1))
    else:
        print("\n".join(_page(report, closed, opened)))
    return 0


def _as_json(row: closed_truth.Row) -> dict[str, Any]:
    said = row.said._asdict() if row.said else None
    return row._asdict() | {"said": said, "verdict": row.verdict}


def _page(report: dict[str, Any], closed: list[closed_truth.Row], opened: list[dict[str, Any]]) -> list[str]:
    heads = ["server", "tool", "right", "wrong", "tool says right", "tool says wrong", "verdict"]
    lines = [f"Profile {report['profile']}.", *machine.lines(report["machine"]), ""]
    if closed:
        lines += [
            f"Closed, {closed_truth.CONNECTIONS} connections, {closed_truth.REQUESTS} requests (wrk: 2 s); goal: exact"
        ]
        lines += [*table(heads, [_cells(row) for row in closed]), ""]
        lines += [f"{name}: {what}" for name, what in closed_truth.BEHAVIOURS.items()]
    if opened:
        lines += ["", *open_truth.lines(opened)]
    return [*lines, "", *(f"{name}: not installed" for name in report["not_installed"])]


def _cells(row: closed_truth.Row) -> list[str]:
    wrong = ", ".join(f"{n} {kind}" for kind, n in row.said.wrong.items()) if row.said else "-"
    return [
        row.behaviour,
        row.tool,
        "-" if row.right is None else str(row.right),
        "-" if row.wrong is None else str(row.wrong),
        str(row.said.right) if row.said else "-",
        wrong or "0",
        row.verdict,
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
