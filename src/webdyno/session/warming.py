"""Warm-ups learnt before anything is compared: how long each contender in which something compiles takes to settle.

A compiler that works while it serves makes a server faster for seconds. Runs of two seconds do not show when it is
done, and then no change of the rate can be believed.
"""

from __future__ import annotations

from dataclasses import replace

import msgspec

from webdyno.analyse.words import listing
from webdyno.conduct import Bench
from webdyno.model.built import Built
from webdyno.model.errors import ContenderError, ServiceError
from webdyno.model.load import Load
from webdyno.model.trial import Trial, trial_of
from webdyno.rig.strap import Strapped
from webdyno.serve.serving import serve
from webdyno.service import Services
from webdyno.session.listeners import Listeners
from webdyno.session.loop import Loop, OnContenders
from webdyno.session.ready import Ready
from webdyno.session.saying import say
from webdyno.session.scratch import Scratch
from webdyno.session.settling import warmup_of


def warmed(ready: Ready, load: Load, seconds: float, strapped: Strapped) -> Ready:
    """``ready`` with what its contenders need; as it is where nothing compiles, or each says itself what it needs.

    All are given what the slowest took, so that none of them is the warmer one. ``seconds`` is the length of the Run
    that is learnt from; these Runs are no evidence, and are kept nowhere.
    """
    scratch = Scratch(strapped.folder())
    try:
        with Services(ready.found, ready.servers, strapped, scratch.service_log) as services:
            way = OnContenders(ready=ready, strapped=strapped, services=services, book=scratch)
            loop = Loop(ready.plan, scratch, way.conduct(), Listeners([]), strapped.interrupted, way)
            long = msgspec.structs.replace(load, duration_s=seconds, warmup_s=0.0)
            needed = {name: _needed_s(name, loop, way, long) for name in ready.plan.contenders}
    finally:
        strapped.drop(scratch.folder)
    known = {name: needed_s for name, needed_s in needed.items() if needed_s is not None}
    if not known or strapped.interrupted.is_set():
        return ready
    most_s = max(known.values())
    say(f"each start of {listing(list(known))} is given {most_s:g} s to warm up")
    contenders = {
        name: msgspec.structs.replace(it, warmup_s=most_s) if name in known else it
        for name, it in ready.plan.contenders.items()
    }
    return replace(ready, plan=msgspec.structs.replace(ready.plan, contenders=contenders))


def _needed_s(name: str, loop: Loop, way: OnContenders, load: Load) -> float | None:
    """Seconds; None: nothing compiles in it, its file says how long, or it does not serve, as its first Run tells."""
    plan, built = way.ready.plan, way.ready.built[name]
    if not isinstance(built, Built) or plan.contenders[name].warmup_s is not None or loop.is_interrupted:
        return None
    trial = trial_of(plan, name, load, 1)
    names = _compilers(trial, way.bench(trial), built)
    if not names:
        return None
    say(f"{name}: {listing(names)} compiles in it while it serves; {load.duration_s:g} s of load, to see for how long")
    (run,) = loop.carry_out([trial])
    if run.outcome != "ok":
        return None
    needed_s = warmup_of(run)
    if needed_s is None:
        say(f"{name}: its rate did not settle in that time")
        return load.duration_s
    say(f"{name}: it settled within {needed_s:g} s")
    return needed_s


def _compilers(trial: Trial, bench: Bench, built: Built) -> list[str]:
    """What compiles in a contender while it serves, by its processes once it is ready."""
    workload = bench.plan.workloads[trial.workload]
    log = bench.contender_log(trial)
    try:
        given = bench.services.ready(workload.service, workload.delay_ms).given if workload.service else {}
        contender = bench.plan.contenders[trial.contender]
        with serve(contender, workload, built, bench.strapped, log, given) as served:
            return served.compilers()
    except (ContenderError, ServiceError):
        return []
