"""Stolen: what theft costs is found within contenders, and taken from no rate where it is not known."""

from __future__ import annotations

import math

import msgspec
import numpy as np
import pytest

from tests.analyse.fakes import FINGERPRINT, plan, robbed, run, workload
from webdyno.analyse import analyse
from webdyno.analyse.stolen import MOST_SHARE, NOTHING, Loss, Stolen, Usual, read_stolen
from webdyno.analyse.table import Evidence, cells_of, tables
from webdyno.model.run import Run
from webdyno.model.trial import Trial

SHARES = [[0.0, 0.02, 0.05], [0.01, 0.08, 0.0], [0.03, 0.0, 0.01], [0.0, 0.04, 0.02], [0.06, 0.0, 0.03]]
FAST = [1000.0, 1500.0, 900.0, 2000.0, 400.0]


Rows = list[tuple[str, list[Loss]]]


def losses(cost: float, noise: float = 0.01, shares: list[list[float]] = SHARES * 2, seed: int = 1) -> Rows:
    rng = np.random.default_rng(seed)
    return [
        (
            f"c{at}",
            [Loss(fast * math.exp(-cost * share + rng.normal(0, noise)), share, r) for r, share in enumerate(row)],
        )
        for at, (fast, row) in enumerate(zip(FAST * 4, shares, strict=False))
    ]


def test_the_cost_is_found_and_rates_are_as_of_what_a_contender_usually_loses() -> None:
    found = read_stolen(losses(4.0))
    assert found.cost == pytest.approx(4.0, rel=0.1)
    assert found.mean == pytest.approx(np.mean(SHARES))
    assert found.speed("c0", found.usual["c0"].share) == 1.0
    assert found.speed("c0", 0.05) / found.speed("c0", 0.0) == pytest.approx(math.exp(-0.05 * found.cost))


def test_who_loses_more_by_chance_is_taken_for_one_who_loses_as_much_as_all() -> None:
    """Contenders differ no more here than their rounds do."""
    found = read_stolen(losses(4.0))
    assert [usual.share for usual in found.usual.values()] == pytest.approx([found.mean] * 10)
    assert found.variance("c0") == 0.0


def test_who_loses_more_in_every_round_has_a_part_in_it_and_that_is_not_known_for_sure() -> None:
    """A contender that uses more than the hypervisor allows is as slow as it is."""
    one = [[share / 5 + (0.06 if at == 0 else 0.0) for share in row] for at, row in enumerate(SHARES * 2)]
    found = read_stolen(losses(4.0, noise=0.002, shares=one))
    assert found.usual["c0"].share == pytest.approx(np.mean(one[0]), rel=0.1)
    assert found.usual["c5"].share == pytest.approx(np.mean(one[5]), abs=0.003)
    assert 0 < math.sqrt(found.variance("c0")) < 4 * 0.01


def test_how_fast_contenders_are_does_not_matter() -> None:
    """Those from whom most is stolen may be the fastest of all."""
    doubled = [
        (name, [loss._replace(rate_per_s=loss.rate_per_s * (1 + 9 * row[0].share)) for loss in row])
        for name, row in losses(4.0)
    ]
    assert read_stolen(doubled).cost == pytest.approx(read_stolen(losses(4.0)).cost)


def test_what_is_chance_costs_little_or_nothing() -> None:
    costs = [read_stolen(losses(0.0, 0.05, SHARES * 4, seed)).cost for seed in range(40)]
    assert np.median(costs) < 0.3
    assert all(cost >= 0 for cost in costs)


def test_theft_that_comes_with_speed_costs_nothing() -> None:
    assert read_stolen(losses(-4.0)).cost == 0.0


def test_few_rounds_say_nothing() -> None:
    assert read_stolen(losses(4.0, shares=SHARES)) == NOTHING
    assert read_stolen([]) == NOTHING
    assert read_stolen((name, [loss]) for name, row in losses(4.0) * 2 for loss in row) == NOTHING


def test_where_nothing_was_stolen_nothing_is_known() -> None:
    assert read_stolen(losses(4.0, shares=[[0.0] * 4] * 8)) == NOTHING


def test_a_theft_that_lasts_over_all_loads_of_a_contender_is_one_and_not_many() -> None:
    rng = np.random.default_rng(5)
    shares = [[float(share) for share in rng.exponential(0.02, 3)] for _ in range(10)]
    three_loads = [row for seed in (1, 2, 3) for row in losses(4.0, shares=shares, seed=seed)]
    assert read_stolen(three_loads).usual == read_stolen(three_loads[:10]).usual


