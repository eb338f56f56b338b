"""The load generator at its own limit: told at every pace from what its threads did. Then the server is not blamed."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.analyse.fakes import RIG, SECOND, change_slices, readings, run
from tests.analyse.test_doubts import doubts, rounds
from webdyno.analyse.floors import room, spares_rate
from webdyno.analyse.generator import meant_share, strain
from webdyno.model.doubt import Doubt
from webdyno.model.load import Load
from webdyno.model.run import Run
from webdyno.model.sample import Slice

OPEN = Load(connections=64, rate_per_s=10_000, max_connections=640, duration_s=2)
CLOSED = Load(connections=64, duration_s=2)


def driven(
    load: Load,
    *,
    idle: float | None,
    without_core: float | None,
    rig: Any = RIG,
    readings: Any = None,
    **changes: Any,
) -> list[Run]:
    """Rounds in which the one thread of the engine spent such parts of its time so."""
    times = {
        "idle_ns": None if idle is None else round(idle * SECOND),
        "run_delay_ns": None if without_core is None else round(without_core * SECOND),
    }
    threads = {"threads": [{"cpu_share": 0.3}]}
    made = rounds(lambda r: change_slices(run(round_=r, rate=10_000, load=load, rig=rig), **times, **changes))
    looks = {} if readings is None else {"readings": readings}
    return [msgspec.structs.replace(each, summary=threads, **looks) for each in made]


@pytest.mark.parametrize(("load", "means"), [(OPEN, "its latency may be lower"), (CLOSED, "its rate is a floor")])
def test_an_engine_without_a_core_says_so_at_every_pace(load: Load, means: str) -> None:
    found = doubts(driven(load, idle=0.1, without_core=0.5))["generator-bound"]
    assert "something else ran on the load generator's cores for 50 % of the time" in found.sentence
    assert means in found.sentence
    assert found.numbers["driver_without_core"] == pytest.approx(0.5)
    assert "generator-bound" not in doubts(driven(load, idle=0.5, without_core=0.04))


@pytest.mark.parametrize("load", [OPEN, CLOSED])
def test_an_engine_that_always_has_something_to_do_says_so_at_every_pace(load: Load) -> None:
    assert "used 90 % of its CPU" in doubts(driven(load, idle=0.1, without_core=0.01))["generator-bound"].sentence
    assert "generator-bound" not in doubts(driven(load, idle=0.2, without_core=0.01))


@pytest.mark.parametrize(("core", "part", "starved"), [("1", 0.08, None), ("1", 0.02, 0.08), ("0", 0.08, 0.1)])
def test_network_work_of_the_kernel_on_the_engines_core_is_not_something_else(
    core: str, part: float, starved: float | None
) -> None:
    """The engine had no core for a tenth of its time."""
    looks = [
        msgspec.structs.replace(each, softirqd_by_core={core: round(each.at_ns * part)})
        if each.role == "host"
        else each
        for each in readings(3)
    ]
    found = doubts(driven(CLOSED, idle=0.4, without_core=0.1, readings=looks)).get("generator-bound")
    assert (found and found.numbers["driver_without_core"]) == (starved and pytest.approx(starved, abs=0.001))


MANY = Load(connections=1_000, duration_s=2)


def waited(load: Load = MANY, *, idle: float = 0.4, used: float = 0.98) -> Doubt:
    """Of a contender that used so much of its core, beside an engine that had none for a tenth of its time."""
    return doubts(driven(load, idle=idle, without_core=0.1, readings=readings(3, contender=used)))["generator-bound"]


def test_a_contender_that_was_full_while_the_engine_waited_has_its_own_rate_and_a_doubtful_tail() -> None:
    full = waited()
    assert full.sentence.endswith("may be shorter; its rate is its own, because it used 98 % of its cores")
    assert full.numbers["contender_idle"] == pytest.approx(0.02, abs=0.001)
    assert room([full]) == 1
    assert spares_rate(full)


@pytest.mark.parametrize(
    "held",
    [
        pytest.param({"used": 0.9}, id="its cores had room"),
        pytest.param({"idle": 0.05}, id="the engine was at its limit too: one that spins looks full"),
        pytest.param({"load": CLOSED}, id="64 requests may be served before the engine has its core again"),
    ],
)
def test_one_that_may_have_waited_for_the_engine_has_a_floor(held: dict[str, Any]) -> None:
    found = waited(**held)
    assert "its rate is a floor" in found.sentence
    assert room([found]) == pytest.approx(1 / 0.7)
    assert not spares_rate(found)


def test_one_that_spins_all_the_time_with_nothing_to_do_is_idle() -> None:
    spinning = driven(OPEN, idle=0.7, without_core=0.0, cpu_user_ns=SECOND, cpu_system_ns=0)
    assert "generator-bound" not in doubts(spinning)


def test_what_an_older_engine_used_of_its_cpu_tells_unless_it_may_have_spun() -> None:
    def found(load: Load, **said: Any) -> set[str]:
        summary = {"threads": [{"cpu_share": 0.9}, {"cpu_share": 0.96}], **said}
        runs = driven(load, idle=None, without_core=None)
        return set(doubts([msgspec.structs.replace(each, summary=summary) for each in runs]))

    assert "generator-bound" in found(OPEN, started={"wait": "sleep"})
    assert "generator-bound" not in found(OPEN, started={"wait": "spin"})
    assert "generator-bound" not in found(OPEN)


def test_on_a_core_of_the_contenders_it_is_without_it_while_they_work() -> None:
    shared = msgspec.structs.replace(RIG, driver_cores=RIG.contender_cores)
    assert "generator-bound" not in doubts(driven(CLOSED, idle=0.0, without_core=0.5, rig=shared))


def test_what_an_engine_at_its_limit_never_sent_is_not_held_against_the_server() -> None:
    shed = {"ok": 6_000, "offered": 10_000, "errors": {"shed": 4_000}}
    blamed = doubts(driven(OPEN, idle=0.5, without_core=0.0, **shed))
    assert blamed["wrong-answers"].severity == "voids"
    assert "more max_connections" in blamed["not-offered"].advice
    found = doubts(driven(OPEN, idle=0.0, without_core=0.5, **shed))
    assert "wrong-answers" not in found
    assert "the load generator, at its own limit, sent only 60 %" in found["not-offered"].sentence
    reset = {"ok": 6_000, "offered": 10_000, "errors": {"shed": 3_900, "reset": 100}}
    found = doubts(driven(OPEN, idle=0.0, without_core=0.5, **reset))
    assert found["wrong-answers"].numbers["share"] == pytest.approx(100 / 6_100)


def test_what_is_not_known_is_not_judged() -> None:
    assert "generator-bound" not in doubts(driven(OPEN, idle=None, without_core=None))
    assert meant_share({"threads": [{}]}, CLOSED) is None
    unknown = strain([], 1, None)
    assert (unknown.busy, unknown.without_core, unknown.limit) == (None, None, None)
    half = Slice(phase="steady", index=0, start_ns=0, duration_ns=SECOND, offered=1, ok=1, errors={})
    told = msgspec.structs.replace(half, idle_ns=SECOND, run_delay_ns=0)
    assert strain([told, half], 1, 0.9).limit == "busy", "one slice that does not say leaves what the CPU says"
    assert strain([told, told], 2, None).busy == 0.5
