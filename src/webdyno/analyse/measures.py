"""Measures: every figure a claim or a curve can be about, of one table, and how two of them compare.

Figures above zero go through the fit over rounds (``estimate``), so that a ratio is judged within rounds. A share, as
of errors, is often exactly zero, where a logarithm ends: it is the mean over rounds with a t interval, and no errors
in n requests leave room for 3/n. For many comparisons at once it is as wide as either allows: its rounds, or its
requests as if each were drawn by itself, for rounds without an error would otherwise be sure of none.

J. A. Hanley, A. Lippman-Hand (1983), If nothing goes wrong, is everything all right? JAMA 249, for the 3/n. C. J.
Clopper, E. S. Pearson (1934), The use of confidence or fiducial limits illustrated in the case of the binomial.
Biometrika 26.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from webdyno.analyse import special
from webdyno.analyse.across import are_comparable, fit_ratios, fit_sides
from webdyno.analyse.error_share import error_share
from webdyno.analyse.estimate import CONFIDENCE, Contrast, Fit, fit
from webdyno.analyse.parts import gain
from webdyno.analyse.steps import fit_figure
from webdyno.analyse.table import Cell, Table
from webdyno.analyse.unanswered import could_have_failed, share_served
from webdyno.analyse.window import Window, cpu_ns, requests_per_connection
from webdyno.model.claim import Measure
from webdyno.model.estimate import Estimate
from webdyno.model.run import Run

MEASURES: dict[Measure, tuple[str, Callable[[Window], float | None]]] = {
    "rate": ("per_s", lambda window: window.rate_per_s),
    "p50": ("ns", lambda window: window.points_ns.get("p50")),
    "p66": ("ns", lambda window: window.points_ns.get("p66")),
    "p75": ("ns", lambda window: window.points_ns.get("p75")),
    "p80": ("ns", lambda window: window.points_ns.get("p80")),
    "p90": ("ns", lambda window: window.points_ns.get("p90")),
    "p95": ("ns", lambda window: window.points_ns.get("p95")),
    "p98": ("ns", lambda window: window.points_ns.get("p98")),
    "p99": ("ns", lambda window: window.points_ns.get("p99")),
    "latency_mean": ("ns", lambda window: window.points_ns.get("mean")),
    "latency_stdev": ("ns", lambda window: window.points_ns.get("stdev")),
    "latency_max": ("ns", lambda window: window.points_ns.get("max")),
    "errors": ("share", lambda window: window.error_ratio),
    "memory": ("bytes", lambda window: window.run.memory_peak_bytes),
    "cpu": ("cores", lambda window: window.contender_cores),
    "cpu_peak": ("cores", lambda window: cpu_peak(window.run)),
    "cpu_per_request": ("ns_per_request", lambda window: window.cpu_per_request_ns),
    "requests_per_connection": ("per_connection", lambda window: requests_per_connection([window.run])),
    "kept_alive": ("share", lambda window: kept_alive(window.run)),
    "served": ("share", lambda window: share_served(window.run)),
    "bytes_per_s": ("bytes_per_s", lambda window: window.bytes_per_s),
    "bytes_per_answer": ("bytes_per_answer", lambda window: window.bytes_per_answer),
    "gain": ("ratio", lambda window: gain(window.run)),
}
"""The unit of each measure, and where it comes from."""
ITS_OWN: tuple[Measure, ...] = ("requests_per_connection", "bytes_per_answer")
"""What a server does in one way in every round, however fast the machine is: nothing is to be learnt of it from the
rounds of others, which would tilt it where it did not meet them all."""
SCALE: dict[str, float] = {"ns": 1e6, "ns_per_request": 1e6, "bytes": 2.0**20, "bytes_per_s": 2.0**10}
"""A Claim's milliseconds, MB and KB/s in our units; the others are the same."""


def cpu_peak(run: Run) -> float | None:
    """Most cores' worth of CPU that the contender used between two looks at it, from the start to the end of the load;
    None with less than two looks."""
    seen = [(r.at_ns, used) for r in run.readings if r.role == "contender" and (used := cpu_ns(r)) is not None]
    start, end = run.steady_start_ns, run.steady_end_ns
    seen = [(at, used) for at, used in seen if (start is None or at >= start) and (end is None or at <= end)]
    # looks that come at an edge of a phase may be milliseconds apart, which says nothing
    paces = [(more - less) / (later - at) for (at, less), (later, more) in pairwise(seen) if later - at > 2e8]
    return max(paces, default=None)


