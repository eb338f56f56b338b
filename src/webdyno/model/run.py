"""Run: the record of one Trial happening. Never changed once written. Failure is data: see Outcome."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from webdyno.model.block import Rest
from webdyno.model.driver import Can
from webdyno.model.rig import Rig
from webdyno.model.sample import Reading, Slice
from webdyno.model.service import Backing
from webdyno.model.trial import Trial

Outcome = Literal[
    "ok",
    "build-failed",
    "exited-at-start",
    "never-ready",
    "wrong-answer",
    "died",
    "escaped",
    "too-many-processes",
    "flooded",
    "out-of-memory",
    "no-success",
    "driver-failed",
    "service-failed",
    "interrupted",
    "unreadable",
]
OUTCOMES: dict[str, str] = {
    "ok": "served the load to its end",
    "build-failed": "did not install or compile",
    "exited-at-start": "ended before it served",
    "never-ready": "started but never answered",
    "wrong-answer": "answered incorrectly when verified, before or after the load",
    "died": "ended while under load",
    "escaped": "left the cgroup, the cores or the limits it was given",
    "too-many-processes": "asked for more processes and threads than it may have",
    "flooded": "wrote more into its log than it may",
    "out-of-memory": "went past its memory limit and was killed",
    "no-success": "served the load without one correct answer",
    "driver-failed": "the load tool itself failed",
    "service-failed": "was not given the service it needs, or lost it",
    "interrupted": "was not measured to its end: it was stopped, or the machine slept",
    "unreadable": "has a record that cannot be read",
}
"""Each outcome as the end of the sentence "the contender ...". Unreadable is never written: it stands for a Run that
the store cannot give back."""


class Probe(msgspec.Struct, frozen=True, kw_only=True):
    """What verifying a contender found out about how it speaks HTTP, once per start."""

    http_version: str
    """Of its answers: 1.0 or 1.1."""
    keep_alive: bool
    """A second request on the same connection was answered."""
    announces_close: bool
    """Its answers say ``Connection: close``."""
    framing: str
    """content-length, chunked or close."""
    header: str
    """Status line and header block of the first answer, cut to 2 KiB."""
    backlog: int | None
    """Length of the listen queue as the kernel shows it."""
    ready_ns: int
    """From start to the first correct answer."""
    first_answer_ns: int | None = None
    """That answer alone, from its request on; None in Runs made before it was kept."""


class Loss(msgspec.Struct, frozen=True, kw_only=True):
    """A process of a contender that ended under load, while the contender served on."""

    pid: int
    name: str
    """Of its program, as the kernel shows it."""
    replaced: bool = False
    """Another process was seen in its place."""
    line: str = ""
    """What the contender wrote of it, or of what failed; empty where it wrote nothing."""


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One Trial, as it happened."""

    trial: Trial
    outcome: Outcome
    started_at: str
    """UTC, ISO 8601."""
    seconds: float
    """From start to end; in a block, its equal part of what all took together."""
    rig: Rig
    message: str = ""
    """For every outcome but ok: one sentence."""
    log_tail: str = ""
    """End of what the contender (or its build) wrote, at most 4 KiB."""
    command: list[str] = []
    """As the contender was started."""
    environment: dict[str, str] = {}
    """What was added to its environment."""
    workers: int | None = None
    threads: int | None = None
    built_key: str = ""
    """Hash of what was built and served; it changes with the app's sources too."""
    versions: dict[str, str] = {}
    """Found after install: runtime, server, and every package of the environment."""
    driver_version: str = ""
    driver_command: list[str] = []
    driver_can: Can | None = None
    """What the driver can tell at all; None in Runs that never came to the load."""
    reused: bool = False
    """Its server was started for a Run before: measured in place, without a cold start of its own."""
    probe: Probe | None = None
    service: Backing | None = None
    """What stood behind it, for a workload that needs a Service."""
    summary: dict[str, Any] = {}
    """The driver's own last word over the steady phase, as it gave it."""
    steady_start_ns: int | None = None
    steady_end_ns: int | None = None
    memory_peak_bytes: int | None = None
    """High-water mark of the contender's group: the kernel's own where a cgroup keeps one, else the highest Reading."""
    slices: list[Slice] = []
    readings: list[Reading] = []
    gil_modules: list[str] = []
    """Modules that switched the GIL of a free-threaded Python back on, as its log says."""
    compilers: list[str] = []
    """What compiles in its processes while they serve, of those that take more than a second for it: HotSpot, V8."""
    block: int | None = None
    """Number of the block, in its folder, that it was measured in by turns; None: it was measured alone."""
    beside: list[str] = []
    """The other contenders of that block, as they were asked for."""
    rest: Rest | None = None
    """Its resting, in a block."""
    set_aside: str = ""
    """Why it was measured alone after all, when it had been in a block; empty where that was not so."""
    losses: list[Loss] = []
    """Its processes that ended under load; not in Runs made before they were looked for."""
    notes: list[str] = []
    """What the rig found worth saying: orphans ended, a port freed late ..."""
