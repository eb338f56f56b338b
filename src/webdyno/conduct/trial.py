"""One Trial in, one Run out, always.

Whatever a contender does wrong becomes the Run's outcome; only what prevents webdyno itself from working is raised. The
loop that follows the driver also watches the clock, the user and the contender, because a load tool alone would go on
knocking at a dead server's port until its time is up.
"""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import BinaryIO

import msgspec

from webdyno.conduct.bench import GRACE_S, Bench, Under, events_of
from webdyno.conduct.fence import Fence
from webdyno.conduct.hearing import heard, killed
from webdyno.conduct.record import Record
from webdyno.conduct.roll import Roll
from webdyno.conduct.together import GONE, posts_on, together
from webdyno.conduct.warming import warmed
from webdyno.disk import naming
from webdyno.load.driver import DriverCommand, Event, Fault, Order, PhaseEdge, Summary
from webdyno.measure.sampler import Sampler
from webdyno.model.built import Built
from webdyno.model.errors import AnswerError, BuildError, LostError, ServiceError, StartError
from webdyno.model.load import Load
from webdyno.model.run import Outcome, Run
from webdyno.model.sample import Reading, Slice
from webdyno.model.trial import Trial
from webdyno.rig.group import Group
from webdyno.rig.host import PIPE, STDOUT, Command, Host
from webdyno.rig.process import name_of
from webdyno.serve.ready import TOO_MANY
from webdyno.serve.serving import Served
from webdyno.service import Running

HID = "has no session, mark or parent left that shows its origin"


def conduct(trial: Trial, bench: Bench, built: Built | BuildError) -> Run:
    """One Trial from start to end. Raises only MachineError and KeyboardInterrupt."""
    started_at = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
    clock = time.monotonic()
    record = Record(bench.interrupted, lambda: bench.strapped.lost)
    if isinstance(built, BuildError):
        record.fail("build-failed", str(built), built.log_tail)
    else:
        _serve_and_load(trial, bench, built, record)
    return Run(
        trial=trial,
        outcome=record.outcome,
        started_at=started_at,
        seconds=time.monotonic() - clock,
        rig=bench.strapped.rig,
        message=record.message,
        log_tail=record.log_tail,
        built_key=built.key if isinstance(built, Built) else "",
        versions=built.versions if isinstance(built, Built) else {},
        driver_version=bench.driver_version,
        driver_command=record.driver_command,
        driver_can=bench.driver.can,
        probe=record.probe,
        service=record.service,
        summary=record.summary,
        steady_start_ns=record.edges.get("steady"),
        steady_end_ns=record.edges.get("ended"),
        memory_peak_bytes=record.memory_peak_bytes,
        slices=record.slices,
        readings=record.readings,
        rest=record.rest,
        notes=record.notes,
        **record.served,
    )


def _serve_and_load(trial: Trial, bench: Bench, built: Built, record: Record) -> None:
    work = bench.plan.workloads[trial.workload]
    running: Running | None = None
    try:
        if work.service is not None:
            running = bench.services.ready(work.service, work.delay_ms)
            record.service = running.backing
        _serve(trial, bench, built, running, record)
        if running is not None and not bench.interrupted.is_set() and (fault := running.fault()):
            raise fault
    except ServiceError as error:  # what the contender made of it is its consequence
        record.outcome = "ok"
        record.fail("service-failed", str(error), error.log_tail)
    except LostError as error:
        record.fail("driver-failed", str(error))
    if bench.interrupted.is_set():
        record.fail("interrupted", "stopped by the user")


