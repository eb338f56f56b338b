"""Halving with servers whose speed is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from webdyno.analyse.additive import Meeting
from webdyno.design.halving import FINALISTS, Blocks, Field, Seen, Sweeps, finalists, halve, worth_a_sweep
from webdyno.session.tryout.final import LEAST_ROUNDS, LEAST_S, MOST_ROUNDS, MOST_S, shape, turns_for


class Run:
    """As much of a Run as halving looks at."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds


class World:
    """Servers ``a`` to ``h`` with settings ``a.1`` ...; the speed of each is fixed. Those of ``pools`` wait, and have
    these larger pools. So many ``members`` are measured at a time, all of them so many ``times`` as fast in each block
    as they are.
    """

    def __init__(
        self,
        speeds: dict[str, float],
        pools: dict[str, list[str]] | None = None,
        members: int = 1,
        times: Sequence[float] = (),
    ) -> None:
        self.speeds, self.asked, self.clock = speeds, list[str](), 0.0
        self.pools, self.members = pools or {}, members
        self.blocks: list[list[str]] = []
        self.times = list(times)

    def measure(self, names: Sequence[str], duration_s: float) -> dict[str, Seen]:
        self.asked += names
        self.blocks.append(list(names))
        self.clock += (duration_s + 1) * len(names)
        run: Any = Run(duration_s + 1)
        block, times = len(self.blocks), self.times.pop(0) if self.times else 1.0
        met = Meeting(block, len(names) > 1)
        return {name: Seen(run, self.speeds[name] * times, name in self.pools, block, met) for name in names}

    def variants(self, name: str) -> list[str]:
        return [each for each in self.speeds if each.startswith(f"{name}.")]

    def sweeps(self) -> Sweeps:
        return Sweeps(self.variants, lambda name: self.pools.get(name, []))


def race(world: World, budget_s: float = 1000.0, spare_s: float = 0.0) -> tuple[Field, list[str]]:
    bases = [name for name in world.speeds if "." not in name]

    def left(_: float) -> float:
        return budget_s - world.clock

    blocks = Blocks(world.measure, lambda: world.members)
    return halve(bases, world.sweeps(), blocks, budget_s, left, lambda *_: None, lambda _: spare_s, 1.5)


def booked(**rates: float) -> Field:
    field = Field()
    for name, rate in rates.items():
        field.book(name, seen(1.0, rate))
    return field


def seen(seconds: float, rate: float) -> Seen:
    run: Any = Run(seconds)
    return Seen(run, rate, waits=False, round=1, met=Meeting(-1, False))


def speeds() -> dict[str, float]:
    servers = {name: 1000.0 - 60 * at for at, name in enumerate("abcdefgh")}
    return (
        servers
        | {f"{name}.{k}": rate + k for name, rate in servers.items() for k in (1, 2, 3)}
        | {"z": 1.0, "z.1": 1.0}
    )


def test_the_fastest_is_found_and_the_slow_get_no_time() -> None:
    world = World(speeds())
    field, stay = race(world)
    assert finalists(field, stay, lambda name: name[0])[0] == "a.3"
    assert world.asked.count("z") == 1
    assert "z.1" not in world.asked
    assert world.asked.count("a.3") > world.asked.count("h.3")
    assert field.dropped["h"] == 2


def test_no_server_has_more_than_two_settings_in_the_final_while_there_are_others() -> None:
    field, stay = race(World(speeds()))
    final = finalists(field, stay, lambda name: name[0])
    assert len(final) == FINALISTS
    assert [name[0] for name in final] == ["a", "a", "b", "b"]
    field, stay = race(World({"a": 10.0, "a.1": 11.0, "a.2": 12.0}))
    assert finalists(field, stay, lambda name: name[0]) == ["a.2", "a.1", "a"]


def test_the_first_is_compared_with_another_server_however_far_behind() -> None:
    world = World({"a": 100.0, "a.1": 101.0, "b": 3.0, "c": 2.0})
    field, stay = race(world)
    assert stay == ["a.1", "a"]
    assert finalists(field, stay, lambda name: name[0]) == ["a.1", "a", "b"]
    assert "b" not in field.dropped


def test_a_failure_takes_a_setting_out() -> None:
    world = World({"a": 10.0, "b": 0.0, "a.1": 12.0})
    field, stay = race(world)
    assert stay == ["a.1", "a"]
    assert list(field.failed) == ["b"]
    field, stay = race(World({"a": 0.0}))
    assert stay == []


def test_what_the_budget_does_not_reach_is_named() -> None:
    world = World(speeds())
    field, _ = race(world, budget_s=30.0)
    assert len(field.untried) == 24 - int((0.35 * 30) / 1.5)
    assert set(field.untried).isdisjoint(world.asked)


