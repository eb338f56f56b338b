"""Blocks: who met whom decides what is compared with what. Expected values are worked out by hand."""

from __future__ import annotations

import math

import msgspec
import numpy as np
import pytest

from tests.analyse.fakes import FINGERPRINT, change_slices, plan, run
from tests.analyse.turning import block_of, block_run
from webdyno.analyse import analyse
from webdyno.analyse.additive import Meeting
from webdyno.analyse.blocks import alone, meetings, read_windows
from webdyno.analyse.doubts.rounds import drifted
from webdyno.analyse.estimate import fit
from webdyno.analyse.pairs import pairs_of
from webdyno.analyse.replay import replay
from webdyno.analyse.steps import fit_figure, steps_of
from webdyno.analyse.table import Evidence, Table, tables
from webdyno.analyse.versus import over_pairs
from webdyno.analyse.window import read_window
from webdyno.model.race import Race
from webdyno.model.run import Run


def table_of(runs: list[Run]) -> Table:
    return tables(Evidence(plan(runs), FINGERPRINT, runs))[0]


def test_rate_and_cpu_are_of_the_turns_and_latency_of_the_steady_window() -> None:
    """Turns at 3000 per second and 0.5 cores; the steady window is at 10,000 and 0.9."""
    made = block_run("go", [300] * 10, rate=10_000.0, cpu_ms=50, latency_ns=np.full(1000, 5e6))
    window = read_window(made)
    assert window is not None
    assert window.rate_per_s == pytest.approx(3000)
    assert window.contender_cores == pytest.approx(0.5)
    assert window.cpu_per_request_ns == pytest.approx(0.5 / 3000 * 1e9)
    assert window.points_ns["p50"] == pytest.approx(5e6, rel=0.01)
    assert window.steady.rate_per_s == pytest.approx(10_000)
    assert window.steady.contender_cores == pytest.approx(0.9, abs=0.01)
    assert window.ok == 3000 + 20_000


def test_errors_of_turns_count_among_all() -> None:
    made = block_run("go", [300] * 10, rate=10_000.0)
    slices = [
        msgspec.structs.replace(each, errors={"timeout": 230, "unfinished": 4}) if each.turn == 0 else each
        for each in made.slices
    ]
    window = read_window(msgspec.structs.replace(made, slices=slices))
    assert window is not None
    assert window.errors == {"timeout": 230}
    assert window.error_ratio == pytest.approx(230 / (230 + 23_000))


def test_alone_the_runs_of_blocks_are_what_each_is_by_itself() -> None:
    runs = [
        *block_of({"go": [100, 110, 120, 90, 300], "node": [50, 60, 70, 55, 50]}),
        *block_of({"go": [90, 95, 99], "node": [45, 48, 0]}, block=2, round_=2),
        run("bun", round_=1),
    ]
    found = alone(read_windows(runs))
    assert [window.run for window in found] == runs
    for window, each in zip(found, map(read_window, runs), strict=True):
        assert each is not None
        assert window.turned == each.turned
        assert (window.rate_per_s, window.ok, window.errors) == (each.rate_per_s, each.ok, each.errors)
        assert (window.cpu_per_request_ns, window.flattered) == (each.cpu_per_request_ns, None)


def test_a_run_without_turns_is_read_as_ever() -> None:
    window = read_window(run())
    assert window is not None
    assert window.turned is None
    assert window.steady is window


def test_cells_of_a_table_are_read_block_by_block() -> None:
    """Who missed the fast pass would be at 750 by itself; beside the other it is half as fast."""
    runs = block_of({"one": [100, 200, 300]}) + block_of({"other": [50, 100]})
    table = table_of(runs)
    rates = {cell.name: cell.windows[0].rate_per_s for cell in table.cells}
    assert rates["one"] / rates["other"] == pytest.approx(2)
    assert [each.rate_per_s for each in read_windows(runs)] == list(rates.values())
    assert table_of([*runs, run("go")]).met[("go", 1)] == Meeting(1, False)


