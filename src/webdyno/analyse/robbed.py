"""Robbed: how much slower turns are for what other programs and the hypervisor took of the cores meanwhile.

Turns come in random order, so in the long run others take as much from everybody; in a block or ten they do not, and
that chance is most of what two equal servers differ by on a busy machine. It is told in each turn, and the rates are
shown as they would be had others taken the same from all: a covariate that the server has no part in narrows an
interval and moves no mean (R. A. Fisher 1932; A. Deng, Y. Xu, R. Kohavi, T. Walker 2013, Improving the sensitivity of
online controlled experiments by utilizing pre-experiment data).

That it has no part in it must be seen to. What a server does itself is in its own cgroup, and is not in this figure.
But the kernel's threads may work for one server more than for another: what others take in every turn of a server, more
than in the calmest tenth of all turns of the table, does not count, nor a tenth of a core above it, which is within the
error of the figure. A quantile of a server's own turns would not do instead: where others are busy nine turns of ten it
is theirs for one server and none for its equal, in every block of the table.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from webdyno.model.sample import Slice

Vector = NDArray[np.floating]
SPARED_CORES = 0.1
CALM = 0.1
"""Quantile of all turns of a table."""
MOST = 1.5
"""Logarithm of speed for each core that is taken: one of two takes half of what there is, or 0.7; what comes out larger
is chance."""
ENOUGH = 12
"""Turns from which on a slope is found."""


@dataclass(frozen=True, slots=True)
class Robbed:
    """What it costs the contenders of one table that others take of their cores."""

    slope: float
    """Logarithm of speed that is lost for each core that is taken; 0 to ``MOST``."""
    usual_cores: Mapping[str, float]
    """Cores' worth that others take anyhow in the turns of each contender; not counted."""

    def speed(self, contender: str, turn: Slice) -> float:
        """Of this turn, as a part of what it is when others take no more than usual."""
        return math.exp(-self.slope * _taken(turn, self.usual_cores[contender]))


def read_robbed(members: Iterable[tuple[str, Sequence[Slice]]]) -> Robbed:
    """From the turns of each Run of a table, with its contender; those of one Run are compared with each other."""
    members = list(members)
    usual = _usual(members)
    number = both = squares = 0.0
    for name, those in members:
        answered = [turn for turn in those if turn.ok]
        if answered:
            taken = _centred([_taken(turn, usual[name]) for turn in answered])
            squares += float(taken @ taken)
            both += float(taken @ _centred([math.log(turn.ok / turn.duration_ns) for turn in answered]))
            number += len(answered)
    told = number >= ENOUGH and squares > 0
    return Robbed(float(np.clip(-both / squares, 0.0, MOST)) if told else 0.0, usual)


def _usual(members: Sequence[tuple[str, Sequence[Slice]]]) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for name, turns in members:
        found.setdefault(name, []).extend(cores for turn in turns if (cores := _cores(turn)) is not None)
    every = [cores for those in found.values() for cores in those]
    calm = float(np.quantile(every, CALM)) if every else 0.0
    return {name: max(calm, min(those, default=calm)) for name, those in found.items()}


def _taken(turn: Slice, usual_cores: float) -> float:
    return max(0.0, (_cores(turn) or 0.0) - usual_cores - SPARED_CORES)


def _cores(turn: Slice) -> float | None:
    return None if turn.others_cpu_ns is None else turn.others_cpu_ns / turn.duration_ns


def _centred(values: Sequence[float]) -> Vector:
    found = np.asarray(values)
    return np.asarray(found - found.mean())
