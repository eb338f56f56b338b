"""The flags of ``webdyno capacity`` that say what is searched, and how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

from webdyno.commands.completing import workloads
from webdyno.commands.options import connections_of, flag
from webdyno.commands.units import LONGEST_LOAD_H, per_s, seconds, share
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
        str | None,
        flag(
            "--workload",
            "-w",
            help="Workload of the contender. [default: the first that it answers]",
            offers=workloads,
        ),
    ] = None
    memory: Annotated[str, flag("--memory", help="Memory limit of the contender: 512M, 2G, or none.")] = "512M"
    insecure: Annotated[bool, flag("--insecure", help="With https: accept any certificate.")] = False

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
    first: Annotated[str, flag("--from", help="First rate, per second; it doubles while the objectives are met.")] = (
        "100"
    )
    most: Annotated[str, flag("--most", help="Highest rate to try, per second: 5000 or 5k.")] = "1000k"
    precision: Annotated[
        str,
        flag("--precision", help="The search ends when half the interval is below this share of the rate."),
    ] = "5%"
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
        if self.most_per_s < self.first_per_s:
            raise UsageError(f"--most {self.most} is below --from {self.first}: give a higher one")
        seconds(self.budget, "--budget")
        for name, text in (("--duration", self.duration), ("--warmup", self.warmup)):
            seconds(text, name, LONGEST_LOAD_H)
        if self.max_connections is not None:
            connections_of(self.max_connections, "--max-connections")
        if self.seed < 0:
            raise UsageError(f"--seed {self.seed}: give a whole number of at least 0")

    @property
    def first_per_s(self) -> float:
        """The first rate; UsageError."""
        return per_s(self.first, "--from")

    @property
    def most_per_s(self) -> float:
        """The highest rate; UsageError."""
        return per_s(self.most, "--most")

    def sought(self, slo: str, *, verify: bool = True) -> Sought:
        """What these flags say; UsageError."""
        self.check()
        return Sought(
            slo=slo,
            budget_s=seconds(self.budget, "--budget"),
            duration_s=seconds(self.duration, "--duration"),
            warmup_s=seconds(self.warmup, "--warmup"),
            first_per_s=self.first_per_s,
            most_per_s=self.most_per_s,
            precision=share(self.precision, "--precision", 0.005, 0.5),
            even=self.even,
            max_connections=self.max_connections,
            verify=verify,
        )
