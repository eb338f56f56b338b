"""How long a server needs that compiles while it serves: learnt from one longer Run, and given to every start after it.

The Runs of a sweep last a second or two, which is too short to see in them when a compiler is done.
"""

from __future__ import annotations

import math

import msgspec

from webdyno.analyse.steady import course
from webdyno.analyse.words import listing
from webdyno.commands.trying.bench import WARMUP_S, TryBench
from webdyno.model.run import Run

LEAST_S, MOST_S = 9.0, 20.0
"""Of the Run that is learnt from; one that is shorter shows no levels."""
SHARE = 0.2
"""Of the budget, for all of them together; no less than the least, however many there are."""


def settling_s(budget_s: float, bases: int) -> float:
    """Length of one such Run."""
    return min(MOST_S, max(LEAST_S, SHARE * budget_s / max(bases, 1)))


def settle(bench: TryBench, name: str, compilers: list[str], seconds: float) -> str:
    """Load a setting for so long; from now on every start of its server is given what that took. A sentence."""
    load = msgspec.structs.replace(bench.load(seconds), warmup_s=0.0)
    trial = bench.trial(name, load, 1)
    run = bench.run(trial, bench.plan([trial]))
    needed_s = warmup_of(run)
    base = bench.settings[name].base
    bench.give(base, seconds if needed_s is None else needed_s)
    if run.outcome != "ok":
        seen = f"a load of {seconds:g} s, to see for how long, did not succeed: {run.message}"
    elif needed_s is None:
        seen = f"it was not at one rate for long in {seconds:g} s, so each start is given {seconds:g} s to warm up"
    else:
        seen = f"it settled within {needed_s:g} s, and each start is given that to warm up"
    return f"{base}: {listing(compilers)} compiles in it while it serves; {seen}"


def warmup_of(run: Run) -> float | None:
    """Seconds until its level held; None: it never did, or the Run failed."""
    settled_ns = course(run).settled_ns
    return None if settled_ns is None else max(WARMUP_S, math.ceil(settled_ns / 1e9))
