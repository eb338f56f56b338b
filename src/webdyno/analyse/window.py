"""Window: what one Run says over its steady phase.

One definition of rate, for every driver: correct answers divided by the true length of the phase. Latency comes from
the added histograms of the phase, or from the driver's own points when it gives no histogram; points of several Slices
are never averaged into a percentile. CPU is read from cumulative counters interpolated at the edges of the phase.

A Run that was measured in a block has its rate and its CPU from its turns (``turns``), and its errors from these too;
all else is from its steady phase.

It refuses to guess: what was not measured, or measured over less than half of the phase, is None.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

from webdyno.analyse.error_share import NOT_AN_ERROR, error_share, gone_wrong
from webdyno.analyse.latency import PERCENTILES, Latency, merge
from webdyno.analyse.steady import steady_slices
from webdyno.analyse.turns import Turned, turned, turns_of
from webdyno.model.run import Run
from webdyno.model.sample import Reading, Role, Slice

BLAMELESS = frozenset({"driver-failed", "service-failed", "unreadable"})
"""Outcomes that are no doing of the contender's."""
TOO_MANY = 0.01
"""Share of wrong answers from which on a contender is not ranked."""
WAITS = 0.5
"""A contender that uses less of the cores it can use is waiting for something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The figures of one Run; unknown is None."""

    run: Run
    seconds: float
    offered: int
    ok: int
    errors: dict[str, int]
    rate_per_s: float
    latency: Latency | None
    points_ns: dict[str, float]
    """mean, stdev, max, p50 to p99, as far as they are known; at an open pace from due, which is what a user waits."""
    contender_cores: float | None
    """Cores' worth of CPU the contender used: CPU seconds per second."""
    driver_cores: float | None
    service_cores: float | None
    """None too when nothing stood behind the contender, or only the user's own."""
    host_cores: float | None
    carrier_cores: float | None
    """Of the daemons that carry drivers to another host; None where there are none."""
    steal_cores: float | None
    own_steal_cores: float | None
    """Of the contender's own cores alone; None in Runs that did not keep it by core."""
    driver_softirqd_cores: float | None
    """Of the driver's cores of this machine, what the kernel's threads for network work had; None in Runs that did not
    keep it."""
    in_flight: float | None
    contender_throttled: float | None
    """Part of the phase in which a CPU quota held it back, at most 1."""
    driver_throttled: float | None
    turned: Turned | None = None
    """What its turns say; None: it was measured alone."""
    flattered: float | None = None
    """Logarithm of its rate in turns divided by that in its steady phase, against the middle of what the others of its
    block have there; None: it has no others."""
    level_variance: float = 0.0
    """Of the logarithm of its rate: as much of it as all rounds of its contender share."""
    of_phase: Window | None = None
    """The same Run by its steady phase alone, where it has turns as well, or where its rate is not as it was seen."""

    @property
    def steady(self) -> Window:
        """By its steady phase alone: what is of one span of time with its latencies."""
        return self.of_phase or self

    @property
    def is_as_usual(self) -> bool:
        """Its rate is the one it would have, had it lost what its contender usually loses (``stolen``)."""
        return self.turned is None and self.of_phase is not None

    @property
    def stolen_share(self) -> float | None:
        """Of its own cores where that is known, and at least of those that the rig uses; None for a Run in a block, as
        theft falls on the whole block alike, and where the kernel does not tell."""
        if self.turned is not None:
            return None
        rig = self.run.rig
        used = {*rig.contender_cores, *rig.own_driver_cores, *rig.control_cores, *rig.service_cores}
        lost = [(self.own_steal_cores, len(rig.contender_cores)), (self.steal_cores, len(used))]
        return max((stolen / cores for stolen, cores in lost if stolen is not None and cores), default=None)

    @property
    def cpu_per_request_ns(self) -> float | None:
        """CPU of the contender's whole tree for one correct answer."""
        if self.turned is not None and self.turned.cpu_per_request_ns is not None:
            return self.turned.cpu_per_request_ns
        of = self.steady
        return None if of.contender_cores is None else of.contender_cores / of.rate_per_s * 1e9

    @property
    def bytes_per_s(self) -> float | None:
        """Bytes received in a second, heads and bodies; None where the driver does not tell."""
        each = self.bytes_per_answer
        return None if each is None else self.rate_per_s * each

    @property
    def bytes_per_answer(self) -> float | None:
        """All bytes received, for each correct answer; None where the driver does not tell."""
        slices = [*steady_slices(self.run), *(turns_of(self.run) if self.turned else ())]
        received = [slice_.bytes_in for slice_ in slices if slice_.bytes_in is not None]
        ok = sum(slice_.ok for slice_ in slices)
        return sum(received) / ok if ok and len(received) == len(slices) else None

    @property
    def service_cpu_per_request_ns(self) -> float | None:
        """CPU of the service's whole tree for one correct answer; its turns do not tell it."""
        return None if not self.service_cores else self.service_cores / self.steady.rate_per_s * 1e9

    @property
    def error_ratio(self) -> float:
        """Errors among the requests that ended."""
        return error_share(self.errors, self.ok)


