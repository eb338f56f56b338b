"""Plan: blocks, order, identity."""

from __future__ import annotations

import msgspec
import pytest

from tests.fakes import catalogue, study
from webdyno.design.blocks import Room, why_alone
from webdyno.design.length import BLOCK_S, OVERHEAD_S
from webdyno.model.claim import Claim
from webdyno.model.errors import UsageError
from webdyno.model.service import Service, Way
from webdyno.model.study import Brief, StudyLoad
from webdyno.plan import brief_of, loads_of, make_plan, narrow

REDIS = Service(
    name="redis",
    title="Redis",
    protocol="redis",
    variable="REDIS_URL",
    url="redis://{host}:{port}/0",
    genuine="redis-server",
    ways=[Way(kind="url")],
    install="apt",
)


def test_a_missing_service_is_one_line_and_costs_only_the_cells_that_need_it() -> None:
    known = catalogue("a", "b")
    workloads = {
        name: msgspec.structs.replace(each, service="redis") if name == "json" else each
        for name, each in known.workloads.items()
    }
    workloads["more"] = msgspec.structs.replace(workloads["json"], name="more")
    app = msgspec.structs.replace(known.apps["app"], answers=["hello", "json", "more"])
    known = msgspec.structs.replace(known, workloads=workloads, apps={"app": app}, services={"redis": REDIS})
    asked = study("a", "b", workloads=["hello", "json", "more"])
    plan = make_plan(asked, known, {}, dict.fromkeys(["json", "more"], "Redis was not found; to get it: apt"))
    assert [(s.contender, s.what, s.reason) for s in plan.skipped] == [
        ("", "json and more", "Redis was not found; to get it: apt")
    ]
    assert {trial.workload for trial in plan.trials} == {"hello"} == set(plan.workloads)
    assert plan.services == {}
    assert make_plan(asked, known, {}).services == {"redis": REDIS}
    with pytest.raises(UsageError, match=r"nothing left to measure \(json: Redis was not found; to get it: apt\)"):
        make_plan(study("a", workloads=["json"]), known, {}, {"json": "Redis was not found; to get it: apt"})


def test_every_round_holds_every_cell_once() -> None:
    plan = make_plan(study("a", "b", rounds=3), catalogue("a", "b"), {})
    for round_ in (1, 2, 3):
        cells = [(t.contender, t.workload, t.load.connections) for t in plan.trials if t.round == round_]
        assert sorted(cells) == [(c, w, n) for c in "ab" for w in ("hello", "json") for n in (8, 64)]


def test_rounds_follow_each_other_and_are_ordered_differently() -> None:
    plan = make_plan(study(*"abcdef"), catalogue(*"abcdef"), {})
    assert [trial.round for trial in plan.trials] == sorted(trial.round for trial in plan.trials)
    orders = {tuple((t.contender, t.workload) for t in plan.trials if t.round == round_) for round_ in (1, 2, 3)}
    assert len(orders) == 3


def test_the_same_seed_gives_the_same_plan_and_another_seed_another() -> None:
    first, again, other = (make_plan(study("a", "b", seed=seed), catalogue("a", "b"), {}) for seed in (1, 1, 2))
    assert first == again
    assert [t.id for t in first.trials] != [t.id for t in other.trials]
    assert {t.id for t in first.trials} == {t.id for t in other.trials}


def test_a_trial_is_another_when_its_contender_is_edited() -> None:
    before = make_plan(study("a"), catalogue("a"), {})
    after = make_plan(study("a"), catalogue("a", threads=8), {})
    assert not {t.id for t in before.trials} & {t.id for t in after.trials}


def test_trial_ids_are_unique() -> None:
    plan = make_plan(study("a", "b"), catalogue("a", "b"), {})
    assert len({trial.id for trial in plan.trials}) == len(plan.trials)


def test_a_missing_runtime_is_skipped_with_its_reason_and_the_rest_planned() -> None:
    plan = make_plan(study("a", "b"), catalogue("a", "b"), {"b": "node was not found"})
    assert [(s.contender, s.reason) for s in plan.skipped] == [("b", "node was not found")]
    assert set(plan.contenders) == {"a"}


def test_a_contender_that_answers_nothing_asked_is_skipped() -> None:
    known = catalogue("a", "b")
    known.contenders["b"] = msgspec.structs.replace(known.contenders["b"], answers=["mongo-small"])
    plan = make_plan(study("a", "b"), known, {})
    assert [(s.contender, s.reason) for s in plan.skipped] == [("b", "answers none of hello, json")]


