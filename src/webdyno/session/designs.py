"""The design that a Plan names, on this machine."""

from __future__ import annotations

from webdyno.design import Design
from webdyno.design.blocks import Room
from webdyno.design.grid import grid
from webdyno.model.rig import Fingerprint
from webdyno.model.trial import Plan
from webdyno.rig.memory import free_memory_bytes


def design_of(plan: Plan, machine: Fingerprint, room: Room | None = None) -> Design:
    """A race where the Plan is one, else every round of everything, and then what open claims ask for.

    ``room``: of the hosts of a fleet; None: there is this machine.
    """
    room = room or room_here()
    if plan.race is not None:
        from webdyno.design.race import race  # numpy, which a grid need not wait for

        return race(plan, room, machine.ceilings)
    if plan.further is not None:
        from webdyno.design.open_claims import open_claims

        return open_claims(plan, plan.further, machine, room)
    return grid(plan, room)


def room_here() -> Room:
    """For contenders side by side, as this machine is now."""
    return Room(memory_bytes=free_memory_bytes())