def test_more_than_was_ever_seen_costs_no_more_than_the_most_that_was() -> None:
    found = Stolen(4.0, {"c0": Usual(0.02, 0.0)})
    assert found.speed("c0", 0.5) == found.speed("c0", MOST_SHARE)


def rounds_of(cpu: float = 0.9, cost: float = 4.0) -> list[Run]:
    """Ten contenders with three rounds each, one core for the contender and one for the driver."""
    rng = np.random.default_rng(3)
    return [
        robbed(
            run(f"c{at}", round_=1 + round_, cpu=cpu, rate=10_000 * math.exp(rng.normal(0, 0.005) - cost * share)),
            2 * share,
        )
        for at, row in enumerate(SHARES * 2)
        for round_, share in enumerate(row)
    ]


def spreads(runs: list[Run]) -> list[float]:
    """Standard deviations of the logarithms of each contender's rates, as tables have them."""
    (table,) = tables(Evidence(plan(runs), FINGERPRINT, runs))
    return [float(np.std([math.log(window.rate_per_s) for window in cell.windows])) for cell in table.cells]


def test_a_table_has_the_rates_as_of_usual_theft_and_all_else_as_it_was_seen() -> None:
    runs = rounds_of()
    assert max(spreads(runs)) < 0.02
    (table,) = tables(Evidence(plan(runs), FINGERPRINT, runs))
    assert table.theft.cost == pytest.approx(4.0, rel=0.1)
    seen = {
        window.run.trial.id: window
        for cell in cells_of(plan(runs), by_id(runs), trials_of(runs))
        for window in cell.windows
    }
    for cell in table.cells:
        for window in cell.windows:
            before = seen[window.run.trial.id]
            assert window.steady == before
            assert (window.ok, window.cpu_per_request_ns) == (before.ok, before.cpu_per_request_ns)


def by_id(runs: list[Run]) -> dict[str, Run]:
    return {run.trial.id: run for run in runs}


def trials_of(runs: list[Run]) -> list[Trial]:
    return [run.trial for run in runs]


def test_hosts_of_a_fleet_differ_by_more_than_theft() -> None:
    runs = [
        msgspec.structs.replace(
            each, rig=msgspec.structs.replace(each.rig, contender_host=f"host {each.trial.round % 2}")
        )
        for each in rounds_of()
    ]
    (table,) = tables(Evidence(plan(runs), FINGERPRINT, runs))
    assert table.theft == NOTHING


def test_a_clock_that_goes_back_steals_nothing() -> None:
    found = Stolen(4.0, {"c0": Usual(0.0, 0.0)})
    assert found.speed("c0", -3.0) == 1.0


def test_who_waits_loses_nothing_by_theft() -> None:
    runs = rounds_of(cpu=0.2)
    assert min(spreads(runs)) > 0.04


def test_a_rate_as_of_usual_theft_is_no_floor() -> None:
    runs = rounds_of()
    robbed_much = [robbed(each, 0.2) if each.trial.contender == "c0" else each for each in runs]
    assert "stolen-time" not in kinds(robbed_much)
    assert "stolen-time" in kinds([each for each in robbed_much if each.trial.contender in ("c0", "c1", "c2")])


def kinds(runs: list[Run]) -> set[str]:
    (verdict,) = analyse(plan(runs), FINGERPRINT, runs).verdicts
    return {doubt.kind for standing in verdict.standings for doubt in standing.doubts}


def test_it_is_said_with_what_disturbed_the_machine() -> None:
    runs = rounds_of()
    (verdict,) = analyse(plan(runs), FINGERPRINT, runs).verdicts
    (doubt,) = (doubt for doubt in verdict.doubts if doubt.kind == "noisy-host")
    assert "as if the hypervisor had taken the same share in each round, 2.3 % on average" in doubt.sentence


def test_it_is_said_of_a_table_that_was_spared_too_for_its_rates_are_lower_then() -> None:
    spared = [run(f"c{at}", workload="json", round_=round_) for at in range(10) for round_ in (1, 2, 3)]
    runs = [*rounds_of(), *(robbed(each, 0.0) for each in spared)]
    of = plan(runs, workloads={"hello": workload(), "json": workload("json")})
    _, verdict = analyse(of, FINGERPRINT, runs).verdicts
    (doubt,) = (doubt for doubt in verdict.doubts if doubt.kind == "noisy-host")
    assert doubt.sentence.startswith("rates of contenders measured alone are shown")
