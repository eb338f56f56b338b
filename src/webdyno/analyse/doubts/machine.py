"""Doubts about the machine: who else used it, what could not be enforced, and whether it was one machine at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from webdyno.analyse import words
from webdyno.analyse.doubts.held_back import follows, lost
from webdyno.analyse.doubts.row import Numbers
from webdyno.analyse.table import Cell, Evidence, Table
from webdyno.analyse.window import Window
from webdyno.model.doubt import Doubt
from webdyno.model.rig import Rig

STEAL = 0.01
STOLEN = 0.05
FOREIGN = 0.05
LOADED = 0.5
SHARED_CORES_ADVICE = "use a machine with at least two cores"
MEMORY_UNLIMITED_ADVICE = (
    "run as root or give the user a delegated cgroup (`webdyno doctor` says how), or leave out the limit"
)
LOADED_BEFORE_ADVICE = "stop what else runs and measure again"
NOISY_HOST_ADVICE = (
    "stop what else runs, or measure on a dedicated machine; more rounds help against short disturbances"
)
STOLEN_TIME_ADVICE = (
    "measure again, with more rounds or on a quieter machine; a contender that was faster by less than this may have "
    "cost is not said to beat it"
)
UNLIKE_MACHINES_ADVICE = "start the study again on one machine instead of resuming it"


def shared_cores(evidence: Evidence) -> Doubt | None:
    """Driver and contender had a core in common, so generating a request costs the contender CPU."""
    if not any(run.rig.shares_cores for run in evidence.runs):
        return None
    return Doubt(
        kind="shared-cores",
        severity="shades",
        subject="",
        sentence="the load generator ran on a core of the contenders: rates are lower than they would be on "
        "separate cores, and fast contenders lose most",
        advice=SHARED_CORES_ADVICE,
        numbers={"cores": evidence.fingerprint.cores_usable},
    )


def memory_unlimited(evidence: Evidence) -> Doubt | None:
    """A memory limit was requested, and nothing could enforce it."""
    loose = next((run.rig for run in evidence.runs if run.rig.cgroup == "none"), None)
    if loose is None or evidence.plan.memory_bytes is None:
        return None
    return Doubt(
        kind="memory-limit-not-enforced",
        severity="shades",
        subject="",
        sentence=f"the memory limit of {words.size(evidence.plan.memory_bytes)} was not enforced: "
        f"{loose.cgroup_reason or 'no cgroup could be written'}",
        advice=MEMORY_UNLIMITED_ADVICE,
        numbers={"limit_bytes": evidence.plan.memory_bytes},
    )


def loaded_before(evidence: Evidence) -> Doubt | None:
    """The machine, or a host of a fleet, was busy before the measurement: a load average of half its cores or more."""
    machines = evidence.fingerprint.fleet or {"the machine": evidence.fingerprint}
    name, it = max(machines.items(), key=lambda each: each[1].load_before / max(each[1].cores_usable, 1))
    if it.load_before < LOADED * it.cores_usable:
        return None
    return Doubt(
        kind="noisy-host",
        severity="shades",
        subject="",
        sentence=f"{name} was busy before the start: load average {it.load_before:.1f} on "
        f"{words.count(it.cores_usable, 'core')}",
        advice=LOADED_BEFORE_ADVICE,
        numbers={"load_before": it.load_before, "cores": it.cores_usable},
    )


def noisy_host(table: Table) -> Doubt | None:
    """The CPU was in use elsewhere: by the hypervisor (steal) for 1 % of the machine, or by another program for 5 %, in
    any run; or rates of runs alone are shown as of usual theft.

    Shades. Bursts affect different contenders in different rounds, and rounds of random order make them part of every
    interval. If the hypervisor took more from a contender, its rate is a floor (see stolen-time).
    """
    steal = _above(STEAL, table, steal_cores)
    foreign = _above(FOREIGN, table, foreign_cores)
    noisy = steal.keys() | foreign.keys()
    said = [*_not_quiet(table, len(noisy), steal, foreign), *_as_usual(table)]
    if not said:
        return None
    worst_steal, worst_foreign = max(steal.values(), default=0.0), max(foreign.values(), default=0.0)
    return Doubt(
        kind="noisy-host",
        severity="shades",
        subject="",
        sentence="; ".join(said),
        advice=NOISY_HOST_ADVICE,
        numbers={"runs": len(noisy), "steal": worst_steal, "foreign": worst_foreign},
    )


def _not_quiet(table: Table, noisy: int, steal: Mapping[str, float], foreign: Mapping[str, float]) -> Iterator[str]:
    told = [f"the hypervisor took up to {words.per_cent(max(steal.values()))} of the CPU"] if steal else []
    told += [f"other programs used up to {words.per_cent(max(foreign.values()))} of it"] if foreign else []
    if told:
        yield f"the machine was not quiet in {noisy} of {words.count(len(table.windows), 'run')}: {' and '.join(told)}"


def _as_usual(table: Table) -> Iterator[str]:
    """Also where its own Runs were spared: their rates are lower than they were seen, then."""
    theft = table.theft
    if any(window.is_as_usual for window in table.windows):
        yield (
            "rates of contenders measured alone are shown as if the hypervisor had taken the same share in each round, "
            f"{words.per_cent(theft.mean)} on average, at a cost of {theft.cost:.1f} % of the rate for each 1 %"
        )


def stolen_time(cell: Cell) -> Doubt | None:
    """The hypervisor took 5 % or more of its cores in half of its runs: bad luck that no random order evens out.

    Its cores are its own, or all cores of the rig if those lost more: a load generator without its core sends less.
    Silent for runs in a block: theft affects the whole block alike, and comparisons are made within blocks. Silent if
    rates are shown as if the same share had been taken in each round (see noisy-host). Shades: its rate is a floor set
    by the machine. Another contender is said to beat it only by more than the theft can have cost, with the whole
    interval (see floors).
    """
    share = cell.median(lambda window: None if window.is_as_usual else window.stolen_share)
    if share is None or share < STOLEN:
        return None
    return Doubt(
        kind="stolen-time",
        severity="shades",
        subject=cell.name,
        sentence=f"the hypervisor took {words.per_cent(share)} of its CPU from {cell.name}, or from it and its load "
        f"generator, in the median of its runs: {follows(cell.load)}",
        advice=STOLEN_TIME_ADVICE,
        numbers={"steal": share, "runs": sum(window.turned is None for window in cell.windows)},
    )


def room_of_stolen(numbers: Numbers) -> float:
    """What the hypervisor took can have cost so much."""
    return lost(numbers["steal"])


def _above(limit: float, table: Table, cores: Callable[[Window], float | None]) -> dict[str, float]:
    """Shares of the whole machine that reach ``limit``, by trial."""
    shares = {w.run.trial.id: used / table.host_cores for w in table.windows if (used := cores(w)) is not None}
    return {trial: share for trial, share in shares.items() if share >= limit}


def steal_cores(window: Window) -> float | None:
    """Time the hypervisor took, in cores' worth."""
    return window.steal_cores


