"""Every doubt is provoked by the Run it exists for, and silent on good ones."""

from collections.abc import Callable, Sequence
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
    START,
    change_slices,
    contender,
    plan,
    readings,
    robbed,
    run,
    spread,
    trial,
    workload,
)
from webdyno.analyse import analyse
from webdyno.analyse.doubts.table import ROWS
from webdyno.histogram import encode
from webdyno.load.wrk import Wrk
from webdyno.load.wrk2 import Wrk2
from webdyno.model.doubt import Doubt
from webdyno.model.driver import Can
from webdyno.model.load import Load
from webdyno.model.rig import Rig
from webdyno.model.run import Loss, Run
from webdyno.model.sample import Reading
from webdyno.model.service import Backing
from webdyno.model.trial import Plan

change = msgspec.structs.replace


def doubts(runs: Sequence[Run], of: Plan | None = None, **fingerprint: Any) -> dict[str, Doubt]:
    """All doubts about ``runs``, by kind."""
    analysis = analyse(of or plan(runs), change(FINGERPRINT, **fingerprint), runs)
    found = list(analysis.doubts)
    for verdict in analysis.verdicts:
        found += verdict.doubts
        for standing in verdict.standings:
            found += standing.doubts
    return {doubt.kind: doubt for doubt in found}


def rounds(make: Callable[[int], Run], number: int = 3) -> list[Run]:
    return [make(round_) for round_ in range(1, number + 1)]


def good(name: str = "go", rate: float = 10_000.0, **changes: Any) -> list[Run]:
    rng = np.random.default_rng(4)
    return rounds(
        lambda r: run(
            name,
            round_=r,
            rate=rate * (1 + 0.002 * r),
            latency_ns=spread(rng, 0.96 * LOAD.connections / rate * SECOND, 0.4, round(2 * rate)),
            **changes,
        )
    )


def test_good_runs_raise_no_doubt_at_all() -> None:
    assert doubts([*good("go", 20_000), *good("node", 10_000)]) == {}


def with_probe(**changes: Any) -> list[Run]:
    return good(probe=change(PROBE, **changes))


def with_slices(**changes: Any) -> list[Run]:
    return [change_slices(each, **changes) for each in good()]


def closing(**changes: Any) -> list[Run]:
    return [
        change(each, slices=[change(s, connections_opened=s.ok, **dict.fromkeys(changes, s.ok)) for s in each.slices])
        for each in good()
    ]


def with_workers(shares: Sequence[float]) -> list[Run]:
    looks = [
        Reading(
            at_ns=START + SECOND // 2 + step * SECOND,
            role="contender",
            cpu_by_process={str(pid): round(step * share * SECOND) for pid, share in enumerate([0.0, *shares])},
        )
        for step in range(3)
    ]
    return good(workers=len(shares), readings=looks)


def plateau(cpu: float) -> list[Run]:
    rng = np.random.default_rng(3)
    return rounds(
        lambda r: run(
            round_=r, rate=1_500, latency_ns=rng.normal(41e6, 0.5e6, 3_000), readings=readings(3, contender=cpu)
        )
    )


REDIS = Backing(
    service="redis", kind="redis-server", version="7.0.15", way="program", genuine="redis-server", most_cores=1
)
BEHIND = change(RIG, service_cores=(2, 3))


def behind(cores: float | None, backing: Backing = REDIS, rig: Rig = BEHIND, **changes: Any) -> list[Run]:
    """Good runs with a service behind them that used so many cores' worth of CPU (None: nobody could look)."""
    looks = readings(3, host=None if cores is None else 1.4 + cores)
    served = [] if cores is None else _growing(looks, cores)
    return good(service=backing, rig=rig, readings=[*looks, *served], **changes)


def _growing(looks: Sequence[Reading], cores: float) -> list[Reading]:
    hosts = [look for look in looks if look.role == "host"]
    return [
        Reading(at_ns=look.at_ns, role="service", cpu_user_ns=round((look.at_ns - START) * cores), cpu_system_ns=0)
        for look in hosts
    ]


def sleepy(rate: float) -> tuple[list[Run], Plan]:
    runs = good(rate=rate)
    return runs, plan(runs, workloads={"hello": workload(kind="io-wait", service_floor_ms=100)})


