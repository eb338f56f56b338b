"""Fleet: which host measures what next; what is compared stays on one host, and all of it is done once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec

from tests.analyse.fakes import plan, run
from webdyno.design.blocks import Room
from webdyno.design.fleet import MOST_LOSSES, Batch, Sharing, hand_out, sharing_of, worth_doing
from webdyno.model.block import Rest, Turns
from webdyno.model.load import Load
from webdyno.model.run import Run
from webdyno.model.trial import Plan

ROOM = Room(memory_bytes=None)
LONG = Load(connections=8, duration_s=60.0)
RUNS = [
    run(name, round_=round_, workload=work)
    for round_ in (1, 2, 3)
    for work in ("hello", "json")
    for name in ("a", "b", "c")
]
PLAN = plan(RUNS)


def given(sharing: Sharing, free: Iterable[str], runs: list[Run] | None = None, **had: int) -> dict[str, Batch]:
    """``had``: batches of table 0 that each host was given before."""
    return hand_out(
        sharing, runs or [], sharing.plan.trials, [*free], {(host, 0): count for host, count in had.items()}
    )


def names(batch: Batch) -> list[list[str]]:
    return [[f"{trial.contender}{trial.round} {trial.workload}" for trial in block] for block in batch]


def test_those_measured_alone_stay_together_with_their_round_of_a_table() -> None:
    first, second = given(sharing_of(PLAN, ROOM), ["one", "other"]).values()
    assert names(first) == [["a1 hello"], ["b1 hello"], ["c1 hello"]]
    assert names(second) == [["a1 json"], ["b1 json"], ["c1 json"]]


def test_a_host_for_which_nothing_is_left_gets_nothing() -> None:
    found = given(sharing_of(PLAN, ROOM), map(str, range(9)))
    assert len(found) == 6, "two tables of three rounds"
    assert Counter(trial.id for batch in found.values() for block in batch for trial in block) == Counter(
        trial.id for trial in PLAN.trials
    )


def test_the_next_round_begins_while_the_last_batches_of_one_are_in_flight() -> None:
    in_flight = {trial.id for trial in PLAN.trials if trial.round == 1}
    wanted = worth_doing(PLAN.trials, in_flight, {})
    [batch] = hand_out(sharing_of(PLAN, ROOM), [], wanted, ["one"], {}).values()
    assert batch[0][0].round == 2


def test_a_host_gets_the_table_that_it_had_least_often() -> None:
    [batch] = given(sharing_of(PLAN, ROOM), ["one"], one=1).values()
    assert batch[0][0].workload == "json"


def test_of_tables_that_it_had_as_often_the_longest_comes_first() -> None:
    runs = [run("a"), run("b"), run("a", load=LONG), run("b", load=LONG)]
    [batch] = given(sharing_of(plan(runs), ROOM), ["one"]).values()
    assert {trial.load for block in batch for trial in block} == {LONG}


def turned(runs: list[Run]) -> Plan:
    return msgspec.structs.replace(plan(runs), turns=Turns(members=3))


def test_each_block_of_turns_goes_to_a_host_of_its_own() -> None:
    found = given(sharing_of(turned([run(name) for name in "abcdef"]), ROOM), ["one", "other", "third"])
    assert sorted(len(block) for batch in found.values() for block in batch) == [3, 3]


def test_who_cannot_take_turns_goes_with_a_block_of_its_round() -> None:
    made = turned([run(name, round_=round_) for round_ in (1, 2) for name in "abcdefg"])
    restless = run("g", round_=1, block=1, rest=Rest(time_ns=10**9, cpu_ns=10**8))
    wanted = [trial for trial in made.trials if trial.round == 2]
    first, second = hand_out(sharing_of(made, ROOM), [restless], wanted, ["one", "other"], {}).values()
    assert [len(block) for block in first] == [3, 1] and names(first)[1] == ["g2 hello"]
    assert [len(block) for block in second] == [3]


def test_in_place_a_table_is_measured_on_one_host() -> None:
    made = msgspec.structs.replace(PLAN, in_place=True)
    one, other = given(sharing_of(made, ROOM), ["one", "other", "third"]).values()
    assert (len(one), len(other)) == (9, 9)


def test_what_several_hosts_were_lost_with_is_given_to_no_other() -> None:
    losses = {PLAN.trials[0].id: MOST_LOSSES, PLAN.trials[1].id: MOST_LOSSES - 1}
    assert next(worth_doing(PLAN.trials, set(), losses)) == PLAN.trials[1]