def foreign_cores(window: Window) -> float | None:
    """CPU of the contender's machine that no role used, in cores' worth; what the hypervisor took is no use."""
    of = window.steady
    if of.host_cores is None or of.contender_cores is None or of.driver_cores is None:
        return None
    driver_cores = 0.0 if of.run.rig.driver_host else of.driver_cores
    ours = of.contender_cores + driver_cores + (of.service_cores or 0.0) + (of.carrier_cores or 0.0)
    return max(0.0, of.host_cores - ours)


def unlike_machines(table: Table) -> Doubt | None:
    """Runs of one table were made with different cores or limits, for example after a resume elsewhere.

    They are not compared.
    """
    rigs = {placement(window.run.rig) for window in table.windows}
    if len(rigs) < 2:
        return None
    return Doubt(
        kind="unlike-machines",
        severity="voids",
        subject="",
        sentence=f"the runs of this table were made under {len(rigs)} different placements of cores and "
        "memory; they are not compared",
        advice=UNLIKE_MACHINES_ADVICE,
        numbers={"placements": len(rigs)},
    )


def placement(rig: Rig) -> tuple[object, ...]:
    """What must be alike for rates to be compared: cores by role, the limits, and what enforces them."""
    return (
        len(rig.contender_cores),
        len(rig.driver_cores),
        rig.shares_cores,
        bool(rig.driver_host),
        rig.memory_bytes,
        rig.cgroup,
        rig.cpus,
        rig.container,
        rig.as_user,
        rig.own_network,
    )
