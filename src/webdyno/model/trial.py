"""Trial and Plan: one cell of an experiment, and the ordered cells with the seed that ordered them."""

from __future__ import annotations

import hashlib

import msgspec

from webdyno.model.block import Turns
from webdyno.model.claim import Absent, Claim, Original
from webdyno.model.contender import App, Contender, Runtime
from webdyno.model.further import Further
from webdyno.model.load import Load
from webdyno.model.paired import Paired
from webdyno.model.race import Race
from webdyno.model.service import Service
from webdyno.model.sought import Sought
from webdyno.model.system import System
from webdyno.model.tried import Tried
from webdyno.model.way import WayName
from webdyno.model.workload import Workload

LONGEST_WARM_UP = 3
"""A warm-up that counts answers takes as many times its seconds at most."""


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """contender x workload x load x round, by name; the texts behind the names stand once in the Plan.

    ``id`` is a hash of its whole content (the contender's, app's, runtime's and workload's definitions included), so a
    resumed plan knows which cells it already has and an edited contender is a different cell.
    """

    id: str
    contender: str
    workload: str
    load: Load
    driver: str
    round: int
    """From 1."""
    warmup_s: float | None = None
    """Longer than the load's own, where the contender needs it; the table it belongs to is the same."""
    warmup_requests: int | None = None
    """As of the contender."""

    @property
    def asked(self) -> Load:
        """The load with the warm-up this contender is given."""
        if self.warmup_s is None or self.warmup_s <= self.load.warmup_s:
            return self.load
        return msgspec.structs.replace(self.load, warmup_s=self.warmup_s)

    @property
    def counts_answers(self) -> bool:
        """Whether it is warmed up by answers, also where it is measured alone: its load could be given in turns."""
        return (
            self.warmup_requests is not None
            and self.driver == "engine"
            and self.load.pace == "closed"
            and self.load.duration_s is not None
            and self.load.drivers == 1
            and self.load.opening_s <= self.load.timeout_s  # turns begin when all are open
        )


def trial_id(
    contender: Contender, app: App, runtime: Runtime, workload: Workload, load: Load, driver: str, round_: int
) -> str:
    """Hash of everything that defines the cell; 16 hexadecimal digits."""
    content = msgspec.json.encode((contender, app, runtime, workload, load, driver, round_), order="sorted")
    return hashlib.sha256(content).hexdigest()[:16]


class Skipped(msgspec.Struct, frozen=True, kw_only=True):
    """A contender left out before anything was measured, and the one line that says why and what would bring it in.

    Or workloads, for all contenders, because the service they need is not there; or a driver with its loads.
    """

    contender: str
    """Empty when ``workloads`` are left out."""
    reason: str
    workloads: list[str] = []
    driver: str = ""

    @property
    def what(self) -> str:
        """What is left out, for people."""
        return self.contender or " and ".join(self.workloads) or f"loads by {self.driver}"


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """The ordered Trials, and all that is needed to understand them later without the catalogue."""

    study: str
    title: str
    question: str
    seed: int
    rounds: int
    trials: list[Trial]
    skipped: list[Skipped]
    contenders: dict[str, Contender]
    apps: dict[str, App]
    runtimes: dict[str, Runtime]
    workloads: dict[str, Workload]
    memory_bytes: int | None
    estimate: str
    """How rounds become one figure: "mean" or "trimmed" (highest and lowest dropped, as study wsgi did)."""
    seconds: float
    """Expected length of the measurement, without builds."""
    services: dict[str, Service] = {}
    shows: list[str] = []
    """Figures the study turns on, beside the rate."""
    claims: list[Claim] = []
    original: Original | None = None
    systems: list[System] = []
    absent: list[Absent] = []
    """What the study's article had and the study has not."""
    cores: int | None = None
    """The most cores contenders get; None: all the rig has for them."""
    way: WayName | None = None
    """How contenders are kept to cores and limits; None: the best that the machine allows."""
    as_user: bool = False
    """Contenders and services run as throw-away users, who see nothing of the user's."""
    cpus: float | None = None
    """Limit on each contender's CPU time, in cores' worth."""
    brief: bool = False
    """Made of the study's brief version."""
    arguments: list[str] = []
    """What ``webdyno run`` was given beside seed and rounds: the study as it was named, and the flags that narrow it.
    Empty where something else made the Plan, and in older ones."""
    race: Race | None = None
    """None: every round of everything. Else ``trials`` are all there may be, and the Runs decide which are done."""
    further: Further | None = None
    """Of a study with claims; each round of what open ones turn on is added to ``trials`` once the Runs ask for it."""
    whole_rounds: int | None = None
    """Rounds of everything, where further ones may follow; None: all."""
    paired: Paired | None = None
    """Of a comparison; each of its pairs is added to ``trials`` once the Runs ask for it."""
    sought: Sought | None = None
    """Of a search for a capacity; each of its rates is added to ``trials`` once the Runs ask for it."""
    tried: Tried | None = None
    """Of a tryout; the Trials that decide who comes into its last comparison are a Plan of their own."""
    turns: Turns | None = None
    """How contenders take turns where they can share a block; None: each is measured alone."""
    in_place: bool = False
    """All rounds of a cell are measured on one start of its server, one after the other."""

    @property
    def most_trials(self) -> int:
        """As many as there may be: of a race no more than it may have, whatever is settled by then."""
        most = self.race.most_runs if self.race else None
        return len(self.trials) if most is None else min(most, len(self.trials))

    @property
    def rounds_of_all(self) -> int:
        """Rounds of everything; of a race as many as there may be."""
        return self.rounds if self.whole_rounds is None else self.whole_rounds

    @property
    def cells(self) -> int:
        """Trials of a round of everything."""
        return sum(trial.round == 1 for trial in self.trials)


def again(plan: Plan, trial: Trial, round_: int) -> Trial:
    """The same cell in another round."""
    it = plan.contenders[trial.contender]
    definitions = it, plan.apps[it.app], plan.runtimes[it.runtime], plan.workloads[trial.workload]
    return msgspec.structs.replace(trial, id=trial_id(*definitions, trial.load, trial.driver, round_), round=round_)


def trial_of(plan: Plan, contender: str, load: Load, round_: int, driver: str = "engine") -> Trial:
    """One more Trial of a Plan with one workload."""
    it, (workload,) = plan.contenders[contender], plan.workloads
    return Trial(
        id=trial_id(it, plan.apps[it.app], plan.runtimes[it.runtime], plan.workloads[workload], load, driver, round_),
        contender=contender,
        workload=workload,
        load=load,
        driver=driver,
        round=round_,
        warmup_s=it.warmup_s,
        warmup_requests=it.warmup_requests,
    )
