"""The flags of ``webdyno compare`` that say how pairs are measured.

Annotations are evaluated here and now: placing.py says why.
"""

from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

from webdyno.commands.completing import workloads
from webdyno.commands.options import AsUserOption, CpusOption, WayOption, connections_of, cpus_of, flag
from webdyno.commands.placing import Placing
from webdyno.commands.units import LONGEST_LOAD_H, seconds
from webdyno.model.errors import UsageError
from webdyno.model.load import Load

WARMUP_S = 0.5


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Measuring(Placing):
    """The flags that say how pairs are measured."""

    workload: Annotated[
        str | None,
        flag("--workload", "-w", help="The workload. [default: the first that both answer]", offers=workloads),
    ] = None
    connections: Annotated[
        int, flag("--connections", "-c", help="Number of clients; each waits for its answer before its next request.")
    ] = 64
    duration: Annotated[str, flag("--duration", "-d", help="How long each start is loaded.")] = "4s"
    warmup: Annotated[
        str | None,
        flag(
            "--warmup",
            help="Warm-up before counting. [default: 500ms, or longer for runtimes that compile while they serve]",
        ),
    ] = None
    pairs: Annotated[int, flag("--pairs", help="Maximum number of pairs, 4 to 18; they are looked at five times.")] = 12
    budget: Annotated[str, flag("--budget", help="Time for the pairs, not counting builds and warm-ups.")] = "10m"
    memory: Annotated[str, flag("--memory", help="Memory limit of each: 512M, 2G, or none.")] = "512M"
    cpus: CpusOption = None
    way: WayOption = None
    as_user: AsUserOption = None

    @property
    def budget_s(self) -> float:
        """The budget in seconds; UsageError."""
        return seconds(self.budget, "--budget")

    def load(self) -> Load:
        """The load of every run; UsageError for any of these flags that makes no sense."""
        if not 4 <= self.pairs <= 18:
            raise UsageError(f"--pairs {self.pairs}: give 4 to 18; fewer decide nothing")
        _ = self.budget_s, cpus_of(self.cpus)
        return Load(
            connections=connections_of(self.connections),
            duration_s=seconds(self.duration, "--duration", LONGEST_LOAD_H),
            warmup_s=WARMUP_S if self.warmup is None else seconds(self.warmup, "--warmup", LONGEST_LOAD_H),
        )
