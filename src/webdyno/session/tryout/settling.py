"""Settling of a setting: the longer Run from which its warm-up is learnt, see ``session/settling.py``."""

from __future__ import annotations

import msgspec

from webdyno.analyse.words import listing
from webdyno.session.settling import warmup_of
from webdyno.session.tryout.bench import TryBench


def settle(bench: TryBench, name: str, compilers: list[str], seconds: float) -> str:
    """Load a setting for so long; from now on every start of its server is given what that took. A sentence."""
    load = msgspec.structs.replace(bench.load(seconds), warmup_s=0.0)
    trial = bench.trial(name, load, 1)
    run = bench.run(trial)
    needed_s = warmup_of(run)
    base = bench.settings[name].base
    bench.give(base, seconds if needed_s is None else needed_s)
    if run.outcome != "ok":
        seen = f"a load of {seconds:g} s, to see for how long, did not succeed: {run.message}"
    elif needed_s is None:
        seen = f"its rate did not settle within {seconds:g} s, so each start is given {seconds:g} s to warm up"
    else:
        seen = f"it settled within {needed_s:g} s, and each start is given that to warm up"
    return f"{base}: {listing(compilers)} compiles in it while it serves; {seen}"