def _serve(trial: Trial, bench: Bench, built: Built, running: Running | None, record: Record) -> None:
    contender, workload = bench.plan.contenders[trial.contender], bench.plan.workloads[trial.workload]
    log, given = bench.contender_log(trial), running.given if running else {}
    served: Served | None = None
    try:
        with bench.serve(contender, workload, built, bench.strapped, log, given) as served:
            record.probe = served.probe
            record.served = {
                "command": served.command,
                "environment": served.environment,
                "workers": served.workers,
                "threads": served.threads,
                "reused": served.reused,
            }
            roll = Roll(served.group, served.log_tail)
            fence = Fence(served.group, record.fail, roll)
            fence.look(whole=True)
            if record.outcome == "ok":
                _load(trial, bench, Under(served, running, fence), record)
            record.served |= {"gil_modules": served.gil_modules(), "compilers": served.compilers()}
            _autopsy(bench, served, fence, record)
            record.served["losses"] = roll.losses
            if record.outcome == "ok":
                served.verify(trial.load.max_connections or trial.load.connections)
            served.sound = record.outcome == "ok" and not bench.interrupted.is_set()
    except StartError as error:
        record.fail(_outcome_of(error), str(error), error.log_tail)
    except AnswerError as error:
        record.fail("wrong-answer", str(error), error.log_tail)
    if served is not None:
        record.notes += served.notes


def _outcome_of(error: StartError) -> Outcome:
    if error.out_of_memory:
        return "out-of-memory"
    if error.too_many:
        return "too-many-processes"
    if error.flooded:
        return "flooded"
    return "exited-at-start" if error.exited else "never-ready"


def _load(trial: Trial, bench: Bench, under: Under, record: Record) -> None:
    served = under.served
    order = Order(
        host=served.host,
        port=served.port,
        requests=served.requests,
        load=trial.asked,
        cores=bench.strapped.rig.driver_cores,
    )
    (bench.drive or _drive_alone)(trial, bench, order, under, record)
    record.memory_peak_bytes = served.group.memory_peak_bytes() or _highest_rss(record.readings)
    if not any(slice_.ok for slice_ in record.slices if slice_.phase == "steady"):
        record.fail("no-success", "no request was answered correctly during the steady phase")


def _drive_alone(trial: Trial, bench: Bench, order: Order, under: Under, record: Record) -> None:
    if order.load.drivers > 1:
        _drive_together(trial, bench, order, under, record)
        return
    if not trial.counts_answers:
        _drive_order(bench.driver_log(trial), bench, order, under, record)
        return
    order = warmed(trial, bench, order, under, record)
    if bench.interrupted.is_set() or under.has_ended() or record.outcome != "ok":
        return
    stretches = len(record.slices)
    _drive_order(bench.driver_log(trial), bench, order, under, record)
    record.slices[stretches:] = [  # the driver began to count anew
        msgspec.structs.replace(each, index=each.index + stretches) for each in record.slices[stretches:]
    ]


def _drive_order(path: Path, bench: Bench, order: Order, under: Under, record: Record) -> None:
    with naming(path), path.open("ab") as log:
        for command in bench.driver.commands(order):
            record.driver_command = command.argv
            folder = bench.strapped.folder()  # swept up by the next webdyno, should this one be killed
            for name, content in command.files.items():
                (folder / name).write_bytes(content)
            try:
                _drive(command, folder, bench, under, record, log, _limit_s(order.load))
            finally:
                bench.strapped.drop(folder)
            if record.outcome != "ok" or bench.interrupted.is_set():
                break


def _drive_together(trial: Trial, bench: Bench, order: Order, under: Under, record: Record) -> None:
    """As by one driver: what several say comes as if one had said it."""
    folder, log = bench.strapped.folder(), bench.driver_log(trial)
    number = order.load.drivers
    hosts: Sequence[Host] = bench.strapped.far or [bench.strapped] * number
    posts = posts_on(hosts[:number], folder, log)
    stop = _stop(bench, under, record, _limit_s(order.load))
    try:
        with Sampler({**under.groups, **bench.beside}) as sampler, closing(together(order, posts, stop)) as events:
            for event in events:
                _book(event, record, sampler)
                bench.watch(event)
        record.readings += sampler.readings
    finally:
        bench.strapped.drop(folder)


def _limit_s(load: Load) -> float:
    steady = load.duration_s if load.duration_s is not None else 600.0
    return load.warmup_s + steady + 2 * load.timeout_s + GRACE_S


