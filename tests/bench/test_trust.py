"""The trust experiments without their measuring: what their tables say of Runs whose truth is known."""

import math
import re
import tomllib
from pathlib import Path

import msgspec
import numpy as np
import pytest

from bench.trust import equal, known, replaying, rerun, simulated
from bench.trust.studies import Recorded, experiments, twin, write_study
from tests.analyse.fakes import FINGERPRINT, change_slices, plan, robbed, run, study
from webdyno.model.race import Race
from webdyno.read import default_folder, read_catalogue, read_study


def recorded(rates: dict[str, float], rounds: int, noise: float = 0.02, seed: int = 3) -> Recorded:
    rng = np.random.default_rng(seed)
    runs = [
        run(name, round_=r, rate=rate * math.exp(rng.normal(0, noise)))
        for r in range(1, rounds + 1)
        for name, rate in rates.items()
    ]
    return Recorded(plan(runs), FINGERPRINT, runs)


@pytest.mark.slow
def test_equals_are_seldom_called_different_and_the_table_says_so() -> None:
    made = recorded({"go": 10_000, "go-again": 10_000}, 160)
    each = list(experiments(made, 4))
    assert len(each) == 40
    assert {run.trial.round for run in each[1].runs} == {5, 6, 7, 8}
    assert sum(equal.told_apart(one) for one in each) <= 6
    lines = equal.report(made, ["go", "go-again"], 4, 4)
    assert "called different" in "\n".join(lines)
    narrow = equal.half_width(equal.ratio(equal.after(made, 300), ["go", "go-again"]))
    wide = equal.half_width(equal.ratio(each[0], ["go", "go-again"]))
    assert narrow is not None
    assert wide is not None
    assert narrow < wide


def test_experiments_of_a_machine_that_lost_time_are_counted_apart() -> None:
    made = recorded({"go": 10_000, "go-again": 10_000}, 12)
    stolen = [robbed(each, 0.3) if each.trial.round == 1 else each for each in made.runs]
    calm = [equal.is_calm(one) for one in experiments(made._replace(runs=stolen), 4)]
    assert calm == [False, True, True]
    slightly = [robbed(each, 0.03) if each.trial.round <= 6 else each for each in made.runs]
    assert [equal.is_calm(one) for one in experiments(made._replace(runs=slightly), 4)] == [False, False, True]


@pytest.mark.slow
def test_more_is_learnt_of_the_same_runs_by_drawing_rounds() -> None:
    made = recorded({"go": 10_000, "go-again": 10_000}, 40)
    stolen = [robbed(each, 0.3) if each.trial.round <= 10 else each for each in made.runs]
    lines = equal.read_report(made._replace(runs=stolen), 4, 200)
    number = {line.split("  ")[0]: int(line.split("  ", 1)[1].split()[0]) for line in lines[2:7]}
    assert number["4 rounds drawn from all, 200 times: ranked"] == 200
    assert number["of these called different"] < 25
    [calm] = [line for line in lines if "lost 10 %" in line]
    assert 30 < int(calm.split()[-1]) < 90  # 30 * 29 * 28 * 27 of 40 * 39 * 38 * 37: 30 %


def test_experiments_that_ranked_nobody_are_not_taken_for_passed() -> None:
    made = recorded({"go": 10_000, "go-again": 10_000}, 12)
    wrong = [
        change_slices(each, errors={"wrong-body": 500})
        if each.trial.round <= 4 and each.trial.contender == "go"
        else each
        for each in made.runs
    ]
    lines = equal.report(made._replace(runs=wrong), ["go", "go-again"], 4, 4)
    found = {line.split("  ")[0]: line.split("  ", 1)[1].split() for line in lines[2:]}
    assert found["experiments of two equals"][0] == "2"
    assert found["left out, for they ranked less than two"][0] == "1"
    nobody = [change_slices(each, errors={"wrong-body": 500}) for each in made.runs]
    said = "\n".join(equal.report(made._replace(runs=nobody), ["go", "go-again"], 4, 4))
    assert re.search("^called different +- ", said, re.MULTILINE)


def test_servers_told_apart_are_counted() -> None:
    assert equal.told_apart(recorded({"go": 10_000, "node": 5000}, 4))