def kept_alive(run: Run) -> float | None:
    """Share of answers after which the connection stayed open: as ab counts them, else from the connections opened;
    None when the driver tells neither."""
    kept, ended = run.summary.get("Keep-Alive requests"), run.summary.get("Complete requests")
    if isinstance(kept, int | float) and isinstance(ended, int | float) and ended > 0:
        return kept / ended
    if run.trial.driver == "ab":  # it leaves the line out when it did not ask for keep-alive
        return None
    each = requests_per_connection([run])
    return None if each is None else max(0.0, 1 - 1 / each) if each else 0.0


Ends = tuple[float, float]
Spread = Callable[[float], Ends]
"""The interval that holds with 95 % for this many comparisons at once (Bonferroni)."""


@dataclass(frozen=True)
class Ratio:
    """One figure divided by another. ``low`` and ``high`` hold it with 95 %; None: too few rounds to tell."""

    value: float
    low: float | None
    high: float | None
    rounds: int
    spread: Spread | None = None
    of_nothing: bool = False
    """Both are exactly zero: equal, and no ratio at all."""
    later: Callable[[int], Spread] | None = None
    """``spread`` after a number of rounds, where that is known from its error."""

    def of_many(self, comparisons: float) -> tuple[float, float]:
        """``low`` and ``high``, wide enough for this many comparisons; they must be known."""
        if self.spread is not None and comparisons > 1:
            return self.spread(comparisons)
        return self.low or 0.0, math.inf if self.high is None else self.high

    def after(self, rounds: int) -> Ratio:
        """As it would be known after this many rounds, if it stayed what it is; itself where it has as many."""
        if not 1 < self.rounds < rounds or self.low is None or self.high is None:
            return self
        part = math.sqrt((self.rounds - 1) / (rounds - 1))

        def nearer(comparisons: float) -> Ends:
            low, high = self.of_many(comparisons)
            return self.value - part * (self.value - low), self.value + part * (high - self.value)

        spread = nearer if self.later is None else self.later(rounds)
        low, high = spread(1)
        return replace(self, low=low, high=high, rounds=rounds, spread=spread)

    @property
    def estimate(self) -> Estimate | None:
        """For people; None where it is beyond numbers, as something divided by nothing."""
        if not math.isfinite(self.value):
            return None
        known = self.low is not None and self.high is not None and math.isfinite(self.high)
        low, high = (self.low, self.high) if known else (None, None)
        return Estimate(value=self.value, low=low, high=high, rounds=self.rounds, unit="ratio")


@dataclass(frozen=True)
class Figures:
    """Every measure of one table, each fitted when it is first asked for."""

    table: Table
    trimmed: bool
    _fits: dict[tuple[Measure, str], Fit | None] = field(default_factory=dict, repr=False, compare=False)

    @property
    def cells(self) -> dict[str, Cell]:
        """By contender."""
        return {cell.name: cell for cell in self.table.cells}

    def fitted(self, measure: Measure, name: str) -> Fit | None:
        """Over all contenders and rounds, or over those of ``name`` alone where the measure is its own; None when it
        has no such figure."""
        key = measure, name if measure in ITS_OWN else ""
        if key not in self._fits:
            self._fits[key] = self._fit(*key)
        found = self._fits[key]
        return found if found is not None and name in found.names else None

    def _fit(self, measure: Measure, of_one: str) -> Fit | None:
        of = MEASURES[measure][1]
        if not of_one:
            return fit_figure(self.table, of, trimmed=self.trimmed, rate=measure == "rate")
        cells = {cell: value for cell, value in self.table.figures(of).items() if cell[0] == of_one}
        return fit(cells, trimmed=self.trimmed)

    def estimate(self, name: str, measure: Measure) -> Estimate | None:
        """A contender's figure; None when it has none."""
        if MEASURES[measure][0] == "share":
            share = self.share(name, measure)
            return None if share is None else share.estimate
        fitted = self.fitted(measure, name)
        return fitted.estimate(name, MEASURES[measure][0]) if fitted else None

    def share(self, name: str, measure: Measure) -> Share | None:
        """The same of a measure that is a share."""
        return _share(self.cells[name], measure) if name in self.cells else None

    def over(self, name: str, measure: Measure, against: float) -> Ratio | None:
        """A contender's figure divided by a number; None when it has none."""
        if MEASURES[measure][0] == "share":
            share = self.share(name, measure)
            return None if share is None else share.over(against)
        estimate, fitted = self.estimate(name, measure), self.fitted(measure, name)
        level = fitted.level(name) if fitted else None
        if estimate is None or level is None:
            return None if estimate is None else _over(estimate, None, against)
        found, later = _over(estimate, _spread_of(level), against), _later(level, estimate.rounds)
        return replace(found, later=lambda rounds: _divided_by(later(rounds), against))


