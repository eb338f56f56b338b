"""Record: a Run while it happens, and what it comes to when something fails."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from webdyno.model.block import Rest
from webdyno.model.run import Outcome, Probe
from webdyno.model.sample import Reading, Slice
from webdyno.model.service import Backing

OF_LOAD = ("driver-failed", "no-success")
"""What comes of a Trial whose load ended with the host that made it."""


@dataclass
class Record:
    """A Run while it happens."""

    interrupted: threading.Event
    lost: Callable[[], str] = str
    """Why the host of the load is lost; empty where it is not."""
    outcome: Outcome = "ok"
    message: str = ""
    log_tail: str = ""
    served: dict[str, Any] = field(default_factory=dict)
    probe: Probe | None = None
    driver_command: list[str] = field(default_factory=list)
    summary: dict[str, Any] = field(default_factory=dict)
    slices: list[Slice] = field(default_factory=list)
    edges: dict[str, int] = field(default_factory=dict)
    readings: list[Reading] = field(default_factory=list)
    memory_peak_bytes: int | None = None
    notes: list[str] = field(default_factory=list)
    service: Backing | None = None
    rest: Rest | None = None

    def fail(self, outcome: Outcome, message: str, log_tail: str = "") -> None:
        """The first failure is the cause; later ones are its consequences.

        What fails once the user has stopped it failed because it was stopped: that is no word about the contender.
        Neither is what a load comes to whose host is lost.
        """
        if self.outcome != "ok":
            return
        if self.interrupted.is_set():
            outcome, message, log_tail = "interrupted", "stopped by the user", ""
        elif outcome in OF_LOAD and (lost := self.lost()):
            outcome, message, log_tail = "interrupted", lost, ""
        self.outcome, self.message, self.log_tail = outcome, message, log_tail