def test_settings_are_tried_for_as_long_as_the_last_comparison_has_no_use_for_the_time() -> None:
    world = World(speeds())
    field, _ = race(world, budget_s=40.0, spare_s=20.0)
    assert len(field.untried) == 24 - int(20 / 1.5)


def test_who_waits_gets_its_largest_pool_before_it_is_dropped_however_far_behind_and_before_all_else() -> None:
    pools = {"g": ["g.48", "g.16"], "w": ["w.32"]}
    world = World({"a": 150.0, "a.1": 149.0, "g": 19.0, "g.48": 152.0, "g.16": 76.0, "w": 20.0, "w.32": 0.0}, pools)
    field, stay = race(world)
    assert world.asked[3:7] == ["w.32", "g.48", "a.1", "g.16"]
    assert stay[0] == "g.48"
    assert list(field.failed) == ["w.32"]
    world = World({"a": 150.0, "a.1": 149.0, "g": 19.0, "g.48": 152.0, "g.16": 76.0}, pools)
    field, stay = race(world, budget_s=12.0)
    assert world.asked[2:4] == ["g.48", "a.1"]
    assert field.untried == ["g.16"]


def test_one_that_does_not_answer_is_no_measure_of_what_a_run_takes() -> None:
    field = Field()
    for name, seconds in {"a": 2.0, "b": 2.0, "c": 60.0}.items():
        field.book(name, seen(seconds, 1.0))
    assert field.seconds == 2.0


def test_a_budget_that_is_over_after_the_first_still_has_something_to_compare_it_with() -> None:
    world = World({"a": 10.0, "b": 11.0, "c": 12.0})
    field, stay = race(world, budget_s=1.0)
    assert world.asked == ["a", "b"]
    assert (stay, field.untried) == (["b", "a"], ["c"])


def test_only_servers_within_half_of_the_best_are_swept() -> None:
    field = booked(a=100.0, b=51.0, c=49.0)
    assert worth_a_sweep(field, ["a", "b", "c"]) == ["a", "b"]


def test_the_last_comparison_takes_more_rounds_before_longer_ones() -> None:
    assert shape(5, 10.0, 1.0) == (LEAST_ROUNDS, LEAST_S)
    assert shape(5, 100.0, 1.0) == (8, LEAST_S)
    assert shape(5, 300.0, 1.0) == (MOST_ROUNDS, 3.0)
    assert shape(5, 9999.0, 1.0) == (MOST_ROUNDS, MOST_S)
    assert shape(4, 50.0, 1.0) == (5, LEAST_S)
    assert shape(4, 56.0, 1.0) == (5, 1.8)  # what five rounds leave over
    assert shape(1, 60.0, 1.0, 20.0) == (LEAST_ROUNDS, 20.0)


def test_a_rung_is_measured_in_blocks_that_the_fastest_so_far_connects() -> None:
    world = World({name: 100.0 - at for at, name in enumerate("dcbaefghij")}, members=4)
    race(world)
    first = [block for block in world.blocks if len(block) > 1][:3]
    assert first == [["d", "c", "b", "a"], ["d", "e", "f", "g"], ["d", "h", "i", "j"]]


def test_who_is_out_is_decided_within_blocks_however_the_machine_changes_between_them() -> None:
    servers = dict(zip("abcdefghij", (100.0, 60.0, 70.0, 65.0, 95.0, 50.0, 55.0, 80.0, 98.0, 40.0), strict=True))
    world = World(servers, members=4, times=(1.0, 0.5, 2.0))
    field, stay = race(world)
    assert field.ranked(servers) == sorted(servers, key=lambda name: -servers[name])
    reached = field.reached()
    for name, speed in servers.items():
        assert reached[name] / reached["a"] == pytest.approx(speed / 100.0)
    assert stay == ["a", "i", "e", "h"]


def test_nobody_is_measured_twice_for_the_sake_of_blocks_where_everybody_is_alone() -> None:
    world = World(dict.fromkeys("abcd", 100.0))
    race(world, budget_s=7.0)
    assert world.blocks == [["a"], ["b"], ["c"], ["d"]]


def test_a_block_holds_no_more_than_the_budget_does() -> None:
    world = World(dict.fromkeys("abcdefgh", 100.0), members=8)
    field, _ = race(world, budget_s=4.0)
    assert world.blocks == [["a", "b", "c"]]
    assert field.untried == ["d", "e", "f", "g", "h"]


def test_a_slow_application_has_shorter_turns_before_it_has_longer_runs() -> None:
    assert [turns_for([cycle_s, cycle_s])[1] for cycle_s in (0.001, 0.1, 0.2, 0.4)] == [1.5, 1.5, 2.7, 5.4]
    assert turns_for([0.001])[0].cycles == 5.0
    assert turns_for([0.1])[0].cycles == pytest.approx(1 / 6 / 0.1)
    assert turns_for([0.4])[0].cycles == 1.5
