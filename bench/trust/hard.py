"""Hard: worlds that mislead, and what the analysis claims in them. Measures nothing, and needs a minute or two.

``false`` is a claim that is not true: "A beats B" of two that are equal or the other way round, "faster" or "slower" of
equal revisions, "the same" of one whose slow starts are more than was said to be ruled out, a ruling on a claim.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from bench.table import table
from bench.trust import claiming, noise
from bench.trust.comparing import MOST
from bench.trust.simulated import interval
from webdyno.analyse.change import Change, judge_pairs, looks
from webdyno.analyse.compare import apart, slow_starts_allowed
from webdyno.analyse.doubts.held_back import COST
from webdyno.analyse.doubts.machine import STOLEN
from webdyno.analyse.estimate import Fit, fit
from webdyno.analyse.floors import handicaps
from webdyno.analyse.race import Heat, judge
from webdyno.analyse.replay import confidence_of
from webdyno.model.doubt import Doubt
from webdyno.model.race import Race

FRESH = 90_000
"""Seeds from here on were used for nothing but to be reported; what was chosen was chosen on seeds 1000 to 16,000."""
MARGIN = 0.03


class Seen(NamedTuple):
    """What one experiment came to."""

    false: bool
    held: int = 0
    """Intervals that hold the truth, of ``of``."""
    of: int = 0
    found: float = math.nan
    """Share of the true differences that were found."""


@dataclass(frozen=True, slots=True)
class Case:
    """One kind of world."""

    name: str
    one: Callable[[int], Seen]
    """By its seed."""


def cases() -> list[Case]:
    """All of them."""
    slow = {"share": 0.2, "slower": 0.2}
    return [
        Case("14 equals, quiet, 3 rounds", partial(of_table, noise.quiet, 14, 3)),
        Case("14, one of them 10 % faster, 3 rounds", partial(of_table, noise.quiet, 14, 3, ahead=0.10)),
        Case(
            "14 equals, a start in five 20 % slower, 3 rounds", partial(of_table, noise.slow_starts, 14, 3, about=slow)
        ),
        Case("30 of these", partial(of_table, noise.slow_starts, 30, 3, about=slow)),
        Case("14 of these, 2 rounds", partial(of_table, noise.slow_starts, 14, 2, about=slow)),
        Case(
            "14 equals, a start in ten at half speed, 4 rounds",
            partial(of_table, noise.slow_starts, 14, 4, about={"share": 0.1, "slower": 0.5}),
        ),
        Case(
            "14 equals, starts 0.5 to 10 % unlike, 3 rounds",
            partial(of_table, noise.unlike, 14, 3, about={"least": 0.005, "most": 0.10}),
        ),
        Case(
            "14, starts 1 to 5 % unlike, one 10 % faster, 4 rounds",
            partial(of_table, noise.unlike, 14, 4, ahead=0.10, about={"least": 0.01, "most": 0.05}),
        ),
        Case("8, one wild, one 5 % faster, 4 rounds", partial(of_table, noise.one_wild, 8, 4, ahead=0.05)),
        Case("14, bursts, one 20 % faster, 4 rounds", partial(of_table, noise.bursts, 14, 4, ahead=0.20)),
        Case("14 equals, a machine that wanders, 4 rounds", partial(of_table, noise.wandering, 14, 4)),
        Case("2 equals, one robbed of 8 % at the documented cost, 8 rounds", partial(of_robbed, 2, 8, 0.08)),
        Case("14 equals, all robbed of 5 to 15 %, 4 rounds", partial(of_robbed, 14, 4, None)),
        Case("8 equals that sleep, 15 steps in a window, 4 rounds", of_steps),
        Case("6, a race, the first 6 % ahead", of_race),
        Case("compare: equal, starts 2 % unlike", partial(of_pairs, 0.0, 0.0, 0.0, 0.02)),
        Case("compare: head 8 % slower, starts 2 % unlike", partial(of_pairs, -0.08, 0.0, 0.0, 0.02)),
        Case("compare: a start of head in ten at half speed", partial(of_pairs, 0.0, 0.1, 0.5, 0.01)),
        Case("compare: a start of head in five 15 % slower", partial(of_pairs, 0.0, 0.2, 0.15, 0.01)),
        Case("noise floor exceeded: equal", partial(of_floor, 0.0, 0.0)),
        Case("noise floor exceeded: a start of both in five 15 % slower", partial(of_floor, 0.2, 0.15)),
        Case("noise floor exceeded: a start of both in ten at half speed", partial(of_floor, 0.1, 0.5)),
        *(Case(f"claim about {name}", partial(of_claim, is_false)) for name, is_false in claiming.worlds().items()),
    ]


def run(worlds: int, first: int) -> list[str]:
    """The table, over so many worlds of each kind with seeds from ``first`` on."""
    seeds = range(first, first + worlds)
    with ProcessPoolExecutor() as pool:
        rows = [_row(case.name, list(pool.map(case.one, seeds, chunksize=25))) for case in cases()]
    return [f"{worlds} worlds each, seeds {first} to {first + worlds - 1}", "", *table(_HEADS, rows)]


_HEADS = ["world", "with a false claim", "95 % interval", "intervals hold the truth", "found"]


def _row(name: str, seen: Sequence[Seen]) -> list[str]:
    wrong, of = sum(each.false for each in seen), sum(each.of for each in seen)
    low, high = interval(wrong, len(seen))
    known = [each.found for each in seen if not math.isnan(each.found)]
    return [
        name,
        f"{wrong} ({wrong / len(seen):.1%})",
        f"{low:.1%} to {high:.1%}",
        f"{sum(each.held for each in seen) / of:.1%}" if of else "-",
        f"{np.mean(known):.1%}" if known else "-",
    ]


def of_table(
    make: Callable[..., noise.Logs],
    contenders: int,
    rounds: int,
    seed: int,
    *,
    ahead: float = 0.0,
    about: dict[str, Any] | None = None,
) -> Seen:
    """A table of which the first contender is ``ahead`` of all others, who are equal."""
    rng = np.random.default_rng(seed)
    truth = np.zeros(contenders)
    truth[0] = math.log1p(ahead)
    made = _fitted(truth[:, None] + make(rng, contenders, rounds, **(about or {})) + noise.rounds_of(rng, rounds))
    return judged(made, truth, apart(made, made.names))


def of_robbed(contenders: int, rounds: int, share: float | None, seed: int) -> Seen:
    """Equals of whom the hypervisor takes a ``share`` of the first's time, or of everybody's what it likes; it costs as
    much as ``floors`` documents."""
    rng = np.random.default_rng(seed)
    stolen = np.zeros((contenders, rounds))
    if share is None:
        stolen[:] = rng.uniform(0.05, 0.15, contenders)[:, None] * rng.uniform(0.8, 1.2, (contenders, rounds))
    else:
        stolen[0] = share
    truth = np.zeros(contenders)
    logs = noise.quiet(rng, contenders, rounds) + np.log1p(-COST * stolen) + noise.rounds_of(rng, rounds)
    made = _fitted(logs)
    lost = {name: float(np.median(stolen[at])) for at, name in enumerate(made.names)}
    about = {name: [doubt_of("stolen-time", {"steal": part})] if part >= STOLEN else [] for name, part in lost.items()}
    return Seen(judged(made, truth, apart(made, made.names, handicaps(about))).false)


def of_steps(seed: int) -> Seen:
    """Equals that answer in 15 steps a window, each beginning its rounds at a point of a step that is its own."""
    rng = np.random.default_rng(seed)
    counts = np.floor(15.5 + rng.random(8))[:, None] * np.ones((8, 4))
    names = _names(8)
    cells = {(name, r): counts[at, r] for at, name in enumerate(names) for r in range(4)}
    made = fit(cells, steps={key: 1 / count for key, count in cells.items()})
    if made is None:
        raise ValueError("nothing was measured in this world")
    doubt = {name: [doubt_of("few-answers", {"at_work": 1, "answers": counts[at, 0]})] for at, name in enumerate(names)}
    return judged(made, np.zeros(8), apart(made, names, handicaps(doubt)))


def of_race(seed: int) -> Seen:
    """The sentence of a race: does the interval of the first against the second hold the truth, where it was told?"""
    rng, asked = np.random.default_rng(seed), Race(top=1)
    truth = np.array([0.06, 0.0, -0.05, -0.10, -0.3, -0.3])
    logs = truth[:, None] + noise.quiet(rng, 6, asked.most_rounds, luck=0.03) + noise.rounds_of(rng, asked.most_rounds)
    heat, cells = Heat(), {}
    for round_ in range(1, asked.most_rounds + 1):
        on = [at for at, name in enumerate(_names(6)) if heat.active is None or name in heat.active]
        cells |= {(_names(6)[at], round_): math.exp(logs[at, round_ - 1]) for at in on}
        if round_ >= asked.least_rounds:
            heat = judge({"": cells}, {"": heat}, asked, round_ - asked.least_rounds + 1)[""]
    made = fit(cells)
    if made is None:
        raise ValueError("nothing was measured in this world")
    order = np.argsort(-made.logs)
    first, second = (made.names[at] for at in order[:2])
    lead = truth[_names(6).index(first)] - truth[_names(6).index(second)]
    false = any(truth[_names(6).index(one)] <= truth[_names(6).index(other)] for one, other in heat.told)
    if (first, second) not in heat.told:
        return Seen(false, found=0.0)
    said = made.ratio(first, second, confidence_of(asked, made, first, second))
    return Seen(false, int((said.low or 0) <= math.exp(lead) <= (said.high or 0)), 1, 1.0)


def of_pairs(change: float, share: float, slower: float, luck: float, seed: int) -> Seen:
    """``compare``: head is changed, or a share of its starts is slow.

    The interval is to hold the mean of all starts, or of those that are not slow.
    """
    rng = np.random.default_rng(seed)
    found, pairs = _sitting(rng, luck, lambda head: math.log1p(change) * head, head_slow=(share, slower))
    mean = math.log1p(change) + share * math.log1p(-slower)
    said = {"slower": mean < 0, "faster": mean > 0, "cannot tell": True}
    true = said.get(found.verdict, abs(mean) < math.log1p(MARGIN) or slow_starts_allowed(pairs) >= share)
    low, high = (found.ratio.low or 0, found.ratio.high or 0) if found.ratio else (0, 0)
    right = math.nan if share else float(found.verdict == ("slower" if change < 0 else "same"))
    held = low <= 1 + change <= high or low <= math.exp(mean) <= high
    return Seen(not true, int(held), 1, right)


def of_floor(share: float, slower: float, seed: int) -> Seen:
    """``compare`` of two that are equal: ``false`` is a change beyond the noise floor."""
    rng = np.random.default_rng(seed)
    found, _ = _sitting(rng, 0.02, lambda _: 0.0, head_slow=(share, slower), base_slow=(share, slower))
    if found.ratio is None or found.noise_floor is None:
        raise ValueError("too few pairs for a noise floor")
    return Seen(abs(found.ratio.value - 1) > found.noise_floor)


def _sitting(
    rng: noise.Rng,
    luck: float,
    change: Callable[[bool], float],
    *,
    head_slow: tuple[float, float],
    base_slow: tuple[float, float] = (0.0, 0.0),
) -> tuple[Change, int]:
    """Pairs until a look decides, and how many; the machine drifts."""
    figures: dict[bool, list[float]] = {False: [], True: []}
    drift = 0.0
    for pair in range(MOST):
        for head in (False, True) if pair % 2 == 0 else (True, False):
            drift = 0.995 * drift + rng.normal(0, 0.002)
            share, slower = head_slow if head else base_slow
            slow = math.log1p(-slower) if rng.random() < share else 0.0
            figures[head].append(math.exp(9 + drift + change(head) + slow + rng.normal(0, luck)))
        if pair + 1 in looks(MOST):
            found = judge_pairs(figures[False], figures[True], MARGIN, most=MOST)
            if found.verdict != "cannot tell":
                break
    return found, pair + 1


def of_claim(is_false: Callable[[int], bool], seed: int) -> Seen:
    """A claim of an article about several comparisons, at the border."""
    return Seen(is_false(seed))


def judged(made: Fit, truth: noise.Logs, told: set[frozenset[str]]) -> Seen:
    """By the claims ``told`` and by the intervals of the first against the next five."""
    place = {name: at for at, name in enumerate(made.names)}
    logs, false, found, real = made.logs, False, 0, 0
    for one, other in combinations(made.names, 2):
        lead = truth[place[one]] - truth[place[other]]
        said = frozenset((one, other)) in told
        real += lead != 0
        false |= said and lead * (logs[place[one]] - logs[place[other]]) <= 0
        found += said and lead * (logs[place[one]] - logs[place[other]]) > 0
    held = of = 0
    for other in made.names[1:6]:
        ratio = made.ratio(made.names[0], other)
        if ratio.low is not None and ratio.high is not None:
            of += 1
            held += ratio.low <= math.exp(truth[0] - truth[place[other]]) <= ratio.high
    return Seen(bool(false), held, of, found / real if real else math.nan)


def _fitted(logs: noise.Logs) -> Fit:
    names = _names(len(logs))
    made = fit({(name, r): math.exp(9 + logs[at, r]) for at, name in enumerate(names) for r in range(logs.shape[1])})
    if made is None:
        raise ValueError("nothing was measured in this world")
    return made


def _names(contenders: int) -> list[str]:
    return [f"c{at:02}" for at in range(contenders)]


def doubt_of(kind: str, numbers: dict[str, float | int | str]) -> Doubt:
    return Doubt(kind=kind, severity="shades", subject="", sentence="", advice="", numbers=numbers)
