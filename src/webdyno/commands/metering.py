"""``--metrics FILE``: OpenMetrics text of a plan in progress, replaced as a whole after each Trial."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from webdyno.commands.printing import err
from webdyno.design import Block
from webdyno.load.driver import Event
from webdyno.model.block import Taken
from webdyno.model.errors import MachineError, UsageError
from webdyno.model.rig import Fingerprint
from webdyno.model.run import Run
from webdyno.model.trial import Plan

MetricsOption = Annotated[
    Path | None,
    Parameter(name=["--metrics"], help="OpenMetrics file for Prometheus, written after each trial and at the end."),
]


_SHARE = 20
"""The file is written again after this many times as long as writing it took: it grows with the plan."""


class Meter:
    """Keeps the file: counts and latency of the Runs so far. Estimates come at the end, for they take a whole analysis.

    Each Run's lines are made once, between two Trials, when nothing is loaded.
    """

    def __init__(
        self,
        path: Path,
        plan: Plan,
        fingerprint: Fingerprint,
        before: list[Run],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        from webdyno.report.openmetrics import Families, add, head, load_names

        self._path, self._plan, self._names = path, plan, load_names(plan)
        self._families: Families = {}
        add(self._families, head(plan, fingerprint))
        self._failed, self._next, self._clock = False, 0.0, clock
        for run in before:
            self._take(run)
        self._write()

    def begin(self, block: Block) -> None:
        """Nothing to count yet."""

    def event(self, event: Event | Taken) -> None:
        """The Run will hold it."""

    def end(self, run: Run) -> None:
        """Add the Run."""
        self._take(run)
        if self._clock() >= self._next:
            self._write()

    def _take(self, run: Run) -> None:
        from webdyno.report.openmetrics import about_run, add

        add(self._families, about_run(self._plan, self._names, run))

    def _write(self) -> None:
        """A file that fails in the middle must not cost the measurement: it is complained of once."""
        from webdyno.report.openmetrics import told

        begun = self._clock()
        try:
            put(self._path, told(self._families))
        except MachineError as error:
            if not self._failed:
                err(f"note: {error}; the plan continues")
            self._failed = True
        now = self._clock()
        self._next = now + _SHARE * (now - begun)


def check(path: Path | None) -> None:
    """Refuse a place that cannot be written to before anything is measured; UsageError."""
    if path is not None and (path.is_dir() or not path.absolute().parent.is_dir()):
        raise UsageError(f"--metrics {path}: give a file in a folder that exists")


def put(path: Path, text: str) -> None:
    """Replace the file whole, so that nobody reads half of it; MachineError."""
    fresh = path.with_name(f".{path.name}.new")
    try:
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(path)
    except OSError as error:
        raise MachineError(f"--metrics {path} cannot be written ({error.strerror}): name another place") from None
