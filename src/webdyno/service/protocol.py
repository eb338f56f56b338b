"""Protocol: the three things webdyno says to a service. A new one is one file beside this one and one line here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from webdyno.model.service import Protocol as Name
from webdyno.service.mongo import Mongo
from webdyno.service.redis import Redis


class Talker(Protocol):
    """Made from a URL; every method opens a connection and closes it, and raises Unanswered."""

    def identify(self) -> tuple[str, str]:
        """What it is and its version, as it says: redis-server 7.0.15."""
        ...

    def load(self, warm_s: float = 0.0) -> None:
        """Put all of data.py into it, then read that for this many seconds."""
        ...

    def reset(self, delay_ms: int = 0) -> None:
        """Undo what a Trial may have changed, and answer questions for data that much later from now on."""
        ...


PROTOCOLS: dict[Name, Callable[[str], Talker]] = {"redis": Redis, "mongo": Mongo}
"""By the word in a service's file; ValueError, with a sentence, for a URL it cannot mean."""