def test_a_contender_that_no_load_asks_is_not_missed() -> None:
    asked = study("a", "b")
    loads = [msgspec.structs.replace(load, contenders=["a"]) for load in asked.loads]
    plan = make_plan(msgspec.structs.replace(asked, loads=loads), catalogue("a", "b"), {})
    assert plan.skipped == []
    assert set(plan.contenders) == {"a"}


def test_a_contender_gets_only_the_workloads_it_answers() -> None:
    known = catalogue("a")
    known.contenders["a"] = msgspec.structs.replace(known.contenders["a"], answers=["json"])
    assert {trial.workload for trial in make_plan(study("a"), known, {}).trials} == {"json"}


def test_nothing_left_is_one_sentence() -> None:
    with pytest.raises(UsageError, match=r"^study 'study' has nothing left to measure \(a: no node\)$"):
        make_plan(study("a"), catalogue("a"), {"a": "no node"})


def test_its_length_is_the_sum_of_its_trials() -> None:
    asked = msgspec.structs.replace(study("a", rounds=2), alone=True)
    plan = make_plan(asked, catalogue("a"), {})
    assert plan.seconds == pytest.approx(2 * 4 * (OVERHEAD_S + 0.5 + 2.0))


def test_in_blocks_turns_and_a_steady_phase_take_as_long_as_the_load_alone() -> None:
    plan = make_plan(study("a", rounds=2), catalogue("a"), {})
    assert plan.turns is not None
    assert plan.seconds == pytest.approx(2 * 4 * (OVERHEAD_S + BLOCK_S + 0.5 + 2.0))


def test_alone_and_in_place_nobody_takes_turns() -> None:
    for changes in ({"alone": True}, {"design": "in-place"}):
        assert make_plan(msgspec.structs.replace(study("a"), **changes), catalogue("a"), {}).turns is None


def test_in_place_the_rounds_of_a_cell_follow_each_other_and_only_the_first_starts_a_server() -> None:
    plan = make_plan(study("a", "b", rounds=3, design="in-place"), catalogue("a", "b"), {})
    assert plan.in_place
    assert [trial.round for trial in plan.trials] == [1, 2, 3] * 8
    cells = [(trial.contender, trial.workload, trial.load) for trial in plan.trials]
    assert cells[::3] == cells[1::3] == cells[2::3]
    assert len(set(cells)) == 8
    assert cells[::3] != sorted(cells[::3], key=repr)
    assert plan.seconds == pytest.approx(8 * (OVERHEAD_S + 3 * (0.5 + 2.0)))
    blocks = make_plan(study("a", "b", rounds=3), catalogue("a", "b"), {})
    assert {trial.id for trial in blocks.trials} == {trial.id for trial in plan.trials}


def test_a_contender_with_a_warm_up_of_its_own_gets_it_in_the_same_tables() -> None:
    known = catalogue("a", "b")
    slow = msgspec.structs.replace(known.contenders["a"], warmup_s=8.0)
    plan = make_plan(
        study("a", "b", rounds=1), msgspec.structs.replace(known, contenders={**known.contenders, "a": slow}), {}
    )
    assert {trial.asked.warmup_s for trial in plan.trials if trial.contender == "a"} == {8.0}
    assert {trial.asked.warmup_s for trial in plan.trials if trial.contender == "b"} == {0.5}
    assert {trial.load for trial in plan.trials if trial.contender == "a"} == {
        trial.load for trial in plan.trials if trial.contender == "b"
    }
    assert plan.seconds == pytest.approx(4 * (2 * (OVERHEAD_S + BLOCK_S + 2.0) + 8.0 + 0.5))


def test_narrow_replaces_only_what_is_given() -> None:
    base, known = study("a", "b"), catalogue("a", "b")
    assert narrow(base, known) == base
    narrowed = narrow(base, known, contenders=["b"], connections=[1], duration_s=0.5, rounds=7, seed=3)
    assert (narrowed.contenders, narrowed.rounds, narrowed.seed) == (["b"], 7, 3)
    assert (narrowed.loads[0].connections, narrowed.loads[0].duration_s) == ([1], 0.5)


