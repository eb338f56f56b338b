"""Hosts of a fleet: contenders are compared within a host, and hosts that disagree about one are told."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec
import numpy as np
import pytest

from tests.analyse.fakes import FINGERPRINT, RIG, plan, run
from tests.analyse.test_doubts import doubts
from webdyno.analyse import analyse
from webdyno.analyse.blocks import lonely, meetings, read_windows
from webdyno.analyse.doubts.hosts import SURE
from webdyno.analyse.hosts import disagreement
from webdyno.model.run import Run
from webdyno.model.verdict import Estimate

RATES = {"go": 40_000.0, "node": 20_000.0, "uvicorn": 10_000.0}
SPEED = {"10.0.0.1": 1.0, "10.0.0.2": 0.4}
"""The second host is two and a half times slower, for everybody."""


def at(
    host: str, name: str, round_: int, *, gains: float = 1.0, noise: float = 0.0, machine: str = "Xeon, 2 cores"
) -> Run:
    rig = msgspec.structs.replace(RIG, contender_host=host, contender_machine=machine)
    return run(name, round_=round_, rate=RATES[name] * SPEED[host] * gains * math.exp(noise), rig=rig)


def fleet(rounds: int = 6, gains: float = 1.0, seed: int = 1, sigma: float = 0.01) -> list[Run]:
    """Rounds on two hosts in turn; ``go`` gains something on the second."""
    chance, hosts = np.random.default_rng(seed), list(SPEED)
    return [
        at(
            hosts[round_ % 2],
            name,
            round_,
            gains=gains if name == "go" and round_ % 2 else 1.0,
            noise=chance.normal(0, sigma),
        )
        for round_ in range(1, rounds + 1)
        for name in RATES
    ]


def ratio(runs: Sequence[Run], name: str = "node") -> Estimate:
    """Its rate to the best one's."""
    [verdict] = analyse(plan(runs), FINGERPRINT, runs).verdicts
    found = next(each.ratio_to_best for each in verdict.standings if each.contender == name)
    assert found is not None
    return found


def test_contenders_are_compared_within_hosts_however_these_differ() -> None:
    told = ratio(fleet())
    assert told.low is not None and told.high is not None
    assert told.value == pytest.approx(0.5, rel=0.02) and told.high - told.low < 0.06
    assert not {"hosts-differ", "unlike-hosts", "drifted"} & doubts(fleet()).keys()


def test_what_one_host_did_of_a_round_is_not_compared_with_what_another_did_of_it() -> None:
    """A host was lost in the third round: go was measured on one host, and the two others on the other."""
    runs = [each for each in fleet(sigma=0.0) if each.trial.round != 3]
    third = [at("10.0.0.1", "go", 3), at("10.0.0.2", "node", 3), at("10.0.0.2", "uvicorn", 3)]
    assert ratio([*runs, *third]).value == pytest.approx(0.5, rel=1e-6)


def test_a_run_that_met_nobody_on_its_host_is_compared_with_nobody() -> None:
    runs = [*fleet(rounds=4), at("10.0.0.2", "go", 5)]
    windows = read_windows(runs)
    assert lonely(windows) == {("go", 5)}
    assert lonely([window for window in windows if window.run.rig.contender_host == "10.0.0.2"]) == set()
    only = [at("10.0.0.2", "go", 1), at("10.0.0.1", "node", 1)]
    assert lonely(read_windows(only)) == set(), "there is nothing else of them"


def test_who_was_measured_alone_is_beside_a_block_of_its_own_host() -> None:
    runs = [
        msgspec.structs.replace(each, block=each.trial.round if each.trial.contender != "uvicorn" else None)
        for each in fleet(rounds=2)
    ]
    met = meetings(read_windows(runs))
    assert met["uvicorn", 1].block == 1 and met["uvicorn", 2].block == 2
    elsewhere = msgspec.structs.replace(at("10.0.0.1", "uvicorn", 1))
    met = meetings(read_windows([*runs[:2], *runs[3:], elsewhere]))
    assert met["uvicorn", 1].block < 0, "no block of its round is on its host"


def test_runs_of_one_machine_are_read_as_before() -> None:
    of_one = [each for each in fleet(rounds=12) if each.rig.contender_host == "10.0.0.1"]
    assert meetings(read_windows(of_one)) == {}


def test_hosts_that_disagree_about_a_contender_are_a_doubt() -> None:
    doubt = doubts(fleet(gains=1.2))["hosts-differ"]
    assert "go is" in doubt.sentence and "faster on 10.0.0.2 than elsewhere" in doubt.sentence
    assert doubt.severity == "shades" and doubt.numbers["hosts"] == 2
    assert 0.1 < float(doubt.numbers["change"]) < 0.25 and float(doubt.numbers["p"]) < SURE


def test_hosts_that_measured_everything_once_cannot_disagree() -> None:
    assert "hosts-differ" not in doubts(fleet(rounds=2, gains=1.5))


@pytest.mark.slow
def test_hosts_that_agree_are_accused_in_one_experiment_of_a_hundred() -> None:
    chance, found = np.random.default_rng(5), 0
    hosts = {round_: f"10.0.0.{round_ % 3}" for round_ in range(1, 7)}
    for _ in range(400):
        noisy = {name: float(chance.uniform(0.01, 0.05)) for name in "abcde"}
        cells = {
            (name, round_): math.exp(chance.normal(0, noisy[name]) + 0.3 * (round_ % 3))
            for name in noisy
            for round_ in hosts
        }
        told = disagreement(cells, {}, {key: hosts[key[1]] for key in cells})
        assert told is not None
        found += told.p < SURE
    assert found <= 0.025 * 400


def test_hosts_of_several_kinds_are_a_doubt_about_the_study() -> None:
    runs = [at(host, name, round_, machine=f"Xeon of {host}") for round_, host in enumerate(SPEED, 1) for name in RATES]
    doubt = doubts(runs)["unlike-hosts"]
    assert doubt.severity == "shades" and doubt.numbers == {"kinds": 2}
    assert "1 host with Xeon of 10.0.0.1" in doubt.sentence
