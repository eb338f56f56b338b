"""Kept: replies made before, until what they show has changed, and no more bytes of them than there may be.

All that ask for the same page are sent the same bytes: many slow clients then cost no more memory than one.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable

from webdyno.view.shell import Reply

MOST_BYTES = 64 << 20
"""Of all bodies together; what was asked for the longest ago goes first."""


class Kept:
    """Replies by what was asked. Each has a mark: it is the reply as long as the mark is the same."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes, self._bytes = most_bytes, 0
        self._replies: OrderedDict[Hashable, tuple[object, Reply]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, mark: object) -> Reply | None:
        """The reply, when it is of this ``mark``."""
        with self._lock:
            found = self._replies.get(key)
            if found is None or found[0] != mark:
                return None
            self._replies.move_to_end(key)
            return found[1]

    def put(self, key: Hashable, mark: object, reply: Reply) -> Reply:
        """``reply``, kept instead of an older one; not kept when it alone is more than there may be."""
        with self._lock:
            self._take_away(key)
            if len(reply.body) <= self._most_bytes:
                self._replies[key] = (mark, reply)
                self._bytes += len(reply.body)
            while self._bytes > self._most_bytes:
                self._take_away(next(iter(self._replies)))
        return reply

    def _take_away(self, key: Hashable) -> None:
        _, old = self._replies.pop(key, (None, None))
        self._bytes -= len(old.body) if old else 0
