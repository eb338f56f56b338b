"""The machine, for as long as a command measures on it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from webdyno.commands.interrupts import listening_for_interrupts
from webdyno.commands.options import cache_folder
from webdyno.commands.waiting import waiting
from webdyno.rig.strap import Strapped, strap


@contextmanager
def strapped_here(
    memory_bytes: int | None, cores: int | None = None, *, wait: bool = False
) -> Iterator[tuple[Strapped, threading.Event]]:
    """The machine as ``strap`` takes it, and the Event of a Ctrl-C; what was swept of a killed webdyno is told."""
    taken = strap(memory_bytes, cache_folder(), cores, waiting(wait))
    with taken as strapped, listening_for_interrupts() as interrupted:
        tell(strapped.swept)
        yield strapped, interrupted


def tell(sentences: Sequence[str]) -> None:
    """Notes on standard error."""
    for sentence in sentences:
        print(f"note: {sentence}", file=sys.stderr)