@dataclass(frozen=True)
class Together(Figures):
    """Several tables as one, for error rates: all requests that a contender had in a round."""

    parts: tuple[Figures, ...] = ()

    def share(self, name: str, measure: Measure) -> Share | None:
        """Of the rounds that each of its tables has; None for any other measure than errors."""
        if measure != "errors":
            return None
        by_round: dict[int, list[Window]] = defaultdict(list)
        for part in self.parts:
            for window in part.cells[name].windows if name in part.cells else ():
                by_round[window.run.trial.round].append(window)
        return _errors([windows for windows in by_round.values() if len(windows) == len(self.parts)])


def ratio(one: tuple[Figures, str], other: tuple[Figures, str], measure: Measure) -> Ratio | None:
    """A contender's figure in a table divided by another's, of the same table or not; None when one has none.

    Rounds are blocks across tables, too: each holds every cell of the plan once; in a fleet, what one host had of it.
    """
    if MEASURES[measure][0] == "share":
        return _of_shares(one[0].share(one[1], measure), other[0].share(other[1], measure))
    if one[0] is not other[0] or measure in ITS_OWN:
        return _across(one, other, measure)
    fitted = one[0].fitted(measure, one[1])
    return None if fitted is None or other[1] not in fitted.names else ratio_of(fitted, one[1], other[1])


def _across(one: tuple[Figures, str], other: tuple[Figures, str], measure: Measure) -> Ratio | None:
    of, trimmed, rate = MEASURES[measure][1], one[0].trimmed, measure == "rate"
    sides = (one[0].table, one[1]), (other[0].table, other[1])
    if one[0] is not other[0] and are_comparable(*sides):
        tables, own = (one[0].table, other[0].table), measure in ITS_OWN
        ratios = fit_ratios(tables, one[1], of, trimmed=trimmed, rate=rate, own=own)
        return None if ratios is None or one[1] not in ratios.names else _ratio_in(ratios, one[1])
    fitted = fit_sides(sides, of, trimmed=trimmed, rate=rate)
    return None if fitted is None or len(fitted.names) < 2 else ratio_of(fitted, "0", "1")


def _ratio_in(ratios: Fit, name: str) -> Ratio:
    """Of a contender in a fit whose figures are ratios."""
    told, level = ratios.estimate(name, "ratio"), ratios.level(name)
    if level is None:
        return Ratio(told.value, told.low, told.high, told.rounds)
    later = _later(level, told.rounds)
    return Ratio(told.value, told.low, told.high, told.rounds, _spread_of(level), later=later)


def ratio_of(fitted: Fit, one: str, other: str) -> Ratio:
    """Of two contenders of one fit."""
    told, contrast = fitted.ratio(one, other), fitted.contrast(one, other)
    if contrast is None or one == other:
        return Ratio(told.value, told.low, told.high, told.rounds)
    later = _later(contrast, told.rounds)
    return Ratio(told.value, told.low, told.high, told.rounds, _spread_of(contrast), later=later)


def _over(estimate: Estimate, spread: Spread | None, against: float) -> Ratio:
    low, high = (None if end is None else end / against for end in (estimate.low, estimate.high))
    divided = _divided_by(spread or (lambda _: (0.0, math.inf)), against)
    return Ratio(estimate.value / against, low, high, estimate.rounds, divided)


def _divided_by(spread: Spread, against: float) -> Spread:
    def divided(comparisons: float) -> Ends:
        least, most = spread(comparisons)
        return least / against, most / against

    return divided


def _later(contrast: Contrast, had: int) -> Callable[[int], Spread]:
    """After more rounds than it ``had``: its error shrinks with their root, and its freedom grows with their number."""

    def after(rounds: int) -> Spread:
        error, freedom = contrast.error * math.sqrt(had / rounds), contrast.freedom * (rounds - 1) / (had - 1)
        return _spread_of(replace(contrast, error=error, freedom=freedom))

    return after


def _spread_of(contrast: Contrast) -> Spread:
    def spread(comparisons: float) -> Ends:
        reach = contrast.reach(1 - (1 - CONFIDENCE) / 2 / comparisons)
        return math.exp(contrast.log - reach), math.exp(contrast.log + reach)

    return spread


