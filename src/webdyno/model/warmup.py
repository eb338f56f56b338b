"""WarmUp: how long a contender takes from its start until it is as fast as it gets."""

from __future__ import annotations

import msgspec

from webdyno.model.estimate import Estimate


class WarmUp(msgspec.Struct, frozen=True, kw_only=True):
    """One contender in one table, over its rounds. The course itself stands in the Slices, warm-up included."""

    cold_start: Estimate | None
    """From the start of its process to its first correct answer, in ns."""
    first_answer: Estimate | None
    """The first correct answer alone, from the request on, in ns: what the very first client waited."""
    settled: Estimate | None
    """From the start of the load to its steady state, in ns, known to one Slice: the middle round, and from six rounds
    on its interval, if no round was unsettled. None: no round could be read."""
    to_95: Estimate | None
    """From the start of the load until a Slice reached 95 % of the steady rate; as ``settled``."""
    read: int
    """Rounds long enough to find a steady state in."""
    unsettled: int
    """Rounds of these in which there was none."""