def _drive(
    command: DriverCommand, folder: Path, bench: Bench, under: Under, record: Record, log: BinaryIO, limit_s: float
) -> None:
    group = bench.strapped.start(
        Command(
            argv=command.argv,
            cwd=folder,
            environment=command.environment,
            role="driver",
            stdin=command.stdin,
            stdout=PIPE,
            stderr=STDOUT if command.merge_stderr else Path(log.name),
        )
    )
    try:
        with Sampler({**under.groups, "driver": group, **bench.beside}) as sampler:
            _mark(command.phase, record)
            lines = heard(group, log, _stop(bench, under, record, limit_s))
            if command.results is not None:
                lines = _with_results(lines, folder / command.results, command, record)
            for event in events_of(bench.driver, command, lines, group):
                _book(event, record, sampler, group)
                bench.watch(event)
            _mark_end(command, record)
        record.readings += sampler.readings
    finally:
        record.notes += [f"driver: {note}" for note in group.end(grace_s=2.0)]


def _mark(edge: str | None, record: Record) -> None:
    """For tools that do not say when a phase begins and ends: the instants at which their process does."""
    if edge is not None:
        record.edges[edge] = time.monotonic_ns()


def _mark_end(command: DriverCommand, record: Record) -> None:
    if command.phase == "steady" and "ended" not in record.edges:
        _mark("ended", record)


def _book(event: Event, record: Record, sampler: Sampler, group: Group | None = None) -> None:
    match event:
        case Slice():
            record.slices.append(event)
        case PhaseEdge(phase=phase, at_ns=at_ns):
            sampler.look()
            record.edges[phase] = at_ns
        case Summary(fields=fields):
            record.summary = fields
            if fields.get("ended") == "abandoned":
                record.fail("interrupted", GONE)
        case Fault(message=message):
            record.fail("driver-failed", message + ("" if group is None else killed(group)))


def _with_results(lines: Iterator[str], results: Path, command: DriverCommand, record: Record) -> Iterator[str]:
    """What a tool printed, then what it wrote into a file. Reading that takes time, and is no longer load."""
    yield from lines
    _mark_end(command, record)
    if results.exists():
        with results.open(encoding="utf-8", errors="replace") as written:
            yield from (line.rstrip("\n") for line in written)


def _stop(bench: Bench, under: Under, record: Record, limit_s: float) -> Callable[[], bool]:
    """To be asked whether the driver, which starts now, has to stop."""
    return partial(_must_stop, bench, under, record, time.monotonic() + limit_s, limit_s)


def _must_stop(bench: Bench, under: Under, record: Record, deadline: float, limit_s: float) -> bool:
    under.fence.look_again()
    if time.monotonic() > deadline:
        record.fail("driver-failed", f"the driver did not end within {limit_s:.0f} s and was stopped")
    return bench.interrupted.is_set() or under.has_ended() or record.outcome != "ok"


def _autopsy(bench: Bench, served: Served, fence: Fence, record: Record) -> None:
    """Did the contender live to the end of the load? Its own death is the cause, whatever the driver made of it."""
    if bench.interrupted.is_set():
        return
    fence.look(whole=True, last=True)
    if bench.drive is None and (hidden := bench.strapped.stowaways()):  # of a block nobody can say whose they are
        record.fail("escaped", f"process {hidden[0]} ({name_of(hidden[0])}) {HID}")
    if record.outcome == "escaped":
        return
    outcome: Outcome
    if served.group.oom_killed():
        outcome, message = "out-of-memory", "went past its memory limit and was killed by the kernel"
    elif said := served.group.flooded():
        outcome, message = "flooded", said
    elif served.group.refused_forks():
        outcome, message = "too-many-processes", f"was refused {TOO_MANY} under load"
    elif served.group.has_ended():
        outcome, message = "died", f"ended under load with {served.group.last_words()}"
    else:
        return
    record.outcome, record.message, record.log_tail = outcome, message, served.log_tail()


def _highest_rss(readings: list[Reading]) -> int | None:
    sizes = [reading.rss_bytes for reading in readings if reading.role == "contender" and reading.rss_bytes]
    return max(sizes, default=None)
