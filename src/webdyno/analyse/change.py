"""Change: is head slower than base, from pairs measured in one sitting or from two sets of rounds?

Pairs. Each is one start of base and one of head, next to each other in time, so that what drifts on the machine falls
on both; the figure of a pair is log(head / base). Pairs are looked at five times, from the fourth to the last that is
planned. The 5 % that a difference may spend go to later looks more than to earlier ones, so that a large one still ends
it early, and a small one, which takes all pairs whatever one does, is not made to pay for the looks before (S. K. Wang,
A. A. Tsiatis 1987, Approximately optimal one-parameter boundaries for group sequential trials, Biometrics 43). Those of
equality go mostly to the last (P. C. O'Brien, T. R. Fleming 1979, A multiple testing procedure for clinical trials,
Biometrics 35). So the interval shown holds over all looks together. Differences beyond three standard
deviations, by the median, are drawn in to there, because a neighbour's burst hits one run of a pair; the t interval
allows for what was drawn in (K. K. Yuen 1974, The two-sample trimmed t for unequal population variances, Biometrika
61; J. W. Tukey, D. H. McLaughlin 1963, Sankhya A 25).

Verdicts. same: the change is certainly within the margin, either way (two one-sided tests, D. J. Schuirmann 1987), with
nothing drawn in too, and from six starts of each at least: a head that starts slow now and then looks the same as long
as it was not seen to, and those of its starts that lie far from the others are what is looked for. slower or faster:
not none, and by the estimate beyond two thirds of the margin, from three starts of each. Were it to lie beyond
the whole margin, a change just as large would be missed every other time, however well it was measured; as it is, one
of half the margin is the same where it is measured well. Of two sittings, which differ by more than their intervals
know, it has to lie beyond the whole. Anything else is undecided.

Noise floor. Neighbours of one revision (A B, B A: the two Bs) are an A/A experiment within the experiment: the change
that as many pairs of them would show though there is none. Where the two of a pair took turns in one block, neighbours
lie farther apart than they do, and the scatter of the pairs says it alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from webdyno.analyse import special
from webdyno.analyse.compare import STARTS
from webdyno.analyse.pairs import ENOUGH
from webdyno.model.estimate import Estimate

ALPHA = 0.05
Vector = NDArray[np.floating]
LEAST = 4
"""Pairs from which on they are looked at."""
_LOOKS = 5
_WANG_TSIATIS, _SHAPE = 2.23, 0.25
"""Critical value at the last look, both sides, and how the others follow from it (0: O'Brien-Fleming, 0.5: Pocock).
With t quantiles for normal ones and 4 to 18 pairs at most these spend 2.6 to 4.8 % of 5 (400,000 sittings).
"""
_OBRIEN_FLEMING = 1.80
"""At the last look, one side: 3.6 to 5.0 % of 5."""
_FIRST_LOOKS, _FIRST_POCOCK, _FIRST_OBRIEN_FLEMING = (4, 6, 9, 13, 18), 0.0158, 1.751
"""Of the first design, by which the pairs of older results folders were made and are judged: as much for each look
(S. J. Pocock 1977, Biometrika 64), and a change beyond the whole margin."""
TOLD = 2 / 3
"""Part of the margin beyond which a change has to lie, by its estimate, to be called one."""
FENCE = 3 * 1.4826022185056018
"""Median absolute deviations that make three standard deviations of a normal curve."""

Judgement = Literal["faster", "slower", "same", "cannot tell"]


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """Head against base."""

    verdict: Judgement
    ratio: Estimate | None
    """head / base with the interval that holds over all looks; None with nothing to compare."""
    margin: float
    """Changes smaller than this part count as none."""
    noise_floor: float | None
    """Change, as a part, that equal revisions would show here in one of 20 comparisons; None: too few starts."""
    drawn_in: int = 0
    """Pairs whose difference was drawn in."""
    slow_pairs: int = 0
    """Pairs in which head lay far below the others; only where none lay far above, and two or more did."""
    fast_pairs: int = 0
    """The other way round."""


@dataclass(frozen=True, slots=True)
class _Mean:
    """A mean of logarithms."""

    log: float
    error: float
    freedom: float
    drawn_in: bool = False
    """Whether values that lay far off were."""

    def reach(self, alpha: float) -> float:
        """Half of the interval."""
        return special.reach(self.error, self.freedom, 1 - alpha / 2)

    def interval(self, alpha: float) -> tuple[float, float]:
        """Two-sided, of level 1 - alpha."""
        return self.log - self.reach(alpha), self.log + self.reach(alpha)

    def within(self, margin: float, alpha: float) -> bool:
        """Whether it certainly lies no further from none than ``margin``; ``alpha`` on each side."""
        low, high = self.interval(2 * alpha)
        return -margin < low and high < margin


@dataclass(frozen=True, slots=True)
class _Levels:
    """What one look may spend: on a difference (both sides), and on each side of equality."""

    differ: float
    same: float


def looks(most: int | None) -> set[int]:
    """Numbers of pairs after which they are looked at, of this many at most; None: of the first design."""
    if most is None:
        return set(_FIRST_LOOKS)
    return {round(LEAST + (most - LEAST) * at / (_LOOKS - 1)) for at in range(_LOOKS)} if most > LEAST else {most}


def _levels(pairs: int, most: int | None, share: float) -> _Levels:
    """After this many pairs of ``most``, where ``share`` of the 5 % may go to a difference of this figure."""
    if most is None:
        done = min(1.0, pairs / _FIRST_LOOKS[-1])
        same = float(special.ndtr(-_FIRST_OBRIEN_FLEMING / math.sqrt(done))) if pairs else 0.0
        return _Levels(_FIRST_POCOCK * share, same)
    done = min(1.0, pairs / most) if pairs else 0.0
    if not done:
        return _Levels(0.0, 0.0)
    differ = 2 * share * float(special.ndtr(-_WANG_TSIATIS * done ** (_SHAPE - 0.5)))
    return _Levels(differ, float(special.ndtr(-_OBRIEN_FLEMING * done**-0.5)))


def judge_pairs(
    base: Sequence[float],
    head: Sequence[float],
    margin: float,
    *,
    higher_is_better: bool = True,
    in_blocks: bool = False,
    share: float = 1.0,
    most: int | None = None,
) -> Change:
    """The change over pairs; ``base[i]`` and ``head[i]`` are positive figures of pair i, in the order of the pairs.

    ``in_blocks``: the two of a pair took turns, so that they were at the same time what they were. ``share``: the part
    of the 5 % that this figure may spend on a difference, where others may decide too. ``most``: pairs that are made at
    most; None: they are of the first design.
    """
    logs = np.log(np.asarray(head, dtype=float)) - np.log(np.asarray(base, dtype=float))
    mean, below, above = _winsorised(logs)
    floor = _noise_floor(base, head, logs, neighbours=not in_blocks)
    levels = _levels(len(logs), most, share)
    plain = _plain(logs) if len(logs) >= STARTS else None
    told = 1.0 if most is None else TOLD
    change = _judged(mean, plain, len(logs), levels, margin, floor, higher_is_better=higher_is_better, told=told)
    if mean is not None and mean.drawn_in:
        return msgspec.structs.replace(change, drawn_in=below + above)
    slow, fast = (below, above) if higher_is_better else (above, below)
    one_sided = is_lopsided(below, above)
    return msgspec.structs.replace(change, slow_pairs=slow, fast_pairs=fast) if one_sided else change


def judge_apart(
    base: Sequence[float], head: Sequence[float], margin: float, *, tables: int = 1, higher_is_better: bool = True
) -> Change:
    """The change between two sittings, whose rounds are no pairs: Welch's t on logarithms.

    ``tables`` is how many comparisons are made at once; the 5 % are shared among them (Bonferroni). The noise floor is
    that of starts within a sitting; what differs between sittings cannot be seen in it.
    """
    one, other = np.log(np.asarray(base, dtype=float)), np.log(np.asarray(head, dtype=float))
    rounds, levels = min(len(one), len(other)), _Levels(ALPHA / tables, ALPHA / tables)
    if rounds < 2:
        mean = _Mean(float(other.mean() - one.mean()), 0.0, 0.0) if rounds else None
        return _judged(mean, None, rounds, levels, margin, None, higher_is_better=higher_is_better)
    parts = [float(logs.var(ddof=1)) / len(logs) for logs in (one, other)]
    error = math.sqrt(sum(parts))
    weights = sum(part**2 / (len(logs) - 1) for part, logs in zip(parts, (one, other), strict=True))
    mean = _Mean(float(other.mean() - one.mean()), error, sum(parts) ** 2 / weights if weights else float(rounds))
    floor = math.expm1(mean.interval(ALPHA)[1] - mean.log) if error else None
    plain = mean if rounds >= STARTS else None
    return _judged(mean, plain, rounds, levels, margin, floor, higher_is_better=higher_is_better)


def _judged(
    mean: _Mean | None,
    plain: _Mean | None,
    rounds: int,
    levels: _Levels,
    margin: float,
    floor: float | None,
    *,
    higher_is_better: bool,
    told: float = 1.0,
) -> Change:
    """``told``: the part of the margin beyond which the estimate of a change has to lie."""
    if mean is None or mean.freedom <= 0:
        value = None if mean is None else math.exp(mean.log)
        ratio = None if value is None else Estimate(value=value, low=None, high=None, rounds=rounds, unit="ratio")
        return Change(verdict="cannot tell", ratio=ratio, margin=margin, noise_floor=floor)
    low, high = mean.interval(levels.differ)
    ratio = Estimate(value=math.exp(mean.log), low=math.exp(low), high=math.exp(high), rounds=rounds, unit="ratio")
    verdict = _verdict(mean, plain, rounds, levels, math.log1p(margin), told, higher_is_better=higher_is_better)
    return Change(verdict=verdict, ratio=ratio, margin=margin, noise_floor=floor)


def _verdict(
    mean: _Mean,
    plain: _Mean | None,
    rounds: int,
    levels: _Levels,
    margin: float,
    told: float,
    *,
    higher_is_better: bool,
) -> Judgement:
    """``plain``: of the same with nothing drawn in; None: too few for equality."""
    if plain is not None and all(each.within(margin, levels.same) for each in (mean, plain)):
        return "same"
    low, high = mean.interval(levels.differ)
    if rounds < ENOUGH:
        return "cannot tell"
    if (low > 0 or high < 0) and abs(mean.log) > told * margin:
        return "faster" if (mean.log > 0) is higher_is_better else "slower"
    return "cannot tell"


def _winsorised(logs: Vector) -> tuple[_Mean | None, int, int]:
    """Mean of ``logs`` with those beyond the fence drawn in to it, and how many those were, below and above.

    Two or more that are all on one side are no bursts of a neighbour, who hits either run of a pair: they stay.
    """
    number = len(logs)
    if number < 2:
        return (_Mean(float(logs[0]), 0.0, 0.0) if number else None), 0, 0
    middle = float(np.median(logs))
    reach = FENCE * float(np.median(np.abs(logs - middle)))
    below, above = (int((logs < middle - reach).sum()), int((logs > middle + reach).sum())) if reach else (0, 0)
    kept = number - below - above
    if kept < 3 or kept == number or is_lopsided(below, above):
        return _plain(logs), below, above
    inside = np.clip(logs, middle - reach, middle + reach)
    scale = (number - 1) / (kept - 1)
    error = float(inside.std(ddof=1)) * scale / math.sqrt(number)
    return _Mean(float(inside.mean()), error, kept - 1, drawn_in=True), below, above


def is_lopsided(below: int, above: int) -> bool:
    """Whether those that lie far from the others are two or more, all on one side."""
    return min(below, above) == 0 and max(below, above) > 1


def _plain(logs: Vector) -> _Mean:
    """Of two or more."""
    return _Mean(float(logs.mean()), float(logs.std(ddof=1)) / math.sqrt(len(logs)), len(logs) - 1)


def _noise_floor(base: Sequence[float], head: Sequence[float], logs: Vector, *, neighbours: bool) -> float | None:
    """From neighbours of one revision in the order A B, B A, A B ...: their true difference is none.

    And at least what the scatter of the pairs alone makes likely; of neither is anything drawn in, for a start that is
    slow now and then is part of what equal ones differ by.
    """
    twins = [(base, head)[pair % 2 == 0] for pair in range(len(base) - 1)]
    apart = np.array([math.log(of[pair + 1] / of[pair]) for pair, of in enumerate(twins)])
    if len(apart) < 3:
        return None
    known = [_plain(logs)]
    if neighbours:
        known.append(_Mean(0.0, math.sqrt(float((apart**2).mean()) / len(base)), len(apart)))
    return math.expm1(max(each.reach(ALPHA) for each in known))
