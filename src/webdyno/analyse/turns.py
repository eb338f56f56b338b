"""Turns: the rate of each contender of a block, and the CPU of its answers, from the turns that they took.

In a pass everybody had a turn within a second, so what the machine did meanwhile fell on all. The speed of a pass is
the median over the contenders of what each did in it, against what it does on average: one that stands still moves no
pass. A contender's rate is then its answers divided by the time of its turns, each second counted by the speed of its
pass; who missed a pass, or waited longer for its last answers, gains and loses nothing by it. Speeds average to one
over a block, so a rate is one of the block as it was.

Sums of counts, not means of logarithms: a turn without an answer has no logarithm, and a server that stops to collect
its garbage in a turn of ten has the rate that its users see, stops included. So what lies far from a contender's other
turns stays, too; only a single one, such as a neighbour's burst makes, is drawn in to three standard deviations of the
others. Two or more on one side are the server's own (see ``change``, which treats pairs alike).

A turn in which other programs took more of the cores than in its rivals' (``robbed``) counts by its own speed as well.

J. W. Tukey (1977), Exploratory Data Analysis, for medians in two-way tables; W. G. Cochran (1977), Sampling Techniques,
chapter 6, for a quotient of sums and its variance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from webdyno.model.run import Run
from webdyno.model.sample import Slice

Matrix = NDArray[np.floating]
Vector = NDArray[np.floating]
Name = TypeVar("Name", bound=Hashable)
_TURN = attrgetter("turn")
FENCE = 3 * 1.4826
"""Median absolute deviations that make three standard deviations of a normal curve."""
ENOUGH = 5
"""Turns of a contender from which on one of them may lie far from the others."""
SWEEPS = 200
"""Speeds and rates are found one from the other; unless turns are missing, they stand still after a few."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turned:
    """What the turns of one Run say."""

    rate_per_s: float
    variance: float
    """Of its logarithm, as the turns of this block show it: without what differs from start to start."""
    cpu_per_request_ns: float | None
    """None where a turn does not tell its CPU."""
    cores: float | None
    """Cores' worth of CPU that the contender used."""
    ok: int
    seconds: float
    passes: int
    drawn_in: bool = False
    """Whether a single turn lay far from the others."""
    climb: float | None = None
    """Logarithm of its rate in the last third of its turns divided by that in the first; against the speed of these
    passes, where three contenders or more say what it was. None: too few turns, or no answers."""


def turns_of(run: Run) -> list[Slice]:
    """Those that count, in the order of the passes; none where it was measured alone."""
    found = [each for each in run.slices if each.phase == "turn" and each.turn is not None and each.duration_ns > 0]
    return sorted(found, key=_TURN)


def turned(
    block: Mapping[Name, Sequence[Slice]],
    speed: Callable[[Name, Slice], float] = lambda _name, _turn: 1.0,
    *,
    together: bool = True,
) -> dict[Name, Turned]:
    """Of the contenders of a block by their turns; who has no answer in any of them is left out.

    ``speed``: of one turn of a contender, beside what its pass had; any unit. Not ``together``: each as if it had been
    alone, so that many Runs are read at once.
    """
    served = {name: turns for name, turns in block.items() if any(turn.ok for turn in turns)}
    if not served:
        return {}
    passes = sorted({turn.turn or 0 for turns in served.values() for turn in turns})
    place = {number: at for at, number in enumerate(passes)}
    ok, time, cpu, weighed = _by_pass(served, place, speed)
    weighed *= time.sum() / weighed.sum()
    speeds = _speeds(ok, weighed, together=together)
    rates, variances, drawn = _additive(ok, weighed, speeds, together=together)
    told, costs = _costs(ok, cpu, together=together)
    sums = [each.sum(axis=1).tolist() for each in (ok, time, cpu, time > 0)]
    climbs = _climbs(ok, weighed * (speeds if len(served) > 2 else 1.0))
    return {
        name: Turned(
            rate_per_s=float(rates[row]) * 1e9,
            variance=float(variances[row]),
            cpu_per_request_ns=float(costs[row]) if told[row] else None,
            cores=cpu_ns / time_ns if told[row] else None,
            ok=int(answers),
            seconds=time_ns / 1e9,
            passes=turns,
            drawn_in=bool(drawn[row]),
            climb=climbs[row],
        )
        for row, (name, answers, time_ns, cpu_ns, turns) in enumerate(zip(served, *sums, strict=True))
    }


def _by_pass(
    served: Mapping[Name, Sequence[Slice]], place: Mapping[int, int], speed: Callable[[Name, Slice], float]
) -> Iterator[Matrix]:
    """Answers, time, CPU and time by its own speed of each contender (down) in each pass (across)."""
    found = [[[0.0] * len(place) for _ in served] for _ in range(4)]
    for name, ok, time, cpu, weighed in zip(served, *found, strict=True):
        for turn in served[name]:
            at = place[turn.turn or 0]
            ok[at] += turn.ok
            time[at] += turn.duration_ns
            cpu[at] += math.nan if turn.contender_cpu_ns is None else turn.contender_cpu_ns
            weighed[at] += turn.duration_ns * speed(name, turn)
    return map(np.array, found)


