"""What a session says while it works: lines for the logger ``webdyno``, which a program may listen to or not.

The commands print them on standard error.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

LOG = logging.getLogger("webdyno")


def say(line: str) -> None:
    """One line of progress, or a note."""
    LOG.info("%s", line)


def note(sentences: Iterable[str]) -> None:
    """What is to be known beside the figures, a line each."""
    for sentence in sentences:
        say(f"note: {sentence}")
