"""``webdyno doctor``: is this machine fit to measure on, and what would make it fitter?

Measures nothing, unless --calibrate asks for the most the engine reaches here. What --quiet does is in ``quieting.py``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

import msgspec
from cyclopts import Parameter

from webdyno.analyse.words import count, per_cent, with_interval
from webdyno.build import expect_runtime
from webdyno.commands.hosts import say_hosts
from webdyno.commands.options import JsonOption, WaitOption, catalogue_of, flag
from webdyno.commands.placing import Placing
from webdyno.commands.printing import out, out_marked, say_json
from webdyno.commands.quieting import Quieting
from webdyno.load.driver import DRIVERS
from webdyno.model.built import Found
from webdyno.model.errors import MachineError, UsageError
from webdyno.model.rig import Fingerprint, Rig
from webdyno.model.way import AS_USER, OWN_NETWORK, WAYS
from webdyno.rig.ask import asker
from webdyno.rig.containers import Limits, find_containers
from webdyno.rig.strap import Strapped, prove_users
from webdyno.session.ceilings import calibrate as measure_ceilings
from webdyno.session.ceilings import keep, with_ceilings
from webdyno.session.folders import cache_folder
from webdyno.session.machine import strapped_here
from webdyno.session.services import look_for_services

State = Literal["fine", "weak", "missing", "broken"]
Fitness = Literal["fit", "fit with reservations", "not fit"]
GIGABYTE = 2**30
GRAVEST = ("cores", "noise", "way", "metal", "governor", "open files")
"""Of what is weak, what moves figures most comes first."""
REASONS = 3
"""More are in the list above the verdict."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One look at the machine: how it is, and what to do when it could be better."""

    subject: str
    state: State
    sentence: str
    advice: str = ""


# As nothing was typed.
_QUIETING = Quieting()


def doctor(
    *command: Annotated[
        str, Parameter(help="After --quiet and --: a command, and the machine is quiet for as long as it runs.")
    ],
    calibrate: Annotated[
        bool,
        flag("--calibrate", help="Measure the highest rate the engine reaches here (about ten seconds), and keep it."),
    ] = False,
    quieting: Quieting = _QUIETING,
    placing: Placing = Placing(),  # noqa: B008 - frozen
    wait: WaitOption = False,
    json: JsonOption = False,
) -> int:
    """Look at this machine: cores, limits, load tools, runtimes, services, and what keeps its numbers from being good.

    With --calibrate the engine loads a server that answers at once; rates of contenders that come near what it reaches
    are doubted from then on. With --far every host of a Ray cluster is looked at instead, and the network between them.
    The last lines are the verdict and its gravest reasons. Exit code 0: fit, or fit with reservations (figures can be
    trusted within their intervals; what is named makes these wider or rates lower), 3: not fit, nothing can be measured
    here. A missing runtime or load tool is not a reason.

    With --quiet it shows the settings of the system that move figures, each with what it should be and why; it sets
    nothing. With a command behind -- it asks, sets them, runs the command, and puts back what was there, also when the
    command fails or is interrupted; the exit code is the command's. What a webdyno that was killed (kill -9) had set is
    put back by the next one that measures, or by --quiet --undo; a reboot ends it, too.

    Example: `webdyno doctor`, `webdyno doctor --quiet`, `webdyno doctor --quiet -- webdyno run quickstart` or, for a
    shell in which the machine is quiet, `webdyno doctor --quiet --keep turbo -- bash`
    """
    if quieting.is_meant(command):
        if calibrate or placing.cluster is not None:
            raise UsageError(
                "--quiet excludes --calibrate and --far, except as its command: "
                "webdyno doctor --quiet -- webdyno doctor --calibrate"
            )
        return quieting.carry_out(command, wait=wait, json=json)
    if placing.cluster is not None:
        return say_hosts(placing.cluster, json=json)
    return _examine(calibrate=calibrate, wait=wait, json=json)