def _costs(ok: Matrix, cpu: Matrix, *, together: bool) -> tuple[NDArray[np.bool_], Vector]:
    """Whether the CPU of a contender is known, and that of one of its answers; of the turns as they were, for a burst
    that cost time need not have cost CPU."""
    told = np.isfinite(cpu).all(axis=1) & (cpu.sum(axis=1) > 0)
    costs = np.full(len(ok), math.nan)
    if told.any():
        speeds = _speeds(ok[told], cpu[told], together=together)
        costs[told] = 1 / _additive(ok[told], cpu[told], speeds, together=together)[0]
    return told, costs


def _climbs(done: Matrix, weighed: Matrix) -> list[float | None]:
    there = weighed != 0
    if there.all():
        return _climbs_of_whole(done, weighed)
    rows = zip(done, weighed, there, strict=True)
    return [_climbs_of_whole(mine[None, of], spent[None, of])[0] for mine, spent, of in rows]


def _climbs_of_whole(done: Matrix, weighed: Matrix) -> list[float | None]:
    """Of those that had every turn."""
    part = done.shape[1] // 3
    if not part:
        return [None] * len(done)
    first, last = (
        (done[:, at].sum(axis=1) / weighed[:, at].sum(axis=1)).tolist() for at in (slice(part), slice(-part, None))
    )
    return [math.log(end / begin) if begin > 0 and end > 0 else None for begin, end in zip(first, last, strict=True)]


def _additive(
    done: Matrix, spent: Matrix, speeds: Vector, *, together: bool
) -> tuple[Vector, Vector, NDArray[np.bool_]]:
    """What each contender (down) did for each unit of what it spent in the passes (across), the variance of its
    logarithm, and whether a single turn was drawn in."""
    weighed = spent * speeds
    done, drawn = _drawn_in(done, weighed)
    rates = done.sum(axis=1) / weighed.sum(axis=1)
    return rates, _variances(done, weighed, rates, together=together), drawn


def _speeds(done: Matrix, spent: Matrix, *, together: bool) -> Vector:
    """Of each pass, on average one: the median over contenders of what each did in it against its own rate.

    One contender alone says nothing of passes. Nor does a pass in which half of them, or more, did nothing. Where all
    others missed a pass, what the one did in it is taken for its speed, and so changes nothing.
    """
    speeds: Vector = np.ones(done.shape[1])
    if len(done) < 2 or not together:
        return speeds
    there = spent > 0
    each = np.divide(done, spent, out=np.full(done.shape, math.nan), where=there)
    for _ in range(SWEEPS):
        rates = done.sum(axis=1) / (spent * speeds).sum(axis=1)
        found: Vector = _middles(each / rates[:, None])
        found[found <= 0] = 1.0
        found *= spent.sum() / (spent * found).sum()
        if (np.abs(found - speeds) <= 1e-12 * speeds).all():
            break
        speeds = found
    return speeds


def _middles(columns: Matrix) -> Vector:
    """The median of each column, of what is there. numpy's own takes ten times as long for so few."""
    if np.isnan(columns).any():
        there: Vector = np.nanmedian(columns, axis=0)
        return there
    ordered, half = np.sort(columns, axis=0), len(columns) // 2
    found: Vector = ordered[half] if len(columns) % 2 else (ordered[half - 1] + ordered[half]) / 2
    return found


def _drawn_in(done: Matrix, weighed: Matrix) -> tuple[Matrix, NDArray[np.bool_]]:
    """``done`` with the only turn of a contender that lies far from its others drawn in."""
    each = np.divide(done, weighed, out=np.full(done.shape, math.nan), where=weighed > 0)
    middle = _middles(each.T)[:, None]
    reach = FENCE * _middles(np.abs(each - middle).T)[:, None]
    far = np.abs(each - middle) > reach
    drawn = ((weighed > 0).sum(axis=1) >= ENOUGH) & (reach[:, 0] > 0) & (far.sum(axis=1) == 1)
    near = weighed * np.clip(each, middle - reach, middle + reach)
    return np.where(far & drawn[:, None], near, done), drawn


def _variances(done: Matrix, weighed: Matrix, rates: Vector, *, together: bool) -> Vector:
    """Of the logarithms of quotients of sums. What the speed of a pass took of the freedom is given back as if it were
    a mean; the median of few leaves more, so that of three contenders a variance is told a quarter too large.
    """
    there = weighed > 0
    number = len(done) if together else 1
    passes = (there & ((there.sum(axis=0) > 1) | (number == 1))).sum(axis=1)
    left = np.where(there, done - rates[:, None] * weighed, 0.0)
    freedom = np.maximum(passes - 1, 1) * ((number - 1) / number if number > 1 else 1.0)
    return np.asarray((left**2).sum(axis=1) / done.sum(axis=1) ** 2 * passes / freedom)