def read_window(run: Run, *, latencies: bool = True, turns: bool = True) -> Window | None:
    """Figures of a Run that succeeded; None for any other outcome, or when no answer was correct.

    Without ``latencies`` the labour of its histograms is spared, and what comes from them is not known; without
    ``turns`` it is by its steady phase alone.
    """
    steady = steady_slices(run)
    ok = sum(slice_.ok for slice_ in steady)
    seconds = sum(slice_.duration_ns for slice_ in steady) / 1e9
    if run.outcome != "ok" or not ok or seconds <= 0:
        return None
    latency = merge(slice_.latency_hdr for slice_ in steady if slice_.latency_hdr) if latencies else None
    waited = _waited(run, steady) if latencies else None
    look = _look(run, steady)
    window = Window(
        run=run,
        seconds=seconds,
        offered=sum(slice_.offered for slice_ in steady),
        ok=ok,
        errors=count_errors(steady),
        rate_per_s=ok / seconds,
        latency=latency,
        points_ns=_points(waited or latency, steady),
        contender_cores=look.per_second("contender", cpu_ns),
        driver_cores=_driver_cores(steady, seconds) or look.per_second("driver", cpu_ns),
        service_cores=look.per_second("service", cpu_ns),
        host_cores=look.per_second("host", lambda reading: reading.busy_ns),
        carrier_cores=look.per_second("carrier", cpu_ns),
        steal_cores=look.per_second("host", lambda reading: reading.steal_ns),
        own_steal_cores=look.per_second("host", partial(_stolen_from, run.rig.contender_cores)),
        driver_softirqd_cores=look.per_second("host", partial(_softirqd_on, run.rig.own_driver_cores)),
        in_flight=_mean([_held(slice_) for slice_ in steady]),
        contender_throttled=_at_most_1(look.per_second("contender", lambda reading: reading.throttled_ns)),
        driver_throttled=_at_most_1(look.per_second("driver", lambda reading: reading.throttled_ns)),
    )
    told = turned({"": turns_of(run)}) if turns else {}
    return by_turns(window, told[""]) if told else window


def by_turns(window: Window, turns: Turned, flattered: float | None = None) -> Window:
    """The window with what its turns say; what it counts is counted in both, and errors in the leads of turns too."""
    phase, slices = window.steady, turns_of(window.run)
    leads = [each for each in window.run.slices if each.phase == "lead"]
    return replace(
        phase,
        offered=phase.offered + sum(slice_.offered for slice_ in slices),
        ok=phase.ok + turns.ok,
        errors=count_errors([*steady_slices(window.run), *leads, *slices]),
        rate_per_s=turns.rate_per_s,
        contender_cores=phase.contender_cores if turns.cores is None else turns.cores,
        driver_cores=_driver_cores(slices, turns.seconds) or phase.driver_cores,
        turned=turns,
        flattered=flattered,
        of_phase=phase,
    )


def used_of_own(window: Window) -> float | None:
    """CPU it used, as a share of the cores that its workers can use."""
    run = window.run
    able = min(len(run.rig.contender_cores), max(1, run.workers or 1) * max(1, run.threads or 1))
    return None if window.contender_cores is None or not able else window.contender_cores / able


def cpu_ns(reading: Reading) -> int | None:
    """User and system together."""
    if reading.cpu_user_ns is None or reading.cpu_system_ns is None:
        return None
    return reading.cpu_user_ns + reading.cpu_system_ns


def _stolen_from(cores: Iterable[int], reading: Reading) -> int | None:
    by_core = reading.steal_by_core
    return None if by_core is None else sum(by_core.get(str(core), 0) for core in cores)


def _softirqd_on(cores: Iterable[int], reading: Reading) -> int | None:
    by_core = reading.softirqd_by_core
    return None if by_core is None else sum(by_core.get(str(core), 0) for core in cores)


def count_errors(slices: Iterable[Slice]) -> dict[str, int]:
    """Counts by kind, without the requests that were still in flight at the end."""
    errors: Counter[str] = Counter()
    for slice_ in slices:
        if slice_.errors:  # of nearly none, and a Counter takes its time to add nothing
            errors.update(slice_.errors)
    return gone_wrong(errors)


def requests_per_connection(runs: Iterable[Run]) -> float | None:
    """Complete answers per connection opened, the driver's own warm-up included; None when it does not count these."""
    answers = opened = 0
    for run in runs:
        for slice_ in run.slices:
            if slice_.is_stretch and run.block is None:  # on connections of its own, opened before it
                continue
            if slice_.connections_opened is None:
                return None
            opened += slice_.connections_opened
            answers += slice_.ok
            if slice_.errors:
                answers += slice_.errors.get("wrong-status", 0) + slice_.errors.get("wrong-body", 0)
    return answers / opened if opened else None


