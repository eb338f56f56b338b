"""What reading and analysing very many Runs costs: CPU seconds and memory, by the number of Runs.

The Runs are made up, as blocks store them: contenders by cells by rounds, each with a warm-up, eight leads and turns,
and a steady phase with its histograms and readings at both edges. Each step is a process of its own, so that its
memory is its own too: ``read`` opens the file, checks every page and believes every Run; ``report`` is all that
``webdyno report FOLDER`` does, imports and words included; ``scrape`` is the first `/metrics` of a view that is ready.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from bench.table import table
from webdyno.histogram import encode
from webdyno.load.engine import Engine
from webdyno.model.block import Rest
from webdyno.model.contender import App, Contender, Runtime
from webdyno.model.load import Load
from webdyno.model.rig import Fingerprint, Rig
from webdyno.model.run import Probe, Run
from webdyno.model.sample import Phase, Reading, Slice
from webdyno.model.trial import Plan, Trial
from webdyno.model.workload import Expectation, Request, Workload
from webdyno.store import FILE, Store

LEVELS = (1, 8, 16, 32, 64, 128, 256, 512, 768, 1024)
MEMBERS, PASSES = 8, 8
_AT_ONCE = 100
_MS, _S = 1_000_000, 1_000_000_000
_STEPS = {
    "read": "from webdyno.store import Store\nwith Store.open(folder) as store: store.runs()",
    "report": "from webdyno.__main__ import main\nsys.argv = ['webdyno', 'report', str(folder)]\ntry: main()\n"
    "except SystemExit as end: sys.exit(end.code)",
    "scrape": "import time\nfrom webdyno.analyse import special\nfrom webdyno.analyse.verdict import analysis_of\n"
    "from webdyno.view import Shelf\nfrom webdyno.view.metrics import Metrics\nspecial.get_ready()\n"
    "begin = time.process_time()\nshelf = Shelf(folder)\nMetrics(shelf).reply(shelf.entries())\n"
    "print(time.process_time() - begin)",
}
"""The last one prints its own CPU seconds: its imports do not count."""


class Shape(NamedTuple):
    """How many of what; their product is the number of Runs."""

    contenders: int
    cells: int
    rounds: int

    @property
    def runs(self) -> int:
        """All of them."""
        return self.contenders * self.cells * self.rounds


class Cost(NamedTuple):
    """Of one step."""

    cpu_s: float
    peak_bytes: int


def make(folder: Path, shape: Shape, variants: int = 100, seed: int = 1) -> None:
    """A results folder of that shape, with so many different histograms of each height."""
    plan, machine = plan_of(shape), _machine()
    chance = np.random.default_rng(seed)
    steps = [[encode(_times(chance, 1e6 * 1.5**at)) for _ in range(variants)] for at in range(20)]
    with Store.create(folder, plan, machine) as store:
        pending: list[Run] = []
        for number, block in enumerate(_blocks(plan.trials)):
            pending += [_run(trial, number, block, chance, steps) for trial in block]
            if len(pending) >= _AT_ONCE:
                store.append_all(pending)
                pending = []
        store.append_all(pending)


def cost(folder: Path, step: str) -> Cost:
    """CPU seconds and peak memory of one step over ``folder``, in a process of its own."""
    code = f"import sys; from pathlib import Path\nfolder = Path(sys.argv[1])\n{_STEPS[step]}"
    with subprocess.Popen([sys.executable, "-c", code, str(folder)], stdout=subprocess.PIPE, text=True) as process:
        told = process.stdout.read() if process.stdout else ""
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{step} of {folder} ended with status {process.returncode}")
    seconds = float(told) if step == "scrape" else used.ru_utime + used.ru_stime
    return Cost(seconds, used.ru_maxrss * 1024)


def plan_of(shape: Shape, duration_s: float = 1.5) -> Plan:
    """A plan of that shape, each load so long."""
    names = [f"server-{at:03d}" for at in range(shape.contenders)]
    works = [f"work-{at}" for at in range(math.ceil(shape.cells / len(LEVELS)))]
    loads = [Load(connections=level, duration_s=duration_s) for level in LEVELS]
    cells = [(work, load) for work in works for load in loads][: shape.cells]
    trials = [
        Trial(
            id=f"{round_:04x}{cell:04x}{at:08x}",
            contender=name,
            workload=work,
            load=load,
            driver="engine",
            round=round_,
        )
        for round_ in range(1, shape.rounds + 1)
        for cell, (work, load) in enumerate(cells)
        for at, name in enumerate(names)
    ]
    return Plan(
        study="many",
        title="Many runs",
        question="How long does it take to read them?",
        seed=1,
        rounds=shape.rounds,
        trials=trials,
        skipped=[],
        contenders={name: _contender(name) for name in names},
        apps={"bare": App(name="bare", language="Python", interface="wsgi", framework="none", answers=works)},
        runtimes={"runtime": _runtime()},
        workloads={work: _workload(work) for work in works},
        memory_bytes=512 << 20,
        estimate="mean",
        seconds=3.0 * len(trials),
    )


def _contender(name: str) -> Contender:
    serve = [name, "--bind", "{bind}"]
    return Contender(
        name=name, app="bare", runtime="runtime", server=name, model="threads", serve=serve, because="", author="bench"
    )


def _runtime() -> Runtime:
    return Runtime(name="runtime", kind="python", language="Python", find=["3.11"], version=["--version"], install="")


def _workload(name: str) -> Workload:
    asked = Request(name=name, path=f"/{name}", expect=Expectation(body="Hello, World!"))
    return Workload(name=name, title=f"GET /{name}", kind="cpu", requests=[asked])


def _machine() -> Fingerprint:
    return Fingerprint(
        hostname="bench",
        cpu_model="made up",
        architecture="x86_64",
        cores=2,
        cores_usable=2,
        threads_per_core=1,
        governor=None,
        turbo=None,
        memory_bytes=8 << 30,
        swap_bytes=0,
        kernel="6.1",
        distribution="none",
        mitigations={},
        virtualisation=None,
        cgroup="v2",
        clocksource="tsc",
        open_files_limit=1 << 20,
        port_range=(32768, 60999),
        load_before=0.0,
        webdyno="0",
        python="3.11",
    )


def _times(chance: np.random.Generator, mean_ns: float) -> dict[int, int]:
    drawn = np.exp(chance.normal(math.log(mean_ns), 0.25, 4000)).astype(int)
    values, counts = np.unique(drawn, return_counts=True)
    return dict(zip(values.tolist(), counts.tolist(), strict=True))


def _blocks(trials: Sequence[Trial]) -> Iterator[list[Trial]]:
    """Neighbours of one cell and round."""
    block: list[Trial] = []
    for trial in trials:
        if block and (len(block) == MEMBERS or trial.load != block[0].load or trial.workload != block[0].workload):
            yield block
            block = []
        block.append(trial)
    yield block


def _run(
    trial: Trial, block: int, of: Sequence[Trial], chance: np.random.Generator, steps: Sequence[Sequence[str]]
) -> Run:
    at, connections = int(trial.contender[-3:]), trial.load.connections
    rate = 60_000 * 0.97**at * connections / (connections + 12) * math.exp(chance.normal(0, 0.02))
    times = steps[min(len(steps) - 1, max(0, round(math.log(connections / rate * 1e3, 1.5))))][
        int(chance.integers(0, len(steps[0])))
    ]
    begin = (1000 + 20 * block + of.index(trial)) * _S
    slices = list(_slices(begin, rate, times, chance))
    steady = slices[-1]
    edges = (begin + 8 * _S, begin + 8 * _S + steady.duration_ns)
    return Run(
        trial=trial,
        outcome="ok",
        started_at=f"2026-11-{1 + block // 5000 % 28:02d}T{block // 200 % 24:02d}:{block // 4 % 60:02d}:00+00:00",
        seconds=2.5,
        rig=_RIG,
        command=["python", "serve.py", "127.0.0.1", "23265"],
        environment={"PATH": "/home/bench/.cache/environment/bin:/usr/local/bin:/usr/bin:/bin"},
        workers=1,
        threads=1,
        built_key="d94acd1e3c95eeb1ec9ff5ee",
        versions={f"package-{each}": f"{each}.2.3" for each in range(12)},
        driver_version="0.1.0",
        driver_command=["webdyno-engine"],
        driver_can=Engine().can,
        probe=_PROBE,
        summary=_summary(steady),
        steady_start_ns=edges[0],
        steady_end_ns=edges[1],
        memory_peak_bytes=60_000_000 + int(chance.integers(0, 1_000_000)),
        slices=slices,
        readings=list(_readings(edges, begin)),
        block=block,
        beside=[other.contender for other in of if other is not trial],
        rest=Rest(time_ns=12 * _S, cpu_ns=20 * _MS),
    )


def _summary(steady: Slice) -> dict[str, object]:
    """As the engine says it: its histograms stand in it once more."""
    kinds = ("connect-refused", "malformed", "reset", "timeout", "truncated", "unfinished", "wrong-body")
    counts = msgspec.to_builtins(steady)
    del counts["routes"]
    points = {"mean": 2.1e6, "p50": 2.0e6, "p75": 2.2e6, "p90": 2.4e6, "p99": 3.1e6, "p99.9": 3.6e6, "max": 4e6}
    said = {"ended": "commanded", "errors": dict.fromkeys(kinds, 0), "latency_ns": points, "response_ns": points}
    return counts | said | {"threads": [{"cpu_share": 0.4}], "started": {"wait": "spin"}}


def _slices(begin: int, rate: float, times: str, chance: np.random.Generator) -> Iterator[Slice]:
    yield _slice("warmup", 0, begin, 500 * _MS, rate)
    for turn in range(PASSES):
        at = begin + (700 + 900 * turn) * _MS
        yield _slice("lead", turn, at, 50 * _MS, rate, turn=turn)
        yield _slice("turn", turn, at + 50 * _MS, 100 * _MS, rate * math.exp(chance.normal(0, 0.02)), turn=turn)
    yield _slice(
        "steady", PASSES, begin + 8 * _S, 502 * _MS, rate, latency_hdr=times, response_hdr=times, ttfb_hdr=times
    )


def _slice(phase: Phase, index: int, start_ns: int, length_ns: int, rate: float, **more: object) -> Slice:
    ok = max(1, round(rate * length_ns / _S))
    made = Slice(
        phase=phase,
        index=index,
        start_ns=start_ns,
        duration_ns=length_ns,
        offered=ok,
        ok=ok,
        errors={},
        bytes_in=187 * ok,
        bytes_out=45 * ok,
        connections_opened=0,
        closes_announced=0,
        closes_silent=0,
        stale_retries=0,
        http10_answers=0,
        in_flight=0,
        handshakes_full=0,
        handshakes_resumed=0,
        censored=0,
        cpu_user_ns=length_ns // 8,
        cpu_system_ns=length_ns // 5,
        idle_ns=length_ns // 2,
        run_delay_ns=length_ns // 100,
        drained_ns=0,
        reopened=0,
        contender_cpu_ns=length_ns * 9 // 10,
    )
    return msgspec.structs.replace(made, **more)


def _readings(edges: tuple[int, int], begin: int) -> Iterator[Reading]:
    for at_ns in (edges[0] - 50 * _MS, edges[1] + 40 * _MS):
        for role, cores in (("contender", 0.9), ("driver", 0.4)):
            half = round((at_ns - begin) * cores / 2)
            counts = {"processes": 1, "threads": 2, "sockets": 67, "voluntary_switches": 200, "throttled_ns": 0}
            yield Reading(
                at_ns=at_ns,
                role=role,  # type: ignore[arg-type]
                cpu_user_ns=half,
                cpu_system_ns=half,
                rss_bytes=60_000_000,
                pss_bytes=50_000_000,
                swap_bytes=0,
                involuntary_switches=70,
                cpu_by_process={"18515": 2 * half},
                **counts,
            )
        yield Reading(at_ns=at_ns, role="host", run_queue=1.0, steal_ns=0, steal_by_core={}, busy_ns=at_ns)


_RIG = Rig(
    contender_cores=(0,), driver_cores=(1,), control_cores=(1,), service_cores=(), memory_bytes=512 << 20, cgroup="v2"
)
_PROBE = Probe(
    http_version="1.1",
    keep_alive=True,
    announces_close=False,
    framing="content-length",
    header="HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 13\r\nServer: made-up/1.0",
    backlog=2048,
    ready_ns=207_966_203,
    first_answer_ns=2_373_054,
)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m bench.many_runs", description=__doc__)
    parser.add_argument("--contenders", type=int, default=100)
    parser.add_argument("--cells", type=int, default=10, help="workloads by numbers of connections (default: 10)")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--folder", type=Path, help="made there and kept, or taken as it is there already")
    asked = parser.parse_args()
    shape = Shape(asked.contenders, asked.cells, asked.rounds)
    with tempfile.TemporaryDirectory() as scratch:
        folder = asked.folder or Path(scratch) / "many"
        if not (folder / FILE).exists():
            make(folder, shape)
        size = (folder / FILE).stat().st_size
        rows = []
        for step in _STEPS:
            spent = cost(folder, step)
            each = f"{spent.cpu_s / shape.runs * 1e6:.0f}"
            rows.append([step, f"{spent.cpu_s:.2f}", each, f"{spent.peak_bytes / 2**20:.0f}"])
    print(f"{shape.runs:,} runs, {size / 2**20:,.0f} MiB")
    print("\n".join(table(["step", "CPU s", "CPU us each", "MiB at most"], rows)))


if __name__ == "__main__":
    main()