def test_two_blocks_of_one_number_of_passes_are_not_one() -> None:
    runs = block_of({"one": [100, 200, 300]}) + block_of({"other": [50, 100]}, block=2)
    rates = {w.run.trial.contender: w.rate_per_s for w in read_windows(runs)}
    assert rates == pytest.approx({"one": 2000, "other": 750})


def test_a_trial_that_was_measured_again_is_in_the_block_of_each_run() -> None:
    runs = block_of({"one": [100, 200], "other": [50, 100]}) + block_of({"one": [30, 60], "other": [30, 60]}, block=2)
    assert [w.rate_per_s for w in read_windows(runs)] == pytest.approx([1500, 750, 450, 450])


def test_blocks_are_connected_by_who_was_in_both() -> None:
    """Block 1 (as it is): a 100, b 50. Block 2 at half speed: b 25, c 50. So c is a's equal, though never beside it."""
    cells = {("a", 1): 100.0, ("b", 1): 50.0, ("b", 2): 25.0, ("c", 2): 50.0}
    met = {key: Meeting(key[1], True) for key in cells}
    made = fit(cells, met=met)
    assert made is not None
    assert math.exp(made.logs[made.names.index("a")] - made.logs[made.names.index("c")]) == pytest.approx(1)


def test_two_blocks_in_one_round_have_an_effect_each() -> None:
    """In both rounds c and d met in a block at half speed; in the third c met a. By rounds alone a would be twice c."""
    cells = {(name, round_): 100.0 for name in "ab" for round_ in (1, 2)}
    cells |= {(name, round_): 50.0 for name in "cd" for round_ in (1, 2)} | {("a", 3): 70.0, ("c", 3): 70.0}
    met = {(n, r): Meeting(30 if r == 3 else 10 * r + (n in "cd"), True) for n, r in cells}
    made = fit(cells, met=met)
    assert made is not None
    assert made.ratio("a", "d").value == pytest.approx(1)
    by_rounds = fit(cells)
    assert by_rounds is not None
    assert by_rounds.ratio("a", "d").value > 1.5
    assert made.numbers == (1, 1, 2, 2, 3)
    assert made.last_round("a", "b") == 2
    assert made.last_round("b", "d") == 2  # in blocks of their own
    assert made.last_round("b", "c") == 2
    assert made.last_round("a", "c") == 3


def test_whom_nothing_connects_is_compared_by_how_blocks_differ() -> None:
    """Blocks of each group at 100 and 121: their logarithms differ by 0.19062, so by 0.01817 squared and halved.

    Each group's level is the mean of two blocks, which the other's has no part in: twice half of that variance.
    """
    cells = {("a", 1): 100.0, ("b", 1): 100.0, ("a", 2): 121.0, ("b", 2): 121.0}
    cells |= {("c", 1): 100.0, ("d", 1): 100.0, ("c", 2): 121.0, ("d", 2): 121.0}
    met = {(n, r): Meeting(10 * r + (n in "cd"), True) for n, r in cells}
    made = fit(cells, met=met, least=dict.fromkeys(cells, 1e-4))
    assert made is not None
    within, across = made.contrast("a", "b"), made.contrast("a", "c")
    assert within is not None
    assert across is not None
    assert within.error == pytest.approx((2 * 1e-4 / 2) ** 0.5)
    assert across.error == pytest.approx((1e-4 + math.log(1.21) ** 2 / 2) ** 0.5)
    pairs = pairs_of(made)
    assert pairs is not None
    row, column = pairs.names.index("a"), pairs.names.index("c")
    assert pairs.error[row, column] == pytest.approx(across.error)
    assert pairs.freedom[row, column] == pytest.approx(across.freedom)


def test_nobody_knows_how_single_blocks_differ() -> None:
    cells = {("a", 1): 100.0, ("b", 1): 90.0, ("c", 1): 200.0, ("d", 1): 210.0}
    made = fit(cells, met={(n, r): Meeting(int(n in "cd"), True) for n, r in cells})
    assert made is not None
    assert made.contrast("a", "c") is None