@dataclass(frozen=True)
class Share:
    """A share of the requests, of each round."""

    shares: tuple[float, ...]
    asked: int
    """Requests of all rounds together."""
    left: int = 0
    """Of errors: requests of all rounds without an answer at their end, that may have hung."""
    possible: float = 0.0
    """What it would be, had these failed."""

    @property
    def bounded(self) -> Estimate:
        """As a claim must read it: what nobody answered may have failed, in a window too short to count it."""
        known = self.estimate
        if known.high is None:
            return known
        return Estimate(
            value=known.value, low=known.low, high=max(known.high, self.possible), rounds=known.rounds, unit="share"
        )

    def ends(self, comparisons: float) -> Ends:
        """``spread``, read the same way."""
        low, high = self.spread(comparisons)
        return low, max(high, self.possible)

    def over(self, against: float) -> Ratio:
        """Divided by a number."""
        return _over(self.bounded, self.ends if len(self.shares) > 1 else None, against)

    @property
    def estimate(self) -> Estimate:
        """Mean over rounds; no interval with less than two."""
        mean, low, high = statistics.fmean(self.shares), None, None
        if len(self.shares) > 1:
            reach = self._reach(1)
            low, high = max(0.0, mean - reach), min(1.0, max(mean + reach, 3 / self.asked))
        return Estimate(value=mean, low=low, high=high, rounds=len(self.shares), unit="share")

    def spread(self, comparisons: float) -> Ends:
        """The widest that rounds and requests allow; of two rounds or more."""
        mean, reach = statistics.fmean(self.shares), self._reach(comparisons)
        tail, these = (1 - CONFIDENCE) / 2 / comparisons, mean * self.asked
        others = self.asked - these
        low = float(special.betaincinv(these, others + 1, tail)) if these > 0 else 0.0
        high = float(special.betaincinv(these + 1, others, 1 - tail)) if others > 0 else 1.0
        return max(0.0, min(mean - reach, low)), min(1.0, max(mean + reach, high))

    def _reach(self, comparisons: float) -> float:
        """Of the t interval over rounds."""
        error = statistics.stdev(self.shares) / math.sqrt(len(self.shares))
        return float(special.stdtrit(len(self.shares) - 1, 1 - (1 - CONFIDENCE) / 2 / comparisons)) * error


def _share(cell: Cell, measure: Measure) -> Share | None:
    if measure == "errors":
        return _errors([[window] for window in cell.windows])
    shares = tuple(share for window in cell.windows if (share := MEASURES[measure][1](window)) is not None)
    asked = sum(window.ok + sum(window.errors.values()) for window in cell.windows)
    return Share(shares, asked) if shares else None


def _errors(rounds: Sequence[Sequence[Window]]) -> Share | None:
    """Of the windows of each round, one or more, all requests as one."""
    if not rounds:
        return None
    shares, possible, asked, left = [], [], 0, 0
    for windows in rounds:
        ok, wrong = sum(window.ok for window in windows), sum((Counter(window.errors) for window in windows), Counter())
        more = sum(could_have_failed(window.run, window.points_ns.get("p99")) for window in windows)
        shares.append(error_share(wrong, ok))
        possible.append(error_share(wrong, ok, more))
        asked, left = asked + ok + sum(wrong.values()), left + more
    return Share(tuple(shares), asked, left, statistics.fmean(possible))


def _of_shares(one: Share | None, other: Share | None) -> Ratio | None:
    """Of intervals, the widest that they allow: one without any errors is the equal of another without any."""
    if one is None or other is None:
        return None
    mine, others = one.bounded, other.bounded
    rounds = min(mine.rounds, others.rounds)
    if mine.value == 0 and others.value == 0:
        if rounds < 2:
            return Ratio(1.0, None, None, rounds, of_nothing=True)
        low = 0.0 if other.left else 1.0
        high = math.inf if one.left else 1.0
        return Ratio(1.0, low, high, rounds, of_nothing=True)
    value = mine.value / others.value if others.value else math.inf
    if mine.low is None or mine.high is None or others.low is None or others.high is None:
        return Ratio(value, None, None, rounds)

    low, high = _divided((mine.low, mine.high), (others.low, others.high))
    return Ratio(value, low, high, rounds, _spread_of_shares(one, other))


def _spread_of_shares(one: Share, other: Share) -> Spread:
    return lambda comparisons: _divided(one.ends(comparisons), other.ends(comparisons))


def _divided(one: Ends, other: Ends) -> Ends:
    return one[0] / other[1], one[1] / other[0] if other[0] else math.inf
