"""Screening: who comes into the last comparison, by halving over Runs of the servers of one sitting."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from webdyno.analyse.words import count, length
from webdyno.design.halving import Blocks, Field, Sweeps, finalists, halve
from webdyno.session.saying import say
from webdyno.session.settling import settling_s
from webdyno.session.tryout.bench import TryBench
from webdyno.session.tryout.budget import Budget
from webdyno.session.tryout.command import CURRENT
from webdyno.session.tryout.first import First
from webdyno.session.tryout.fitting import Setting, settings_of, wider_than
from webdyno.session.tryout.rungs import Rungs, too_slow
from webdyno.session.tryout.settling import settle
from webdyno.session.tryout.sitting import Sitting


def screen(sitting: Sitting, bench: TryBench, first: First, budget: Budget) -> tuple[Field, list[str]]:
    """Who comes into the last comparison, which has to end within the budget, and all that was measured on the way.

    Time is what Runs took, of whichever sitting: the same Runs lead to the same settings.
    """
    settling = max(settling_s(budget.seconds, budget.bases), budget.least_s)
    if sitting.current_compilers:
        say(settle(bench, CURRENT, sitting.current_compilers, settling))
    bench.all_alone = too_slow(bench.connections, first.alone_s)
    if bench.all_alone is not None:
        say(f"each setting is measured alone: {bench.all_alone}")
    rungs = Rungs(bench, first.alone_s, budget.least_s, settling, with_current=budget.current)

    def left(run_s: float) -> float:
        return budget.seconds - bench.book.spent_s - budget.reserve_s(run_s, rungs.own_s)

    def spare(run_s: float) -> float:
        return budget.seconds - bench.book.spent_s - budget.most_s(run_s, rungs.own_s)

    field, stay = halve(
        [name for name in bench.settings if name != CURRENT],
        Sweeps(partial(_swept, sitting, bench, first), partial(_widened, sitting, bench, first)),
        Blocks(rungs.measure, rungs.members),
        budget.seconds,
        left,
        _say_rung,
        spare,
        budget.run_s,
    )
    if rungs.own is not None:
        field.runs[CURRENT] = [rungs.own]
    most = budget.finalists(budget.seconds - bench.book.spent_s, field.seconds, rungs.own_s)
    return field, finalists(field, stay, lambda name: bench.settings[name].base, most)


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


def _say_rung(rung: int, names: list[str], field: Field) -> None:
    about = length(len(names) * field.seconds)
    what = (
        "every server as recommended"
        if rung == 1
        else "the sweep of their settings"
        if rung == 2
        else "the better half"
    )
    say(f"round {rung}: {what}, {count(len(names), 'setting')}, about {about}")
