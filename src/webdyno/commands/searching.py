"""The flags of ``webdyno capacity`` that say what is searched, and how."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

from webdyno.commands.options import connections_of, flag
from webdyno.commands.studying import LONGEST_LOAD_H, seconds
from webdyno.model.errors import UsageError
from webdyno.model.sought import Sought


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Aim:
    """The flags that say what must be met, and of what."""

    slo: Annotated[
        str | None,
        flag("--slo", help="Objectives: 'p99<50ms, errors<0.1%'. For a folder, the default is those of its search."),
    ] = None
    workload: Annotated[
        str | None, flag("--workload", "-w", help="Workload of the contender. [default: the first that it answers]")
    ] = None
    memory: Annotated[str, flag("--memory", help="Memory limit of the contender: 512M, 2G, or none.")] = "512M"
    insecure: Annotated[bool, flag("--insecure", "-k", help="With https: accept any certificate.")] = False

    @property
    def given_slo(self) -> str:
        """What must be met; UsageError where that was not said."""
        if self.slo is None:
            raise UsageError("--slo is missing: write what must be met, such as 'p99<50ms, errors<0.1%'")
        return self.slo


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Searching:
    """The flags that say how the capacity is searched."""

    budget: Annotated[str, flag("--budget", help="How long the search may take, not counting builds.")] = "3m"
    duration: Annotated[str, flag("--duration", "-d", help="Length of the steady phase of each trial.")] = "3s"
    warmup: Annotated[
        str, flag("--warmup", help="Warm-up before counting; longer if the contender's file says so.")
    ] = "500ms"
    first: Annotated[float, flag("--from", help="First rate, per second; it doubles while the objectives are met.")] = (
        100.0
    )
    most: Annotated[float, flag("--most", help="Highest rate to try, per second.")] = 1e6
    precision: Annotated[
        float,
        flag("--precision", help="The search ends when half the interval is below this, in per cent of the rate."),
    ] = 5.0
    even: Annotated[
        bool, flag("--even", help="Evenly spaced requests, instead of random (Poisson) ones as from users.")
    ] = False
    max_connections: Annotated[
        int | None,
        flag("--max-connections", help="Maximum number of connections. [default: twice what the objective needs]"),
    ] = None
    seed: Annotated[int, flag("--seed", help="Seed of the arrivals.")] = 1

    def check(self) -> None:
        """UsageError for a number that makes no sense."""
        for name, value, least in (("--from", self.first, 0.0), ("--most", self.most, 0.0)):
            if not (math.isfinite(value) and value > least):
                raise UsageError(f"{name} {value:g}: give a rate above 0, in requests per second")
        if self.most < self.first:
            raise UsageError(f"--most {self.most:g} is below --from {self.first:g}: give a higher one")
        if not 0.5 <= self.precision <= 50:
            raise UsageError(f"--precision {self.precision:g}: give per cent from 0.5 to 50")
        seconds(self.budget, "--budget")
        for name, text in (("--duration", self.duration), ("--warmup", self.warmup)):
            seconds(text, name, LONGEST_LOAD_H)
        if self.max_connections is not None:
            connections_of(self.max_connections, "--max-connections")
        if self.seed < 0:
            raise UsageError(f"--seed {self.seed}: give a whole number of at least 0")

    def sought(self, slo: str, *, verify: bool = True) -> Sought:
        """What these flags say; UsageError."""
        self.check()
        return Sought(
            slo=slo,
            budget_s=seconds(self.budget, "--budget"),
            duration_s=seconds(self.duration, "--duration"),
            warmup_s=seconds(self.warmup, "--warmup"),
            first_per_s=self.first,
            most_per_s=self.most,
            precision=self.precision / 100,
            even=self.even,
            max_connections=self.max_connections,
            verify=verify,
        )
