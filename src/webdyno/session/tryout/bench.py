"""Where settings are measured: servers started, the application verified, loaded and ended; Runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from webdyno.design import Block
from webdyno.design.blocks import Room
from webdyno.model.block import Turns
from webdyno.model.built import Built
from webdyno.model.contender import App, Runtime
from webdyno.model.load import Load
from webdyno.model.run import Run
from webdyno.model.trial import Plan, Skipped, Trial, trial_id
from webdyno.model.workload import Workload
from webdyno.rig.strap import Strapped
from webdyno.serve.trimming import trim
from webdyno.service import Services
from webdyno.session.designs import room_here
from webdyno.session.listeners import Kept, Listeners
from webdyno.session.loop import Conduct, Loop, OnContenders
from webdyno.session.ready import Ready
from webdyno.session.settling import WARMUP_S
from webdyno.session.tryout.fitting import Setting
from webdyno.session.tryout.journal import Journal

TIMEOUT_S = 5.0
OWN_APP = App(name="own", language="any", interface="native", framework="own", answers=["app"])
OWN_RUNTIME = Runtime(
    name="own", kind="native", language="the project's own", find=[], version=[], install="the project brings it"
)


@dataclass(kw_only=True)
class TryBench:
    """Where settings are measured. ``built`` and ``settings`` by name of the setting."""

    strapped: Strapped
    workload: Workload
    connections: int
    driver_version: str
    logs: Path
    timeout_s: float = TIMEOUT_S
    app: App = OWN_APP
    runtime: Runtime = OWN_RUNTIME
    hidden: frozenset[str] = frozenset()
    """Variables whose values stand in no record: the user's, who may have secrets in them."""
    settings: dict[str, Setting] = field(default_factory=dict)
    built: dict[str, Built] = field(default_factory=dict)
    warmups: dict[str, float] = field(default_factory=dict)
    """Seconds that every start is given where a compiler is at work, by the ``base`` of its setting."""
    kept: dict[str, str] = field(default_factory=dict)
    """Settings that are measured alone from now on, and why."""
    all_alone: str | None = None
    """Why no two settings are measured beside each other; None: they are."""
    here: Room | None = None
    """What the machine had free for settings side by side when the tryout began; None: what it has now."""
    journal: Journal | None = None
    """Of what is measured on the way to the last comparison; None: one of this bench alone."""

    def add(self, setting: Setting, built: Built) -> None:
        """A setting that can be measured from now on."""
        own = msgspec.structs.replace(setting.contender, app=self.app.name, runtime=self.runtime.name)
        self.settings[setting.name] = self._warmed(msgspec.structs.replace(setting, contender=own))
        self.built[setting.name] = msgspec.structs.replace(built, contender=setting.name)

    def give(self, base: str, warmup_s: float) -> None:
        """So long a warm-up to every setting of that server from now on."""
        self.warmups[base] = warmup_s
        self.settings = {name: self._warmed(setting) for name, setting in self.settings.items()}

    def _warmed(self, setting: Setting) -> Setting:
        warmup_s = self.warmups.get(setting.base)
        if warmup_s is None:
            return setting
        longer = msgspec.structs.replace(setting.contender, warmup_s=warmup_s)
        return msgspec.structs.replace(setting, contender=longer)

    @property
    def room(self) -> Room:
        """For settings side by side, as this machine is now; several that listen on one port of their own are alone."""
        ports = Counter(built.port for built in self.built.values() if built.port is not None)
        shared = {
            name: f"others use port {built.port} as well"
            for name, built in self.built.items()
            if built.port is not None and ports[built.port] > 1
        }
        everybody = {} if self.all_alone is None else dict.fromkeys(self.settings, self.all_alone)
        return replace(self.here or room_here(), kept={**everybody, **shared, **self.kept})

    def load(self, duration_s: float) -> Load:
        """Looping clients, for so long."""
        return Load(connections=self.connections, duration_s=duration_s, warmup_s=WARMUP_S, timeout_s=self.timeout_s)

    def trial(self, name: str, load: Load, round_: int) -> Trial:
        """The cell of one setting in one round."""
        contender = self.settings[name].contender
        id_ = trial_id(contender, self.app, self.runtime, self.workload, load, "engine", round_)
        return Trial(
            id=id_,
            contender=name,
            workload=self.workload.name,
            load=load,
            driver="engine",
            round=round_,
            warmup_s=contender.warmup_s,
        )

    def plan(
        self, trials: Iterable[Trial], skipped: Iterable[Skipped] = (), turns: Turns | None = None, **words: str
    ) -> Plan:
        """A Plan of those trials, complete by itself; without ``turns`` each is measured alone."""
        ordered = list(trials)
        names = dict.fromkeys(trial.contender for trial in ordered)
        return Plan(
            study=words.get("study", "try"),
            title=words.get("title", "try"),
            question=words.get("question", "which server, which settings?"),
            seed=1,
            rounds=max((trial.round for trial in ordered), default=1),
            trials=ordered,
            skipped=list(skipped),
            contenders={name: self.settings[name].contender for name in names},
            apps={self.app.name: self.app},
            runtimes={self.runtime.name: self.runtime},
            workloads={self.workload.name: self.workload},
            memory_bytes=None,
            estimate="mean",
            seconds=sum(trial.load.duration_s or 0.0 for trial in ordered),
            turns=turns,
        )

    @property
    def book(self) -> Journal:
        """Where Runs are kept, unless something else is said."""
        if self.journal is None:
            self.journal = Journal(self.logs)
        return self.journal

    def loop(self, plan: Plan, book: Journal | None = None) -> Loop:
        """The loop over settings of ``plan``, where nothing is measured that ``book`` has of an earlier sitting."""
        kept = self.book if book is None else book
        conduct = self.conducting(plan, kept)

        def carry_out(block: Block) -> list[Run]:
            return kept.carry_out(plan, block, conduct)

        told = Listeners([Kept(kept.refuse_moved)])
        return Loop(plan, kept, carry_out, told, self.strapped.interrupted)

    def conducting(self, plan: Plan, book: Journal) -> Conduct:
        """How blocks of ``plan`` are measured; the user's own variables are in no record of it."""
        way = OnContenders(
            ready=Ready(plan=plan, built=self.built, found={}, servers={}, drivers={"engine": self.driver_version}),
            strapped=self.strapped,
            services=Services({}, {}, self.strapped, book.service_log),
            book=book,
            watch=lambda _: book.refuse_moved(),
        )

        def conduct(block: Block) -> list[Run]:
            runs = way.conduct()(block)  # a new one each time: blocks are numbered on from those in the book
            trim(book.driver_log(block[0]))
            return [self._shown(run) for run in runs]

        return conduct

    def _shown(self, run: Run) -> Run:
        shown = {name: text for name, text in run.environment.items() if name not in self.hidden}
        return msgspec.structs.replace(run, environment=shown)

    def run(self, trial: Trial) -> Run:
        """One trial, done."""
        (run,) = self.loop(self.plan([trial])).carry_out([trial])
        return run

    def measure(self, name: str, duration_s: float) -> Run:
        """One setting, once and alone."""
        return self.run(self.trial(name, self.load(duration_s), 1))
