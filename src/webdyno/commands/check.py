"""``webdyno check``: does a contender build, start, answer correctly and end? Seconds, without load."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import Parameter

from webdyno.commands.completing import contenders, workloads
from webdyno.commands.options import (
    AsUserOption,
    CatalogueOption,
    JsonOption,
    StudyOption,
    WaitOption,
    WayOption,
    flag,
    split,
)
from webdyno.commands.printing import err, out, out_marked, say_json
from webdyno.commands.trusting import TrustOption, catalogue_to_run
from webdyno.model.built import Built
from webdyno.model.catalogue import Catalogue
from webdyno.model.errors import ContenderError, ServiceError, UsageError
from webdyno.model.log import last_lines
from webdyno.model.run import Probe
from webdyno.model.service import Backing
from webdyno.model.spelling import did_you_mean
from webdyno.plan import contenders_called
from webdyno.rig.strap import Strapped
from webdyno.serve.serving import serve
from webdyno.service import Running, Services
from webdyno.session.builds import build_contenders
from webdyno.session.lookup import look_for_runtimes, study_called
from webdyno.session.machine import strapped_here
from webdyno.session.services import build_services, look_for_services
from webdyno.session.trust import throwaway

MEMORY_BYTES = 512 * 2**20


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """What checking one contender on one workload showed."""

    contender: str
    workload: str
    passed: bool
    skipped: bool = False
    problem: str = ""
    log_tail: str = ""
    command: list[str] = []
    probe: Probe | None = None
    seconds: float = 0.0
    notes: list[str] = []
    versions: dict[str, str] = {}
    service: Backing | None = None


def check(
    *names: Annotated[
        str,
        Parameter(help="Contenders to check; patterns such as `flask-*` or `pypy/*-jython` too.", completer=contenders),
    ],
    workload: Annotated[
        list[str] | None,
        flag("--workload", "-w", help="Only these of the contender's workloads.", offers=workloads),
    ] = None,
    study: StudyOption = None,
    wait: WaitOption = False,
    way: WayOption = None,
    as_user: AsUserOption = None,
    catalogue: CatalogueOption = None,
    trust: TrustOption = False,
    json: JsonOption = False,
) -> int:
    """Build, start, verify and stop contenders, without load.

    The exit code is 1 if one fails. A contender whose runtime or other requirements are missing is skipped, with the
    reason.

    Example: `webdyno check waitress granian-asgi`
    """
    known = catalogue_to_run(catalogue, trust)
    asked = {name: _asked(known, name, split(workload)) for name in _chosen(known, names, study)}
    with strapped_here(MEMORY_BYTES, way=way, as_user=throwaway(as_user, catalogue or []), wait=wait) as strapped:
        results = _results(known, asked, strapped, (lambda _: None) if json else _print)
    if json:
        say_json(results)
    else:
        for result in results:
            if result.skipped:
                _print(result)
        _print_sum(results)
    return 0 if all(result.passed or result.skipped for result in results) else 1


def _results(
    known: Catalogue,
    asked: Mapping[str, list[str]],
    strapped: Strapped,
    say: Callable[[Checked], None],
) -> list[Checked]:
    """Of each contender on the workloads it is asked: what is skipped first, then the others, each said at once."""
    logs, chosen = strapped.folder(), list(asked)
    found, missing = look_for_runtimes(known, chosen, strapped, fetch=True)
    results = [_skipped(name, "-", reason) for name, reason in missing.items()]
    there = [name for name in chosen if name not in missing]
    needed = dict.fromkeys(workload for name in there for workload in asked[name])
    services, lacking = look_for_services(known, needed, strapped, apart=strapped.apart)
    results += [
        _skipped("-", ",".join(name for name in lacking if lacking[name] == reason), reason)
        for reason in dict.fromkeys(lacking.values())
    ]
    built = build_contenders(there, known, found, strapped)
    servers = build_services(services, known, strapped)
    with Services(services, servers, strapped, lambda name: logs / f"{name}.service.log") as running:
        place = _Place(known, strapped, running, logs)
        for name in there:
            for result in _check(name, [each for each in asked[name] if each not in lacking], built[name], place):
                results.append(result)
                say(result)
    return results


def _chosen(known: Catalogue, names: tuple[str, ...], study: str | None) -> list[str]:
    chosen = split(list(names)) or []
    if study is not None:
        chosen += study_called(study, known).contenders
    if not chosen:
        raise UsageError("check what? Name contenders (see: webdyno list), or --study NAME")
    return contenders_called(chosen, known)


def _asked(known: Catalogue, name: str, workloads: list[str] | None) -> list[str]:
    """The workloads to check ``name`` on: those of ``workloads``, or all it answers that are not like another one."""
    contender = known.contenders[name]
    answers = contender.answers or known.apps[contender.app].answers
    for workload in workloads or []:
        if workload not in known.workloads:
            hint = did_you_mean(workload, known.workloads, "see: webdyno list workloads")
            raise UsageError(f"--workload {workload}: there is no such workload; {hint}")
        if workload not in answers:
            raise UsageError(f"--workload {workload}: {name} does not answer it; it answers {', '.join(answers)}")
    return [each for each in answers if known.workloads[each].like is None] if workloads is None else workloads


def _skipped(name: str, workload: str, reason: str) -> Checked:
    return Checked(contender=name, workload=workload, passed=False, skipped=True, problem=reason)


@dataclass(frozen=True)
class _Place:
    """Where contenders are checked."""

    known: Catalogue
    strapped: Strapped
    services: Services
    logs: Path

    def log(self, name: str, workload: str) -> Path:
        """Where a contender writes while it is checked on a workload."""
        return self.logs / f"{name}.{workload}.log"


def _check(name: str, workloads: list[str], built: Built | ContenderError, place: _Place) -> Iterator[Checked]:
    if isinstance(built, ContenderError):
        yield Checked(contender=name, workload="-", passed=False, problem=str(built), log_tail=built.log_tail)
        return
    for workload in workloads:
        if place.strapped.interrupted.is_set():
            raise KeyboardInterrupt
        yield _check_one(name, workload, built, place)


def _check_one(name: str, workload: str, built: Built, place: _Place) -> Checked:
    clock = time.monotonic()
    log = place.log(name, workload)
    contender, asked = place.known.contenders[name], place.known.workloads[workload]
    running: Running | None = None
    try:
        running = place.services.ready(asked.service, asked.delay_ms) if asked.service else None
        given = running.given if running else {}
        with serve(contender, asked, built, place.strapped, log, given) as served:
            served.verify()
    except (ContenderError, ServiceError) as error:
        if place.strapped.interrupted.is_set():
            raise KeyboardInterrupt from None
        return Checked(
            contender=name,
            workload=workload,
            passed=False,
            problem=str(error),
            log_tail=error.log_tail,
            seconds=time.monotonic() - clock,
        )
    return Checked(
        contender=name,
        workload=workload,
        passed=True,
        command=served.command,
        probe=served.probe,
        seconds=time.monotonic() - clock,
        notes=served.notes,
        versions=built.versions,
        service=running.backing if running else None,
    )


def _print(result: Checked) -> None:
    head = f"{result.contender:<20} {result.workload:<11}"
    if result.skipped:
        out_marked("skip", "yellow", f" {head} {result.problem}")
    elif result.passed and result.probe is not None:
        probe = result.probe
        reuse = "keep-alive" if probe.keep_alive else "closes" + ("" if probe.announces_close else " silently")
        backlog = "?" if probe.backlog is None else probe.backlog
        facts = f"ready {probe.ready_ns / 1e6:.0f} ms, HTTP/{probe.http_version}, {reuse}, backlog {backlog}"
        if result.service is not None:
            facts += f", {result.service.kind} {result.service.version}"
        out_marked("ok", "green", f"   {head} {facts}")
        for note in result.notes:
            out(f"     note: {note}")
    else:
        out_marked("fail", "red", f" {head} {result.problem}")
        for line in last_lines(result.log_tail, 12):
            out(f"     | {line}")


def _print_sum(results: list[Checked]) -> None:
    passed, skipped = sum(result.passed for result in results), sum(result.skipped for result in results)
    failed = len(results) - passed - skipped
    err(f"{passed} passed, {failed} failed, {skipped} skipped")
