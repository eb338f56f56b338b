"""Doubts about Runs in blocks: which the turns answer, and which turns raise."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec
import pytest

from tests.analyse.fakes import FINGERPRINT, change_slices, plan, robbed, run, slices
from tests.analyse.turning import block_of, block_run
from webdyno.analyse import analyse
from webdyno.analyse.doubts import about_contender
from webdyno.analyse.table import Cell, Evidence, tables
from webdyno.design.blocks import restless
from webdyno.model.block import AT_REST, Rest
from webdyno.model.doubt import Doubt
from webdyno.model.run import Run
from webdyno.model.sample import Slice


def cells(runs: Sequence[Run]) -> dict[str, Cell]:
    return {cell.name: cell for cell in tables(Evidence(plan(runs), FINGERPRINT, runs))[0].cells}


def kinds(runs: Sequence[Run], name: str = "go") -> dict[str, Doubt]:
    return {doubt.kind: doubt for doubt in about_contender(cells(runs)[name])}


def in_turns(runs: Sequence[Run], **changes: object) -> list[Run]:
    """With every turn changed."""
    return [
        msgspec.structs.replace(
            each, slices=[msgspec.structs.replace(s, **changes) if s.phase == "turn" else s for s in each.slices]
        )
        for each in runs
    ]


def blocks(turns: Sequence[Sequence[int]], others: Sequence[int] = (100,) * 12) -> list[Run]:
    """Of go, with such turns in each block, and two others."""
    return [
        one
        for at, mine in enumerate(turns, 1)
        for one in block_of({"go": mine, "one": others, "other": others}, block=at, round_=at)
    ]


def test_what_is_stolen_in_a_block_is_no_floor() -> None:
    alone = [robbed(run(round_=r), 0.2) for r in (1, 2, 3)]
    assert "stolen-time" in kinds(alone)
    assert "stolen-time" not in kinds([robbed(one, 0.2) for one in blocks([[100] * 12] * 3)])


def test_the_generator_s_limit_is_seen_in_the_turns() -> None:
    """Idle in 5 % of its turns, and in half of its steady window."""
    runs = [
        msgspec.structs.replace(each, summary={"threads": [{}]})
        for each in in_turns(blocks([[100] * 12] * 3), idle_ns=5_000_000, run_delay_ns=0)
    ]
    runs = [change_slices(each, idle_ns=500_000_000, run_delay_ns=0) for each in runs]
    found = kinds(runs)["generator-bound"]
    assert found.numbers["driver_cpu"] == pytest.approx(0.95)
    idle = in_turns(runs, idle_ns=50_000_000)
    assert "generator-bound" not in kinds(idle)


def test_turns_are_drained_so_that_few_answers_are_whole() -> None:
    few = [msgspec.structs.replace(one, slices=_unfinished(one)) for one in blocks([[2] * 12] * 3, [2] * 12)]
    assert "few-answers" not in kinds(few)
    alone = [msgspec.structs.replace(run(round_=r, rate=20), block=None) for r in (1, 2, 3)]
    alone = [msgspec.structs.replace(one, slices=_unfinished(one)) for one in alone]
    assert "few-answers" in kinds(alone)


def _unfinished(of: Run) -> list:  # type: ignore[type-arg]
    return [*of.slices[:-1], msgspec.structs.replace(of.slices[-1], errors={"unfinished": 64})]


def test_who_climbs_through_its_turns_is_still_climbing() -> None:
    """The last four of twelve turns are 1.3 times the first four, and the machine halves its speed meanwhile."""
    machine = [200] * 4 + [150] * 4 + [100] * 4
    mine = [[200] * 4 + [170] * 4 + [last] * 4 for last in (129, 130, 131)]
    found = kinds(blocks(mine, machine))["still-climbing"]
    assert found.numbers["climb"] == pytest.approx(1.3, abs=0.001)
    assert "at the end of its turns" in found.sentence
    assert "still-climbing" not in kinds(blocks(mine, machine), "one")
    assert "still-climbing" not in kinds(blocks([machine] * 3, machine))


def test_who_climbed_to_the_end_of_its_warm_up_is_still_climbing_though_its_turns_are_level() -> None:
    found = kinds(warmed((200, 300, 400, 600, 600, 900)))["still-climbing"]
    assert found.numbers["climb"] == pytest.approx(1.5, abs=0.002)
    assert "at the end of its warm-up" in found.sentence and "after 18 s of warm-up" in found.sentence
    assert "still-climbing" not in kinds(warmed((200, 300, 800, 850, 840, 860)))
    assert "still-climbing" not in kinds(warmed((200, 900))), "two stretches do not tell"


def warmed(rates: Sequence[int]) -> list[Run]:
    """With a warm-up in stretches of 3 s at these rates, which differ a little from round to round."""
    found = []
    for one in blocks([[100] * 12] * 3):
        first = msgspec.structs.replace(one.slices[0], phase="warmup", turn=None, duration_ns=3 * 10**9)
        warm = [
            msgspec.structs.replace(first, ok=3 * rate + one.trial.round * (at > 3)) for at, rate in enumerate(rates)
        ]
        trial = msgspec.structs.replace(one.trial, warmup_s=30.0, warmup_requests=9)
        found.append(msgspec.structs.replace(one, trial=trial, slices=[*warm, *_without_warm_up(one)]))
    return found


def _without_warm_up(of: Run) -> list[Slice]:
    return [each for each in of.slices if each.phase != "warmup"]


def test_a_restless_one_is_told() -> None:
    busy = Rest(time_ns=1_000_000_000, cpu_ns=20_000_000)
    runs = [msgspec.structs.replace(one, rest=busy) for one in blocks([[100] * 12] * 2)]
    assert kinds(runs)["restless"].numbers == {"cores": 0.02}
    assert kinds(runs)["restless"].severity == "shades"
    quiet = Rest(time_ns=1_000_000_000, cpu_ns=10_000_000)
    assert "restless" not in kinds([msgspec.structs.replace(one, rest=quiet) for one in runs])
    assert "restless" not in kinds([msgspec.structs.replace(one, rest=None) for one in runs])
    assert "restless" not in kinds([msgspec.structs.replace(one, rest=Rest(time_ns=0, cpu_ns=0)) for one in runs])


def test_who_is_called_restless_is_measured_alone_from_then_on() -> None:
    """At the limit it is neither, above it both: the next blocks and the report go by one limit."""
    for cpu_ns, name in ((int(AT_REST * 10**9), ""), (int(AT_REST * 10**9) + 10**6, "go")):
        rest = Rest(time_ns=10**9, cpu_ns=cpu_ns)
        runs = [msgspec.structs.replace(one, rest=rest) for one in block_of({"go": [100] * 12, "one": [100] * 12})]
        assert ("restless" in kinds(runs)) == ("go" in restless(runs)) == bool(name)


def flattered(gains: Sequence[float]) -> list[Run]:
    """The steady windows of all are at 1000 per second, but turns of go at so many times that."""
    runs = blocks([[round(100_000 * gain)] * 12 for gain in gains], [100_000] * 12)
    return [change_slices(each, ok=1_000_000) for each in runs]


def test_whom_turns_flatter_is_told_by_how_much() -> None:
    found = kinds(flattered([1.079, 1.080, 1.081]))["turns-differ"]
    assert found.severity == "shades"
    assert found.numbers == {"ratio": pytest.approx(1.08, abs=1e-4), "blocks": 3}
    assert "8.0 % faster in turns" in found.sentence
    assert "flatter" in found.sentence


def test_one_that_turns_flatter_by_more_than_it_leads_is_not_first() -> None:
    """Its turns put go 5 % ahead of all, its windows 3 % behind; where these agree, it is first."""
    others = dict.fromkeys(("one", "two", "three", "four"), [10_000] * 12)
    runs = [
        change_slices(each, ok=97_000 if each.trial.contender == "go" else 100_000)
        for at, mine in enumerate((10_490, 10_500, 10_510), 1)
        for each in block_of({"go": [mine] * 12, **others}, block=at, round_=at)
    ]
    [verdict] = analyse(plan(runs), FINGERPRINT, runs).verdicts
    assert set(verdict.winners) == {"go", *others}
    assert "because go may be slower than could be measured" in verdict.sentence
    fair = [change_slices(each, ok=105_000) if each.trial.contender == "go" else each for each in runs]
    [verdict] = analyse(plan(fair), FINGERPRINT, fair).verdicts
    assert verdict.winners == ["go"]


def test_whom_turns_harm_is_told_too() -> None:
    found = kinds(flattered([0.94, 0.941, 0.942]))["turns-differ"]
    assert found.numbers["ratio"] == pytest.approx(0.941, abs=1e-4)
    assert "slow it down" in found.sentence
    assert "its rate is a floor" in found.sentence


@pytest.mark.parametrize("gains", [[1.08, 1.08], [1.01, 1.011, 1.012], [1.3, 0.8, 1.25]], ids=["two", "1 %", "chance"])
def test_turns_agree_where_two_blocks_or_a_percent_or_chance_explain_it(gains: list[float]) -> None:
    assert "turns-differ" not in kinds(flattered(gains))


def test_the_machine_that_was_slower_in_all_windows_flatters_nobody() -> None:
    runs = [change_slices(each, ok=500_000) for each in flattered([1.0, 1.0, 1.0])]
    assert "turns-differ" not in kinds(runs)
    assert cells(runs)["go"].windows[0].flattered == pytest.approx(0)


def test_alone_in_its_block_nobody_can_say_it() -> None:
    runs = [change_slices(block_run("go", [200] * 12, block=r, round_=r), ok=1000) for r in (1, 2, 3)]
    assert cells(runs)["go"].windows[0].flattered is None
    assert "turns-differ" not in kinds(runs)


def test_turns_count_towards_what_was_asked_for() -> None:
    """2 s were asked for: 1.2 s of turns and a window of half a second are 85 % of it."""
    runs = [
        msgspec.structs.replace(one, slices=[s for s in one.slices if s.phase != "steady"] + _half(one))
        for one in blocks([[100] * 12])
    ]
    assert "part-of-phase" not in kinds(runs)
    window = cells(runs)["go"].windows[0]
    assert math.isclose(window.seconds, 0.5)


def _half(of: Run) -> list:  # type: ignore[type-arg]
    return [msgspec.structs.replace(of.slices[-1], duration_ns=500_000_000)]


def alone(rates: Sequence[int], steady: Sequence[float] = (9.0, 9.0)) -> list[Run]:
    """As ``warmed``, measured alone: each stretch had a wait of a second for its last answers, or none."""
    found = []
    for round_ in (1, 2, 3):
        one = run(round_=round_, slices=slices(steady))
        waits = [10**9 * (at % 2) for at in range(len(rates))]
        warm = [
            msgspec.structs.replace(
                one.slices[0], duration_ns=3 * 10**9 + wait, drained_ns=wait, ok=3 * rate + round_ * (at > 3)
            )
            for at, (rate, wait) in enumerate(zip(rates, waits, strict=True))
        ]
        trial = msgspec.structs.replace(one.trial, warmup_s=30.0, warmup_requests=9)
        found.append(msgspec.structs.replace(one, trial=trial, slices=[*warm, *one.slices]))
    return found


@pytest.mark.parametrize("seconds", [2, 12])
def test_who_is_measured_alone_is_still_climbing_where_its_stretches_are_however_long_its_window(seconds: int) -> None:
    level = [900.0] * seconds
    found = kinds(alone((200, 300, 400, 600, 600, 900), level))["still-climbing"]
    assert found.numbers["climb"] == pytest.approx(1.5, abs=0.002)
    assert found.numbers["warmup_s"] == 21.5, "six stretches of 3 s, their waits, and half a second"
    assert "at the end of its warm-up or window as shortly before" in found.sentence
    assert "still-climbing" not in kinds(alone((200, 300, 800, 850, 840, 860), level))
    plain = [
        msgspec.structs.replace(one, slices=[msgspec.structs.replace(each, drained_ns=None) for each in one.slices])
        for one in alone((200, 300, 400, 600, 600, 900), level)
    ]
    assert "still-climbing" not in kinds(plain), "seconds that its driver gave by itself are no stretches"


def test_a_window_alone_that_climbs_is_told_after_level_stretches() -> None:
    found = kinds(alone((300,) * 6, (1_000.0, 1_300.0)))["still-climbing"]
    assert found.numbers["climb"] == pytest.approx(1.3)
    assert "after 21.5 s of warm-up" in found.sentence
