"""What a service behind the contenders changes about what may be said of them."""

from __future__ import annotations

import msgspec
import pytest

from tests.analyse.fakes import FINGERPRINT, RIG, plan, run, trial
from tests.analyse.test_doubts import behind, doubts, good
from webdyno.analyse import analyse
from webdyno.model.run import Run

change = msgspec.structs.replace


def test_contenders_that_a_service_held_back_are_not_told_apart() -> None:
    def held(cores: float) -> list[Run]:
        fast = [change(run, trial=trial("fast", round_=run.trial.round)) for run in behind(cores, rate=12_000.0)]
        return [*fast, *behind(cores)]

    def marks(runs: list[Run]) -> list[str]:
        [verdict] = analyse(plan(runs), FINGERPRINT, runs).verdicts
        return [standing.letters for standing in verdict.standings]

    assert marks(held(0.9)) == ["A", "A"]
    assert marks(held(0.2)) == ["A", "B"]
    # the slower one fills the service by what it asks of it
    assert marks([*held(0.2)[:3], *behind(0.9)]) == ["A", "B"]


def test_a_service_and_a_driver_on_one_core_are_bound_together() -> None:
    one_core = change(RIG, service_cores=(1,))  # where the driver takes half
    assert (
        "and the load generator, on one core, together" in doubts(behind(0.4, rig=one_core))["service-bound"].sentence
    )
    assert "service-bound" not in doubts(behind(0.2, rig=one_core))


def test_a_services_cpu_is_no_noise_and_is_told_per_request() -> None:
    runs = behind(0.3)
    assert "noisy-host" not in doubts(runs)
    [verdict] = analyse(plan(runs), FINGERPRINT, runs).verdicts
    assert verdict.standings[0].service_cpu_per_request is not None
    assert verdict.standings[0].service_cpu_per_request.value == pytest.approx(30_000, rel=0.01)
    assert analyse(plan(good()), FINGERPRINT, good()).verdicts[0].standings[0].service_cpu_per_request is None


def test_a_service_that_failed_does_not_cost_the_contender_its_place() -> None:
    runs = [*good()[:2], run(round_=3, outcome="service-failed", slices=[])]
    assert doubts(runs)["dead-cell"].severity == "shades"
