"""webdyno as a program that looks at itself: ``python -m tests.live.soaking LOOKS run STUDY ...``.

After each Run that is written down it adds a line to the file LOOKS: what of it is alive then. Another process could
not see it, for webdyno hides from its user's other programs.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from tests.live import left_behind
from webdyno.commands import main
from webdyno.model.run import Run
from webdyno.store import Store

ROOT = Path(__file__).parents[2]
STUDY = """
title      = "Many short trials of one toy"
question   = "What stays behind?"
contenders = ["toy-good"]
workloads  = ["hello"]
rounds     = {trials}
[[loads]]
connections = [2]
duration_s  = 0.02
warmup_s    = 0
"""


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """At webdyno between two Runs."""

    outcome: str
    cpu_s: float
    """Its own since the start, and that of all who have ended below it."""
    rss_bytes: int
    descriptors: int
    threads: int
    children: int
    temporary: int
    """Files and folders of ours in the folder for temporary ones."""
    cgroups: int


def standing(look: Look) -> tuple[int, ...]:
    """What there are as many of after every trial."""
    return look.descriptors, look.threads, look.children, look.temporary, look.cgroups


def soak(trials: int, catalogue: Path, folder: Path, environment: Mapping[str, str], timeout_s: float) -> list[Look]:
    """What was seen after each of so many trials of one plan."""
    study, looks = folder / "soak.toml", folder / "looks.jsonl"
    study.write_text(STUDY.format(trials=trials))
    words = ["run", str(study), "--alone", "--exhaustive", "--catalogue", str(catalogue)]
    argv = [sys.executable, "-m", "tests.live.soaking", str(looks), *words]
    path = os.pathsep.join([str(ROOT), environment.get("PYTHONPATH", "")])
    done = subprocess.run(
        argv, cwd=folder, env={**environment, "PYTHONPATH": path}, capture_output=True, timeout=timeout_s, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:].decode()
    return [msgspec.json.decode(line, type=Look) for line in looks.read_bytes().splitlines()]


def looking(run: Run) -> Look:
    """At this process, now."""
    place, cache = (Path(os.environ[name]) for name in ("TMPDIR", "WEBDYNO_CACHE"))
    used = os.times()
    return Look(
        outcome=run.outcome,
        cpu_s=used.user + used.system + used.children_user + used.children_system,
        rss_bytes=int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE"),
        descriptors=len([*Path("/proc/self/fd").iterdir()]) - 1,
        threads=len([*Path("/proc/self/task").iterdir()]),
        children=sum(len(each.read_text().split()) for each in Path("/proc/self/task").glob("*/children")),
        temporary=sum(1 for each in place.glob("webdyno-*") for _ in (each, *each.rglob("*"))),
        cgroups=sum(len(left_behind.cgroups(file.stem)) for file in cache.glob("rig/*.json")),
    )


def _watched(looks: Path) -> None:
    append = Store.append_all

    def and_look(store: Store, runs: Sequence[Run]) -> list[int]:
        numbers = append(store, runs)
        with looks.open("ab") as file:
            file.writelines(msgspec.json.encode(looking(run)) + b"\n" for run in runs)
        return numbers

    Store.append_all = and_look  # type: ignore[method-assign]


if __name__ == "__main__":
    _watched(Path(sys.argv[1]))
    sys.argv[1:] = sys.argv[2:]
    main()
