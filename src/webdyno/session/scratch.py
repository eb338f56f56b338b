"""Scratch: Runs that are written down nowhere, kept like a Store keeps them as long as the session lasts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from webdyno.model.run import Run
from webdyno.model.trial import Trial


class Scratch:
    """Its logs lie in ``folder``, one for each contender: the rig takes that away."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._runs: list[Run] = []

    def append_all(self, runs: Sequence[Run]) -> None:
        """Keep them."""
        self._runs += runs

    def grow(self, trials: Sequence[Trial]) -> None:
        """There is no plan that would have to know of them."""

    def refuse_moved(self) -> None:
        """There is no file."""

    def runs(self) -> list[Run]:
        """Those so far."""
        return list(self._runs)

    def contender_log(self, trial: Trial) -> Path:
        """What its contender wrote, over all its Trials."""
        return self.folder / f"{trial.contender}.log"

    def driver_log(self, _: Trial) -> Path:
        """What the driver wrote, over all Trials."""
        return self.folder / "driver.log"

    def service_log(self, service: str) -> Path:
        """What a service wrote."""
        return self.folder / f"{service}.log"
