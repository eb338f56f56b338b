"""How much faster a contender may be than it was measured."""

import math

import msgspec
import numpy as np
import pytest

from tests.analyse.fakes import FINGERPRINT, SECOND, change_slices, plan, run
from webdyno.analyse import analyse
from webdyno.analyse.doubts.table import ROWS
from webdyno.analyse.floors import FLOORS, flattery, is_open_upwards, room
from webdyno.model.doubt import Doubt
from webdyno.model.run import Run


def doubt(kind: str, **numbers: float) -> Doubt:
    return Doubt(kind=kind, severity="shades", subject="go", sentence="", advice="", numbers=dict(numbers))


STOLEN, CLIMBS = doubt("stolen-time", steal=0.1), doubt("still-climbing", climb=1.2)


def test_what_held_it_back_says_how_much_faster_it_may_be() -> None:
    assert room([]) == room([doubt("http-1.0")]) == 1
    assert room([doubt("generator-bound")]) == room([STOLEN, doubt("cold-compiler")]) == math.inf
    assert room([STOLEN]) == pytest.approx(1 / 0.7)
    assert room([CLIMBS]) == pytest.approx(1.44)
    assert room([STOLEN, CLIMBS]) == pytest.approx(1.44 / 0.7)
    assert room([doubt("stolen-time", steal=0.8)]) == pytest.approx(10)


ROOMS = [
    ("generator-bound", {"driver_cpu": 0.95}, math.inf),  # its own limit: nobody knows how much it lost
    ("generator-bound", {"driver_cpu": 0.95, "contender_cpu": 0.5}, 4.0),  # half of its cores was left
    ("generator-bound", {"driver_cpu": 0.95, "contender_cpu": 0.99}, 2.0),  # it may spin while it waits
    ("generator-bound", {"driver_throttled": 0.2}, math.inf),
    ("generator-bound", {"rate_per_s": 95.0, "ceiling_per_s": 100.0, "ceiling_connections": 8}, math.inf),
    ("generator-bound", {"driver_without_core": 0.05}, 1 / 0.85),  # three times the part that was taken
    ("generator-bound", {"driver_without_core": 0.2}, 1 / 0.4),
    ("generator-bound", {"driver_without_core": 0.9}, 10.0),  # a tenth is always left
    ("generator-bound", {"driver_without_core": 0.2, "contender_idle": 0.01}, 1.0),  # it was full meanwhile
    ("stolen-time", {"steal": 0.05, "runs": 3}, 1 / 0.85),
    ("cold-compiler", {"compilers": "V8", "warmup_s": 1.0, "gain": 5.0}, 5.0),
    ("cold-compiler", {"compilers": "a new one", "warmup_s": 1.0}, math.inf),
    ("turns-differ", {"ratio": 0.8, "blocks": 3}, 1.25),
    ("turns-differ", {"ratio": 1.2, "blocks": 3}, 1.0),  # it has too much, not too little
    ("still-climbing", {"climb": 1.3, "rounds": 3, "warmup_s": 1.0}, 1.69),
    ("few-answers", {"answers": 50, "at_work": 2, "seconds": 2.0}, 1.04),
    ("service-bound", {"service_cpu": 0.9}, 1.0),  # it is open only where the other was held back too
]


@pytest.mark.parametrize(("kind", "numbers", "times"), ROOMS)
def test_each_floor_has_the_room_that_its_numbers_say(kind: str, numbers: dict[str, float], times: float) -> None:
    assert room([doubt(kind, **numbers)]) == pytest.approx(times)
    row = next(row for row in ROWS if row.kind == kind)
    assert set(numbers) <= set(row.numbers)


def test_every_kind_of_floor_is_among_them() -> None:
    assert {kind for kind, _, _ in ROOMS} == FLOORS.keys()


