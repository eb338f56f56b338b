"""Screening: who comes into the last comparison, by halving over Runs of the servers of one sitting."""

from __future__ import annotations

import time
from collections.abc import Iterable
from functools import partial

from webdyno.analyse.window import read_window
from webdyno.analyse.words import count, length
from webdyno.commands.trying.bench import TryBench
from webdyno.commands.trying.budget import Budget
from webdyno.commands.trying.command import CURRENT
from webdyno.commands.trying.first import First
from webdyno.commands.trying.fitting import Setting, settings_of, wider_than
from webdyno.commands.trying.limit import FULL
from webdyno.commands.trying.settling import settle
from webdyno.commands.trying.sitting import Sitting, say
from webdyno.design.halving import RUNG_S, Field, Seen, Sweeps, finalists, halve
from webdyno.model.run import Run
from webdyno.session.settling import settling_s

IDLE = 0.5
"""Part of its cores below which a server waits, unless all that the clients ask is being served."""


def screen(sitting: Sitting, bench: TryBench, first: First, budget: Budget, ends: float) -> tuple[Field, list[str]]:
    """Who comes into the last comparison, which has to end by ``ends``, and all that was measured on the way."""
    settling = max(settling_s(budget.seconds, budget.bases), budget.least_s)
    if sitting.current_compilers:
        say(settle(bench, CURRENT, sitting.current_compilers, settling))

    # once, for its time alone: one that works off a long queue when its load ends takes much of the last comparison
    own = _measured(bench, CURRENT, max(RUNG_S[0], budget.least_s)) if budget.current else None
    own_s = 0.0 if own is None else own.seconds

    def measure(name: str, duration_s: float) -> Seen:
        run = _measured(bench, name, max(duration_s, budget.least_s))
        if run.compilers and bench.settings[name].base not in bench.warmups:
            say(settle(bench, name, run.compilers, settling))
            run = _measured(bench, name, max(duration_s, budget.least_s))
        return seen(run, bench.connections, first.alone_s)

    def left(run_s: float) -> float:
        return ends - time.monotonic() - budget.reserve_s(run_s, own_s)

    def spare(run_s: float) -> float:
        return ends - time.monotonic() - budget.most_s(run_s, own_s)

    field, stay = halve(
        [name for name in bench.settings if name != CURRENT],
        Sweeps(partial(_swept, sitting, bench, first), partial(_widened, sitting, bench, first)),
        measure,
        budget.seconds,
        left,
        _say_rung,
        spare,
    )
    if own is not None:
        field.runs[CURRENT] = [own]
    most = budget.finalists(ends - time.monotonic(), field.seconds, own_s)
    return field, finalists(field, stay, lambda name: bench.settings[name].base, most)


def seen(run: Run, connections: int, alone_s: float) -> Seen:
    """What is looked at of a Run; ``alone_s`` is what a request takes while nothing else is asked."""
    window = read_window(run, latencies=False)
    if window is None:
        return Seen(run, 0.0, waits=False)
    used, cores = window.contender_cores, len(run.rig.contender_cores)
    idle = used is not None and used < IDLE * cores
    return Seen(run, window.rate_per_s, waits=idle and window.rate_per_s * alone_s < FULL * connections)


def _swept(sitting: Sitting, bench: TryBench, first: First, name: str) -> list[str]:
    """The catalogue's sweep of a server; nothing for a command."""
    server = sitting.servers.get(name)
    return _added(sitting, bench, first, name, [] if server is None else settings_of(server.setting, sitting.cores))


def _widened(sitting: Sitting, bench: TryBench, first: First, name: str) -> list[str]:
    """Its larger pools; nothing for a command, whose words are the user's."""
    server = sitting.servers.get(name)
    found = [] if server is None else wider_than(server.setting, sitting.cores, bench.connections)
    return _added(sitting, bench, first, name, found)


def _added(sitting: Sitting, bench: TryBench, first: First, like: str, settings: Iterable[Setting]) -> list[str]:
    names = []
    for setting in settings:
        sitting.add(bench, setting, first, like)
        names.append(setting.name)
    return names


def _measured(bench: TryBench, name: str, duration_s: float) -> Run:
    """Once, or again where an answer was wrong when it was verified: an app that fails now and then would take out a
    server by chance. KeyboardInterrupt before or while.
    """
    run = _once(bench, name, duration_s)
    return run if run.outcome != "wrong-answer" else _once(bench, name, duration_s)


def _once(bench: TryBench, name: str, duration_s: float) -> Run:
    run = None if bench.interrupted.is_set() else bench.measure(name, duration_s)
    if run is None or run.outcome == "interrupted":
        raise KeyboardInterrupt
    return run


def _say_rung(rung: int, names: list[str], field: Field) -> None:
    about = length(len(names) * (field.seconds or 2.5))
    what = (
        "every server as recommended"
        if rung == 1
        else "the sweep of their settings"
        if rung == 2
        else "the better half"
    )
    say(f"round {rung}: {what}, {count(len(names), 'setting')}, about {about}")
