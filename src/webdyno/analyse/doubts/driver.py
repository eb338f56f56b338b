"""Doubts about the load generator: when it is the limit, every server looks alike, and the table measures the tool."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace

from webdyno.analyse import words
from webdyno.analyse.doubts import sentences
from webdyno.analyse.doubts.held_back import follows, lost
from webdyno.analyse.doubts.row import Numbers
from webdyno.analyse.doubts.throttled import THROTTLED
from webdyno.analyse.generator import BOUND, Strain, meant_share, strain_of
from webdyno.analyse.steady import steady_slices
from webdyno.analyse.table import Cell, Evidence
from webdyno.analyse.turns import turns_of
from webdyno.analyse.window import Window
from webdyno.model.doubt import Doubt
from webdyno.model.driver import Can
from webdyno.model.rig import Ceiling

NEAR_CEILING = 0.9
"""A rate from this part on of what the driver reached here against a server that answers at once."""
LEAST_ROOM = 2.0
"""Times as fast as measured that a contender may be whose load generator was at its limit, however busy it looked."""
FULL = 0.97
"""Part of its cores that a contender used, from which on nothing held its rate back."""
MANY = 100
"""Connections that keep a contender at work while its load generator waits a few ms for a core."""
COARSE_NS = 1_000_000
"""A millisecond: many an answer here takes less."""
_LACKS: tuple[tuple[Callable[[Can], bool], str], ...] = (
    (lambda can: not can.bodies, "does not compare bodies with the correct answer"),
    (lambda can: can.statuses != "exact", "checks only the class of the status"),
    (lambda can: "1.1" not in can.http, "sends HTTP/1.0 requests"),
    (lambda can: can.invents_samples, "adds latencies that were never measured"),
    (lambda can: can.latency_from == "connect", "includes the time to connect in the latency"),
    (
        lambda can: can.schedule == "per-connection",
        "gives each connection its own schedule, so its tails are higher than those of independent users",
    ),
    (lambda can: can.discards_s > 0, "discards the latencies of its first seconds"),
    (lambda can: (can.resolution_ns or 0) >= COARSE_NS, "counts latency in whole milliseconds"),
    (lambda can: not can.reconnects, "silently abandons a connection that the server closes unannounced"),
    (lambda can: not can.silence, "never times out a request"),
    (lambda can: not can.series, "reports no figures per second"),
    (lambda can: can.cores == "one", "uses only one core"),
)
"""What a driver may lack that our own engine has, the gravest first."""
GENERATOR_BOUND_BUSY_ADVICE = "give the driver more cores, or a second machine"
GENERATOR_BOUND_STARVED_ADVICE = "stop what else runs on this machine, or give the driver cores that nothing else uses"
GENERATOR_BOUND_THROTTLED_ADVICE = "lift the CPU limit of the container or cgroup that webdyno runs in"
GENERATOR_BOUND_NEAR_CEILING_ADVICE = (
    "give the driver more cores, or a second machine; webdyno doctor --calibrate measures the ceiling"
)
DRIVER_LIMITS_ADVICE = "run the study with the engine, which checks every answer, and compare the two"


def driver_share(window: Window) -> float | None:
    """CPU the driver used, as a share of the cores it could use: its own, at most one for each connection.

    Of a driver that runs on one core, the others it was given are no reserve.
    """
    run = window.run
    able = min(len(run.rig.driver_cores), run.trial.load.max_connections or run.trial.load.connections)
    if run.driver_can is not None and run.driver_can.cores == "one":
        able = min(able, 1)
    return None if window.driver_cores is None or not able else window.driver_cores / able


def contender_share(window: Window) -> float | None:
    """CPU the contender used, as a share of its cores."""
    cores = len(window.run.rig.contender_cores)
    return None if window.contender_cores is None or not cores else window.contender_cores / cores


def ceiling_at(ceilings: Sequence[Ceiling], connections: int, threads: int) -> Ceiling | None:
    """The ceiling measured with as many threads and the nearest number of connections; None: none was."""
    like = [ceiling for ceiling in ceilings if ceiling.threads == threads]
    return min(like, key=lambda ceiling: abs(math.log(ceiling.connections / connections)), default=None)


def generator_bound(cell: Cell) -> Doubt | None:
    """At any pace: the driver was busy for 85 % of its time, or had no core for 5 % of it. At a closed pace also: it
    reached 90 % of its ceiling here, or a quota limited it for 1 % of the time.

    Shades: the figure is a floor, so no contender that was measured to be faster is said to beat it. If the driver had
    no core, this holds only for differences smaller than that can have cost. If the contender used its cores in full
    meanwhile, the rate is no floor, and only its tail latencies are doubtful. What the kernel's own threads did for the
    network there counts as work of the driver. For a run in a block its turns decide. A
    missing core affected the whole block, so it makes no floor. A driver on a core of the contenders lacks that core
    whenever they work: that is a doubt about the whole study (see shared-cores).
    """
    held_back = None if cell.load.is_open else cell.median(lambda window: window.driver_throttled)
    if held_back is not None and held_back >= THROTTLED:
        return _throttled(cell, held_back)
    found = strain_in(cell)
    if found.limit == "starved":
        return _starved(cell, found)
    if found.limit == "busy":
        return _busy(cell, found.busy or 0.0)
    return None if cell.load.is_open else _near_ceiling(cell)


def strain_in(cell: Cell) -> Strain:
    """The median over the rounds."""
    found = [_strain(window) for window in cell.windows]
    return Strain(
        busy=_middle([each.busy for each in found]), without_core=_middle([each.without_core for each in found])
    )


def _middle(shares: Sequence[float | None]) -> float | None:
    known = [share for share in shares if share is not None]
    return statistics.median(known) if known else None


def _strain(window: Window) -> Strain:
    """At a closed pace no driver spins, so that the CPU that was read of it tells of all of them."""
    run, load = window.run, window.run.trial.load
    used = meant_share(run.summary, load) if load.is_open else driver_share(window)
    if run.rig.shares_cores:
        return Strain(busy=used, without_core=None)
    found = strain_of(run, turns_of(run) or steady_slices(run), used)
    return _without_network(found, window) if window.turned is None else _beside_others(found)


def _without_network(found: Strain, window: Window) -> Strain:
    """Less what the kernel's threads had of the driver's cores for network work: that is of this load, as what the
    kernel does within the driver's own calls is, and would be of any driver here. It stays in what the driver was busy.
    """
    threads = len(window.run.summary.get("threads", ()))
    if found.without_core is None or window.driver_softirqd_cores is None or not threads:
        return found
    return replace(found, without_core=max(0.0, found.without_core - window.driver_softirqd_cores / threads))


def _beside_others(found: Strain) -> Strain:
    """Of turns. What had the generator's core fell on all of a block: it costs the fastest most, for its
    connections have their answers soonest and wait, so that whom it was measured to beat it beats. What remains is
    whether the generator was busy while it had its core.
    """
    away = found.without_core or 0.0
    busy = None if found.busy is None or away >= 1 else max(0.0, found.busy - away) / (1 - away)
    return Strain(busy=busy, without_core=None)


def room(numbers: Numbers) -> float:
    """What the time without a core can have cost; nothing, if the contender was full all the while. Where the driver
    was at its own limit, what the contender's cores had left: who used half of them serves at most four times as much,
    twice for the other half and twice again for work that costs less when more of it is there at once. Never less than
    ``LEAST_ROOM``, for some spin while they wait; without end where the contender's CPU is not known.
    """
    if "contender_idle" in numbers:
        return 1.0
    if "driver_without_core" in numbers:
        return lost(numbers["driver_without_core"])
    used = float(numbers.get("contender_cpu", 0.0))
    return max(LEAST_ROOM, 1 / used**2) if used > 0 else math.inf


def _busy(cell: Cell, share: float) -> Doubt:
    return _bound(cell, sentences.busy(cell.name, share, cell.load), GENERATOR_BOUND_BUSY_ADVICE, {"driver_cpu": share})


def _starved(cell: Cell, found: Strain) -> Doubt:
    share, used = found.without_core or 0.0, cell.median(contender_share)
    said, numbers = sentences.starved_generator(cell.name, share, cell.load), {"driver_without_core": share}
    if used is not None and _was_full(cell, found, used):
        said = sentences.starved_beside_full(cell.name, share, used)
        numbers["contender_idle"] = max(0.0, 1 - used)
    return _bound(cell, said, GENERATOR_BOUND_STARVED_ADVICE, numbers)


def _was_full(cell: Cell, found: Strain, used: float) -> bool:
    """Whether the contender had work all the time, so that its rate is its own although the driver had to wait.

    With looping clients, requests that the driver is late with only wait there and not in the contender's queue, as
    long as that queue is not empty: it has the same rate, and by Little's law the same mean latency. A contender that
    spins while it waits looks full too. So the driver must have had idle time as well: then it is not the limit.
    """
    looping = not cell.load.is_open and cell.load.connections >= MANY
    return looping and used >= FULL and found.busy is not None and found.busy < BOUND


def _throttled(cell: Cell, held_back: float) -> Doubt:
    said = (
        f"a CPU quota limited the load generator for {words.per_cent(held_back)} of the time against "
        f"{cell.name}: {follows(cell.load)}"
    )
    return _bound(cell, said, GENERATOR_BOUND_THROTTLED_ADVICE, {"driver_throttled": held_back})


def _bound(cell: Cell, sentence: str, advice: str, numbers: Numbers) -> Doubt:
    """Whatever held the generator back, it is one doubt."""
    used = cell.median(contender_share)
    return Doubt(
        kind="generator-bound",
        severity="shades",
        subject=cell.name,
        sentence=sentence,
        advice=advice,
        numbers={**numbers} if used is None else {**numbers, "contender_cpu": used},
    )


def _near_ceiling(cell: Cell) -> Doubt | None:
    """What calibration found on this machine, for the engine alone: other drivers have other ceilings.

    A rate in the same table above the ceiling's interval says that it was measured in a worse hour: it holds no longer.
    """
    per_s = cell.median(lambda window: window.rate_per_s)
    ours = [window.run for window in cell.windows if window.run.trial.driver == "engine"]
    if per_s is None or not ours:
        return None
    connections = cell.load.connections
    ceiling = ceiling_at(cell.ceilings, connections, min(len(ours[0].rig.driver_cores), connections))
    if ceiling is None:
        return None
    most = ceiling.rate.value
    if per_s < NEAR_CEILING * most or cell.table_most_per_s > (ceiling.rate.high or most):
        return None
    said = sentences.near_ceiling(cell.name, per_s, most, cell.load)
    numbers = {"rate_per_s": per_s, "ceiling_per_s": most, "ceiling_connections": ceiling.connections}
    return _bound(cell, said, GENERATOR_BOUND_NEAR_CEILING_ADVICE, numbers)


def driver_limits(evidence: Evidence) -> Doubt | None:
    """The load tool of the study reports less than webdyno's own engine."""
    used = {run.driver_can.driver: run.driver_can for run in evidence.runs if run.driver_can}
    lacking = {name: found for name, can in used.items() if (found := [says for lacks, says in _LACKS if lacks(can)])}
    if not lacking:
        return None
    return Doubt(
        kind="driver-limits",
        severity="shades",
        subject="",
        sentence="; ".join(f"{name} {words.listing(found, len(_LACKS))}" for name, found in lacking.items()),
        advice=DRIVER_LIMITS_ADVICE,
        numbers={name: len(found) for name, found in lacking.items()},
    )
