"""Which settings go on: every server once as recommended, then the sweep of those not clearly behind, then halving.

A server that waits (its cores idle while requests queue for one of its threads) says nothing of itself by its first
rate: 4 threads serve an application that sleeps for 200 ms 20 times a second, and 40 threads 200 times. So one that
waits gets larger pools before it is dropped, the largest first.

Settings are measured in blocks, several at a time. The fastest so far is a member of every block, so that all are
compared with it within theirs, and with each other through it: rates are those of the additive fit over all blocks.

Each rung measures what is left once more and keeps the better half, so that time goes to the winner and its nearest
rivals. Nothing here is a claim: what is claimed comes from the last comparison, which starts over (see final.py).

K. Jamieson, A. Talwalkar (2016), Non-stochastic best arm identification and hyperparameter optimization. AISTATS 19,
for successive halving.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import NamedTuple

from webdyno.analyse.additive import Key, Meeting
from webdyno.analyse.estimate import fit
from webdyno.model.run import Run

FINALISTS, LEAST_FINALISTS = 4, 2
SAME_SERVER = 2
"""Of the finalists, this many settings of one server at most: a rival is another server."""
WORTH_A_SWEEP = 0.5
"""Part of the best rate a server must reach as recommended for its settings to be tried."""
CLEARLY_BEHIND = 0.75
"""Part of the best rate below which a setting is dropped at once, however many are left."""
RUNG_S = (0.5, 0.5, 1.0, 1.5, 2.0)
"""Steady seconds of each rung."""
COMPARED = 2
"""This many of the first rung are measured even when the budget is over: one alone is compared with nothing."""
SWEEP_SHARE = 0.35
"""Part of the budget that the sweep may take."""


class Seen(NamedTuple):
    """One Run of a setting."""

    run: Run
    rate_per_s: float
    """0: it failed."""
    waits: bool
    """Its cores were idle while requests queued for it."""
    round: int
    """Of which it is a Run: nobody is measured twice in one."""
    met: Meeting


@dataclass
class Field:
    """Everyone measured so far."""

    guessed_s: float = 0.0
    """What a Run takes, before any was seen."""
    runs: dict[str, list[Run]] = field(default_factory=dict)
    rates: dict[Key, float] = field(default_factory=dict)
    """Of the Runs that did not fail."""
    met: dict[Key, Meeting] = field(default_factory=dict)
    """Where these were measured."""
    failed: dict[str, Run] = field(default_factory=dict)
    dropped: dict[str, int] = field(default_factory=dict)
    """Rung after which a setting was dropped, from 1."""
    untried: list[str] = field(default_factory=list)
    """Settings that the budget did not reach."""
    waiting: set[str] = field(default_factory=set)
    """Settings that a larger pool may make faster, as their latest Run has it."""

    def book(self, name: str, seen: Seen) -> None:
        """A Run; one that failed takes its setting out."""
        self.runs.setdefault(name, []).append(seen.run)
        if seen.rate_per_s <= 0:
            self.failed[name] = seen.run
        else:
            self.rates[name, seen.round], self.met[name, seen.round] = seen.rate_per_s, seen.met
            (self.waiting.add if seen.waits else self.waiting.discard)(name)

    def reached(self) -> dict[str, float]:
        """The rate of everybody who served, the fastest first; what blocks differ by is taken out."""
        fitted = fit(self.rates, met=self.met)
        found = {} if fitted is None else dict(zip(fitted.names, map(math.exp, fitted.logs), strict=True))
        return {name: found[name] for name in sorted(found, key=lambda name: -found[name])}

    def ranked(self, names: Iterable[str]) -> list[str]:
        """Those that did not fail, the fastest first."""
        among = set(names) - set(self.failed)
        return [name for name in self.reached() if name in among]

    @property
    def seconds(self) -> float:
        """Length of a Run: the median, for one server that never answers is no measure of what the others will take."""
        every = [run.seconds for runs in self.runs.values() for run in runs]
        return median(every) if every else self.guessed_s


@dataclass(frozen=True)
class Blocks:
    """How settings are measured."""

    measure: Callable[[Sequence[str], float], Mapping[str, Seen]]
    """Together, where they can be, for this many steady seconds each."""
    members: Callable[[], int]
    """This many at a time; 1: each is measured alone."""


@dataclass(frozen=True)
class Sweeps:
    """The other settings of a server, by the name of its recommended one."""

    catalogue: Callable[[str], list[str]]
    """Those worth trying of one that is among the first."""
    wider: Callable[[str], list[str]]
    """Those with a larger pool than it is recommended with, the largest first."""


def kept(field_: Field, names: Sequence[str], most: int, rung: int) -> list[str]:
    """The better half of ``names`` (at least ``most`` of them), none clearly behind; the others are dropped."""
    ranked, rates = field_.ranked(names), field_.reached()
    stay = ranked[: max(most, math.ceil(len(ranked) / 2))]
    stay = [name for name in stay if rates[name] >= CLEARLY_BEHIND * rates[ranked[0]]]
    for name in ranked:
        if name not in stay:
            field_.dropped[name] = rung
    return stay


def finalists(field_: Field, names: Sequence[str], server_of: Callable[[str], str], most: int = FINALISTS) -> list[str]:
    """The first few, no server more than twice while there are others."""
    ranked = field_.ranked(names)
    chosen: list[str] = []
    for name in ranked:
        if sum(server_of(each) == server_of(name) for each in chosen) < SAME_SERVER:
            chosen.append(name)
    chosen += [name for name in ranked if name not in chosen]
    chosen = chosen[:most]
    others = [name for name in field_.ranked(field_.runs) if server_of(name) not in map(server_of, chosen)]
    if len({server_of(name) for name in chosen}) == 1 and others:
        chosen = [*chosen[: most - 1], others[0]]  # however far behind: it is what the first is compared with
        field_.dropped.pop(others[0], None)
    return field_.ranked(chosen)


def worth_a_sweep(field_: Field, names: Sequence[str]) -> list[str]:
    """Servers whose settings are tried, the fastest first."""
    ranked, rates = field_.ranked(names), field_.reached()
    return [name for name in ranked if rates[name] >= WORTH_A_SWEEP * rates[ranked[0]]]


def to_sweep(field_: Field, bases: Sequence[str], sweeps: Sweeps) -> list[str]:
    """Settings to be tried, what may bring the most first: a budget may not reach all of them."""
    wider = [sweeps.wider(name) for name in field_.ranked(bases) if name in field_.waiting]
    near = [setting for name in worth_a_sweep(field_, bases) for setting in sweeps.catalogue(name)]
    largest, others = [pools[0] for pools in wider if pools], [setting for pools in wider for setting in pools[1:]]
    return list(dict.fromkeys([*largest, *near, *others]))


def halve(
    bases: Sequence[str],
    sweeps: Sweeps,
    blocks: Blocks,
    budget_s: float,
    left: Callable[[float], float],
    say: Callable[[int, list[str], Field], None],
    spare: Callable[[float], float] = lambda _: 0.0,
    guessed_s: float = 0.0,
) -> tuple[Field, list[str]]:
    """All rungs. ``left``: seconds until the screening, given that this many a Run takes, must end; ``spare``: how many
    of these even the longest last comparison would not use; ``guessed_s``: what a Run takes, before any was seen.

    The field, and who is left, the fastest first.
    """
    field_ = Field(guessed_s)
    _rung(field_, bases, 1, blocks, left, say)
    swept, each_s = to_sweep(field_, bases, sweeps), field_.seconds
    room = int(min(max(SWEEP_SHARE * budget_s, spare(each_s)), left(each_s)) / max(each_s, 0.1))
    field_.untried += swept[max(room, 0) :]
    stay = field_.ranked(bases)
    if swept[: max(room, 0)]:
        _rung(field_, swept[:room], 2, blocks, left, say)
        stay = [*stay, *swept[:room]]
    rung = 2
    while True:
        stay = kept(field_, stay, 2 * FINALISTS, rung)
        rung += 1
        if (len(stay) <= 2 * FINALISTS and rung > 3) or left(field_.seconds) < len(stay) * (field_.seconds + 0.5):
            return field_, stay
        _rung(field_, stay, rung, blocks, left, say)


def _rung(
    field_: Field,
    names: Sequence[str],
    rung: int,
    blocks: Blocks,
    left: Callable[[float], float],
    say: Callable[[int, list[str], Field], None],
) -> None:
    """Each of ``names`` once more. A rung that takes longer than foretold (servers that never answer) is broken off."""
    duration_s = RUNG_S[min(rung, len(RUNG_S)) - 1]
    say(rung, list(names), field_)
    least, ahead = COMPARED if rung == 1 else 1, list(names)
    while ahead:
        fitting = math.ceil(left(field_.seconds) / max(field_.seconds, 0.1))
        if max(fitting, least) < 1:
            field_.untried += [name for name in ahead if name not in field_.runs]
            return
        members = blocks.members()
        fresh = ahead[: min(max(fitting, least), members)]
        best = [name for name in field_.ranked(field_.runs)[:1] if members > 1 and name not in fresh]
        fresh = fresh[: members - 1] if best else fresh
        for name, seen in blocks.measure([*best, *fresh], duration_s).items():
            field_.book(name, seen)
        ahead, least = ahead[len(fresh) :], least - len(fresh)
