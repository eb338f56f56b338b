"""The warm-up of a server that compiles: learnt from one longer Run, given to all that come after it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from tests.analyse import fakes
from webdyno.model.built import Built
from webdyno.model.run import Run
from webdyno.model.trial import Plan, Trial
from webdyno.session.settling import LEAST_S, MOST_S, WARMUP_S, settling_s, warmup_of
from webdyno.session.tryout.bench import TryBench
from webdyno.session.tryout.fitting import Setting
from webdyno.session.tryout.settling import settle

pytestmark = pytest.mark.slow


def climbing(until_s: int, seconds: int = 20) -> Run:
    """From a third of its rate to all of it, evenly, in so long."""
    rates = 10_000 * np.interp(np.arange(seconds), [0, until_s], [0.33, 1.0])
    return fakes.run(slices=fakes.slices([float(rate) for rate in rates]), steady_end_ns=None)


class Loaded(TryBench):
    """One whose Runs are made by hand."""

    made: list[tuple[Trial, Plan]]
    gives: Run

    def run(self, trial: Trial) -> Run:
        self.made.append((trial, self.plan([trial])))
        return msgspec.structs.replace(self.gives, trial=trial)


def bench(gives: Run, *names: str) -> Loaded:
    here: Any = None
    made = Loaded(
        strapped=here,
        workload=fakes.workload(),
        connections=8,
        driver_version="1",
        logs=Path(),
    )
    made.made, made.gives = [], gives
    for name in names:
        add(made, name)
    return made


def add(to: TryBench, name: str) -> None:
    setting = Setting(contender=fakes.contender(name), base=name[0], workers=1, threads=1, recommended=True)
    built = Built(contender=name, key="k", directory="", environment={}, versions={}, log="", seconds=0.0)
    to.add(setting, built)


def warmups(of: TryBench) -> dict[str, float | None]:
    return {name: of.trial(name, of.load(1.5), 1).warmup_s for name in of.settings}


def test_what_it_took_to_settle_is_given_to_every_setting_of_that_server_and_to_no_other() -> None:
    made = bench(climbing(4), "a1", "a2", "b1")
    assert warmups(made) == {"a1": None, "a2": None, "b1": None}
    said = settle(made, "a1", ["PyPy"], 20.0)
    assert said == (
        "a: PyPy compiles in it while it serves; it settled within 6 s, and each start is given that to warm up"
    )
    [(trial, plan)] = made.made
    assert (trial.load.duration_s, trial.load.warmup_s, trial.asked.warmup_s) == (20.0, 0.0, 0.0)
    assert list(plan.contenders) == ["a1"]
    add(made, "a3")
    assert warmups(made) == {"a1": 6, "a2": 6, "b1": None, "a3": 6}
    assert made.trial("a1", made.load(1.5), 1).asked.warmup_s == 6


def test_one_that_is_not_done_in_time_is_given_all_of_it_and_told_so() -> None:
    made = bench(climbing(20), "a1")
    said = settle(made, "a1", ["HotSpot"], 20.0)
    assert said.endswith("its rate did not settle within 20 s, so each start is given 20 s to warm up")
    assert warmups(made) == {"a1": 20}


def test_one_that_fails_under_the_longer_load_is_told_so() -> None:
    made = bench(msgspec.structs.replace(climbing(4), outcome="died", message="it died", slices=[]), "a1")
    assert settle(made, "a1", [".NET"], 9.0).endswith("a load of 9 s, to see for how long, did not succeed: it died")


def test_one_that_is_warm_at_once_keeps_the_usual_warm_up() -> None:
    assert warmup_of(fakes.run(slices=fakes.slices([10_000.0] * 12), steady_end_ns=None)) == WARMUP_S
    assert warmup_of(msgspec.structs.replace(climbing(2), slices=[])) is None


@pytest.mark.parametrize(("budget_s", "bases", "long"), [(600, 1, MOST_S), (600, 12, 10.0), (60, 3, LEAST_S)])
def test_learning_takes_a_part_of_the_budget(budget_s: float, bases: int, long: float) -> None:
    assert settling_s(budget_s, bases) == long