def _examine(*, calibrate: bool, wait: bool, json: bool) -> int:
    cache = cache_folder()
    with strapped_here(512 * 2**20, wait=wait) as strapped:
        if calibrate:
            keep(cache, strapped.fingerprint, measure_ceilings(strapped))
        machine = with_ceilings(strapped.fingerprint, cache)
        findings = list(_of_ceilings(machine))
        for finding in _findings(strapped):
            if strapped.interrupted.is_set():
                raise KeyboardInterrupt
            findings.append(finding)
        if json:
            fitness, reasons = verdict(findings)
            found = {"findings": findings, "verdict": fitness, "reasons": [each.sentence for each in reasons]}
            say_json({"fingerprint": machine, "rig": strapped.rig, **found})
        else:
            _print(machine, findings)
    return MachineError.exit_code if verdict(findings)[0] == "not fit" else 0


def verdict(findings: Sequence[Finding]) -> tuple[Fitness, list[Finding]]:
    """Whether it is fit to measure on, and the gravest reasons why not, or not quite."""
    broken = [finding for finding in findings if finding.state == "broken"]
    if broken:
        return "not fit", broken[:REASONS]
    weak = [finding for finding in findings if finding.state == "weak"]
    weak.sort(key=lambda finding: GRAVEST.index(finding.subject) if finding.subject in GRAVEST else len(GRAVEST))
    return ("fit with reservations" if weak else "fit"), weak[:REASONS]


def _findings(strapped: Strapped) -> Iterator[Finding]:
    yield from _of_cores(strapped.rig, strapped.fingerprint)
    yield from _of_limits(strapped.rig, strapped.fingerprint)
    yield _of_containers(strapped)
    yield _of_users()
    yield from _of_noise(strapped.fingerprint)
    yield from _of_drivers(strapped)
    yield from _of_runtimes(strapped)
    yield from _of_services(strapped)


def _of_cores(rig: Rig, machine: Fingerprint) -> Iterator[Finding]:
    placed = f"contender on {_cores(rig.contender_cores)}, driver on {_cores(rig.driver_cores)}"
    if rig.shares_cores:
        advice = (
            "give the machine a second core: on one core, client and server disturb each other more than servers differ"
        )
        yield Finding(subject="cores", state="weak", sentence=f"{placed}: they share cores", advice=advice)
    else:
        yield Finding(subject="cores", state="fine", sentence=placed)
    if machine.governor not in (None, "performance"):
        advice = "for steadier figures: webdyno doctor --quiet"
        yield Finding(subject="governor", state="weak", sentence=f"governor is {machine.governor}", advice=advice)


def _of_limits(rig: Rig, machine: Fingerprint) -> Iterator[Finding]:
    if rig.cgroup == "none":
        advice = "run as root, or: systemd-run --user --scope -p Delegate=yes webdyno ..."
        sentence = f"bare, as no cgroup can be written ({rig.cgroup_reason}): {WAYS['bare']}"
        yield Finding(subject="way", state="weak", sentence=sentence, advice=advice)
    else:
        told = f"cgroup, unless --way names another: {WAYS['cgroup']} ({rig.cgroup})"
        yield Finding(subject="way", state="fine", sentence=told)
    files = machine.open_files_limit
    state: State = "fine" if files >= 12_000 else "weak"
    advice = "" if state == "fine" else f"ulimit -n {max(files, 65_536)}"
    yield Finding(subject="open files", state=state, sentence=f"{files} at most per process", advice=advice)


def _of_containers(strapped: Strapped) -> Finding:
    """Whether contenders can be put into containers: one is started."""
    rig = strapped.rig
    limits = Limits(cores=rig.contender_cores, cpus=len(rig.contender_cores), memory_bytes=rig.memory_bytes)
    try:
        found = find_containers(strapped, cache_folder(), limits)
    except MachineError as error:
        return Finding(subject="way container", state="missing", sentence=str(error))
    found.close()
    told = f"{found.version} limits containers to cores and memory (cgroup {found.kind}): --way container"
    return Finding(subject="way container", state="fine", sentence=told)


def _of_users() -> Finding:
    """Whether contenders can run as throw-away users: one is started."""
    try:
        prove_users(cache_folder())
    except MachineError as error:
        return Finding(subject="as user", state="missing", sentence=str(error))
    return Finding(subject="as user", state="fine", sentence=f"contenders can run {AS_USER}, {OWN_NETWORK}: --as-user")