@pytest.mark.slow
def test_known_ratios_are_held_by_their_intervals() -> None:
    rates = {f"paced-{slower * 100:02.0f}": 2000 / (1 + slower) for slower in (0.0, *known.SLOWER)}
    lines = known.report(recorded(rates, 80), 4)
    shares = [[int(share) for share in re.findall(r"(\d+)%", line)] for line in lines[2:]]
    assert [row[0] for row in shares] == [2, 5, 10, 30]
    assert all(held >= 85 for _, _, held, _ in shares)
    assert [detected for _, detected, _, _ in shares] == sorted(detected for _, detected, _, _ in shares)
    assert shares[-1][1] == 100


def test_the_catalogue_it_writes_is_one(tmp_path: Path) -> None:
    names = known.write_contenders(tmp_path, 0.02)
    names.append(twin(tmp_path, "waitress"))
    catalogue = read_catalogue([default_folder(), tmp_path])
    made = read_study(write_study(tmp_path, names, 8, 0.5), catalogue)
    assert (made.contenders, made.rounds) == (names, 8)
    assert catalogue.contenders["paced-02"].serve[4] == "510"
    first = tomllib.loads((default_folder() / "contenders" / "waitress.toml").read_text())
    assert catalogue.contenders["waitress-again"].requires == first["requires"]
    with pytest.raises(SystemExit, match="there is no contender 'nobody'"):
        twin(tmp_path, "nobody")


def test_a_study_agrees_with_itself_and_not_with_its_reverse() -> None:
    rates = {name: 1000.0 * 1.3**at for at, name in enumerate("abcdef")}
    one, other = recorded(rates, 4), recorded(rates, 4, seed=9)
    reverse = recorded(dict(zip(rates, reversed(rates.values()), strict=True)), 4)
    again, turned = (re.split("  +", rerun.report(one, each)[2]) for each in (other, reverse))
    assert again[1:6] == ["1.000", "1.000", "same", "0", "15 of 15, 15 of 15"]
    assert turned[1:5] == ["-1.000", "-1.000", "differs", "15"]


def test_a_replayed_race_takes_less_time_and_contradicts_nothing() -> None:
    made, _, runs = study(rounds=8)
    grid = Recorded(made, FINGERPRINT, runs)
    raced = replaying.race_of(grid, Race(top=1))
    assert len(raced.runs) < 0.8 * len(runs)
    lines = replaying.report(grid, Race(top=1))
    assert "times less" in lines[0]
    assert all(line.rstrip().endswith(" 0") for line in lines[3:])


def test_a_replay_of_nothing_is_no_crash() -> None:
    empty = Recorded(msgspec.structs.replace(recorded({"go": 1.0, "node": 1.0}, 3).plan), FINGERPRINT, [])
    assert replaying.report(empty, Race())[0] == "no Runs"


@pytest.mark.slow
def test_worlds_that_nothing_was_chosen_on_are_the_ones_reported() -> None:
    lines = simulated.run(2, simulated.FRESH)
    assert lines[0] == "2 worlds, seeds 6000 to 6001"
    named = {line.split("  ")[0]: line.split() for line in lines}
    assert named["wsgi's grid"][2] == "19,800"
    assert float(named["race, 1.5 s windows"][5]) > 6
    assert "all equal" in named
    assert named["JITs given the warm-up of all"][-1] == "5%"


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"), [(0, 200, 0.0, 0.0183), (10, 200, 0.0242, 0.0900), (5, 5, 0.478, 1.0)]
)
def test_a_share_has_an_exact_interval(hits: int, of: int, low: float, high: float) -> None:
    """None of n ends at 1 - 0.025 ** (1 / n), all of n begin at 0.025 ** (1 / n)."""
    assert simulated.interval(hits, of) == (pytest.approx(low, abs=5e-4), pytest.approx(high, abs=5e-4))


def test_what_agrees_and_what_does_not_is_measured_as_it_should() -> None:
    truth = np.log(np.array([[100.0] * 5, [97.0] * 5, [50.0] * 5]))
    turned = truth[[1, 0, 2]]
    assert simulated.in_order(truth, truth) == simulated.near_best(truth, truth) == simulated.tau(truth, truth) == 1
    assert simulated.in_order(truth, turned) == 1  # 3 % apart do not count
    assert simulated.near_best(truth, turned) == 0
    assert simulated.tau(truth, turned) == pytest.approx(1 / 3)
