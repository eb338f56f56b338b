"""Change: is head slower than base, from pairs measured in one sitting or from two sets of rounds?

Pairs. Each is one start of base and one of head, next to each other in time, so that what drifts on the machine falls
on both; the figure of a pair is log(head / base). Pairs are looked at after 4, 6, 9, 13 and 18 of them. For a
difference the 5 % are spent evenly over the looks, so that a large one ends it early (S. J. Pocock 1977, Group
sequential methods in the design and analysis of clinical trials, Biometrika 64); for equality, which takes many pairs
whatever one does, mostly at the last (P. C. O'Brien, T. R. Fleming 1979, A multiple testing procedure for clinical
trials, Biometrics 35). So the interval shown holds over all looks together. Differences beyond three standard
deviations, by the median, are drawn in to there, because a neighbour's burst hits one run of a pair; the t interval
allows for what was drawn in (K. K. Yuen 1974, The two-sample trimmed t for unequal population variances, Biometrika
61; J. W. Tukey, D. H. McLaughlin 1963, Sankhya A 25).

Verdicts. same: the change is surely within the margin, either way (two one-sided tests, D. J. Schuirmann 1987).
slower or faster: surely not none, and by the estimate beyond the margin. Anything else cannot be told.

Noise floor. Neighbours of one revision (A B, B A: the two Bs) are an A/A experiment within the experiment: the change
that as many pairs of them would show though there is none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec
import numpy as np
from scipy.special import ndtr, stdtrit

from webdyno.model.estimate import Estimate

ALPHA = 0.05
LOOKS = (4, 6, 9, 13, 18)
_POCOCK = 0.0158
"""Level of each of five looks that together spend 5 %, both sides (Jennison and Turnbull 1999, table 2.1)."""
_OBRIEN_FLEMING = 1.751
"""Critical value at the last of five looks that together spend 5 %, one side (the same, table 2.3)."""
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


@dataclass(frozen=True, slots=True)
class _Mean:
    """A mean of logarithms."""

    log: float
    error: float
    freedom: float

    def interval(self, alpha: float) -> tuple[float, float]:
        """Two-sided, of level 1 - alpha."""
        reach = self.error * float(stdtrit(self.freedom, 1 - alpha / 2))
        return self.log - reach, self.log + reach


@dataclass(frozen=True, slots=True)
class _Levels:
    """What one look may spend: on a difference (both sides), and on each side of equality."""

    differ: float
    same: float


def _levels(pairs: int) -> _Levels:
    """Of the look after so many pairs."""
    done = min(1.0, pairs / LOOKS[-1])
    return _Levels(_POCOCK, float(ndtr(-_OBRIEN_FLEMING / math.sqrt(done))) if pairs else 0.0)


def judge_pairs(
    base: Sequence[float], head: Sequence[float], margin: float, *, higher_is_better: bool = True
) -> Change:
    """The change over pairs; ``base[i]`` and ``head[i]`` are positive figures of pair i, in the order of the pairs."""
    logs = np.log(np.asarray(head, dtype=float)) - np.log(np.asarray(base, dtype=float))
    mean, drawn = _winsorised(logs)
    floor = _noise_floor(base, head)
    return _judged(mean, len(logs), _levels(len(logs)), margin, floor, drawn, higher_is_better=higher_is_better)


def judge_apart(
    base: Sequence[float], head: Sequence[float], margin: float, *, tables: int = 1, higher_is_better: bool = True
) -> Change:
    """The change between two sittings, whose rounds are no pairs: Welch's t on logarithms.

    ``tables`` is how many comparisons are made at once; the 5 % are shared among them (Bonferroni). The noise floor is
    that of starts within a sitting; what differs between sittings cannot be seen in it.
    """
    one, other = np.log(np.asarray(base, dtype=float)), np.log(np.asarray(head, dtype=float))
    rounds = min(len(one), len(other))
    if rounds < 2:
        mean = _Mean(float(other.mean() - one.mean()), 0.0, 0.0) if rounds else None
        return _judged(
            mean, rounds, _Levels(ALPHA / tables, ALPHA / tables), margin, None, 0, higher_is_better=higher_is_better
        )
    parts = [float(logs.var(ddof=1)) / len(logs) for logs in (one, other)]
    error = math.sqrt(sum(parts))
    weights = sum(part**2 / (len(logs) - 1) for part, logs in zip(parts, (one, other), strict=True))
    mean = _Mean(float(other.mean() - one.mean()), error, sum(parts) ** 2 / weights if weights else float(rounds))
    floor = math.expm1(mean.interval(ALPHA)[1] - mean.log) if error else None
    return _judged(
        mean, rounds, _Levels(ALPHA / tables, ALPHA / tables), margin, floor, 0, higher_is_better=higher_is_better
    )


def _judged(
    mean: _Mean | None,
    rounds: int,
    levels: _Levels,
    margin: float,
    floor: float | None,
    drawn: int,
    *,
    higher_is_better: bool,
) -> Change:
    if mean is None or mean.freedom <= 0:
        value = None if mean is None else math.exp(mean.log)
        ratio = None if value is None else Estimate(value=value, low=None, high=None, rounds=rounds, unit="ratio")
        return Change(verdict="cannot tell", ratio=ratio, margin=margin, noise_floor=floor)
    low, high = mean.interval(levels.differ)
    ratio = Estimate(value=math.exp(mean.log), low=math.exp(low), high=math.exp(high), rounds=rounds, unit="ratio")
    verdict = _verdict(mean, levels, math.log1p(margin), higher_is_better=higher_is_better)
    return Change(verdict=verdict, ratio=ratio, margin=margin, noise_floor=floor, drawn_in=drawn)


def _verdict(mean: _Mean, levels: _Levels, margin: float, *, higher_is_better: bool) -> Judgement:
    low, high = mean.interval(2 * levels.same)
    if -margin < low and high < margin:
        return "same"
    low, high = mean.interval(levels.differ)
    if (low > 0 or high < 0) and abs(mean.log) > margin:
        return "faster" if (mean.log > 0) is higher_is_better else "slower"
    return "cannot tell"


def _winsorised(logs: np.ndarray) -> tuple[_Mean | None, int]:
    """Mean of ``logs`` with those beyond the fence drawn in to it, and how many those were."""
    number = len(logs)
    if number < 2:
        return (_Mean(float(logs[0]), 0.0, 0.0) if number else None), 0
    middle = float(np.median(logs))
    reach = FENCE * float(np.median(np.abs(logs - middle)))
    outside = int((np.abs(logs - middle) > reach).sum()) if reach else 0
    kept = number - outside
    if kept < 3 or not outside:
        outside, kept, inside = 0, number, logs
    else:
        inside = np.clip(logs, middle - reach, middle + reach)
    scale = (number - 1) / (kept - 1)
    error = float(inside.std(ddof=1)) * scale / math.sqrt(number)
    return _Mean(float(inside.mean()), error, kept - 1), outside


def _noise_floor(base: Sequence[float], head: Sequence[float]) -> float | None:
    """From neighbours of one revision in the order A B, B A, A B ...: their true difference is none."""
    twins = [(base, head)[pair % 2 == 0] for pair in range(len(base) - 1)]
    logs = np.array([math.log(of[pair + 1] / of[pair]) for pair, of in enumerate(twins)])
    if len(logs) < 3:
        return None
    middle = float(np.median(np.abs(logs)))
    inside = np.clip(logs, -FENCE * middle, FENCE * middle) if middle else logs
    error = math.sqrt(float((inside**2).mean()) / len(base))
    return math.expm1(error * float(stdtrit(len(logs), 1 - ALPHA / 2)))