def test_what_was_measured_alone_makes_nobody_else_noisy() -> None:
    """Three in blocks, off by 1 %; three alone, off by 20 %: each kind keeps its own variance and prior."""
    rng = np.random.default_rng(4)
    cells = {(n, r): float(np.exp(9 + rng.normal(0, 0.01))) for n in "abc" for r in range(1, 7)}
    cells |= {(n, r): float(np.exp(9 + rng.normal(0, 0.2))) for n in "xyz" for r in range(1, 7)}
    made = fit(cells, met={(n, r): Meeting(r, n in "abc") for n, r in cells})
    mixed = fit(cells)
    assert made is not None
    assert mixed is not None
    quiet, loud = made.contrast("a", "b"), made.contrast("a", "x")
    assert quiet is not None
    assert loud is not None
    assert 0.003 < quiet.error < 0.012  # sqrt(2 / 6) of 1 %: 0.6 %
    assert 0.04 < loud.error < 0.16  # sqrt(1 / 6) of 20 %: 8 %
    before = mixed.contrast("a", "b")
    assert before is not None
    assert before.error > 2 * quiet.error


def test_turns_of_a_single_block_are_no_surer_than_what_was_alone() -> None:
    """One block, after which all were alone: nothing says how much its turns vary, and yet all are compared."""
    cells = {(name, 1): 100.0 for name in "abc"}
    cells |= {(name, r): 100.0 + 10 * ((r + at) % 3) for at, name in enumerate("abc") for r in (2, 3)}
    met = {(name, r): Meeting(1 if r == 1 else -1, r == 1) for name, r in cells}
    made, all_alone = fit(cells, met=met), fit(cells)
    assert made is not None
    assert all_alone is not None
    told, expected = made.contrast("a", "b"), all_alone.contrast("a", "b")
    assert told is not None
    assert expected is not None
    assert (told.log, told.error, told.freedom) == pytest.approx((expected.log, expected.error, expected.freedom))


def test_who_was_alone_belongs_to_the_nearest_block_of_its_round() -> None:
    def at(minute: int) -> str:
        return f"2026-11-20T10:{minute:02}:00Z"

    runs = [
        *block_of({"a": [9], "b": [9]}, block=1, started_at=at(0)),
        *block_of({"c": [9], "d": [9]}, block=2, started_at=at(10)),
        run("x", started_at=at(7)),
        run("y", started_at=at(2)),
        run("x", round_=2, started_at=at(11)),
    ]
    met = meetings(read_windows(runs))
    assert met["x", 1] == Meeting(2, False)
    assert met["y", 1] == Meeting(1, False)
    assert met["x", 2].block < 0
    assert met["a", 1] == Meeting(1, True)


def test_no_cell_is_quieter_than_its_own_turns() -> None:
    """Two turns of 90 and 110 in each of four equal blocks: the starts do not differ at all, the turns do."""
    runs = [one for r in range(1, 5) for one in block_of({"a": [90, 110] * 5, "b": [110, 90] * 5}, block=r, round_=r)]
    table = table_of(runs)
    made = fit_figure(table, lambda window: window.rate_per_s, rate=True)
    assert made is not None
    # of each turn 10 % off the mean, of ten turns, with half of 9 degrees of freedom left: 0.1^2 * 10 / 4.5 / 10
    assert made.noise == pytest.approx(np.full(8, 0.01 / 4.5), rel=0.02)
    assert steps_of(table.cells) == {}


def test_beats_from_three_blocks_on() -> None:
    def winners(blocks: int) -> list[str]:
        rng = np.random.default_rng(1)
        runs = [
            one
            for r in range(1, blocks + 1)
            for one in block_of(
                {
                    name: [round(level * math.exp(rng.normal(0, 0.02))) for _ in range(30)]
                    for name, level in (("fast", 1200), ("slow", 1000), ("third", 500))
                },
                block=r,
                round_=r,
            )
        ]
        return analyse(plan(runs), FINGERPRINT, runs).verdicts[0].winners

    assert winners(2) == ["fast", "slow", "third"]
    assert winners(3) == ["fast"]