def _of_noise(machine: Fingerprint) -> Iterator[Finding]:
    load = machine.load_before / max(1, machine.cores_usable)
    if load > 0.2:
        sentence = (
            f"load average is {machine.load_before:.2f} on {machine.cores_usable} cores before anything is measured"
        )
        yield Finding(
            subject="noise", state="weak", sentence=sentence, advice="stop what else runs, or expect wide intervals"
        )
    else:
        yield Finding(subject="noise", state="fine", sentence=f"load average is {machine.load_before:.2f}")
    if machine.virtualisation:
        advice = "neighbours on the same host show up as steal; reports have a doubt about it"
        sentence = f"this is a virtual machine or container ({machine.virtualisation})"
        yield Finding(subject="metal", state="weak", sentence=sentence, advice=advice)


def _of_ceilings(machine: Fingerprint) -> Iterator[Finding]:
    """What calibration found; nothing when it was never asked for."""
    for ceiling in machine.ceilings:
        told = f"{with_interval(ceiling.rate, 'requests/s')} with {count(ceiling.connections, 'connection')}"
        told += f", engine {per_cent(ceiling.engine_busy)} busy"
        yield Finding(subject="ceiling", state="fine", sentence=told)


def _of_drivers(strapped: Strapped) -> Iterator[Finding]:
    ask = asker(strapped)
    for name, make in DRIVERS.items():
        try:
            yield Finding(subject=f"driver {name}", state="fine", sentence=make().version(ask))
        except MachineError as error:
            state: State = "broken" if name == "engine" else "missing"
            yield Finding(subject=f"driver {name}", state=state, sentence=str(error))


def _of_runtimes(strapped: Strapped) -> Iterator[Finding]:
    for runtime in catalogue_of(None).runtimes.values():
        found = expect_runtime(runtime, strapped, cache_folder())
        if isinstance(found, Found):
            told = found.comes_from or f"{found.version} ({found.program})"
            yield Finding(subject=runtime.name, state="fine", sentence=told)
        else:
            yield Finding(subject=runtime.name, state="missing", sentence=found)


def _of_services(strapped: Strapped) -> Iterator[Finding]:
    known = catalogue_of(None)
    try:
        found, lacking = look_for_services(known, known.workloads, strapped)
    except UsageError as error:  # the user's own URL cannot be one
        yield Finding(subject="services", state="missing", sentence=str(error))
        return
    for name in known.services:
        if name not in found and (why := [lacking[each] for each in lacking if known.workloads[each].service == name]):
            yield Finding(subject=name, state="missing", sentence=why[0])
    for name, each in found.items():
        where = {"url": f"the one {each.service.variable} names", "program": each.program}
        sentence = where.get(
            each.way.kind, f"{each.way.server}, which webdyno builds: it stands in for a {each.service.genuine}"
        )
        yield Finding(subject=name, state="fine", sentence=sentence)


def _cores(cores: tuple[int, ...]) -> str:
    return f"core {cores[0]}" if len(cores) == 1 else "cores " + ", ".join(map(str, cores))


def _print(machine: Fingerprint, findings: list[Finding]) -> None:
    out(
        f"{machine.hostname}: {machine.cpu_model}, {machine.cores_usable} of {machine.cores} cores, "
        f"{machine.memory_bytes / GIGABYTE:.1f} GB, {machine.distribution}, Linux {machine.kernel}, "
        f"cache in {_cache()}"
    )
    colour = {"fine": "green", "weak": "yellow", "missing": "yellow", "broken": "red"}
    for finding in findings:
        out_marked(f"{finding.state:<8}", colour[finding.state], f" {finding.subject:<14} {finding.sentence}")
        if finding.advice:
            out_marked(f"{'':<24}", "", finding.advice, "dim")
    fitness, reasons = verdict(findings)
    style = {"fit": "bold green", "fit with reservations": "bold yellow", "not fit": "bold red"}[fitness]
    out_marked(f"\n{fitness}", style, ":" if reasons else " to measure on")
    for reason in reasons:
        out(f"  {reason.sentence}")


def _cache() -> str:
    folder = cache_folder()
    home = os.path.expanduser("~")  # noqa: PTH111 - only to shorten what is shown
    return str(folder).replace(home, "~", 1)
