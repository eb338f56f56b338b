"""Placing: where in time each Slice is drawn, and what zero is.

The Slices of a Run that was measured alone follow each other, and zero is the start of its steady phase. The turns of a
block lie apart, for others had theirs in between: they stand at their true time since the first turn of the block, so
that what the machine did is seen in all its contenders at the same place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from webdyno.analyse.turns import turns_of
from webdyno.analyse.window import Window
from webdyno.model.run import Run
from webdyno.model.sample import Slice

Zeros = Mapping[int, int]
"""Begin of the first turn of each block, by its number; CLOCK_MONOTONIC."""
_ALONE = "the start of the steady phase"


def zeros_of(windows: Iterable[Window]) -> Zeros:
    """Of the blocks that these were measured in."""
    found: dict[int, int] = {}
    for run in (window.run for window in windows if window.run.block is not None):
        for turn in turns_of(run):
            if run.block is not None and turn.start_ns is not None:
                found[run.block] = min(turn.start_ns, found.get(run.block, turn.start_ns))
    return found


def placed(run: Run, zeros: Zeros) -> Iterator[tuple[float, Slice]]:
    """Each Slice with the middle of its time in seconds; of a Run in turns these alone."""
    if turns := turns_of(run):
        zero = zeros.get(run.block or 0)
        for turn in turns:
            if zero is not None and turn.start_ns is not None:
                yield (turn.start_ns - zero + turn.duration_ns / 2) / 1e9, turn
        return
    slices = [slice_ for slice_ in run.slices if slice_.duration_ns > 0]
    passed = -sum(slice_.duration_ns for slice_ in slices if slice_.phase == "warmup")
    for slice_ in slices:
        yield (passed + slice_.duration_ns / 2) / 1e9, slice_
        passed += slice_.duration_ns


def since(windows: Sequence[Window], first: str = "the first turn of the block") -> str:
    """What zero is: the title of their time axis."""
    in_turns = {window.turned is not None for window in windows}
    if in_turns == {True, False}:
        return f"seconds from {first}; for those measured alone, from {_ALONE}"
    return f"seconds from {first if True in in_turns else _ALONE}"
