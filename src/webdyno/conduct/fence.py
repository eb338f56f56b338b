"""Fence: the looks at whether a contender is still where it was put, and whole, from its first answer to the end of its
load.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from webdyno.conduct.roll import Roll
from webdyno.model.run import Outcome
from webdyno.rig.group import Group

LOOK_S = 1.0
"""From one look to the next, under load; of a block's members together."""
REST = 100
"""After a look that took t, the next one is at least this many t away: with a thousand threads it takes 50 ms."""


class Fence:
    """Of one contender. What is found is said to ``fail``, and its Run is void: what it used was not all counted."""

    def __init__(self, group: Group, fail: Callable[[Outcome, str], None], roll: Roll) -> None:
        self._group, self._fail, self._roll = group, fail, roll
        self._due_s = 0.0

    def look(self, *, whole: bool = False, last: bool = False) -> None:
        """``whole``: all over the machine, which is for before and after a load; ``last``: it is the one after."""
        begun_s = time.monotonic()
        if found := self._group.outside(whole=whole):
            self._fail("escaped", found)
        self._roll.call(last=last)
        ended_s = time.monotonic()
        self._due_s = ended_s + max(LOOK_S, REST * (ended_s - begun_s))

    def look_again(self) -> None:
        """Unless it was looked at just now."""
        if time.monotonic() >= self._due_s:
            self.look()
