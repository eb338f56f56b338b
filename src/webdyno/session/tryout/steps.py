"""The steps of a tryout: from the application to the answer, and to the files that are kept."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from statistics import fmean, median

from webdyno.analyse.window import read_window
from webdyno.analyse.words import count, length
from webdyno.design.grid import rounds_within
from webdyno.design.halving import Field
from webdyno.model.block import Turns
from webdyno.model.catalogue import Catalogue
from webdyno.model.errors import AnswerError, ContenderError
from webdyno.model.run import Run
from webdyno.model.trial import Plan, Skipped
from webdyno.session.ceilings import with_ceilings
from webdyno.session.folders import cache_folder
from webdyno.session.loop import Book
from webdyno.session.machine import strapped_here
from webdyno.session.saying import say
from webdyno.session.scratch import Scratch
from webdyno.session.tryout.bench import TryBench
from webdyno.session.tryout.budget import Budget
from webdyno.session.tryout.command import CURRENT
from webdyno.session.tryout.evidence import conclude, keep
from webdyno.session.tryout.final import LEAST_ROUNDS, LEAST_S, final_plan, shape, turns_for
from webdyno.session.tryout.screening import screen
from webdyno.session.tryout.sitting import ANSWERS, SIMPLE, Sitting, tail_of
from webdyno.session.tryout.task import Task
from webdyno.session.tryout.told import Told
from webdyno.store import Store


def try_out(task: Task, known: Catalogue, *, wait: bool = False) -> tuple[Told, bool]:
    """What there is to say, and whether the user stopped it. Any WebdynoError, KeyboardInterrupt."""
    begun = time.monotonic()
    with strapped_here(None, wait=wait) as strapped:
        sitting = Sitting(
            task=task,
            known=known,
            strapped=strapped,
            cache=cache_folder(),
            work=strapped.folder(),
        )
        told = _sat(sitting)
    say(f"took {length(time.monotonic() - begun)} in all")
    return told, strapped.interrupted.is_set()


def _sat(sitting: Sitting) -> Told:
    """The sitting, of which nothing is left after it; a server's error is raised when the end of its log was said."""
    try:
        return _tried(sitting)
    except ContenderError as error:
        if sitting.strapped.interrupted.is_set():
            raise KeyboardInterrupt from None
        for line in tail_of(error):
            say(line)
        raise
    finally:
        sitting.leave()


def _tried(sitting: Sitting) -> Told:
    """From the project to what is said."""
    sitting.prepare()
    sitting.build(most=SIMPLE)  # what is wrong with the application, two servers tell as well as thirty
    first = sitting.first()
    for note in first.notes:
        say(f"note: {note}")
    budget = sitting.budget(first.ready_s, ANSWERS * first.slowest_s)
    budget.refuse_short()
    sitting.build()
    bench = sitting.bench(first)
    begun = time.monotonic()
    ends = begun + budget.seconds
    field, names = screen(sitting, bench, first, budget, ends)
    if not names:
        raise _nobody(field)
    if CURRENT in bench.settings:
        names.append(CURRENT)
    start_s, last_s = _start_s(field, names, budget), ends - budget.after_s
    turns, least_s = _turns(
        bench, field, names, budget, (last_s - time.monotonic()) / LEAST_ROUNDS - len(names) * start_s
    )
    rounds, duration_s = shape(len(names), last_s - time.monotonic(), start_s, least_s)
    plan = final_plan(bench, names, rounds, duration_s, turns, _skips(sitting, field), _title(sitting.task))
    say(
        f"last comparison: {', '.join(names)}; {count(rounds, 'round')} of {duration_s:g} s"
        f"{'' if bench.all_alone else ' each, by turns'}, about {length(len(plan.trials) * (duration_s + start_s))}"
    )
    runs = _final(sitting, bench, plan, last_s)
    told = conclude(sitting, first, bench, field, plan, runs)
    say(f"measured for {length(time.monotonic() - begun)} of the {length(budget.seconds)} of --budget")
    if sitting.task.save is not None:
        keep(sitting.task.save, told, sitting.work)
    return told


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


def _final(sitting: Sitting, bench: TryBench, plan: Plan, ends: float) -> list[Run]:
    """The Runs of the last comparison, kept as they come where a folder is named. KeyboardInterrupt: too few yet."""
    design = rounds_within(plan, bench.room, ends - time.monotonic(), LEAST_ROUNDS)
    with contextlib.ExitStack() as open_:
        book: Book = Scratch(sitting.work)
        if sitting.task.save is not None:
            fingerprint = with_ceilings(sitting.strapped.fingerprint, cache_folder())
            book = open_.enter_context(Store.create(sitting.task.save, plan, fingerprint))
        loop = bench.loop(plan, book)
        loop.follow(design)
        runs = [run for run in loop.runs if run.outcome != "interrupted"]
    if sitting.strapped.interrupted.is_set() and len({run.trial.round for run in runs}) < LEAST_ROUNDS:
        raise KeyboardInterrupt
    return runs
