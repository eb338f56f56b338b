"""Doubts about what really set a rate: a quota, a pool, a cache, the load itself, a lock, or something all share."""

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import pytest

from tests.analyse.fakes import (
    FINGERPRINT,
    LOAD,
    PROBE,
    RIG,
    SECOND,
    change_slices,
    contender,
    plan,
    readings,
    run,
    slices,
    workload,
)
from tests.analyse.fakes import trial as trial_of
from tests.analyse.test_doubts import BEHIND, REDIS, WRK, behind, closing, doubts, good, rounds
from webdyno.analyse import analyse
from webdyno.model.doubt import Doubt
from webdyno.model.load import Load
from webdyno.model.run import Run
from webdyno.model.sample import Reading
from webdyno.model.trial import Plan

change = msgspec.structs.replace
AHEAD = Load(connections=64, duration_s=2.0, pipeline=16)
STATIC = workload(kind="db", service="redis")
WAIT = workload(kind="io-wait", service_floor_ms=100)


def of(runs: Sequence[Run], **works: Any) -> Plan:
    return plan(runs, workloads={"hello": works["work"]})


def held_back(role: str, share: float) -> list[Run]:
    """Good runs in which a quota held one role back for a part of the time."""

    def counted(look: Reading, first: int) -> Reading:
        return change(look, throttled_ns=round((look.at_ns - first) * share)) if look.role == role else look

    return [change(each, readings=[counted(look, each.readings[0].at_ns) for look in each.readings]) for each in good()]


def test_a_quota_that_holds_the_contender_back_is_told() -> None:
    found = doubts(held_back("contender", 0.25))
    assert "a CPU quota limited go for 25 % of the time" in found["throttled"].sentence
    assert found["throttled"].severity == "shades"
    assert "generator-bound" not in found
    assert "throttled" not in doubts(held_back("contender", 0.005))


def test_a_quota_that_holds_the_driver_back_makes_the_rate_a_floor() -> None:
    found = doubts(held_back("driver", 0.25))
    assert "limited the load generator for 25 %" in found["generator-bound"].sentence
    assert "throttled" not in found


def test_throttled_time_added_up_over_processors_is_at_most_all_of_it() -> None:
    assert doubts(held_back("contender", 3.0))["throttled"].numbers["throttled"] == 1.0