WRK = Can(
    driver="wrk",
    http=("1.1",),
    statuses="below-400",
    lengths="none",
    bodies=False,
    error_kinds=("wrong-status", "timeout", "socket"),
    series=False,
    histogram=False,
    invents_samples=True,
    latency_from="sent",
    connections=False,
    silent_closes=False,
    silence=False,
    unfinished=False,
    cores="many",
)


def silenced(ages: dict[int, int]) -> list[Run]:
    """Good runs whose last second brought nothing, with requests under way of these ages at its end."""
    fields = {"ok": 0, "offered": 64, "bytes_in": 0, "errors": {"unfinished": 64}, "unfinished_hdr": encode(ages)}
    return [change(each, slices=[*each.slices[:-1], change(each.slices[-1], **fields)]) for each in good()]


PROVOKED: dict[str, tuple[list[Run], str]] = {
    "fell-silent": (silenced({SECOND: 64}), "no request was answered in the last 1.00 s, while 64 requests waited"),
    "closes-connections": (closing(closes_announced=1), "says so in its answer"),
    "http-1.0": (with_probe(http_version="1.0"), "HTTP/1.0"),
    "wrong-answers": (with_slices(errors={"wrong-body": 30}), "0.30 %"),
    "starved-connections": (good(summary={"connections_unanswered": 3}), "3 of 64 connections"),
    "small-backlog": (with_probe(backlog=5), "5 places for 64 connections"),
    "generator-bound": (with_slices(cpu_user_ns=SECOND // 2, cpu_system_ns=SECOND * 2 // 5), "90 % of its CPU"),
    "uneven-accept": (with_workers([0.9, 0.05, 0.05]), "one of 3 workers of go did 90 % of the work"),
    "workers-lost": (
        [*good()[:2], good(losses=[Loss(pid=7, name="go", replaced=True, line="worker 7 died")])[2]],
        "1 worker of go ended under load in 1 of 3 rounds (go 7), replaced, and it continued to serve; it "
        "wrote: worker 7 died",
    ),
    "memory-capped": (good(memory_peak_bytes=510 << 20), "510 MiB of 512 MiB"),
    "delayed-ack": (plateau(cpu=0.2), "41.0 ms while its cores are 80 % idle"),
    "noisy-host": (good(readings=readings(3, host=1.8)), "3 of 3 runs: other programs used up to 20 % of it"),
    "hanging-requests": (with_slices(in_flight=80), "80 requests were in flight"),
    "few-rounds": (good()[:2], "every contender has only 2 successful rounds"),
    "shared-cores": (good(rig=change(RIG, driver_cores=(0,))), "ran on a core of the contenders"),
    "memory-limit-not-enforced": (good(rig=change(RIG, cgroup="none", cgroup_reason="/sys is read-only")), "read-only"),
    "unlike-machines": ([*good()[:2], run(round_=3, rig=change(RIG, driver_cores=(1, 2)))], "2 different placements"),
    "service-bound": (behind(0.9), "redis-server alone used 90 % of the CPU available to it"),
    "service-shares-cores": (behind(0.2, rig=change(RIG, service_cores=(1,))), "on a core of the load generator"),
    "stand-in": (
        behind(0.2, change(REDIS, kind="valkey", version="8.1.0")),
        "was not a redis-server but valkey 8.1.0",
    ),
    "short-window": (
        with_slices(errors={"unfinished": 150}),
        "300 requests to go had no answer when a window of 2 s ended, before their time-out of 5 s",
    ),
    "few-cycles": (
        with_slices(ok=90, offered=90),
        "answered each of 64 connections 2.8 times in its steady phase",
    ),
    "driver-limits": (rounds(lambda r: run(round_=r, driver="wrk", driver_can=WRK)), "wrk does not compare bodies"),
}


@pytest.mark.parametrize("kind", PROVOKED)
def test_a_doubt_is_raised_by_what_it_exists_for(kind: str) -> None:
    runs, words = PROVOKED[kind]
    found = doubts(runs)
    assert kind in found
    assert words in found[kind].sentence
    assert found[kind].advice


@pytest.mark.parametrize(
    ("lack", "words"),
    [
        ({"resolution_ns": 1_000_000}, "counts latency in whole milliseconds"),
        ({"reconnects": False}, "silently abandons a connection that the server closes unannounced"),
    ],
)
def test_what_a_driver_lacks_is_said_and_what_an_old_run_did_not_write_down_is_not(
    lack: dict[str, Any], words: str
) -> None:
    lacking = rounds(lambda r: run(round_=r, driver="wrk", driver_can=change(WRK, **lack)))
    assert words in doubts(lacking)["driver-limits"].sentence
    assert words not in doubts(PROVOKED["driver-limits"][0])["driver-limits"].sentence


SILENT: dict[str, list[Run]] = {
    # closing is what was asked for
    "closes-connections": [
        change(each, trial=trial(round_=r, load=Load(connections=64, duration_s=2.0, keep_alive=False)))
        for r, each in enumerate(closing(closes_announced=1), 1)
    ],
    # in flight when the load ended
    "wrong-answers": with_slices(errors={"unfinished": 64}),
    # nothing was due but a moment ago
    "fell-silent": silenced({SECOND // 1000: 64}),
    # a fair share each, and a parent that does nothing
    "uneven-accept": with_workers([0.5, 0.5]),
    # 41 ms of honest work
    "delayed-ack": plateau(cpu=0.98),
    # nobody asked for a limit
    "noisy-host": good(readings=readings(3, host=1.42)),
    "hanging-requests": with_slices(in_flight=63),
    "generator-bound": with_slices(cpu_user_ns=None, cpu_system_ns=None),
    # one that can use two cores, and does not
    "service-bound": behind(0.9, change(REDIS, most_cores=None)),
    # where the user's own runs is not known
    "service-shares-cores": behind(None, change(REDIS, way="url"), rig=change(RIG, service_cores=(1,))),
    "stand-in": behind(0.2),
    # they had been asked a moment ago
    "short-window": silenced({SECOND // 1000: 64}),
    "few-cycles": with_slices(ok=96, offered=96),
}


@pytest.mark.parametrize("kind", SILENT)
def test_a_doubt_is_silent_where_it_has_no_reason(kind: str) -> None:
    assert kind not in doubts(SILENT[kind])


@pytest.mark.parametrize(
    ("workers", "kind", "doubted"),
    [(4, "cpu", True), (1, "cpu", False), ("4 * cores", "cpu", False), (4, "io-wait", False)],
)
def test_fixed_workers_need_as_many_cores_where_they_work(workers: int | str, kind: str, doubted: bool) -> None:
    runs = good()
    made = plan(runs, contenders={"go": contender(workers=workers)}, workloads={"hello": workload(kind=kind)})
    found = doubts(runs, made)
    assert ("crowded-cores" in found) == doubted
    if doubted:
        assert found["crowded-cores"].sentence.startswith("go has 4 workers as configured, on 1 core: ")


def test_slow_answers_are_no_closed_connections() -> None:
    """64 connections, one answer on each: nobody closed anything."""
    slow = [change_slices(each, ok=64, offered=64) for each in rounds(lambda r: run(round_=r, rate=64.0))]
    slow = [change(each, slices=[s for s in each.slices if s.phase == "steady"][:1]) for each in slow]
    slow = [change_slices(each, connections_opened=64) for each in slow]
    assert "closes-connections" not in doubts(slow)
    assert "closes-connections" in doubts([change_slices(each, connections_opened=65) for each in slow])


def test_half_a_wait_for_a_database_is_no_delayed_acknowledgement() -> None:
    runs = plateau(cpu=0.2)
    assert "delayed-ack" not in doubts(runs, plan(runs, workloads={"hello": workload(kind="db", service="redis")}))


def test_memory_limit_is_not_missed_when_none_was_asked() -> None:
    runs = good(rig=change(RIG, cgroup="none", memory_bytes=None))
    assert "memory-limit-not-enforced" not in doubts(runs, plan(runs, memory_bytes=None))


def test_a_silent_close_is_told_from_an_announced_one() -> None:
    assert "without announcing it" in doubts(closing(closes_silent=1))["closes-connections"].sentence


def test_one_percent_of_wrong_answers_voids() -> None:
    assert doubts(with_slices(errors={"wrong-status": 100}))["wrong-answers"].severity == "shades"
    assert doubts(with_slices(errors={"wrong-status": 110}))["wrong-answers"].severity == "voids"


def test_a_round_that_crashed_is_never_averaged_and_takes_the_place() -> None:
    runs = [*good("node", 9_000), *good()[:2], run(round_=3, outcome="died", slices=[], readings=[])]
    found = doubts(runs)["dead-cell"]
    assert "ended while under load in 1 of 3 rounds" in found.sentence
    assert found.severity == "voids"
    [verdict] = analyse(plan(runs), FINGERPRINT, runs).verdicts
    go = next(standing for standing in verdict.standings if standing.contender == "go")
    assert go.rate is not None
    assert go.rate.value == pytest.approx(10_030, rel=0.001)
    assert go.place is None
    assert verdict.winners == ["node"]


def test_a_round_called_ok_without_an_answer_is_a_dead_cell() -> None:
    found = doubts([*good()[:2], change_slices(run(round_=3), ok=0)])
    assert "without one correct answer in 1 of 3 rounds" in found["dead-cell"].sentence


def test_a_load_tool_that_failed_does_not_cost_the_contender_its_place() -> None:
    runs = [*good()[:2], run(round_=3, outcome="driver-failed", slices=[])]
    found = doubts(runs)["dead-cell"]
    assert found.severity == "shades"
    assert "what failed was not" in found.advice


def test_an_interrupted_round_is_missing_not_failed() -> None:
    found = doubts([*good(), run("node", outcome="interrupted", slices=[])])
    assert "dead-cell" not in found
    assert found["incomplete"].numbers["missing"] == 1


def test_a_rate_beyond_the_service_time_is_impossible() -> None:
    # 64 connections x 100 ms: at most 640 per second; a published table has 16,627
    found = doubts(*sleepy(16_627))["impossible-rate"]
    assert found.severity == "voids"
    assert "bound it to 640" in found.sentence
    assert "impossible-rate" not in doubts(*sleepy(630))


def test_more_requests_in_flight_than_connections_is_impossible() -> None:
    stalled = np.concatenate([np.full(19_936, 6.5e6), np.full(64, 120e6)])  # each connection stood still once
    assert "impossible-rate" not in doubts(rounds(lambda r: run(round_=r, rate=10_000, latency_ns=stalled)))
    slow = rounds(lambda r: run(round_=r, rate=10_000, latency_ns=np.full(20_000, 12e6)))
    assert "120 requests in flight on 64 connections" in doubts(slow)["impossible-rate"].sentence


@pytest.mark.parametrize(("driver", "corrected"), [(Wrk(), True), (Wrk2(), None)])
def test_latencies_that_are_no_times_of_requests_make_no_rate_impossible(
    driver: Wrk | Wrk2, corrected: bool | None
) -> None:
    """wrk adds samples after a pause, wrk2 counts from when a request was due: both mean more than was in flight."""
    told: dict[str, Any] = {"driver": driver.can.driver, "driver_can": driver.can}
    late = np.full(20_000, 12e6)
    healthy = rounds(
        lambda r: run(round_=r, rate=10_000, latency_ns=late, summary={"latency_corrected": corrected}, **told)
    )
    assert "impossible-rate" not in doubts(healthy)
    measured = rounds(
        lambda r: run(round_=r, rate=10_000, latency_ns=late, summary={"latency_corrected": False}, **told)
    )
    assert ("impossible-rate" in doubts(measured)) == (corrected is True)  # what wrk left as it was is judged


def test_versions_are_compared_with_the_pins_as_pip_reads_them() -> None:
    runs = good(versions={"Some_Server": "2.0.1", "other": "1.0"})
    of = plan(runs, contenders={"go": contender(requires=["some-server[fast]==2.0.0", "other == 1.0"])})
    assert "some-server 2.0.1 instead of 2.0.0" in doubts(runs, of)["versions-differ"].sentence
    right = plan(runs, contenders={"go": contender(requires=["some.server==2.0.1"])})
    assert "versions-differ" not in doubts(runs, right)


def test_a_contender_that_was_built_differently_in_between_is_not_compared() -> None:
    first, *rest = good(built_key="before")
    doubt = doubts([first, *(change(run, built_key="after") for run in rest)])["builds-differ"]
    assert doubt.severity == "voids"
    assert "2 different ways" in doubt.sentence
    assert "builds-differ" not in doubts(good(built_key="before"))


def test_parallelism_matters_with_several_cores_or_when_answers_wait() -> None:
    def pair(cores: tuple[int, ...]) -> list[Run]:
        wide = change(RIG, contender_cores=cores, driver_cores=(8,))
        return [*good("one", 5_000, rig=wide), *good("many", 8_000, rig=wide, workers=9)]

    assert "1 (one) to 9 (many) workers on 4 cores" in doubts(pair((0, 1, 2, 3)))["unequal-parallelism"].sentence
    assert "unequal-parallelism" not in doubts(pair((0,)))
    waits = plan(pair((0,)), workloads={"hello": workload(kind="db")})
    assert "unequal-parallelism" in doubts(pair((0,)), waits)


def test_a_machine_that_slows_down_has_drifted() -> None:
    rng = np.random.default_rng(1)

    def drifting(step: float) -> list[Run]:
        return [
            run(name, round_=r, rate=10_000 * (1 - step * r) * float(np.exp(rng.normal(0, 0.003))))
            for name in ("a", "b", "c", "d")
            for r in range(1, 5)
        ]

    assert "slower from the first to the last round" in doubts(drifting(0.05))["drifted"].sentence
    assert "drifted" not in doubts(drifting(0.002))


def test_steal_is_noise() -> None:
    def with_steal(reading: Reading, share: float) -> Reading:
        return change(reading, steal_ns=round(reading.at_ns * 2 * share)) if reading.role == "host" else reading

    def stolen(share: float) -> list[Run]:
        return [change(each, readings=[with_steal(reading, share) for reading in each.readings]) for each in good()]

    assert "hypervisor took up to 3.0 %" in doubts(stolen(0.03))["noisy-host"].sentence
    assert doubts(stolen(0.15))["noisy-host"].severity == "shades"  # how much it can have cost is counted by the cell
    assert "noisy-host" not in doubts(stolen(0.005))
    busy = [change(each, readings=[with_steal(reading, 0.06) for reading in readings(3, host=1.52)]) for each in good()]
    assert "hypervisor took up to 6.0 % of the CPU and other programs used up to 6.0 % of it" in (
        doubts(busy)["noisy-host"].sentence
    )


def test_who_lost_time_in_half_of_its_runs_has_a_floor_of_a_rate() -> None:
    calm, mine = [*good("b"), *good("c"), *good("d")], good("a")
    hit = doubts([*(robbed(each, 0.12) for each in mine[:2]), *mine[2:], *calm])
    assert hit["noisy-host"].severity == "shades"
    assert hit["stolen-time"].subject == "a"
    assert "the hypervisor took 6.0 % of its CPU from a, or" in hit["stolen-time"].sentence
    assert "stolen-time" not in doubts([robbed(mine[0], 0.9), *mine[1:], *calm])
    assert "stolen-time" not in doubts([robbed(each, 0.08) for each in mine])  # 4 % of two cores


def test_what_the_hypervisor_took_is_a_share_of_the_contenders_own_cores() -> None:
    def lost(own: float, driver: float) -> list[Run]:
        def look(reading: Reading) -> Reading:
            by_core = {"0": round(reading.at_ns * own), "1": round(reading.at_ns * driver)}
            return msgspec.structs.replace(reading, steal_ns=sum(by_core.values()), steal_by_core=by_core)

        return [
            msgspec.structs.replace(each, readings=[look(r) if r.role == "host" else r for r in each.readings])
            for each in good("a")
        ]

    assert doubts(lost(0.08, 0.0))["stolen-time"].numbers["steal"] == pytest.approx(0.08)  # 4 % of the two
    assert doubts(lost(0.0, 0.12))["stolen-time"].numbers["steal"] == pytest.approx(0.06)
    assert "stolen-time" not in doubts(lost(0.04, 0.0))


def test_who_is_slow_in_some_rounds_and_fast_in_none_starts_in_two_ways() -> None:
    def table(slow: dict[str, dict[int, float]], rounds: int = 8) -> list[Run]:
        rng = np.random.default_rng(3)
        return [
            run(name, round_=at, rate=1e4 * float(np.exp(rng.normal(0, 0.01))) * slow.get(name, {}).get(at, 1.0))
            for at in range(1, rounds + 1)
            for name in "abcdef"
        ]

    found = doubts(table({"c": {2: 0.7, 5: 0.7}, "e": {1: 0.8, 2: 0.8}}))["slow-starts"]
    assert found.sentence.startswith("c was slow in 2 of 8 rounds, by 29 %, and fast in none: up to 60 %")
    assert found.sentence.endswith("of its starts may be slow; likewise e")
    assert "slow-starts" not in doubts(table({"c": {2: 0.7}}))  # once is anything
    assert "slow-starts" not in doubts(table({"c": {2: 0.7, 5: 0.7, 6: 1.4}}))
    assert "slow-starts" not in doubts(table({"c": {2: 0.7, 3: 0.7}}, rounds=5))
    assert "slow-starts" not in doubts(table({name: {2: 0.7, 5: 0.7} for name in "abcdef"}))  # rounds, not starts


def test_load_before_the_start_is_noise() -> None:
    assert "load average 1.7 on 2 cores" in doubts(good(), load_before=1.7)["noisy-host"].sentence


def test_a_carrier_that_may_run_beside_a_contender_and_does_is_doubted() -> None:
    def carried(confined: bool, part: float, control: tuple[int, ...] = (1,)) -> list[Run]:
        return [
            change(of, rig=rig_of(of, confined, control), readings=[*of.readings, *used(of, part)]) for of in good()
        ]

    def rig_of(of: Run, confined: bool, control: tuple[int, ...]) -> Rig:
        ray = {"driver_host": "10.0.0.2", "carrier": "Ray 2.60.0", "carrier_confined": confined}
        return change(of.rig, control_cores=control, **ray)

    def used(of: Run, part: float) -> list[Reading]:
        looks = [each for each in of.readings if each.role == "contender"]
        cpu = [round((each.at_ns - looks[0].at_ns) * part) for each in looks]
        return [
            Reading(at_ns=each.at_ns, role="carrier", cpu_user_ns=ns, cpu_system_ns=0)
            for each, ns in zip(looks, cpu, strict=True)
        ]

    found = doubts(carried(False, 0.02))["carrier-on-cores"]
    assert "Ray 2.60.0 could run on the contenders' cores, and used 2.0 % of one" in found.sentence
    assert "carrier-on-cores" in doubts(carried(True, 0.02, control=(0, 1)))  # where there is but one core
    assert "carrier-on-cores" not in doubts(carried(True, 0.02))
    assert "carrier-on-cores" not in doubts(carried(False, 0.001))


def test_few_rounds_names_those_who_have_them() -> None:
    assert doubts([*good(), *good("slow")[:1]])["few-rounds"].sentence.startswith("slow has only 1 successful round")


def test_rounds_in_place_are_told_to_show_nothing_of_starts() -> None:
    runs = good()
    found = doubts(runs, plan(runs, in_place=True))["one-start"]
    assert found.sentence.startswith("each server was started once and measured 3 times in place")
    assert "one-start" not in doubts(runs)


def test_every_rule_has_a_test_above() -> None:
    also = {
        "carrier-on-cores",
        "dead-cell",
        "impossible-rate",
        "versions-differ",
        "builds-differ",
        "unequal-parallelism",
        "drifted",
        "incomplete",
        "not-offered",  # test_open.py
        "schedule-lag",
        "never-settled",  # test_steady.py
        "leaks",  # test_leak.py
        "fewer-cores",  # test_shapes.py
        "all-equal",  # from here on test_doubts_limits.py
        "cached-service",
        "impossible-cpu",
        "cold-compiler",
        "gil-on",
        "few-answers",
        "idle-while-slow",
        "p99-is-mean",
        "part-of-phase",
        "pool-limited",
        "crowded-cores",
        "ran-again",
        "restless",
        "one-start",
        "silent-close",
        "slow-starts",
        "still-climbing",
        "stolen-time",
        "throttled",
        "turns-differ",
        "uneven-drivers",  # test_shares.py
    }
    assert {row.kind for row in ROWS} == PROVOKED.keys() | also
