"""Sleep: how long this machine was suspended. The kernel's monotonic clock, which all that webdyno measures is measured
by, stands still then, and the one that counts from boot goes on (clock_gettime(2)).
"""

from __future__ import annotations

import time

LEAST_NS = 100_000_000
"""Less is no sleep of a machine."""
_TOGETHER_NS = 1_000_000
"""Two clocks that were read within so long of each other were read at the same moment."""


def slept_ns() -> int:
    """Time for which it was suspended since its boot."""
    while True:
        before_ns = time.monotonic_ns()
        since_boot_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        if time.monotonic_ns() - before_ns < _TOGETHER_NS:  # else this program itself was stopped in between
            return since_boot_ns - before_ns