def process_shares(run: Run) -> dict[str, float]:
    """Share of each process in the CPU its contender used during the steady phase."""
    start, end = _edges(run, steady_slices(run))
    looks = [reading for reading in run.readings if reading.role == "contender" and reading.cpu_by_process]
    seen = [look for look in looks if _inside(look, start, end)]
    if run.block is not None and start is not None:  # it rested until then, and was looked at just before
        seen = [*[look for look in looks if look.at_ns < start][-1:], *seen]
    seen += [look for look in looks if end is not None and look.at_ns > end][:1]  # taken when the driver said it ended
    if len(seen) < 2:
        return {}
    first, last = seen[0].cpu_by_process or {}, seen[-1].cpu_by_process or {}
    used = {pid: cpu - first.get(pid, 0) for pid, cpu in last.items()}
    total = sum(used.values())
    return {pid: cpu / total for pid, cpu in used.items()} if total > 0 else {}


def _inside(reading: Reading, start: int | None, end: int | None) -> bool:
    return (start is None or reading.at_ns >= start) and (end is None or reading.at_ns <= end)


def _edges(run: Run, steady: Sequence[Slice]) -> tuple[int | None, int | None]:
    """Beginning and end of the steady phase: as conducted, else as the Slices say; later, where it settled later."""
    start, end = run.steady_start_ns, run.steady_end_ns
    phase = sum(slice_.phase == "steady" for slice_ in run.slices)
    if steady and (start is None or (len(steady) < phase and steady[0].start_ns is not None)):
        start = steady[0].start_ns
    if end is None and steady and steady[-1].start_ns is not None:
        end = steady[-1].start_ns + steady[-1].duration_ns
    return start, end


@dataclass(frozen=True, slots=True)
class _Look:
    """Readings seen through the steady phase."""

    readings: Mapping[Role, Sequence[Reading]]
    start: int | None
    end: int | None

    def per_second(self, role: Role, counter: Callable[[Reading], int | None]) -> float | None:
        """Increase per nanosecond of a cumulative counter in ns, so: cores' worth. Interpolated at the edges."""
        if self.start is None or self.end is None or self.end <= self.start:
            return None
        points = [(r.at_ns, value) for r in self.readings.get(role, ()) if (value := counter(r)) is not None]
        if len(points) < 2:
            return None
        first, last = max(self.start, points[0][0]), min(self.end, points[-1][0])
        if last - first < (self.end - self.start) / 2:
            return None
        return max(0.0, (_at(points, last) - _at(points, first)) / (last - first))


def _look(run: Run, steady: Sequence[Slice]) -> _Look:
    by_role: dict[Role, list[Reading]] = {}
    for reading in run.readings:
        by_role.setdefault(reading.role, []).append(reading)
    return _Look(by_role, *_edges(run, steady))


def _at(points: Sequence[tuple[int, int]], instant: int) -> float:
    """Value of the counter at ``instant``, on the straight line between its neighbours."""
    for (before, low), (after, high) in pairwise(points):
        if instant <= after:
            part = (instant - before) / (after - before) if after > before else 1.0
            return low + (high - low) * part
    return float(points[-1][1])


def _held(slice_: Slice) -> int | None:
    """In flight at the end of a Slice; when the load ends with it, those are the unfinished ones."""
    return None if slice_.in_flight is None else slice_.in_flight + slice_.errors.get(NOT_AN_ERROR, 0)


def _driver_cores(steady: Sequence[Slice], seconds: float) -> float | None:
    used = [(s.cpu_user_ns, s.cpu_system_ns) for s in steady]
    if not all(user is not None and system is not None for user, system in used):
        return None
    return sum((user or 0) + (system or 0) for user, system in used) / 1e9 / seconds


def _waited(run: Run, steady: Sequence[Slice]) -> Latency | None:
    """Response times of an open load; None at a closed one, and where the driver gives none."""
    if not run.trial.load.is_open:
        return None
    return merge(slice_.response_hdr for slice_ in steady if slice_.response_hdr)


def _points(latency: Latency | None, steady: Sequence[Slice]) -> dict[str, float]:
    if latency is not None:
        return points(latency)
    given = [slice_.latency_ns for slice_ in steady if slice_.latency_ns]
    return dict(given[0]) if len(given) == len(steady) == 1 else {}


def points(latency: Latency) -> dict[str, float]:
    """The points of a Window's times, in ns."""
    parts = dict(zip(PERCENTILES, latency.percentiles_ns(PERCENTILES.values()), strict=True))
    return {"mean": latency.mean_ns, "stdev": latency.stdev_ns, "max": latency.max_ns, **parts}


def _at_most_1(part: float | None) -> float | None:
    """The kernel adds up the time over processors."""
    return None if part is None else min(1.0, part)


def _mean(values: Sequence[int | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
