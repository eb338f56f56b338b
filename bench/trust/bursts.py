"""A noisy neighbour: another program that uses half a core, in bursts of unequal length.

Alone as ``python -m bench.trust.bursts`` it goes on until it is ended, or the program that started it has gone.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

SHORTEST_S, LONGEST_S = 0.05, 0.5


@contextmanager
def neighbour() -> Iterator[None]:
    """It runs from here to the end of the block."""
    process = subprocess.Popen([sys.executable, "-m", "bench.trust.bursts"])
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def main() -> None:
    """Spin and sleep in turn, each for a random time of the same mean."""
    parent, chance = os.getppid(), random.Random()
    while os.getppid() == parent:
        end = time.monotonic() + chance.uniform(SHORTEST_S, LONGEST_S)
        while time.monotonic() < end:
            pass
        time.sleep(chance.uniform(SHORTEST_S, LONGEST_S))


if __name__ == "__main__":
    main()
