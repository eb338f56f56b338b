"""Blocks: which Runs of a table met, and what they did beside each other.

Runs of one block took turns, so they are read together (``turns``), and the block takes the place of the round: it is
what they have in common. A Run that was measured alone, in a table that has blocks, is compared with the block of its
round that was nearest in time, since the machine drifts; and it has a variance of its own kind, for what one long
window shows is some ten times as noisy as thirty turns in passes. In a fleet a round has a part on each host that
measured any of it: contenders are compared only within a host.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

from webdyno.analyse.additive import Key, Meeting, Meetings
from webdyno.analyse.estimate import Cells
from webdyno.analyse.robbed import Robbed, read_robbed
from webdyno.analyse.turns import turned, turns_of
from webdyno.analyse.window import Window, by_turns, read_window
from webdyno.model.run import Run


def read_windows(runs: Iterable[Run], read: Callable[..., Window | None] = read_window) -> list[Window]:
    """Of the Runs that succeeded, in their order; those of one block are read together. ``read``: one by itself."""
    found = [window for run in runs if (window := read(run, turns=run.block is None)) is not None]
    blocks: dict[int, list[int]] = {}
    for at, window in enumerate(found):
        if window.run.block is not None:
            blocks.setdefault(window.run.block, []).append(at)
    together = [{at: found[at] for at in places} for places in blocks.values()]
    robbed = read_robbed(
        (window.run.trial.contender, turns_of(window.run)) for block in together for window in block.values()
    )
    for block in together:
        for at, window in _together(block, robbed).items():
            found[at] = window
    return found


def _together(block: Mapping[int, Window], robbed: Robbed) -> dict[int, Window]:
    """The Runs of one block that answered in their turns, by their places."""
    told = turned(
        {at: turns_of(window.run) for at, window in block.items()},
        lambda at, turn: robbed.speed(block[at].run.trial.contender, turn),
    )
    gains = [math.log(turns.rate_per_s / block[at].steady.rate_per_s) for at, turns in told.items()]
    others = [gains[:at] + gains[at + 1 :] for at in range(len(gains))]
    return {
        at: by_turns(block[at], turns, gain - statistics.median(beside) if beside else None)
        for (at, turns), gain, beside in zip(told.items(), gains, others, strict=True)
    }


def alone(windows: Iterable[Window]) -> list[Window]:
    """Runs without those of their blocks, as ``read_window`` reads one by itself; what was read of them is kept."""
    found = list(windows)
    places = [at for at, window in enumerate(found) if window.run.block is not None and window.turned is not None]
    told = turned({at: turns_of(found[at].run) for at in places}, together=False)
    for at, turns in told.items():
        found[at] = by_turns(found[at], turns)
    return found


def meetings(windows: Iterable[Window]) -> Meetings:
    """Of the Runs of one table, by contender and round; empty where no Run has a block, and all are of one host."""
    windows = list(windows)
    hosts = hosts_of(window.run for window in windows)
    if all(window.run.block is None for window in windows) and len(hosts) < 2:
        return {}
    blocks: dict[tuple[str, int], dict[int, datetime]] = {}
    for window in windows:
        if window.run.block is not None:
            blocks.setdefault(_part(window.run), {})[window.run.block] = _begin(window.run)
    return {
        (window.run.trial.contender, window.run.trial.round): Meeting(
            _block(window.run, blocks.get(_part(window.run), {}), -1 - hosts.index(window.run.rig.contender_host)),
            window.turned is not None,
        )
        for window in windows
    }


def hosts_of(runs: Iterable[Run]) -> list[str]:
    """The machines of a fleet that they were made on; a single name for those of one machine."""
    return sorted({run.rig.contender_host for run in runs})


def _part(run: Run) -> tuple[str, int]:
    """Host and round: within one, all may be compared."""
    return run.rig.contender_host, run.trial.round


def met_on_hosts(host_of: Mapping[Key, str]) -> Meetings:
    """Of cells of several tables, each measured on a host in a round; empty where all are of one host."""
    hosts = sorted(set(host_of.values()))
    return {} if len(hosts) < 2 else {key: Meeting(-1 - hosts.index(host), False) for key, host in host_of.items()}


def lonely(windows: Iterable[Window]) -> set[Key]:
    """Contender and round of those on several hosts that met no other, though the contender did in other rounds.

    On one machine such a Run counts, and what the machine did is part of its contender's variance. Hosts may differ by
    more than any contender: what a host that was lost has left over is then compared with nobody.
    """
    windows = list(windows)
    if len(hosts_of(window.run for window in windows)) < 2:
        return set()
    met = meetings(windows)
    beside = Counter((round_, meeting.block) for (_, round_), meeting in met.items())
    alone = {key for key, meeting in met.items() if beside[key[1], meeting.block] == 1}
    in_company = {name for name, _ in met.keys() - alone}
    return {key for key in alone if key[0] in in_company}


def least_variances(windows: Iterable[Window]) -> Cells:
    """Of the logarithms of rates, by contender and round: what their turns show, to which the luck of a start comes."""
    return {
        (window.run.trial.contender, window.run.trial.round): window.turned.variance
        for window in windows
        if window.turned is not None
    }


def level_variances(windows: Iterable[Window]) -> Cells:
    """Of the logarithms of rates, by contender and round: what all rounds of a contender share; so much for each that
    their mean has it, however many there are."""
    windows = list(windows)
    number = Counter(window.run.trial.contender for window in windows)
    return {
        (name, window.run.trial.round): number[name] * window.level_variance
        for window in windows
        if window.level_variance and (name := window.run.trial.contender)
    }


def _block(run: Run, there: Mapping[int, datetime], none: int) -> int:
    """Its own, or the nearest in time of ``there``, the blocks of its round on its host; ``none``: there is none."""
    if run.block is not None:
        return run.block
    begin = _begin(run)
    return min(there, key=lambda block: (abs(there[block] - begin), block), default=none)


def _begin(run: Run) -> datetime:
    return datetime.fromisoformat(run.started_at)
