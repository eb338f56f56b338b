"""What part of a study's time its servers are under load, and where the rest goes.

Under load is every second of a warm-up, a lead, a turn or a steady phase, with the wait for its last answers: what a
driver reported. Wall time is that of the Runs, from the start of a server to its end, and of the whole command where it
is run here. The rest is starts, answers verified, servers that settle, ends, and Runs written down; before and after
all Runs, builds, the start of webdyno and the report.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from bench.table import table
from bench.trust.studies import read, record
from webdyno.model.run import Run

GOAL = 0.85
PHASES = ("warmup", "lead", "turn", "steady")


def seconds(runs: Sequence[Run]) -> dict[str, float]:
    """By phase, and ``wall`` of all Runs; those of a block say equal parts of what it took."""
    told: Counter[str] = Counter()
    for run in runs:
        for slice_ in run.slices:
            told[slice_.phase] += slice_.duration_ns
    return {phase: told[phase] / 1e9 for phase in PHASES} | {"wall": sum(run.seconds for run in runs)}


def report(runs: Sequence[Run], command_s: float | None = None) -> list[str]:
    """A row for each phase, and the shares."""
    spent = seconds(runs)
    loaded_s, wall_s = sum(spent[phase] for phase in PHASES), spent["wall"]
    parts = {**{phase: spent[phase] for phase in PHASES}, "no load": wall_s - loaded_s, "all": wall_s}
    rows = [
        [name, f"{took:.1f}", f"{took / len(runs):.2f}", f"{100 * took / wall_s:.1f}"] for name, took in parts.items()
    ]
    lines = table(["what", "s", "s per run", "% of wall"], rows)
    lines.append(f"under load: {loaded_s / wall_s:.1%} of the time of {len(runs)} runs, the goal is {GOAL:.0%}")
    if command_s is not None:
        lines.append(f"under load: {loaded_s / command_s:.1%} of the {command_s:.1f} s that the command took")
    return lines


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m bench.under_load", description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", help="a results folder (default: the study is run now)")
    parser.add_argument("--study", default="quickstart")
    asked, more = parser.parse_known_args()
    if asked.folder is not None:
        print("\n".join(report(read(asked.folder).runs)))
        return
    with tempfile.TemporaryDirectory() as results:
        begun = time.monotonic()
        recorded = record(asked.study, Path(results), *more)
        print("\n".join(report(recorded.runs, time.monotonic() - begun)))


if __name__ == "__main__":
    main()
