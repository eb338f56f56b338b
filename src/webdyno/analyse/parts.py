"""Parts: the rate in each third of a server's life under load, which shows what its JIT compiler does.

The original of study pypy loaded each server three times in a row and compared the third time with the first. Here
every round begins with a fresh server, so that rounds are independent; the same is seen within a round. Rounds in place
are one life, as in the original.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from webdyno.model.run import Run
from webdyno.model.sample import Slice

PARTS = 3


def rates_by_part(slices: Iterable[Slice]) -> list[float]:
    """Correct answers per second in each third of all Slices, in their order; empty with less than three of them.

    A Slice that lies across a border counts on both sides by its share of time. Time is time under load.
    """
    pieces = [(one.loaded_ns, one.ok) for one in slices if one.loaded_ns > 0]
    if len(pieces) < PARTS:
        return []
    length = sum(duration for duration, _ in pieces) / PARTS
    answered, begin = [0.0] * PARTS, 0.0
    for duration, ok in pieces:
        for part in range(PARTS):
            shared = min(begin + duration, (part + 1) * length) - max(begin, part * length)
            answered[part] += ok * max(0.0, shared) / duration
        begin += duration
    return [number / length * 1e9 for number in answered]


def thirds(run: Run) -> list[float]:
    """As ``rates_by_part``, of a server that was started for this Run; of any other, and in a block: empty."""
    return [] if run.reused or run.block is not None else rates_by_part(run.slices)


def lives(runs: Iterable[Run]) -> Iterator[tuple[int, list[float]]]:
    """The thirds of each server's life, with the round it began in; ``runs`` of one contender, in their order.

    Rounds in place follow each other on one server. What took turns in a block has no life to divide.
    """
    begun: list[tuple[int, list[Slice]]] = []
    for run in runs:
        if run.block is not None:
            continue
        if not run.reused:
            begun.append((run.trial.round, []))
        if begun:
            begun[-1][1].extend(run.slices)
    yield from ((round_, rates_by_part(slices)) for round_, slices in begun)


def gain(run: Run) -> float | None:
    """The rate of the last third divided by that of the first; None when there are not enough Slices to tell."""
    rates = thirds(run)
    return rates[-1] / rates[0] if rates and rates[0] > 0 else None
