"""The steps of a tryout: from the application to the answer, and to the files that are kept."""

from __future__ import annotations

import contextlib
import shlex
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

import msgspec

from webdyno.analyse.window import read_window
from webdyno.analyse.words import count, length
from webdyno.design.grid import rounds_within
from webdyno.design.halving import Field
from webdyno.model.block import Turns
from webdyno.model.catalogue import Catalogue
from webdyno.model.errors import AnswerError, ContenderError
from webdyno.model.run import Run
from webdyno.model.trial import Plan, Skipped
from webdyno.model.tried import Tried
from webdyno.rig.strap import Strapped
from webdyno.session.ceilings import with_ceilings
from webdyno.session.folders import cache_folder
from webdyno.session.machine import strapped_here
from webdyno.session.saying import say
from webdyno.session.trust import remember_try
from webdyno.session.tryout.asked import (
    commands_of,
    first_again,
    outset_of,
    refuse_changed_builds,
    tried,
    without_files,
)
from webdyno.session.tryout.bench import TryBench
from webdyno.session.tryout.budget import Budget
from webdyno.session.tryout.command import CURRENT
from webdyno.session.tryout.evidence import conclude, keep
from webdyno.session.tryout.final import LEAST_ROUNDS, LEAST_S, final_plan, shape, turns_for
from webdyno.session.tryout.first import First
from webdyno.session.tryout.journal import Journal, Make
from webdyno.session.tryout.screening import screen
from webdyno.session.tryout.sitting import ANSWERS, SIMPLE, Sitting, tail_of
from webdyno.session.tryout.sources import stamps
from webdyno.session.tryout.task import Task
from webdyno.session.tryout.told import Told
from webdyno.store import Store

SCREENING = "screening"
"""Folder below that of the results: the evidence of who came into the last comparison."""


@dataclass(frozen=True)
class Before:
    """What an earlier sitting of a tryout left: its Plan of the screening, and the results files of its parts."""

    plan: Plan
    tried: Tried
    screening: Store
    final: Store | None


def try_out(task: Task, known: Catalogue, *, wait: bool = False) -> tuple[Told, bool]:
    """What there is to say, and whether the user stopped it. Any WebdynoError, KeyboardInterrupt."""
    with strapped_here(None, wait=wait) as strapped:
        return try_here(task, known, strapped)


def try_here(task: Task, known: Catalogue, strapped: Strapped, before: Before | None = None) -> tuple[Told, bool]:
    """As ``try_out``, on a machine that is ours; ``before``: it goes on."""
    begun = time.monotonic()
    sitting = Sitting(
        task=task,
        known=known,
        strapped=strapped,
        cache=cache_folder(),
        work=strapped.folder(),
        began=None if before is None else before.tried.outset,
    )
    told = _sat(sitting, before)
    say(f"took {length(time.monotonic() - begun)} in all")
    return told, strapped.interrupted.is_set()


def _sat(sitting: Sitting, before: Before | None) -> Told:
    """The sitting, of which nothing is left after it; a server's error is raised when the end of its log was said."""
    try:
        told = _tried(sitting, before)
    except ContenderError as error:
        if sitting.strapped.interrupted.is_set():
            raise KeyboardInterrupt from None
        for line in tail_of(error):
            say(line)
        raise
    finally:
        sitting.leave()
    if sitting.task.save is not None:
        keep(sitting.task.save, told, sitting.work)
    return told


def _tried(sitting: Sitting, before: Before | None) -> Told:
    """From the project to what is said."""
    first, bench, about = _begun(sitting, before)
    budget = sitting.budget(first.ready_s, ANSWERS * first.slowest_s)
    with _journals(sitting, about, before) as (bench.journal, final):
        field, names = screen(sitting, bench, first, budget)
        if not names:
            raise _nobody(field)
        plan = _last_comparison(sitting, bench, field, names, budget)
        runs = _final(sitting, bench, plan, final, _left_s(bench, budget))
        spent_s, clock = bench.book.spent_s + final.spent_s, time.monotonic()
        told = conclude(sitting, first, bench, field, plan, runs)
        spent_s += time.monotonic() - clock
    say(f"measured for {length(spent_s)} of the {length(budget.seconds)} of --budget")
    return told


def _begun(sitting: Sitting, before: Before | None) -> tuple[First, TryBench, Tried]:
    """What is asked, where it is measured, and what is written down of it: as an earlier sitting had it, if any."""
    has_files = sitting.task.current is not None or not sitting.task.images
    files = stamps(sitting.task.folder) if before is None and has_files else {}
    sitting.prepare()
    files = {**files, **commands_of(sitting)}
    sitting.build(most=SIMPLE)  # what is wrong with the application, two servers tell as well as thirty
    first = sitting.first()
    if before is not None:
        first = first_again(before.tried.outset, before.plan.workloads[first.workload.name])
        sitting.current_compilers = before.tried.outset.compilers
    for note in first.notes:
        say(f"note: {note}")
    if before is None:
        sitting.budget(first.ready_s, ANSWERS * first.slowest_s).refuse_short()
    sitting.build()
    bench = sitting.bench(first)
    if before is None:
        return first, bench, tried(sitting.task, outset_of(sitting, first, bench, files))
    refuse_changed_builds(before.tried.outset, sitting, bench, before.screening.folder.parent)
    return first, bench, before.tried


