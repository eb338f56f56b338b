"""Head against base: what must not be taken for a change of head's own."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.analyse.fakes import FINGERPRINT, RIG, change_slices, plan, run
from webdyno.analyse.table import Evidence
from webdyno.analyse.versus import over_folders, over_pairs
from webdyno.model.run import Run

NOISE = (1.0, 1.004, 0.996, 1.002, 0.998, 1.001)
MARGIN = 0.03


def made(rate: float, name: str = "go", **changes: Any) -> list[Run]:
    return [run(name, rate=rate * factor, round_=at, **changes) for at, factor in enumerate(NOISE, 1)]


def held_back(runs: list[Run]) -> list[Run]:
    """The load generator had no CPU left."""
    return [change_slices(each, cpu_user_ns=950_000_000, cpu_system_ns=0) for each in runs]


def stolen(runs: list[Run]) -> list[Run]:
    """The hypervisor took 15 % of the machine."""
    return [
        msgspec.structs.replace(
            each,
            readings=[
                msgspec.structs.replace(reading, steal_ns=round(reading.at_ns * 0.3))
                if reading.role == "host"
                else reading
                for reading in each.readings
            ],
        )
        for each in runs
    ]


def compared(base: list[Run], head: list[Run]) -> tuple[str, str]:
    both = [Evidence(plan(runs), FINGERPRINT, runs) for runs in (base, head)]
    (only,) = over_folders(both[0], both[1], MARGIN)
    return only.outcome, only.why


@pytest.mark.parametrize("outcome", ["driver-failed", "service-failed"])
def test_what_the_load_tool_or_the_service_broke_is_not_heads(outcome: str) -> None:
    head = made(10_000)
    head[2] = msgspec.structs.replace(head[2], outcome=outcome, slices=[])
    assert compared(made(10_000), head) == (
        "cannot tell",
        "the load tool or the service failed in a run of head",
    )
    head[3] = msgspec.structs.replace(head[3], outcome="died", slices=[])
    assert compared(made(10_000), head) == ("worse", "head failed where base did not")


def test_what_the_hypervisor_took_can_have_cost_so_much_and_no_more() -> None:
    good = made(10_000)
    assert compared(good, made(8_000)) == ("worse", "")
    assert compared(good, stolen(made(8_000))) == ("cannot tell", "head was limited by something other than itself")
    # 15 % of the CPU may have cost 45 % of a rate: the middle lies beyond that, the end of the interval does not
    assert compared(good, stolen(made(5_490))) == ("cannot tell", "head was limited by something other than itself")
    assert compared(good, stolen(made(5_450))) == ("worse", "")
    assert compared(good, stolen(made(4_000))) == ("worse", "")
    assert compared(stolen(good), made(8_000)) == ("worse", "")
    runs = stolen([*made(10_000, "base", cpu=0.9), *made(8_000, "head", cpu=0.72)])
    versus = over_pairs(Evidence(plan(runs), FINGERPRINT, runs), "base", "head", MARGIN)
    assert (versus.outcome, versus.why) == ("cannot tell", "both were limited by something other than themselves")


def test_a_doubt_that_voids_a_table_of_either_side_voids_the_comparison() -> None:
    good = made(10_000)
    resumed = [*good[:3], *made(10_000, rig=msgspec.structs.replace(RIG, driver_cores=(1, 2)))[3:]]
    assert compared(resumed, good) == ("cannot tell", "a doubt voids the table: unlike-machines")


@pytest.mark.parametrize("changes", [{"driver_cores": (1, 2)}, {"memory_bytes": 1 << 30}, {"cgroup": "none"}])
def test_different_placements_are_never_compared(changes: dict[str, Any]) -> None:
    other = made(8_000, rig=msgspec.structs.replace(RIG, **changes))
    assert compared(made(10_000), other) == (
        "cannot tell",
        "base and head had different placements of cores and memory",
    )


@pytest.mark.parametrize(
    ("base", "head", "bound", "outcome", "why"),
    [
        (10_000, 12_000, "base", "cannot tell", "base was limited by something other than itself"),
        (10_000, 10_000, "base", "cannot tell", "base was limited by something other than itself"),
        (10_000, 8_000, "base", "worse", ""),
        (10_000, 8_000, "head", "cannot tell", "head was limited by something other than itself"),
        (10_000, 10_000, "head", "cannot tell", "head was limited by something other than itself"),
        (10_000, 12_000, "head", "better", ""),
        (10_000, 8_000, "both", "cannot tell", "both were limited by something other than themselves"),
    ],
)
def test_a_rate_that_is_a_floor_decides_only_what_a_higher_one_would(
    base: float, head: float, bound: str, outcome: str, why: str
) -> None:
    sides = [
        held_back(made(rate)) if bound in (side, "both") else made(rate)
        for side, rate in (("base", base), ("head", head))
    ]
    assert compared(*sides) == (outcome, why)


def cold(runs: list[Run]) -> list[Run]:
    """V8 had half a second to warm up."""
    return [msgspec.structs.replace(each, compilers=["V8"]) for each in runs]


def test_what_coldness_can_have_cost_a_compiler_of_known_gain_is_bounded() -> None:
    assert compared(cold(made(10_000)), cold(made(5_000)))[0] == "cannot tell"
    assert compared(cold(made(10_000)), cold(made(1_900))) == ("worse", "")
    assert compared(cold(made(1_900)), cold(made(10_000))) == ("better", "")
