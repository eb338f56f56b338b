"""Doubts about the warm-up: a contender that was never as fast twice in one Run, or had no time for it at all."""

from __future__ import annotations

import math
import statistics

from webdyno.analyse import special, words
from webdyno.analyse.doubts.held_back import follows
from webdyno.analyse.doubts.row import Numbers
from webdyno.analyse.table import Cell
from webdyno.analyse.warmup import too_short_s, unsettled
from webdyno.analyse.window import Window
from webdyno.model.doubt import Doubt
from webdyno.model.sample import Slice, climb

ENOUGH_S = 5.0
CLIMB = 1.1
SURE = 0.01
LEAST_ROUNDS = 3
LEAST_NS = 400_000_000
"""Shorter Slices say too little."""
GAINS = {"V8": 5.0, "HotSpot": 80.0}
"""Times as fast as in its first second that no server of the catalogue became, by what compiles in it: node-db had 0.2
of its rate then, and an answer of play cost 2 ms, which became 25 us. Of other compilers too little was measured."""

NEVER_SETTLED_ADVICE = (
    "give it a longer warm-up (warmup_s in its file), measure longer (--duration), and look at its course second "
    "by second"
)
COLD_COMPILER_ADVICE = (
    "give it a warm-up of its own (warmup_s in its file, --warmup 10s), or load it with looping clients for 10 "
    "s or more (--duration): the steady state is then found in the run itself"
)
STILL_CLIMBING_ADVICE = (
    "give it a longer warm-up (warmup_s in its file, --warmup 10s), or measure for 10 s or more (--duration): "
    "the steady state is then found in the run itself"
)


def never_settled(cell: Cell) -> Doubt | None:
    """In half of the rounds or more, the rate never settled: the reported figure is the mean of a changing rate.

    The suggested warm-up is a minimum: the time until the last level of such a round began, or the whole load.
    """
    lost, read = unsettled(cell)
    least_s = too_short_s(cell)
    if least_s is None or 2 * lost < read:
        return None
    return Doubt(
        kind="never-settled",
        severity="shades",
        subject=cell.name,
        sentence=f"{cell.name} never settled in {lost} of {words.count(read, 'round')}: its rate was still changing in "
        f"the second half of the load; give it a warm-up of {least_s} s or more",
        advice=NEVER_SETTLED_ADVICE,
        numbers={"unsettled": lost, "read": read, "warmup_s": least_s},
    )


def cold_compiler(cell: Cell) -> Doubt | None:
    """A compiler worked in it, its warm-up is not stated anywhere, and no Run was long enough to find it.

    Shades: its rate is a floor, and a latency a ceiling. The upper bound of the rate is known if the largest gain of
    such a compiler is known. Five seconds are about the median of the warm-ups in the catalogue. At an open pace no Run
    shows it, however long it is.
    """
    names = sorted({name for run in cell.runs for name in run.compilers})
    given_s = min((window.run.trial.asked.warmup_s for window in cell.windows), default=ENOUGH_S)
    _, read = unsettled(cell)
    if not names or read or cell.contender.warmup_s is not None or given_s >= ENOUGH_S:
        return None
    known = all(name in GAINS for name in names)
    gain = {"gain": math.prod(GAINS[name] for name in names)} if known else {}
    most = f", up to {gain['gain']:g} times" if known and not cell.load.is_open else ""
    return Doubt(
        kind="cold-compiler",
        severity="shades",
        subject=cell.name,
        sentence=f"{words.listing(names)} compiles in {cell.name} while it serves, and it had {given_s:g} s to warm "
        f"up, which no run shows to be enough: {follows(cell.load)}{most}",
        advice=COLD_COMPILER_ADVICE,
        numbers={"compilers": ", ".join(names), "warmup_s": given_s, **gain},
    )


def room_of_cold(numbers: Numbers) -> float:
    """As much as such a compiler gained at most, where that is known."""
    return float(numbers.get("gain", math.inf))


def still_climbing(cell: Cell) -> Doubt | None:
    """In Runs that are too short to find a steady level, the last Slice was faster than the first by 10 %, in all
    rounds alike.

    For a Run in a block: the last third of its turns was faster than the first, by more than for the others of its
    block. For any Run whose warm-up was looked at in stretches, however long it is: these were faster in the last four
    than in the four before.
    Tested by a one-sided t test over rounds (p < 0.01). Shades: its rate is a floor, by as much as it may yet
    gain (see floors). Silent if answers wait by design, because they then arrive in steps.
    """
    _, read = unsettled(cell)
    climbs = [climb for window in cell.windows if (climb := _climb(window, found=bool(read))) is not None]
    if len(climbs) < LEAST_ROUNDS or cell.load.is_open or cell.workload.service_floor_ms:
        return None
    mean, error = statistics.fmean(climbs), statistics.stdev(climbs) / math.sqrt(len(climbs))
    if mean < math.log(CLIMB) or (error > 0 and special.stdtr(len(climbs) - 1, -mean / error) >= SURE):
        return None
    given_s = min(_given_s(window) for window in cell.windows)
    return Doubt(
        kind="still-climbing",
        severity="shades",
        subject=cell.name,
        sentence=f"{cell.name} was still getting faster when it was measured: {math.exp(mean):.1f} times as fast "
        f"{_where(cell)}, after {given_s:.3g} s of warm-up: its rate is a floor, it may be faster",
        advice=STILL_CLIMBING_ADVICE,
        numbers={"climb": math.exp(mean), "rounds": len(climbs), "warmup_s": given_s},
    )


def room_of_climbing(numbers: Numbers) -> float:
    """As much again."""
    return float(numbers["climb"]) ** 2


def _climb(window: Window, *, found: bool) -> float | None:
    """That of its stretches or of what was measured, whichever is larger; None: neither is known.

    ``found``: Runs alone were long enough to find where they are steady, so what they climb before is cut off.
    """
    measured = window.turned.climb if window.turned is not None else None if found else _climb_alone(window)
    return max((each for each in (measured, climb(_warm(window))) if each is not None), default=None)


def _climb_alone(window: Window) -> float | None:
    """Logarithm of the rate of the last steady Slice divided by that of the first; None: too few of them."""
    steady = [each for each in window.run.slices if each.phase == "steady" and each.duration_ns >= LEAST_NS and each.ok]
    if len(steady) < 2:
        return None
    first, *_, last = (each.ok / each.duration_ns for each in steady)
    return math.log(last / first)


def _warm(window: Window) -> list[Slice]:
    """The stretches of its warm-up; seconds that its driver gave by itself, before a window alone, are none."""
    alone = window.turned is None
    return [each for each in window.run.slices if each.phase == "warmup" and (each.is_stretch or not alone)]


def _given_s(window: Window) -> float:
    """Of warm-up: what it took where answers decided that, else what was asked for."""
    trial, warm = window.run.trial, [each for each in window.run.slices if each.phase == "warmup"]
    counted = trial.warmup_requests is not None and bool(_warm(window))
    return sum(each.duration_ns for each in warm) / 1e9 if counted else trial.asked.warmup_s


def _where(cell: Cell) -> str:
    counts = "turns" if any(window.turned is not None for window in cell.windows) else "window"
    if any(climb(_warm(window)) is not None for window in cell.windows):
        return f"at the end of its warm-up or {counts} as shortly before"
    return f"at the end of its {counts} as at its beginning"
