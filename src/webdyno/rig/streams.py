"""Standard output and error: whether somebody still reads them."""

from __future__ import annotations

import select


def is_unread(stream: int) -> bool:
    """True for a descriptor that is a pipe whose reader has gone (poll(2): POLLERR at the writing end)."""
    poll = select.poll()
    poll.register(stream, 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))
