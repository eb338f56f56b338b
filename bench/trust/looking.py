"""Looking: a claim that is looked at again after further rounds, in a minute and for as long as it takes.

"a serves more than b", both measured beside two others. Rates are made up; who gets further rounds, and the ruling,
come from the design and the analysis themselves. ``holds`` of equals is false, and so is ``does not`` of a lead of 5 %.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from statistics import fmean
from typing import NamedTuple

import msgspec
import numpy as np

from bench.table import table
from bench.trust import noise
from tests.analyse import fakes
from webdyno.analyse import analyse
from webdyno.design.blocks import Room
from webdyno.design.open_claims import open_claims
from webdyno.model.claim import Claim, Ruling
from webdyno.model.further import Further
from webdyno.model.run import Run

FRESH = 430_000
"""Seeds from here on were used for nothing but to be reported."""
NAMES = ("a", "b", "c", "d")
WHOLE, SECONDS = 3, 2.0
BRIEF = Further(looks=[6, 9], budget_s=60.0)
LONG = Further(looks=[6, 9], budget_s=1e6)
CLAIM = Claim(text="a serves more than b", contenders=["a"], relation="more than", than=["b"], times=1.0)
KINDS: dict[str, Callable[[noise.Rng, int, int], noise.Logs]] = {
    "quiet": partial(noise.quiet, luck=0.05),
    "a fifth of the starts 20 % slower": partial(noise.slow_starts, share=0.2, slower=0.2, luck=0.03),
    "a machine that wanders": noise.wandering,
}
LEADS = (1.0, 1.05, 1.1, 1.15)


class Course(NamedTuple):
    """What became of the claim in one world."""

    in_brief: Ruling
    at_last: Ruling
    runs: int
    """Further ones in all."""


def run(number: int, first: int) -> list[str]:
    """The table, over so many worlds of each kind with seeds from ``first`` on."""
    seeds = range(first, first + number)
    with ProcessPoolExecutor() as pool:
        rows = [
            _row(kind, lead, list(pool.map(partial(course, kind, lead), seeds, chunksize=10)))
            for kind in KINDS
            for lead in LEADS
        ]
    return [f"{number} worlds each, seeds {first} to {first + number - 1}", "", *table(_HEADS, rows)]


_HEADS = ["starts", "a over b", "a minute: holds, does not", "to the last look: holds, does not", "runs"]


def _row(kind: str, lead: float, courses: Sequence[Course]) -> list[str]:
    in_brief, at_last = ([course[at] for course in courses] for at in (0, 1))
    return [kind, f"{lead:g}", _shares(in_brief), _shares(at_last), f"{fmean(course.runs for course in courses):.0f}"]


def _shares(rulings: Sequence[Ruling | int]) -> str:
    return ", ".join(f"{rulings.count(one) / len(rulings):.1%}" for one in ("holds", "does not hold"))


def course(kind: str, lead: float, seed: int) -> Course:
    """The claim in the world of ``seed``, first with a minute for further rounds, then with time for all looks."""
    rng = np.random.default_rng(seed)
    logs = KINDS[kind](rng, len(NAMES), LONG.all_looks[-1])
    rates = 1000.0 * np.exp(logs) * np.array([lead, 1.0, 1.3, 0.7])[:, None]
    runs = [_run(name, round_, rates) for round_ in range(1, WHOLE + 1) for name in NAMES]
    runs, in_brief = _looked_at(BRIEF, runs, rates)
    runs, at_last = _looked_at(LONG, runs, rates)
    return Course(in_brief, at_last, len(runs) - WHOLE * len(NAMES))


def _looked_at(further: Further, runs: list[Run], rates: noise.Logs) -> tuple[list[Run], Ruling]:
    """All Runs in the end, and the ruling then."""
    begun = [run for run in runs if run.trial.round <= WHOLE]
    plan = fakes.plan(begun, rounds=WHOLE, whole_rounds=WHOLE, claims=[CLAIM], further=further)
    design = open_claims(plan, further, fakes.FINGERPRINT, Room(memory_bytes=None))
    while blocks := design(runs):
        wanted = [trial for block in blocks for trial in block]
        made = [msgspec.structs.replace(_run(it.contender, it.round, rates), trial=it) for it in wanted]
        runs = [*runs, *made]
    whole = msgspec.structs.replace(plan, trials=[run.trial for run in runs])
    return runs, analyse(whole, fakes.FINGERPRINT, runs).claims[0].ruling


def _run(name: str, round_: int, rates: noise.Logs) -> Run:
    return fakes.run(name, rate=float(rates[NAMES.index(name), round_ - 1]), round_=round_, seconds=SECONDS)
