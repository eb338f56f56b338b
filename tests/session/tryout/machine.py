"""A bench on which nothing is started: servers are figures, and Runs are made of them."""

from __future__ import annotations

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec

from tests.analyse import fakes
from tests.analyse.turning import turn
from webdyno.model.block import Rest
from webdyno.model.built import Built
from webdyno.model.run import Run
from webdyno.model.trial import Plan
from webdyno.session.loop import Conduct
from webdyno.session.tryout.bench import TryBench
from webdyno.session.tryout.command import CURRENT
from webdyno.session.tryout.fitting import Setting
from webdyno.session.tryout.journal import Journal


class Machine(TryBench):
    """Servers of known rates; ``outcomes``: of the first Runs of each, the others are good."""

    blocks: list[list[str]]
    plans: list[Plan]
    stop_in: int
    """Number of the block in which the user stops it."""
    rates: dict[str, float]
    outcomes: dict[str, list[Any]]
    rests: dict[str, Rest]
    compilers: dict[str, list[str]]

    def conducting(self, plan: Plan, book: Journal) -> Conduct:
        def conduct(block: Any) -> list[Run]:
            self.blocks.append([trial.contender for trial in block])
            self.plans.append(plan)
            if self.stop_in == len(self.blocks):
                self.strapped.interrupted.set()
            number = 1 + max((run.block or 0 for run in book.runs()), default=0)
            return [self._run(trial, number if len(block) > 1 else None) for trial in block]

        return conduct

    def _run(self, trial: Any, number: int | None) -> Run:
        name = trial.contender
        made = fakes.run(name, rate=self.rates[name], seconds=1.5)
        made = msgspec.structs.replace(made, trial=trial, compilers=self.compilers.get(name, []))
        if number is not None:
            turns = [turn(at, ok=round(self.rates[name] / 20), ms=50.0) for at in range(7)]
            made = msgspec.structs.replace(made, block=number, slices=[*made.slices, *turns], rest=self.rests.get(name))
        outcome = self.outcomes[name].pop(0) if self.outcomes.get(name) else "ok"
        if self.strapped.interrupted.is_set():
            outcome = "interrupted"
        return msgspec.structs.replace(made, outcome=outcome, message="" if outcome == "ok" else f"it {outcome}")


def machine_in(folder: Path) -> Machine:
    """Settings ``a`` to ``d`` and --current, with 1,000 to 5,000 answers per second."""
    here: Any = SimpleNamespace(interrupted=threading.Event())
    made = Machine(
        strapped=here,
        workload=fakes.workload(),
        connections=8,
        driver_version="1",
        logs=folder,
    )
    made.blocks, made.plans, made.stop_in = [], [], 0
    made.rates, made.outcomes, made.rests, made.compilers = {}, {}, {}, {}
    for at, name in enumerate((*"abcd", CURRENT)):
        made.rates[name] = 1000.0 * (at + 1)
        setting = Setting(contender=fakes.contender(name), base=name, workers=1, threads=1, recommended=True)
        made.add(
            setting, Built(contender=name, key="k", directory="", environment={}, versions={}, log="", seconds=0.0)
        )
    return made
