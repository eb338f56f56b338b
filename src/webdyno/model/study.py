"""Study: a question as data. File: ``studies/NAME.toml``."""

from __future__ import annotations

from typing import Literal

import msgspec

from webdyno.model.claim import Absent, Claim, Measure, Original
from webdyno.model.further import Further
from webdyno.model.system import System
from webdyno.model.way import WayName


class StudyLoad(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The loads of a study: every number of connections (and every rate) with the rest the same."""

    connections: list[int]
    rate_per_s: list[float] = []
    """Makes the loads open: every rate with every number of connections, which are then those open from the start."""
    pair_every_s: float | None = None
    """Makes the loads pairs: the two requests of the workload, in their order, at this interval. With ``connections``
    = [2], each is sent over a connection of its own."""
    pair_apart_s: float | None = None
    """How long after the first of a pair the second is sent."""
    poisson: bool = False
    """Arrivals at random instead of even, drawn from the study's seed."""
    max_connections: int | None = None
    """How far the connections of an open load may grow; by default to ten times as many."""
    duration_s: float | None = None
    count: int | None = None
    warmup_s: float = 0.5
    opening_s: float = 0.0
    """Connections are opened evenly over so much of the warm-up and ask when all are there; 0: all at once, as
    other drivers than our own engine always do."""
    timeout_s: float = 5.0
    keep_alive: bool = True
    http: str = "1.1"
    workloads: list[str] = []
    """Only these of the study's workloads; empty: all."""
    contenders: list[str] = []
    """Only these of the study's contenders, or patterns of names; empty: all."""
    alone: bool = False
    """Contenders are measured one after the other under this load, also those that could share a block."""
    driver: str | None = None
    """Another than the study's. Rates of different drivers are never compared with each other."""
    drivers: int = 1
    """Number of our own engines that share the load; connections, rates and counts are totals."""


class Brief(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The same question in minutes: what ``--brief`` uses instead of the study's own values; absent: no change."""

    rounds: int | None = None
    contenders: list[str] = []
    workloads: list[str] = []
    loads: list[StudyLoad] = []
    further: Further | None = None


Extra = Measure | Literal["iterations", "percentiles"]
"""``iterations``: the rate in each third of a server's life, which shows what its JIT does. ``percentiles``: the times
within which 50, 66, 75, 80, 90, 95, 98, 99 and 100 % of the requests were served, as a table and a chart."""


class Study(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which contenders on which workloads under which loads, how often, and what the original claimed."""

    name: str
    title: str
    question: str
    contenders: list[str]
    workloads: list[str]
    loads: list[StudyLoad]
    rounds: int = 3
    """Of everything; in a race as many Runs as they would be, done where they still decide something."""
    design: Literal["race", "exhaustive", "in-place"] | None = None
    """How ``run`` does it where no flag says so. ``in-place``: each server is started once, and its rounds follow each
    other there, as in many older articles. None: a race where the rates of several contenders under full load are
    all the question (no claims, no ``shows``, no rate that is asked for, no trimmed mean), else exhaustive."""
    alone: bool = False
    """Every contender is measured alone, one after the other, also those that could share a block and take turns."""
    seed: int = 1
    memory_mb: int | None = None
    """Limit on each contender's memory; 1 MB is 2**20 bytes here, as container tools count."""
    cores: int | None = None
    """The most cores contenders get, as many as the article gave them; the machine may have fewer. Two of three cores
    are theirs where two are asked for."""
    way: WayName | None = None
    """How contenders are kept to cores and limits; None: a cgroup where one can be made, else bare."""
    as_user: bool = False
    """Contenders and services run as throw-away users, who see nothing of the user's; only root can start them so."""
    cpus: float | None = None
    """Limit on each contender's CPU time, in cores' worth, by a quota: where ``cores`` is whole cores to run on."""
    driver: str = "engine"
    estimate: Literal["mean", "trimmed"] = "mean"
    further: Further | None = None
    """Rounds beyond ``rounds``, of what claims turn on that are still open; None: none."""
    shows: list[Extra] = []
    """Figures this question turns on, beside the rate: each gets a table of its own, against connections."""
    systems: list[System] = []
    """Those of the article, each with the contender that runs it in the same way."""
    claims: list[Claim] = []
    original: Original | None = None
    absent: list[Absent] = []
    """What the article had and this study has not, each with its reason."""
    brief: Brief | None = None

    @property
    def is_raced(self) -> bool:
        """Whether ``run`` makes a race of it, where no flag says so.

        A claim may turn on any pair and any figure, and a rate that was asked for is no rate of the server's.
        """
        if self.design is not None:
            return self.design == "race"
        asks_more = bool(self.claims or self.shows) or self.estimate == "trimmed"
        return len(self.contenders) > 1 and not asks_more and not any(load.rate_per_s for load in self.loads)
