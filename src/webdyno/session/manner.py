"""Manner: how a session goes about a study, whatever the study is, and what it says of itself before and after."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from webdyno.design.blocks import Room
from webdyno.model.errors import UsageError
from webdyno.model.place import Cluster
from webdyno.model.trial import Plan
from webdyno.session.listeners import Listener
from webdyno.session.trust import Agree, refuse
from webdyno.store import Store


class Intent(NamedTuple):
    """What is about to happen, announced before it does."""

    plan: Plan
    folder: Path
    drivers: dict[str, str]
    """Their versions."""
    already: set[str]
    """Ids of the Trials that are done."""
    room: Room
    """For contenders side by side; of a fleet, on the host that has least."""
    hosts: int = 1
    """That share the plan."""


Attend = Callable[[Store, Plan], AbstractContextManager[Sequence[Listener]]]
"""Who listens to the plan of a store, from before its first Trial to after its last."""


@dataclass(frozen=True, kw_only=True)
class Manner:
    """How a session goes about a study, whatever the study is."""

    announce: Callable[[Intent], object] = lambda _: None
    attend: Attend = lambda _store, _plan: nullcontext(())
    wait: bool = False
    """While another webdyno measures here, instead of refusing."""
    agree: Agree = refuse
    """Asked before the commands of somebody else's folder are run."""
    far: Cluster | None = None
    """Where drivers are started, or all of a fleet; None: here."""
    further_s: float | None = None
    """For further rounds of open claims, of a plan that goes on; None: as it says itself."""
    as_planned: bool = False
    """A plan that began elsewhere says itself as whom contenders run, instead of as throw-away users."""

    @property
    def is_fleet(self) -> bool:
        """Whether contenders are measured on the hosts of a fleet."""
        return self.far is not None and self.far.fleet


class Ended(NamedTuple):
    """Where a study's results are, and whether the user stopped it."""

    folder: Path
    interrupted: bool


AS_EVER = Manner()


def refuse_other_manner(store: Store, manner: Manner) -> None:
    """UsageError where one machine is to go on with what a fleet began, or a fleet with what one machine began."""
    if bool(store.fingerprint().fleet) != manner.is_fleet:
        said = "on one machine: leave --fleet out" if manner.is_fleet else "on a fleet: give --far and --fleet again"
        raise UsageError(f"{store.folder}: its runs were made {said}")
