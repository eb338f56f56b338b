"""Grid: what is left of a plan, and rounds as long as time lasts."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from tests.analyse.fakes import plan, run
from webdyno.design import Design
from webdyno.design.blocks import Room
from webdyno.design.grid import grid, in_rounds, rounds_within
from webdyno.model.block import Rest, Turns
from webdyno.model.run import Run
from webdyno.model.trial import Plan

ROOM = Room(memory_bytes=None)
RUNS = [run(name, round_=round_, seconds=2.0) for round_ in range(1, 6) for name in ("a", "b")]
PLAN = plan(RUNS, rounds=5)


def ids(blocks: object) -> list[list[str]]:
    return [[trial.id for trial in block] for block in blocks]  # type: ignore[attr-defined]


def carried_out(design: Design, done: Sequence[Run] = ()) -> list[list[str]]:
    """All blocks, each looked for when those before are done."""
    found, runs = list[list[str]](), list(done)
    while blocks := design(runs):
        found += ids(blocks)
        runs += [next(run for run in RUNS if run.trial.id == trial.id) for block in blocks for trial in block]
    return found


def test_it_goes_on_after_what_is_done_and_repeats_what_was_interrupted() -> None:
    assert carried_out(grid(PLAN, ROOM)) == [[trial.id] for trial in PLAN.trials]
    stopped = msgspec.structs.replace(RUNS[2], outcome="interrupted")
    assert carried_out(grid(PLAN, ROOM), [*RUNS[:2], stopped]) == [[trial.id] for trial in PLAN.trials[2:]]
    assert grid(PLAN, ROOM)(RUNS) == []


def test_where_contenders_take_turns_those_of_a_round_are_one_block() -> None:
    turned = msgspec.structs.replace(PLAN, turns=Turns())
    blocks = carried_out(grid(turned, ROOM))
    assert [set(block) for block in blocks] == [{RUNS[at].trial.id, RUNS[at + 1].trial.id} for at in range(0, 10, 2)]


def test_who_did_not_rest_in_one_round_is_alone_in_the_next_of_all_rounds_too() -> None:
    turned = msgspec.structs.replace(PLAN, turns=Turns())
    restless = msgspec.structs.replace(RUNS[0], block=1, rest=Rest(time_ns=10**9, cpu_ns=10**8))
    assert [len(block) for block in grid(turned, ROOM)([])] == [2]
    assert [len(block) for block in grid(turned, ROOM)([restless, RUNS[1]])] == [1, 1]


def rounds_done(made: Plan, seconds: float) -> int:
    """How many are carried out when each Run takes two seconds."""
    design, done = rounds_within(made, ROOM, seconds, 3), list[Run]()
    while blocks := design(done):
        wanted = {trial.id for block in blocks for trial in block}
        done += [each for each in RUNS if each.trial.id in wanted]
    return len(done) // 2


def test_whole_rounds_are_done_until_the_one_that_ends_nearest_to_the_time() -> None:
    assert [rounds_done(PLAN, seconds) for seconds in (0.0, 13.9, 14.0, 17.9, 18.0, 1e9)] == [3, 3, 4, 4, 5, 5]


def test_a_round_that_was_begun_is_ended() -> None:
    assert ids(rounds_within(PLAN, ROOM, 0.0, 3)(RUNS[:7])) == [[RUNS[7].trial.id]]


def test_a_round_of_those_that_take_turns_is_one_block_and_who_does_not_rest_is_alone_from_then_on() -> None:
    turned = msgspec.structs.replace(PLAN, turns=Turns())
    design = rounds_within(turned, ROOM, 1e9, 3)
    assert [len(block) for block in design([])] == [2]
    restless = msgspec.structs.replace(RUNS[0], block=1, rest=Rest(time_ns=10**9, cpu_ns=10**8))
    assert [len(block) for block in design([restless, RUNS[1]])] == [1, 1]


def test_those_of_a_unit_follow_one_another_in_any_order() -> None:
    cells = [f"{name}{load}" for load in (1, 2, 3) for name in "abcdef"]
    seen = [cell for _, cell in in_rounds(cells, 20, 7, unit=lambda cell: cell[0])]
    units = [seen[at : at + 3] for at in range(0, len(seen), 3)]
    assert all(len({cell[0] for cell in unit}) == 1 for unit in units)
    assert len({tuple(cell[1] for cell in unit) for unit in units}) == 6
    assert [*in_rounds(cells, 3, 7, unit=lambda cell: cell)] == [*in_rounds(cells, 3, 7)]