@pytest.mark.parametrize(("ahead", "beats"), [(1.3, False), (2.4, False), (4.0, True)])
def test_one_whose_load_generator_was_starved_is_beaten_only_by_more_than_that_can_have_cost(
    ahead: float, beats: bool
) -> None:
    """A fifth of the driver's time taken: the contender may have been 2.5 times as fast."""
    rng = np.random.default_rng(5)
    runs: list[Run] = []
    for round_ in range(1, 7):
        for name, rate in (("go", 10_000.0 * ahead), ("held", 10_000.0)):
            made = run(name, round_=round_, rate=rate * float(np.exp(rng.normal(0, 0.003))))
            runs.append(starved(made, 0.2 if name == "held" else 0.0))
    [verdict] = analyse(plan(runs), FINGERPRINT, runs).verdicts
    kinds = {each.contender: [doubt.kind for doubt in each.doubts] for each in verdict.standings}
    assert kinds == {"go": [], "held": ["generator-bound"]}
    assert verdict.winners == (["go"] if beats else ["go", "held"])
    assert ("more rounds would not tell, because held may be faster" in verdict.sentence) != beats


@pytest.mark.parametrize(("ahead", "beats"), [(3.5, False), (4.5, True)])
def test_one_whose_load_generator_was_full_is_beaten_by_more_than_its_idle_cores_could_serve(
    ahead: float, beats: bool
) -> None:
    """It used half of its cores, whatever the generator could not ask."""
    runs: list[Run] = []
    for round_ in range(1, 7):
        fast = run("go", round_=round_, rate=10_000.0 * ahead)
        held = run("held", round_=round_, rate=10_000.0, cpu=0.5)
        runs += [fast, change_slices(held, cpu_user_ns=SECOND // 2, cpu_system_ns=SECOND // 2)]
    [verdict] = analyse(plan(runs), FINGERPRINT, runs).verdicts
    [found] = [doubt for each in verdict.standings for doubt in each.doubts if doubt.kind == "generator-bound"]
    assert found.numbers["contender_cpu"] == pytest.approx(0.5, abs=0.01)
    assert ("go" in verdict.winners and "held" not in verdict.winners) == beats


def starved(of: Run, share: float) -> Run:
    """``of``, with the one thread of its driver without a core for that part of the time."""
    changed = change_slices(of, idle_ns=SECOND // 2, run_delay_ns=round(share * SECOND))
    return msgspec.structs.replace(changed, summary={"threads": [{"cpu_share": 0.3}]})


def test_a_compiler_without_time_has_as_much_room_as_such_a_compiler_ever_gained() -> None:
    cold = doubt("cold-compiler", gain=5.0)
    assert room([cold]) == 5.0
    assert room([cold, CLIMBS]) == 5.0  # what climbs is a part of it
    assert room([cold, doubt("still-climbing", climb=3.0)]) == pytest.approx(9.0)
    assert room([cold, STOLEN]) == pytest.approx(5 / 0.7)


def test_an_order_is_open_as_far_as_the_room_of_the_slower_one_reaches() -> None:
    assert is_open_upwards([], [STOLEN], 1.4)
    assert not is_open_upwards([], [STOLEN], 1.5)
    assert not is_open_upwards([STOLEN], [], 1.01)  # a faster one that lost time would be ahead all the more
    assert not is_open_upwards([], [], 1.0)
    assert is_open_upwards([], [doubt("generator-bound")], 50.0)


def test_one_that_turns_flatter_is_ahead_only_by_more_than_that() -> None:
    flattered, slowed = (doubt("turns-differ", ratio=ratio, blocks=4) for ratio in (1.1, 0.9))
    assert flattery([flattered]) == pytest.approx(1.1)
    assert flattery([slowed]) == flattery([STOLEN]) == flattery([doubt("http-1.0")]) == 1
    assert is_open_upwards([flattered], [], 1.09)
    assert not is_open_upwards([flattered], [], 1.11)
    assert not is_open_upwards([], [flattered], 1.01), "behind, it is so all the more"
    assert is_open_upwards([flattered], [slowed], 1.2), "1.1 times 1 / 0.9"


def test_behind_a_full_service_it_is_open_where_both_were_held_back() -> None:
    full = doubt("service-bound")
    assert is_open_upwards([full], [full], 3.0)
    assert is_open_upwards([STOLEN], [full], 3.0)
    assert not is_open_upwards([], [full], 1.01)
    assert not is_open_upwards([full], [STOLEN], 3.0)