@contextlib.contextmanager
def _journals(sitting: Sitting, about: Tried, before: Before | None) -> Iterator[tuple[Journal, Journal]]:
    """Of the screening and of the last comparison; kept as they come where a folder is named."""
    fingerprint = with_ceilings(sitting.strapped.fingerprint, cache_folder())
    save = sitting.task.save

    def made_in(folder: Path, told: Tried) -> Make:
        def make(plan: Plan) -> Store:
            remember_try(told, save or folder)
            made = Store.create(folder, msgspec.structs.replace(plan, tried=told), fingerprint)
            if folder != save:
                say(f"runs are kept in {save}; if this is killed: webdyno try --resume {shlex.quote(str(save))}")
            return made

        return make

    with contextlib.ExitStack() as open_:
        if save is None:
            screening, final = Journal(sitting.work), Journal(sitting.work)
        else:
            stores = (None, None) if before is None else (before.screening, before.final)
            make = made_in(save / SCREENING, about)
            screening = Journal(sitting.work, make, stores[0], is_over=stores[1] is not None)
            final = Journal(sitting.work, made_in(save, without_files(about)), stores[1])
        for each in (screening, final):
            open_.callback(each.close)
        yield screening, final


def _left_s(bench: TryBench, budget: Budget) -> float:
    """For the last comparison, when who comes into it is known."""
    return budget.seconds - bench.book.spent_s - budget.after_s


def _last_comparison(sitting: Sitting, bench: TryBench, field: Field, names: list[str], budget: Budget) -> Plan:
    """The Plan of those ``names``, to which --current is added."""
    if CURRENT in bench.settings:
        names.append(CURRENT)
    start_s, left_s = _start_s(field, names, budget), _left_s(bench, budget)
    turns, least_s = _turns(bench, field, names, budget, left_s / LEAST_ROUNDS - len(names) * start_s)
    rounds, duration_s = shape(len(names), left_s, start_s, least_s)
    plan = final_plan(bench, names, rounds, duration_s, turns, _skips(sitting, field), _title(sitting.task))
    say(
        f"last comparison: {', '.join(names)}; {count(rounds, 'round')} of {duration_s:g} s"
        f"{'' if bench.all_alone else ' each, by turns'}, about {length(len(plan.trials) * (duration_s + start_s))}"
    )
    return plan


def _nobody(field: Field) -> ContenderError:
    """Not one server got through its first Run."""
    name, run = next(iter(field.failed.items()))
    return AnswerError(f"no server could serve it under load; {name}: {run.message}", run.log_tail)


def _start_s(field: Field, names: Sequence[str], budget: Budget) -> float:
    """What a Run of these takes beside its steady phase: the mean of what each of them took."""
    runs = [[run for run in field.runs.get(name, []) if run.outcome == "ok"] for name in names]
    return fmean(
        median(run.seconds - (run.trial.load.duration_s or 0.0) for run in own) if own else budget.beside_s
        for own in runs
    )


def _turns(
    bench: TryBench, field: Field, names: Sequence[str], budget: Budget, a_round_s: float
) -> tuple[Turns, float]:
    """How these take turns, and the least steady seconds of each; all are alone where turns take too long for that."""
    least_s = max(LEAST_S, budget.least_s)
    windows = [window for name in names for window in map(read_window, field.runs.get(name, [])[-1:]) if window]
    if bench.all_alone is not None or not windows:
        return Turns(), least_s
    turns, whole_s = turns_for([bench.connections / window.rate_per_s for window in windows])
    if whole_s > least_s and len(names) * whole_s > a_round_s:
        bench.all_alone = "the budget is too short for turns of all of them"
        return turns, least_s
    return turns, max(least_s, whole_s)


def _skips(sitting: Sitting, field: Field) -> Sequence[Skipped]:
    failed = [Skipped(contender=name, reason=run.message) for name, run in field.failed.items()]
    return [*sitting.skipped, *failed]


def _title(task: Task) -> str:
    return f"try {task.app or ' and '.join([*task.commands, *task.images])}"


def _final(sitting: Sitting, bench: TryBench, plan: Plan, journal: Journal, left_s: float) -> list[Run]:
    """The Runs of the last comparison. KeyboardInterrupt: too few yet."""
    loop = bench.loop(plan, journal)
    loop.follow(rounds_within(plan, bench.room, left_s, LEAST_ROUNDS))
    runs = [run for run in loop.runs if run.outcome != "interrupted"]
    if sitting.strapped.interrupted.is_set() and len({run.trial.round for run in runs}) < LEAST_ROUNDS:
        raise KeyboardInterrupt
    return runs
