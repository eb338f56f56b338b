"""The design that a Plan names, on this machine."""

from __future__ import annotations

from collections.abc import Sequence

from webdyno.design import Design
from webdyno.design.blocks import Room
from webdyno.design.grid import grid
from webdyno.model.rig import Ceiling
from webdyno.model.trial import Plan
from webdyno.rig.memory import free_memory_bytes


def design_of(plan: Plan, ceilings: Sequence[Ceiling]) -> Design:
    """A race where the Plan is one, else every round of everything."""
    room = room_here()
    if plan.race is None:
        return grid(plan, room)
    from webdyno.design.race import race  # numpy, which a grid need not wait for

    return race(plan, room, ceilings)


def room_here() -> Room:
    """For contenders side by side, as this machine is now."""
    return Room(memory_bytes=free_memory_bytes())
