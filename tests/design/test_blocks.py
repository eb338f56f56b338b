"""Blocks: who can share one, why the others cannot, and that everybody meets sooner or later."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import msgspec
import pytest

from tests.analyse import fakes
from webdyno.design.blocks import MOST_CONNECTIONS, Room, draw, members, restless, why_alone
from webdyno.model.block import Rest, Turns
from webdyno.model.load import Load, Stage
from webdyno.model.trial import Plan, Trial

PLENTY = Room(memory_bytes=64 << 30)
LOAD = Load(connections=64, duration_s=1.5)


def trials(number: int, round_: int = 1, load: Load = LOAD, driver: str = "engine") -> list[Trial]:
    return [fakes.trial(f"c{at}", round_=round_, load=load, driver=driver) for at in range(number)]


def plan(of: list[Trial], **changes: Any) -> Plan:
    runs = [fakes.run(trial.contender) for trial in of]
    made = msgspec.structs.replace(fakes.plan(runs), turns=Turns(), memory_bytes=512 << 20)
    return msgspec.structs.replace(made, **changes)


def names(block: list[Trial]) -> set[str]:
    return {trial.contender for trial in block}


def test_a_handful_shares_one_block() -> None:
    of = trials(7)
    (block,) = draw(of, plan(of), PLENTY)
    assert names(block) == {f"c{at}" for at in range(7)}


def test_many_are_dealt_out_evenly_and_each_trial_is_in_one_block() -> None:
    of = trials(30)
    blocks = draw(of, plan(of), PLENTY)
    assert sorted(map(len, blocks)) == [7, 7, 8, 8]
    assert sorted(trial.id for block in blocks for trial in block) == sorted(trial.id for trial in of)


def test_the_same_seed_deals_alike_and_another_round_deals_anew() -> None:
    first, second = trials(30), trials(30, round_=2)
    asked = plan(first)
    assert draw(first, asked, PLENTY) == draw(first, asked, PLENTY)
    assert {frozenset(names(b)) for b in draw(first, asked, PLENTY)} != {
        frozenset(names(b)) for b in draw(second, asked, PLENTY)
    }


def test_within_a_few_rounds_nobody_is_cut_off_from_anybody() -> None:
    met: set[frozenset[str]] = set()
    for round_ in (1, 2, 3):
        of = trials(30, round_)
        met |= {frozenset(pair) for block in draw(of, plan(of), PLENTY) for pair in combinations(names(block), 2)}
    reached, fresh = {"c0"}, {"c0"}
    while fresh:
        fresh = {name for pair in met for name in pair if pair & fresh} - reached
        reached |= fresh
    assert len(reached) == 30


def test_tables_are_not_mixed() -> None:
    other = Load(connections=8, duration_s=1.5)
    of = [*trials(3), *trials(3, load=other)]
    assert [{trial.load for trial in block} for block in draw(of, plan(of), PLENTY)] == [{LOAD}, {other}]


@pytest.mark.parametrize(
    ("trial", "changes", "reason"),
    [
        (fakes.trial(driver="wrk"), {}, "wrk cannot take turns"),
        (fakes.trial(load=Load(connections=8, duration_s=1.0, rate_per_s=10.0, max_connections=9)), {}, "open load"),
        (fakes.trial(load=Load(connections=8, count=100)), {}, "a number of requests"),
        (
            fakes.trial(
                load=Load(connections=8, duration_s=1.0, connection_stages=(Stage(duration_s=1.0, first=1, last=8),))
            ),
            {},
            "number of connections changes",
        ),
        (fakes.trial(load=Load(connections=MOST_CONNECTIONS, duration_s=1.0)), {}, "are more than"),
        (fakes.trial(load=Load(connections=8, duration_s=1.0, alone=True)), {}, "the study asks for it"),
        (
            fakes.trial(load=Load(connections=8, duration_s=9.0, warmup_s=9.0, opening_s=8.0, timeout_s=2.0)),
            {},
            "opened over 8 s, more than its time-out of 2 s",
        ),
        (fakes.trial(), {"turns": None}, "asks for it"),
        (fakes.trial(), {"in_place": True}, "started once"),
        (fakes.trial(), {"workloads": {"hello": fakes.workload(service_floor_ms=1000.0)}}, "1000 ms at least"),
    ],
)
def test_why_a_contender_is_measured_alone(trial: Trial, changes: dict[str, Any], reason: str) -> None:
    asked = msgspec.structs.replace(plan([fakes.trial()]), **changes)
    assert reason in (why_alone(trial, asked, PLENTY) or "")
    assert draw([trial, trial], asked, PLENTY) == [[trial], [trial]]


def test_who_did_not_rest_before_is_measured_alone() -> None:
    run = fakes.run("c1", block=1, rest=Rest(time_ns=1_000_000_000, cpu_ns=40_000_000))
    quiet = fakes.run("c2", block=1, rest=Rest(time_ns=1_000_000_000, cpu_ns=4_000_000))
    kept = restless([run, quiet])
    assert kept == {"c1": "it uses 4.0 % of a core while it rests"}
    of = trials(4)
    blocks = draw(of, plan(of), Room(memory_bytes=None, kept=kept))
    assert sorted(map(len, blocks)) == [1, 3]


def test_who_hung_at_the_end_of_its_turns_is_measured_alone() -> None:
    assert restless([fakes.run("c1", set_aside="it hung")]) == {"c1": "it hung"}


@pytest.mark.parametrize(
    ("free", "limit", "connections", "most"),
    [
        (64 << 30, 512 << 20, 64, 8),
        (2 << 30, 512 << 20, 64, 3),
        (2 << 30, None, 64, 3),
        (256 << 20, 512 << 20, 64, 0),
        (None, 512 << 20, 64, 8),
        (64 << 30, 512 << 20, 2000, 4),
    ],
)
def test_so_many_as_there_is_room_for(free: int | None, limit: int | None, connections: int, most: int) -> None:
    load = Load(connections=connections, duration_s=1.0)
    assert members(Turns(), load, limit, Room(memory_bytes=free)) == most


def test_without_room_for_two_everybody_is_alone() -> None:
    of = trials(3)
    assert [len(block) for block in draw(of, plan(of), Room(memory_bytes=512 << 20))] == [1, 1, 1]
