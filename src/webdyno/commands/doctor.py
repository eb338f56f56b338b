"""``webdyno doctor``: is this machine fit to measure on, and what would make it fitter? Measures nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Literal

import msgspec

from webdyno.build import find_runtime
from webdyno.commands.options import JsonOption, cache_folder, catalogue_of, out_console, say_json
from webdyno.load.driver import DRIVERS
from webdyno.model.built import Found
from webdyno.model.errors import MachineError
from webdyno.model.rig import Fingerprint, Rig
from webdyno.rig.ask import asker
from webdyno.rig.strap import Strapped, strap

State = Literal["fine", "weak", "missing", "broken"]
GIGABYTE = 2**30


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One look at the machine: how it is, and what to do when it could be better."""

    subject: str
    state: State
    sentence: str
    advice: str = ""


def doctor(*, json: JsonOption = False) -> int:
    """Look at this machine: cores, limits, load tools, runtimes, and what keeps its numbers from being good.

    Exit code 3 when nothing can be measured here.

    Example: `webdyno doctor`
    """
    with strap(512 * 2**20, cache_folder()) as strapped:
        findings = list(_findings(strapped))
        if json:
            say_json({"fingerprint": strapped.fingerprint, "rig": strapped.rig, "findings": findings})
        else:
            _print(strapped.fingerprint, findings)
    return MachineError.exit_code if any(finding.state == "broken" for finding in findings) else 0


def _findings(strapped: Strapped) -> Iterator[Finding]:
    yield from _of_cores(strapped.rig, strapped.fingerprint)
    yield from _of_limits(strapped.rig, strapped.fingerprint)
    yield from _of_noise(strapped.fingerprint)
    yield from _of_drivers(strapped)
    yield from _of_runtimes(strapped)


def _of_cores(rig: Rig, machine: Fingerprint) -> Iterator[Finding]:
    placed = f"contender on {_cores(rig.contender_cores)}, driver on {_cores(rig.driver_cores)}"
    if rig.shares_cores:
        advice = (
            "give the machine a second core: on one, client and server cost each other more than any server differs"
        )
        yield Finding(subject="cores", state="weak", sentence=f"{placed}: they share cores", advice=advice)
    else:
        yield Finding(subject="cores", state="fine", sentence=placed)
    if machine.governor not in (None, "performance"):
        advice = "for steadier figures: cpupower frequency-set -g performance"
        yield Finding(subject="governor", state="weak", sentence=f"governor is {machine.governor}", advice=advice)


def _of_limits(rig: Rig, machine: Fingerprint) -> Iterator[Finding]:
    if rig.cgroup == "none":
        advice = "run as root, or: systemd-run --user --scope -p Delegate=yes webdyno ..."
        sentence = f"no cgroup can be written ({rig.cgroup_reason}): no memory limit, cores by affinity only"
        yield Finding(subject="cgroup", state="weak", sentence=sentence, advice=advice)
    else:
        yield Finding(subject="cgroup", state="fine", sentence=f"cores and memory are enforced by cgroup {rig.cgroup}")
    files = machine.open_files_limit
    state: State = "fine" if files >= 12_000 else "weak"
    advice = "" if state == "fine" else f"ulimit -n {max(files, 65_536)}"
    yield Finding(subject="open files", state=state, sentence=f"{files} at most per process", advice=advice)


def _of_noise(machine: Fingerprint) -> Iterator[Finding]:
    load = machine.load_before / max(1, machine.cores_usable)
    if load > 0.2:
        sentence = (
            f"load average is {machine.load_before:.2f} on {machine.cores_usable} cores before anything is measured"
        )
        yield Finding(
            subject="noise", state="weak", sentence=sentence, advice="end what else runs, or expect wide intervals"
        )
    else:
        yield Finding(subject="noise", state="fine", sentence=f"load average is {machine.load_before:.2f}")
    if machine.virtualisation:
        advice = "neighbours on the same host show up as steal; runs carry it as a doubt"
        sentence = f"this is a virtual machine or container ({machine.virtualisation})"
        yield Finding(subject="metal", state="weak", sentence=sentence, advice=advice)


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
        found = find_runtime(runtime, strapped, cache_folder())
        if isinstance(found, Found):
            yield Finding(subject=runtime.name, state="fine", sentence=f"{found.version} ({found.program})")
        else:
            yield Finding(subject=runtime.name, state="missing", sentence=found)


def _cores(cores: tuple[int, ...]) -> str:
    return f"core {cores[0]}" if len(cores) == 1 else "cores " + ", ".join(map(str, cores))


def _print(machine: Fingerprint, findings: list[Finding]) -> None:
    console = out_console()
    console.print(
        f"{machine.hostname}: {machine.cpu_model}, {machine.cores_usable} of {machine.cores} cores, "
        f"{machine.memory_bytes / GIGABYTE:.1f} GB, {machine.distribution}, Linux {machine.kernel}, "
        f"cache in {_cache()}",
        markup=False,
        soft_wrap=True,
    )
    colour = {"fine": "green", "weak": "yellow", "missing": "yellow", "broken": "red"}
    for finding in findings:
        console.print(f"[{colour[finding.state]}]{finding.state:<8}[/] {finding.subject:<14} ", end="")
        console.print(finding.sentence, markup=False, soft_wrap=True)
        if finding.advice:
            console.print(f"{'':<24}{finding.advice}", style="dim", markup=False, soft_wrap=True)


def _cache() -> str:
    folder = cache_folder()
    home = os.path.expanduser("~")  # noqa: PTH111 - only to shorten what is shown
    return str(folder).replace(home, "~", 1)
