"""Where the interpreter's time goes, by function: py-spy looks at the winner under load, where py-spy is on PATH.

Only threads that hold the interpreter's lock (GIL) count. Which threads are idle py-spy can only guess, and where it
guesses wrongly, threads that wait for work would lead the list.
"""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import msgspec

from webdyno.load.driver import Order
from webdyno.model.errors import ContenderError, MachineError
from webdyno.rig.host import STDOUT, Command
from webdyno.serve.serving import serve
from webdyno.session.engine import carry_out
from webdyno.session.tryout.bench import TryBench

PROGRAM = "py-spy"
PROFILE_S = 4
RATE = 200
"""Looks per second."""
SHOWN = 8


class Function(msgspec.Struct, frozen=True):
    """A function and its part of all samples: on top of the stack, and anywhere in it."""

    name: str
    own: float
    total: float


class Profile(msgspec.Struct, frozen=True):
    """What py-spy saw; ``note`` says why there is nothing."""

    functions: list[Function] = []
    gil: float | None = None
    """Part of the time in which the interpreter's lock was held, the mean of all processes that held it at all."""
    note: str = ""


def profile(bench: TryBench, name: str, folder: Path) -> Profile:
    """The functions that take the most of the interpreter's time."""
    program = shutil.which(PROGRAM)
    if program is None:
        return Profile(note=f"{PROGRAM} is not on PATH: with it, webdyno shows which functions take the time")
    out, log = folder / "profile.txt", folder / "py-spy.log"
    contender, built = bench.settings[name].contender, bench.built[name]
    try:
        with serve(contender, bench.workload, built, bench.strapped, log) as served:
            argv = [program, "record", "--gil", "--subprocesses", "--format", "raw", "--duration", str(PROFILE_S)]
            argv += ["--rate", str(RATE), "--output", str(out), "--pid", str(served.group.pid)]
            command = Command(
                argv=argv, cwd=folder, environment={"PATH": "/usr/bin:/bin"}, role="tool", stdout=log, stderr=STDOUT
            )
            group = bench.strapped.start(command)
            try:
                order = Order(
                    host=served.host,
                    port=served.port,
                    requests=served.requests,
                    load=bench.load(PROFILE_S),
                    cores=bench.strapped.rig.driver_cores,
                )
                carry_out(order, lambda _: None, host=bench.strapped)
                group.wait(PROFILE_S + 5.0)
            finally:
                group.end(1.0)
    except (ContenderError, MachineError) as error:
        return Profile(note=f"{PROGRAM} could not be used: {error}")
    if not out.is_file() or not out.stat().st_size:
        said = log.read_text(encoding="utf-8", errors="replace").strip().splitlines() if log.is_file() else []
        return Profile(note=f"{PROGRAM} recorded nothing: {said[-1] if said else 'it wrote nothing'}")
    raw = out.read_text(encoding="utf-8", errors="replace")
    return Profile(functions(raw), gil_share(raw, PROFILE_S * RATE))


def functions(raw: str) -> list[Function]:
    """From py-spy's raw form, ``frame;frame;frame COUNT``: those with the most time of their own."""
    own: Counter[str] = Counter()
    whole: Counter[str] = Counter()
    for line in raw.splitlines():
        stack, _, number = line.rpartition(" ")
        frames = [frame for frame in stack.split(";") if not frame.startswith(("process ", "thread "))]
        if not number.isdecimal() or not frames:
            continue
        named = [_named(frame) for frame in frames]
        own[named[-1]] += int(number)
        for each in set(named):
            whole[each] += int(number)
    samples = sum(own.values())
    return [Function(name, count / samples, whole[name] / samples) for name, count in own.most_common(SHOWN)]


def gil_share(raw: str, looks: int) -> float | None:
    """Part of this many looks at each process that found its lock held; None when no process is identified."""
    held: Counter[str] = Counter()
    for line in raw.splitlines():
        stack, _, number = line.rpartition(" ")
        if stack.startswith("process ") and number.isdecimal():
            held[stack.partition(";")[0]] += int(number)
    return min(1.0, sum(held.values()) / (looks * len(held))) if held else None


def _named(frame: str) -> str:
    """``function (package/module.py)`` without the line, and without the folders before the package."""
    name, _, place = frame.partition(" (")
    path = place.rstrip(")").rpartition(":")[0] or place.rstrip(")")
    parts = path.replace("/site-packages/", "\0").rpartition("\0")[2].split("/")
    return f"{name} ({'/'.join(parts[-2:])})"