def test_a_newcomer_can_be_asked_a_studys_question() -> None:
    narrowed = narrow(study("a"), catalogue("a", "mine"), contenders=["mine", "a", "mine"])
    assert narrowed.contenders == ["mine", "a"]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"contenders": ["torndo"]}, "there is no contender 'torndo'; did you mean 'tornado'?"),
        ({"workloads": ["db"]}, "there is no workload 'db'; see: webdyno list workloads"),
        ({"rounds": 0}, "--rounds 0: a plan needs at least 1 round; 3 or more give an interval"),
    ],
)
def test_what_cannot_be_narrowed_is_one_sentence(changes: dict[str, object], sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        narrow(study("a"), catalogue("a", "tornado"), **changes)  # type: ignore[arg-type]
    assert str(caught.value) == sentence


def test_more_connections_than_an_open_load_may_open_are_one_sentence() -> None:
    load = StudyLoad(connections=[8], rate_per_s=[100.0], max_connections=80, duration_s=1.0)
    asked, known = study("a", loads=[load]), catalogue("a")
    assert narrow(asked, known, connections=[80]).loads[0].connections == [80]
    with pytest.raises(UsageError, match="--connections 81: a load of the study opens at most max_connections = 80; "):
        narrow(asked, known, connections=[8, 81])
    closed = study("a", loads=[msgspec.structs.replace(load, rate_per_s=[])])
    assert narrow(closed, known, connections=[81]).loads[0].connections == [81]


def test_an_open_study_asks_every_rate_with_every_number_of_connections() -> None:
    template = StudyLoad(connections=[8, 64], rate_per_s=[100, 1000], poisson=True, duration_s=1)
    loads = loads_of(study("a", loads=[template], seed=7))
    assert [(load.connections, load.rate_per_s, load.max_connections, load.seed) for load in loads] == [
        (8, 100, 80, 7),
        (8, 1000, 80, 7),
        (64, 100, 640, 7),
        (64, 1000, 640, 7),
    ]
    few = StudyLoad(connections=[8], rate_per_s=[100], max_connections=9, duration_s=1)
    (load,) = loads_of(study("a", loads=[few]))
    assert load.label == "100/s over 8 to 9 connections, keep-alive"


TWO_DRIVERS = [
    StudyLoad(connections=[8], count=1000, driver="ab"),
    StudyLoad(connections=[8], count=1000),
    StudyLoad(connections=[8], duration_s=1.0, keep_alive=False, workloads=["json"]),
]


def test_each_load_has_its_driver_and_its_workloads() -> None:
    plan = make_plan(study("a", loads=TWO_DRIVERS, rounds=1), catalogue("a"), {})
    assert sorted((t.workload, t.driver, t.load.keep_alive) for t in plan.trials) == [
        ("hello", "ab", True),
        ("hello", "engine", True),
        ("json", "ab", True),
        ("json", "engine", False),
        ("json", "engine", True),
    ]
    assert len({trial.id for trial in plan.trials}) == 5


def test_a_load_may_be_for_some_contenders_only_and_for_whom_the_user_names() -> None:
    loads = [StudyLoad(connections=[8], duration_s=1.0), StudyLoad(connections=[64], duration_s=1.0, contenders=["b*"])]
    asked = study("a", "b", "bc", workloads=["hello"], loads=loads, rounds=1)
    known = catalogue("a", "b", "bc")
    plan = make_plan(asked, known, {})
    assert sorted((t.contender, t.load.connections) for t in plan.trials) == [
        ("a", 8), ("b", 8), ("b", 64), ("bc", 8), ("bc", 64),
    ]  # fmt: skip
    named = make_plan(narrow(asked, known, contenders=["a"]), known, {})
    assert sorted(t.load.connections for t in named.trials) == [8, 64]


def test_a_driver_that_is_not_there_costs_its_loads_and_says_so() -> None:
    asked = study("a", loads=TWO_DRIVERS, rounds=1)
    plan = make_plan(asked, catalogue("a"), {}, absent={"ab": "ab is not installed; get apache2-utils"})
    assert {trial.driver for trial in plan.trials} == {"engine"}
    assert [(skip.what, skip.reason) for skip in plan.skipped] == [
        ("loads by ab", "ab is not installed; get apache2-utils")
    ]


def test_one_driver_for_all_makes_loads_that_differed_by_it_one() -> None:
    narrowed = narrow(study("a", loads=TWO_DRIVERS, rounds=1), catalogue("a"), driver="wrk")
    plan = make_plan(narrowed, catalogue("a"), {})
    assert sorted((t.workload, t.driver, t.load.keep_alive) for t in plan.trials) == [
        ("hello", "wrk", True),
        ("json", "wrk", False),
        ("json", "wrk", True),
    ]


LEVELS = [
    StudyLoad(connections=[100, 500], duration_s=3.0),
    StudyLoad(connections=[5000], duration_s=3.0, warmup_s=5.0, opening_s=4.0),
]


@pytest.mark.parametrize(("number", "warmup_s"), [(80, 0.5), (700, 0.5), (5000, 5.0)])
def test_levels_that_have_become_one_are_asked_once_as_the_nearest_of_them(number: int, warmup_s: float) -> None:
    said: list[str] = []
    asked = study("a", loads=LEVELS, rounds=1)
    plan = make_plan(narrow(asked, catalogue("a"), connections=[number], say=said.append), catalogue("a"), {})
    assert sorted((t.workload, t.load.connections, t.load.warmup_s) for t in plan.trials) == [
        ("hello", number, warmup_s),
        ("json", number, warmup_s),
    ]
    told = f"{number} connections, keep-alive, by engine"
    assert said == [f"several loads of the study have become equal, and are measured once: {told}"]


def test_one_driver_for_all_asks_as_the_load_that_was_written_for_it() -> None:
    by_ab = StudyLoad(connections=[50], count=15000, driver="ab")
    own = StudyLoad(connections=[50], duration_s=10.0)
    asked = study("a", loads=[by_ab, own], workloads=["hello"], rounds=1)
    for driver, count in (("ab", 15000), ("engine", None), ("wrk", None)):
        (trial,) = make_plan(narrow(asked, catalogue("a"), driver=driver), catalogue("a"), {}).trials
        assert (trial.driver, trial.load.count) == (driver, count)


def test_a_load_for_some_stays_with_them_and_the_other_with_the_rest() -> None:
    loads = [
        StudyLoad(connections=[200], duration_s=2.0),
        StudyLoad(connections=[1000], duration_s=4.0, workloads=["json"], contenders=["b"]),
    ]
    asked = narrow(study("a", "b", loads=loads, rounds=1), catalogue("a", "b"), connections=[1000])
    plan = make_plan(asked, catalogue("a", "b"), {})
    assert sorted((t.contender, t.workload, t.load.duration_s) for t in plan.trials) == [
        ("a", "hello", 2.0), ("a", "json", 2.0), ("b", "hello", 2.0), ("b", "json", 4.0),
    ]  # fmt: skip


def test_loads_that_are_alike_in_the_study_itself_stay_so() -> None:
    said: list[str] = []
    loads = [StudyLoad(connections=[8], duration_s=1.0), StudyLoad(connections=[8], duration_s=9.0)]
    narrowed = narrow(study("a", loads=loads), catalogue("a"), connections=[64], say=said.append)
    assert ([load.duration_s for load in loads_of(narrowed)], said) == ([1.0, 9.0], [])


def test_the_brief_version_replaces_what_it_names_and_keeps_the_rest() -> None:
    brief = Brief(rounds=2, loads=[StudyLoad(connections=[4], duration_s=0.5)])
    claims = [Claim(text="a leads", contenders=["a"], relation="highest")]
    short = brief_of(study("a", "b", brief=brief, claims=claims, rounds=5, seed=9))
    assert (short.rounds, short.seed, short.contenders, short.workloads) == (2, 9, ["a", "b"], ["hello", "json"])
    plan = make_plan(short, catalogue("a", "b"), {}, brief=True)
    assert (plan.brief, plan.claims, {trial.load.connections for trial in plan.trials}) == (True, claims, {4})
    with pytest.raises(UsageError, match=r"--brief: study 'study' has no brief version; shorten it with --rounds"):
        brief_of(study("a"))


def test_whoever_may_start_slowly_is_foretold_to_take_longer() -> None:
    quick, slow = (make_plan(study("a"), catalogue("a", ready_s=ready), {}).seconds for ready in (20.0, 120.0))
    assert slow - quick == pytest.approx(3 * 4 * 5 * OVERHEAD_S)


def test_only_our_engine_opens_connections_one_after_the_other() -> None:
    slow = StudyLoad(connections=[9], duration_s=1, warmup_s=2, opening_s=1.5)
    by_wrk = msgspec.structs.replace(slow, driver="wrk")
    assert [load.opening_s for load in loads_of(study("a", loads=[slow, by_wrk]))] == [1.5, 0.0]


def test_workloads_that_no_load_of_the_study_asks_are_refused() -> None:
    loads = [StudyLoad(connections=[8], duration_s=1, workloads=["hello"])]
    asking = msgspec.structs.replace(study(), name="mine", loads=loads, workloads=["hello", "json"])
    with pytest.raises(UsageError, match="no load of study 'mine' asks json; they ask hello"):
        narrow(asking, catalogue("go"), workloads=["json"])


def test_several_drivers_share_every_load_of_a_plan_and_its_contenders_are_measured_alone() -> None:
    plan = make_plan(narrow(study("a", "b", rounds=1), catalogue("a", "b"), drivers=4), catalogue("a", "b"), {})
    assert {trial.load.drivers for trial in plan.trials} == {4}
    assert {trial.load.connections for trial in plan.trials} == {8, 64}
    said = {why_alone(trial, plan, Room(memory_bytes=None)) for trial in plan.trials}
    assert said == {"several drivers begin at one instant, and turns are too short for that"}