def test_cores_that_a_driver_cannot_use_are_no_reserve() -> None:
    wide = change(RIG, driver_cores=(1, 2, 3, 4))
    single = [change_slices(each, cpu_user_ns=SECOND * 9 // 10, cpu_system_ns=0) for each in good(rig=wide)]
    assert "generator-bound" not in doubts(single)
    ab = [change(each, driver_can=change(WRK, driver="ab", cores="one")) for each in single]
    assert "used 90 % of its CPU" in doubts(ab)["generator-bound"].sentence
    alone = Load(connections=1, duration_s=2.0)  # one connection keeps one thread busy
    alone_runs = [change(each, trial=trial_of(round_=each.trial.round, load=alone)) for each in single]
    assert "used 90 % of its CPU" in doubts(alone_runs)["generator-bound"].sentence


def test_memory_that_lies_in_swap_is_told() -> None:
    def swapping(bytes_: int) -> list[Run]:
        return good(readings=[change(look, swap_bytes=bytes_) for look in readings(3)])

    assert "had 30.0 MiB of its memory in swap" in doubts(swapping(30 << 20))["memory-capped"].sentence
    assert "memory-capped" not in doubts(swapping(4096))


def pooled(places: int, workers: int = 2) -> list[Run]:
    return behind(0.5, environment={"WEBDYNO_POOL": str(places)}, workers=workers)


def test_a_pool_with_fewer_places_than_connections_is_told() -> None:
    runs = pooled(10)
    doubt = doubts(runs, of(runs, work=STATIC))["pool-limited"]
    assert "sends redis at most 20 queries at a time for 64 connections" in doubt.sentence
    assert doubt.severity == "shades"
    runs = pooled(32)
    assert "pool-limited" not in doubts(runs, of(runs, work=STATIC))
    assert "pool-limited" not in doubts(pooled(10))  # a workload that asks no service


def test_a_rate_that_workers_and_threads_set_is_told() -> None:
    def sleeping(rate: float, **changes: Any) -> dict[str, Any]:
        runs = good(rate=rate, **changes)
        return dict(doubts(runs, of(runs, work=WAIT)))

    assert "handles 8 requests at a time" in sleeping(79, workers=2, threads=4)["pool-limited"].sentence
    assert "pool-limited" not in sleeping(600, workers=1)  # an event loop: far more than one at a time
    assert "pool-limited" not in sleeping(630, workers=8, threads=8)  # as many as there are connections
    assert "pool-limited" not in sleeping(40, workers=2, threads=4)  # slower still: something else


def test_answers_for_which_the_service_did_nothing_are_void() -> None:
    runs = behind(0.0005)
    doubt = doubts(runs, of(runs, work=STATIC))["cached-service"]
    assert doubt.severity == "voids"
    assert "used 0.05 µs of CPU for each answer of go" in doubt.sentence
    [verdict] = analyse(of(runs, work=STATIC), FINGERPRINT, runs).verdicts
    assert verdict.standings[0].place is None
    asked = behind(0.2)
    assert "cached-service" not in doubts(asked, of(asked, work=STATIC))
    unknown = behind(None, change(REDIS, way="url"))
    assert "cached-service" not in doubts(unknown, of(unknown, work=STATIC))
    few = behind(0.0, rate=300.0)
    assert "cached-service" not in doubts(few, of(few, work=STATIC))


def test_questions_that_may_have_shared_a_message_are_told_and_void_nothing() -> None:
    """A client that sends many at once makes an honest answer cost a service less than a message does."""
    runs = behind(0.005)
    doubt = doubts(runs, of(runs, work=STATIC))["cached-service"]
    assert doubt.severity == "shades"
    assert doubt.numbers["service_cpu_ns"] == pytest.approx(500, rel=0.02)
    assert "used 0.5 µs of CPU for each answer of go, less than one query by itself costs" in doubt.sentence
    dearer = behind(0.015)
    assert "cached-service" not in doubts(dearer, of(dearer, work=STATIC))


@pytest.mark.parametrize(("rate", "told"), [(3_000.0, False), (10_000.0, True)])
def test_where_cpu_is_counted_in_ticks_it_takes_more_answers_to_say_that_none_was_used(rate: float, told: bool) -> None:
    """6,000 that cost 3 us each are 18 ms, and of user and system the kernel tells whole ticks of 10 ms."""
    runs = behind(0.0, rate=rate, rig=change(BEHIND, cgroup="none"))
    assert ("cached-service" in doubts(runs, of(runs, work=STATIC))) == told
    counted = behind(0.0, rate=rate)
    assert "cached-service" in doubts(counted, of(counted, work=STATIC))


def field(rates: Sequence[float], cpu: float | None = 0.5, **changes: Any) -> list[Run]:
    looks = [] if cpu is None else readings(3, contender=cpu)
    named = [(f"c{number}", rate) for number, rate in enumerate(rates)]
    return [each for name, rate in named for each in good(name, rate, readings=looks, **changes)]


def test_a_field_without_differences_is_not_ranked() -> None:
    runs = field([30_000, 30_200, 30_400])
    doubt = doubts(runs)["all-equal"]
    assert doubt.severity == "voids"
    assert "all 3 contenders are within 1.3 % of each other" in doubt.sentence
    [verdict] = analyse(plan(runs), FINGERPRINT, runs).verdicts
    assert verdict.winners == []
    assert "load generator until proven otherwise" in verdict.sentence
    assert "all-equal" in doubts(field([30_000, 30_200, 30_400], cpu=None))


@pytest.mark.parametrize(
    "runs",
    [
        field([30_000, 30_100, 30_800]),  # apart
        field([30_000, 30_100]),  # two may well be alike
        field([30_000, 30_200, 30_400], cpu=0.95),  # each at its own limit
        behind(0.95) + field([10_000, 10_050], cpu=0.95),  # or the service behind it
    ],
)
def test_alike_is_no_doubt_where_something_else_explains_it(runs: list[Run]) -> None:
    assert "all-equal" not in doubts(runs)


def test_contenders_that_only_wait_are_alike_because_of_the_load() -> None:
    runs = field([630, 632, 634], cpu=0.2)
    doubt = doubts(runs, of(runs, work=WAIT))["all-equal"]
    assert doubt.severity == "shades"
    assert "64 connections allow" in doubt.sentence


def idling(cores: float = 0.1, rig: Any = RIG, load: Load = LOAD, **looks: Any) -> list[Run]:
    rng = np.random.default_rng(5)
    return rounds(
        lambda r: run(
            round_=r,
            rate=336,
            rig=rig,
            load=load,
            latency_ns=rng.normal(190e6, 5e6, 672),
            readings=readings(3, contender=cores, driver=0.05, **looks),
        )
    )


def test_a_server_that_idles_while_clients_wait_is_told() -> None:
    assert "10 % of one core while 64 clients waited" in doubts(idling())["idle-while-slow"].sentence


@pytest.mark.parametrize(
    ("runs", "work"),
    [
        (idling(0.8), workload()),  # it works
        (idling(), STATIC),  # its service does
        (idling(), WAIT),  # it was asked to wait
        (idling(host=1.2), workload()),  # another program has its core
        (idling(rig=change(RIG, driver_cores=(0,))), workload()),  # the load generator has
        (idling(load=Load(connections=2, duration_s=2.0)), workload()),  # hardly anybody waits
        ([change_slices(each, cpu_user_ns=SECOND, cpu_system_ns=0) for each in idling()], workload()),
    ],
)
def test_idling_is_no_doubt_where_something_else_explains_it(runs: list[Run], work: Any) -> None:
    assert "idle-while-slow" not in doubts(runs, of(runs, work=work))


def test_a_lock_that_was_to_be_gone_and_is_back_is_told() -> None:
    doubt = doubts([*good()[:2], good(gil_modules=["greenlet._greenlet"])[2]])["gil-on"]
    assert (
        "loading greenlet._greenlet switched it on again in 1 of 3 rounds, so threads of one process" in doubt.sentence
    )
    assert doubt.severity == "shades"
    assert doubt.numbers == {"modules": "greenlet._greenlet", "rounds": 1}
    always = doubts(good(gil_modules=["b", "a"]))["gil-on"]
    assert "loading a and b switched it on again, so threads of one process took turns" in always.sentence
    assert "gil-on" not in doubts(good())


def test_a_connection_closed_in_silence_is_told_whatever_it_carried() -> None:
    def closed(number: int, **more: int) -> list[Run]:
        return [change_slices(each, closes_silent=number, **more) for each in good()]

    found = doubts(closed(100))
    assert "600 connections unannounced in 75,300 answers" in found["silent-close"].sentence
    assert "closes-connections" not in found
    assert "silent-close" in doubts(closed(0, stale_retries=100))
    assert "silent-close" not in doubts(closed(3))
    assert "silent-close" not in doubts(closing(closes_announced=1))


def test_a_backlog_that_the_kernel_cut_is_told_with_what_was_asked() -> None:
    cut = good(probe=change(PROBE, backlog=128), command=["serve", "--backlog=2048"])
    assert "128 places for 64 connections, though it asks for 2,048" in doubts(cut)["small-backlog"].sentence
    assert "wait for a second" not in doubts(cut)["small-backlog"].sentence
    asked = good(probe=change(PROBE, backlog=2048), command=["serve", "--listen", "2048"])
    assert "small-backlog" not in doubts(asked)
    address = good(probe=change(PROBE, backlog=128), command=["serve", "--listen", "127.0.0.1:80"])
    assert "small-backlog" not in doubts(address)


def pointed(p99: float, mean: float, **changes: Any) -> list[Run]:
    """Runs of a tool that gives points instead of a histogram."""
    points = {"mean": mean, "p50": 0.8 * mean, "p99": p99, "max": 9 * mean}

    def one(round_: int) -> Run:
        whole = run(round_=round_, driver="wrk", rate=10_000.0, **changes)
        steady = [each for each in whole.slices if each.phase == "steady"]
        merged = change(steady[0], duration_ns=2 * SECOND, ok=20_000, offered=20_000, latency_ns=points)
        return change(whole, slices=[merged])

    return rounds(one)


def test_a_mean_that_is_called_p99_is_found_out() -> None:
    doubt = doubts(pointed(6.4e6, 6.4e6))["p99-is-mean"]
    assert "the p99 of go is its mean (6.40 ms) in 3 rounds: wrk reported a mean" in doubt.sentence
    assert "p99-is-mean" not in doubts(pointed(6.5e6, 6.4e6))
    asleep = pointed(101e6, 101e6)
    assert "p99-is-mean" not in doubts(asleep, of(asleep, work=WAIT))
    level = rounds(lambda r: run(round_=r, latency_ns=np.full(20_000, 6e6)))  # a histogram cannot lie that way
    assert "p99-is-mean" not in doubts(level)


def test_figures_of_a_part_of_the_phase_are_void() -> None:
    last = [change(each, slices=each.slices[-1:]) for each in good()]
    doubt = doubts(last)["part-of-phase"]
    assert doubt.severity == "voids"
    assert "are of 1 s out of the 2 s that were asked for" in doubt.sentence
    counted = [
        change(each, trial=trial_of(round_=each.trial.round, load=Load(connections=64, count=10_000))) for each in last
    ]
    assert "part-of-phase" not in doubts(counted)


def slow(answers: int, under_way: int, warmup_s: float = 0.0) -> list[Run]:
    """Rounds that end with ``under_way`` requests without an answer."""

    def one(round_: int) -> Run:
        whole = run(round_=round_, trial=trial_of(round_=round_, load=Load(connections=40, warmup_s=warmup_s)))
        steady = [each for each in whole.slices if each.phase == "steady"][:1]
        errors = {"unfinished": under_way}
        return change(whole, slices=[change(steady[0], duration_ns=11 * SECOND, ok=answers, errors=errors)])

    return rounds(one)


def test_few_answers_are_too_few_by_those_being_served_at_the_end() -> None:
    def told(runs: list[Run]) -> dict[str, Doubt]:
        return doubts(runs, of(runs, work=change(WAIT, service_floor_ms=1000.0)))

    doubt = told(slow(10, 1))["few-answers"]
    assert "go gave 10 answers in 11 s and was working on 1 more at the end" in doubt.sentence
    assert "up to 10 % higher" in doubt.sentence
    assert doubts(slow(10, 1))["few-answers"].numbers == doubt.numbers  # however long an answer takes
    assert told(slow(400, 40))["few-answers"].numbers["at_work"] == 36  # all began together, and are cut off together
    assert told(slow(20, 40))["few-answers"].numbers["at_work"] == 2  # the others only waited
    assert told(slow(400, 40, warmup_s=5.0))["few-answers"].numbers["at_work"] == 36  # or begun together
    assert "few-answers" not in told(slow(4000, 40, warmup_s=5.0))
    assert "few-answers" not in doubts(slow(400, 40))  # who does not sleep is at work all the time
    assert "few-answers" in told(slow(50, 2, warmup_s=5.0))
    assert "few-answers" not in doubts(slow(80, 1))
    assert "few-answers" not in doubts(good())


def test_a_round_that_was_measured_again_is_void() -> None:
    first = run(round_=1, rate=8_000.0)
    doubt = doubts([first, *good()], plan(good()))["ran-again"]
    assert doubt.severity == "voids"
    assert "1 round of go ran 2 times in total" in doubt.sentence
    stopped = change(first, outcome="interrupted")
    assert "ran-again" not in doubts([stopped, *good()], plan(good()))


def test_good_runs_with_all_evidence_raise_no_doubt_at_all() -> None:
    """One run in which every rule finds what it looks for: a service, a pool, a quota that never bit, a queue."""

    def with_counters(each: Run) -> Run:
        return change(each, readings=[change(look, throttled_ns=0) for look in each.readings])

    evidence = {"environment": {"WEBDYNO_POOL": "64"}, "command": ["serve", "--backlog", "2048"]}
    fast = [
        change(each, trial=trial_of("node", round_=each.trial.round)) for each in behind(0.2, rate=14e3, **evidence)
    ]
    runs = [with_counters(each) for each in [*behind(0.2, **evidence), *fast]]
    assert doubts(runs, of(runs, work=STATIC)) == {}


def test_a_server_that_starves_connections_may_have_a_limit_to_raise() -> None:
    starved = doubts(good(summary={"connections_unanswered": 10}))["starved-connections"]
    assert starved.advice.endswith(", or raise its limit of connections")


def compiling(**changes: Any) -> list[Run]:
    return [change(each, compilers=["PyPy"]) for each in good(**changes)]


def test_a_compiler_without_time_to_warm_up_makes_the_rate_a_floor() -> None:
    found = doubts(compiling())["cold-compiler"]
    assert "PyPy compiles in go while it serves, and it had 0.5 s to warm up, which no run shows" in found.sentence
    assert found.sentence.endswith("its rate is a floor; it may be faster")
    paced = doubts(compiling(load=change(LOAD, rate_per_s=5_000.0, max_connections=64)))["cold-compiler"]
    assert paced.sentence.endswith("its latency may be lower")
    assert found.severity == "shades"
    assert found.numbers == {"compilers": "PyPy", "warmup_s": 0.5}


def test_how_much_faster_it_may_become_is_told_where_such_a_compilers_gain_is_known() -> None:
    runs = [change(each, compilers=["V8"]) for each in good()]
    found = doubts(runs)["cold-compiler"]
    assert found.sentence.endswith("its rate is a floor; it may be faster, up to 5 times")
    assert found.numbers == {"compilers": "V8", "warmup_s": 0.5, "gain": 5.0}
    both = doubts([change(each, compilers=["V8", "PyPy"]) for each in runs])["cold-compiler"]
    assert "gain" not in both.numbers


def test_a_compiler_is_no_doubt_where_its_warm_up_was_stated_or_long_or_seen() -> None:
    runs = compiling()
    stated = change(plan(runs), contenders={"go": contender(warmup_s=3.0)})
    assert "cold-compiler" not in doubts(runs, stated)
    long = [change(each, trial=change(each.trial, warmup_s=6.0)) for each in runs]
    assert "cold-compiler" not in doubts(long)
    seen = [change(each, slices=slices([10_000.0] * 12), steady_end_ns=None) for each in runs]
    assert "cold-compiler" not in doubts(seen)
    assert "cold-compiler" not in doubts(good())


def courses(*rates: tuple[float, ...]) -> list[Run]:
    return [run(round_=r, slices=slices(list(each)), steady_end_ns=None) for r, each in enumerate(rates, 1)]


def test_what_was_still_getting_faster_in_all_rounds_has_a_floor_of_a_rate() -> None:
    found = doubts(courses((4_500, 8_900, 10_000), (4_700, 9_000, 10_200), (4_400, 8_000, 9_900)))["still-climbing"]
    assert "2.2 times as fast at the end of its window as at its beginning, after 0.5 s of warm-up" in found.sentence
    assert found.severity == "shades"
    noisy = courses((9_000, 9_500, 10_000), (10_000, 9_500, 10_400), (8_000, 9_000, 10_900))
    assert "still-climbing" not in doubts(noisy)  # 17 % in the mean, and not sure
    assert "still-climbing" not in doubts(courses(*[(9_500, 9_800, 10_000)] * 4))  # sure, and too little
    assert "still-climbing" not in doubts(courses((4_500, 10_000), (4_500, 10_000)))  # two rounds are an accident
    assert "still-climbing" not in doubts(courses((10_000, 4_500), (10_000, 4_500), (10_000, 4_600)))


def used(ns: float, load: Load = LOAD, rate: float = 10_000.0, **changes: Any) -> Doubt | None:
    """What is said of a contender that used so much CPU for an answer."""
    runs = good(rate=rate, load=load, readings=readings(3, contender=ns * rate / 1e9), **changes)
    return doubts(runs).get("impossible-cpu")


def test_an_answer_that_costs_less_than_a_read_and_a_write_is_void() -> None:
    doubt = used(1.78)
    assert doubt is not None
    assert doubt.severity == "voids"
    assert "go used 1.77 ns of CPU for an answer, and no process can read a request and write an answer for less" in (
        doubt.sentence
    )
    assert "than 1 µs: the work was done where it is not counted" in doubt.sentence
    assert used(950) is not None
    assert used(1_050) is None
    assert used(1.78, rate=3_000.0) is None, "6,000 answers are too few to say"


def test_requests_that_share_a_read_and_a_write_may_cost_less() -> None:
    assert used(214, AHEAD) is None, "measured, by a server that looks at nothing"
    assert used(60, AHEAD) is not None
    streams = change(AHEAD, pipeline=1, streams=100, http="2")
    assert used(50, streams) is None
    assert used(19, streams) is not None


def test_where_no_cgroup_counts_cpu_too_little_of_it_voids_nothing() -> None:
    doubt = used(500, rig=change(RIG, cgroup="none"))
    assert doubt is not None
    assert doubt.severity == "shades"
    assert "part of its CPU was not counted" in doubt.sentence