def test_a_window_of_steady_errors_alone_is_not_lost() -> None:
    made = change_slices(block_run("go", [300] * 10), errors={"reset": 1})
    window = read_window(made)
    assert window is not None
    assert window.errors == {"reset": 2}


def noisy_blocks(levels: dict[str, int], blocks: int, seed: int = 1) -> list[Run]:
    """The machine's speed changes by half from block to block, and by a tenth from pass to pass."""
    rng = np.random.default_rng(seed)
    runs: list[Run] = []
    for number in range(1, blocks + 1):
        machine = math.exp(rng.normal(0, 0.5)) * np.exp(rng.normal(0, 0.1, 30))
        answers = {
            name: (level * machine * np.exp(rng.normal(0, 0.02, 30))).round().astype(int).tolist()
            for name, level in levels.items()
        }
        made = block_of(answers, block=number, round_=number)
        runs += [change_slices(each, ok=10 * levels[each.trial.contender]) for each in made]
    return runs


def test_a_race_looks_at_pairs_within_their_blocks() -> None:
    """10 % apart, blocks 50 %: told at the first look, after three rounds; without blocks nothing would be."""
    runs = noisy_blocks({"fast": 2200, "slow": 2000}, 3)
    raced = plan(runs, race=Race())
    (heat,) = replay(raced, runs).heats.values()
    assert heat.told == {("fast", "slow")}
    assert analyse(raced, FINGERPRINT, runs).verdicts[0].winners == ["fast"]
    apart = [msgspec.structs.replace(each, block=10 * each.block + ("fast" in each.beside)) for each in runs]  # type: ignore[operator]
    (heat,) = replay(raced, apart).heats.values()
    assert heat.told == frozenset()


def test_compare_takes_its_pairs_from_blocks() -> None:
    """Head is 5 % slower. The noise floor is what the pairs scatter by, not how far neighbouring blocks lie apart."""
    runs = noisy_blocks({"base": 2000, "head": 1900}, 6)
    found = over_pairs(Evidence(plan(runs), FINGERPRINT, runs), "base", "head", 0.03)
    assert found.outcome == "worse"
    rate = found.changes["rate"]
    assert rate.ratio is not None
    assert rate.ratio.rounds == 6
    assert rate.ratio.value == pytest.approx(0.95, abs=0.01)
    assert rate.noise_floor is not None
    assert rate.noise_floor < 0.02
    elsewhere = [msgspec.structs.replace(r, block=99) if r.trial.id == runs[0].trial.id else r for r in runs]
    fewer = over_pairs(Evidence(plan(elsewhere), FINGERPRINT, elsewhere), "base", "head", 0.03).changes["rate"]
    assert fewer.ratio is not None
    assert fewer.ratio.rounds == 5


def test_equal_revisions_are_the_same_when_their_interval_says_so() -> None:
    runs = noisy_blocks({"base": 2000, "head": 2000}, 18)
    assert over_pairs(Evidence(plan(runs), FINGERPRINT, runs), "base", "head", 0.03).outcome == "same"
    few = noisy_blocks({"base": 2000, "head": 2000}, 5)
    assert over_pairs(Evidence(plan(few), FINGERPRINT, few), "base", "head", 0.03).outcome == "cannot tell"


def test_blocks_that_scatter_are_no_drift_and_blocks_that_slow_down_are() -> None:
    """The machine at 1, 0.9, 0.8 ... in six blocks: by a line through the logarithms, 50 % slower at the end."""
    scattered = noisy_blocks({"one": 2000, "other": 1900}, 6)
    assert drifted(table_of(scattered)) is None
    slowing = [
        one
        for r in range(1, 7)
        for one in block_of(
            {name: [round(1000 * (1.1 - 0.1 * r))] * 30 for name in ("one", "other")}, block=r, round_=r
        )
    ]
    found = drifted(table_of(slowing))
    assert found is not None
    logs = np.log([1, 0.9, 0.8, 0.7, 0.6, 0.5])
    slope = np.polyfit(np.arange(6), logs, 1)[0]
    assert found.numbers["change"] == pytest.approx(math.expm1(5 * slope))
