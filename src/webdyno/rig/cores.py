"""Cores: which of them each role gets.

Rules: only cores this process may use; both threads of a physical core go to the same role (a neighbour on the other
thread costs up to half the speed, unevenly); the contender comes first, the driver next, webdyno itself and services
take what is left. One physical core with several threads is the exception: its threads are split, which is still
better than one run queue for all; one single core is shared by all, and the Rig says so.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

Threads = tuple[int, ...]
Side = Literal["contender", "driver"]
"""What of the two a machine has, where each is on a machine of its own."""


class Roles(NamedTuple):
    """Cores by role, numbered as the kernel does."""

    contender: Threads
    driver: Threads
    control: Threads
    service: Threads


def assign(physical: Sequence[Threads], wanted: int = 1) -> Roles:
    """``physical``: each physical core as the threads of it that may be used; ``wanted``: threads that the question
    needs for its contenders. Pure.

    | physical cores | contender | driver | control   | services  |
    |----------------|-----------|--------|-----------|-----------|
    | 1              | all share (split by threads when there are several)    |
    | 2              | 1         | 1      | with the driver       |
    | 3              | 1         | 1      | 1, shared by the two  |
    | 3, more wanted | 2         | 1      | with the driver       |
    | 4 to 7         | the rest, the larger half | the smaller half | 1, shared by the two |
    | 8 and more     | the same  | the same | 1       | one in 8  |
    """
    if len(physical) == 1 and len(physical[0]) > 1:
        physical = [(thread,) for thread in physical[0]]
    count = len(physical)
    if count == 1:
        return Roles(physical[0], physical[0], physical[0], physical[0])
    if count == 2:
        return Roles(physical[0], physical[1], physical[1], physical[1])
    if count == 3 and len(physical[0]) < wanted:
        return Roles(_flat(physical[:2]), physical[2], physical[2], physical[2])
    services = count // 8
    loaded = count - 1 - services
    contenders = (loaded + 1) // 2
    first, last = contenders + (loaded - contenders), count - services
    control = _flat(physical[first:last])
    return Roles(
        contender=_flat(physical[:contenders]),
        driver=_flat(physical[contenders:first]),
        control=control,
        service=_flat(physical[last:]) or control,
    )


def assign_apart(physical: Sequence[Threads], side: Side) -> Roles:
    """As ``assign``, of a machine that has the contender or the driver and not both: that one gets all cores but one,
    and but one in 8 for services; it shares a single one.
    """
    if len(physical) == 1 and len(physical[0]) > 1:
        physical = [(thread,) for thread in physical[0]]
    services = len(physical) // 8
    loaded = max(1, len(physical) - 1 - services)
    measured, control = _flat(physical[:loaded]), _flat(physical[loaded : loaded + 1]) or physical[0]
    service = _flat(physical[loaded + 1 :]) or control
    contender, driver = (measured, ()) if side == "contender" else ((), measured)
    return Roles(contender, driver, control, service)


def physical_cores(usable: Sequence[int], sys_cpu: Path = Path("/sys/devices/system/cpu")) -> list[Threads]:
    """The usable cores, siblings together, in the kernel's order; every one for itself where the topology is not
    told.
    """
    groups: dict[Threads, None] = {}
    for core in sorted(usable):
        try:
            text = (sys_cpu / f"cpu{core}/topology/thread_siblings_list").read_text()
            siblings = tuple(sorted(set(parse_list(text)) & set(usable))) or (core,)
        except (OSError, ValueError):
            siblings = (core,)
        groups[siblings] = None
    return list(groups)


def usable_cores() -> list[int]:
    """Those this process may run on."""
    return sorted(os.sched_getaffinity(0))


def at_most(placed: Roles, cores: int | None) -> Roles:
    """``placed`` with this many threads for contenders at most; the rest of theirs idles."""
    return placed if cores is None else placed._replace(contender=placed.contender[:cores])


def roles(cores: int | None = None, side: Side | None = None) -> Roles:
    """Those of this machine, for this process; ``cores`` for contenders, where it has them, and no more.

    ``side``: what of contender and driver it has; None: both.
    """
    if side is not None:
        return at_most(assign_apart(physical_cores(usable_cores()), side), cores)
    return at_most(assign(physical_cores(usable_cores()), cores or 1), cores)


_MOST_CORES = 1 << 16
"""Eight times what Linux can be built for."""


def parse_list(text: str) -> list[int]:
    """The kernel's ``0-2,5``; ValueError for what is none."""
    cores: list[int] = []
    for part in text.strip().split(","):
        if part:
            first, _, last = part.partition("-")
            low, high = int(first), int(last or first)
            if high > _MOST_CORES:
                raise ValueError(f"core {high}, which no machine has")
            cores.extend(range(low, high + 1))
    return cores


def move_to(cores: Sequence[int]) -> None:
    """Put every thread of this process on ``cores``."""
    for task in Path("/proc/self/task").iterdir():
        try:
            os.sched_setaffinity(int(task.name), cores)
        except ProcessLookupError:
            continue


def _flat(groups: Sequence[Threads]) -> Threads:
    return tuple(thread for group in groups for thread in group)
