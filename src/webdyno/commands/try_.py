"""``webdyno try``: which server, with which settings, for an application of one's own, on this machine."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Sequence
from statistics import fmean, median
from typing import Annotated

from cyclopts import Parameter

from webdyno.analyse.window import read_window
from webdyno.analyse.words import count, length
from webdyno.commands.options import CatalogueOption, catalogue_of, out_console, say_json
from webdyno.commands.trying.asking import AppAsking
from webdyno.commands.trying.bench import TryBench
from webdyno.commands.trying.budget import Budget
from webdyno.commands.trying.command import CURRENT
from webdyno.commands.trying.evidence import conclude, keep
from webdyno.commands.trying.final import LEAST_ROUNDS, LEAST_S, final_plan, shape, turns_for
from webdyno.commands.trying.flags import Trying
from webdyno.commands.trying.running import try_url
from webdyno.commands.trying.screening import screen
from webdyno.commands.trying.sitting import ANSWERS, SIMPLE, Sitting, say, tail_of
from webdyno.commands.trying.telling import Told, tell
from webdyno.design.grid import rounds_within
from webdyno.design.halving import Field
from webdyno.model.block import Turns
from webdyno.model.errors import AnswerError, ContenderError
from webdyno.model.run import Run
from webdyno.model.trial import Plan, Skipped
from webdyno.session.ceilings import with_ceilings
from webdyno.session.folders import cache_folder
from webdyno.session.loop import Book
from webdyno.session.machine import strapped_here
from webdyno.session.scratch import Scratch
from webdyno.store import Store

_ASKING, _TRYING = AppAsking(), Trying()


def try_(
    app: Annotated[str | None, Parameter(help="The application: module:attribute, such as myapp:app.")] = None,
    /,
    *,
    asking: AppAsking = _ASKING,
    flags: Trying = _TRYING,
    catalogue: CatalogueOption = None,
) -> int:
    """Find the server and the settings for your own application on this machine; the project is left as it is.

    Finds out whether it is WSGI, ASGI or RSGI, tries every server of the catalogue that can serve it with a sweep of
    its settings, drops early what is clearly behind, and compares the best with what you have now. The answer comes in
    words, with the command line to copy. Servers come from webdyno's cache; nothing is installed into your project.

    Example: `webdyno try myapp:app --path /api/items --current 'gunicorn myapp:app -w 4'`
    """
    flags.check(app)
    asking.check()
    if flags.url is not None:
        return try_url(flags.url, asking, flags)
    known, begun = catalogue_of(catalogue), time.monotonic()
    with strapped_here(None, wait=flags.wait) as (strapped, interrupted):
        sitting = Sitting(
            flags=flags,
            asking=asking,
            known=known,
            strapped=strapped,
            cache=cache_folder(),
            work=strapped.folder(),
            interrupted=interrupted,
        )
        told = _sat(sitting, app)
    say(f"took {length(time.monotonic() - begun)} in all")
    _show(told, json=flags.json)
    if interrupted.is_set():
        return 128 + signal.SIGINT
    return 0 if told.take is not None else 1


def _sat(sitting: Sitting, app: str | None) -> Told:
    """The sitting, of which nothing is left after it; a server's error is raised when the end of its log was said."""
    try:
        return _tried(sitting, app)
    except ContenderError as error:
        if sitting.interrupted.is_set():
            raise KeyboardInterrupt from None
        for line in tail_of(error):
            say(line)
        raise
    finally:
        sitting.leave()


def _show(told: Told, *, json: bool) -> None:
    if json:
        say_json(told)
    else:
        tell(told, out_console())


def _tried(sitting: Sitting, app: str | None) -> Told:
    """From the project to what is said."""
    sitting.prepare(app)
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
    plan = final_plan(bench, names, rounds, duration_s, turns, _skips(sitting, field), _title(app, sitting.flags))
    say(
        f"last comparison: {', '.join(names)}; {count(rounds, 'round')} of {duration_s:g} s"
        f"{'' if bench.all_alone else ' each, by turns'}, about {length(len(plan.trials) * (duration_s + start_s))}"
    )
    runs = _final(sitting, bench, plan, last_s)
    told = conclude(sitting, first, bench, field, plan, runs)
    say(f"measured for {length(time.monotonic() - begun)} of the {length(budget.seconds)} of --budget")
    if sitting.flags.save is not None:
        keep(sitting.flags.save, told, sitting.work)
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
        bench.all_alone = "turns of all of them do not fit into the budget"
        return turns, least_s
    return turns, max(least_s, whole_s)


def _skips(sitting: Sitting, field: Field) -> Sequence[Skipped]:
    failed = [Skipped(contender=name, reason=run.message) for name, run in field.failed.items()]
    return [*sitting.skipped, *failed]


def _title(app: str | None, flags: Trying) -> str:
    return f"try {app or ' and '.join([*flags.commands, *flags.images])}"


def _final(sitting: Sitting, bench: TryBench, plan: Plan, ends: float) -> list[Run]:
    """The Runs of the last comparison, kept as they come where a folder is named. KeyboardInterrupt: too few yet."""
    design = rounds_within(plan, bench.room, ends - time.monotonic(), LEAST_ROUNDS)
    with contextlib.ExitStack() as open_:
        book: Book = Scratch(sitting.work)
        if sitting.flags.save is not None:
            fingerprint = with_ceilings(sitting.strapped.fingerprint, cache_folder())
            book = open_.enter_context(Store.create(sitting.flags.save, plan, fingerprint))
        loop = bench.loop(plan, book)
        loop.follow(design)
        runs = [run for run in loop.runs if run.outcome != "interrupted"]
    _refuse_too_few(runs, sitting.interrupted)
    return runs


def _refuse_too_few(runs: list[Run], interrupted: threading.Event) -> None:
    if interrupted.is_set() and len({run.trial.round for run in runs}) <= LEAST_ROUNDS - 1:
        raise KeyboardInterrupt
