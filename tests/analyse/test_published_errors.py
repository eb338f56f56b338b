"""Errors that were published, as they would look here: each is refused, or doubted by its name.

Every test gives ``analyse`` Runs of the shape behind a table that somebody printed. The sources are named so that
others can look them up: TFB is TechEmpower's FrameworkBenchmarks, "#" the number of an issue or a pull request.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import pytest

from tests.analyse.fakes import FINGERPRINT, PROBE, RIG, SECOND, change_slices, plan, readings, run, slices
from tests.analyse.fakes import workload as work_of
from tests.analyse.test_doubts import WRK, closing, doubts, good
from tests.analyse.test_doubts_limits import pointed
from webdyno.analyse import analyse
from webdyno.model.load import Load
from webdyno.model.run import Run
from webdyno.model.trial import Plan
from webdyno.model.verdict import Standing, Verdict

change = msgspec.structs.replace


def verdict_on(runs: Sequence[Run], of: Plan | None = None) -> Verdict:
    [verdict] = analyse(of or plan(runs), FINGERPRINT, runs).verdicts
    return verdict


def standing(runs: Sequence[Run], name: str = "go", of: Plan | None = None) -> Standing:
    return next(each for each in verdict_on(runs, of).standings if each.contender == name)


def rated(*rates: float, name: str = "go") -> list[Run]:
    return [run(name, round_=number, rate=rate) for number, rate in enumerate(rates, 1)]


def test_the_mean_of_a_crash_and_a_success() -> None:
    """Study S0, Bjoern at 100 connections: 0, 126,813, 122,953 and 0 answers/s were published as 61,476."""
    dead = [change_slices(run("bjoern", round_=number), ok=0, errors={"connect-refused": 9}) for number in (1, 4)]
    lived = [run("bjoern", round_=2, rate=126_813), run("bjoern", round_=3, rate=122_953)]
    runs = [*dead, *lived, *good("go", 60_000)]
    found = standing(runs, "bjoern")
    assert found.rate is not None
    assert 122_953 < found.rate.value < 126_813
    assert found.place is None
    assert doubts(runs)["dead-cell"].severity == "voids"
    assert verdict_on(runs).winners == ["go"]


def test_a_rate_above_what_the_connections_can_carry() -> None:
    """granian's table, May 2024 to May 2025: uWSGI at a handler that sleeps 100 ms, 16,627/s over 64 connections."""
    runs = [*good("uwsgi", 16_627), *good("go", 600)]
    of = plan(runs, workloads={"hello": work_of(kind="io-wait", service_floor_ms=100)})
    assert doubts(runs, of)["impossible-rate"].severity == "voids"
    assert standing(runs, "uwsgi", of).place is None
    assert verdict_on(runs, of).winners == ["go"]


def test_a_p99_that_is_a_mean() -> None:
    """HttpArena's wrk.sh and h2load.sh, its #858."""
    doubt = doubts(pointed(1.83e6, 1.83e6, driver_can=WRK))["p99-is-mean"]
    assert "wrk reported a mean as a percentile" in doubt.sentence


@pytest.mark.slow
@pytest.mark.parametrize("contenders", [3, 8])
def test_everybody_within_one_and_a_half_percent(contenders: int) -> None:
    """TFB #4148, the first eight at 7 million/s; the-benchmarker #9775, a whole table: the generator was the limit."""
    rates = np.linspace(400_000, 406_000, contenders)
    looks = readings(3, contender=0.55, driver=0.5)  # what the generator used was not looked at, or was not all of it
    runs = [each for at, rate in enumerate(rates) for each in good(f"c{at}", float(rate), readings=looks)]
    assert doubts(runs)["all-equal"].severity == "voids"
    assert verdict_on(runs).winners == []
    assert all(each.place is None for each in verdict_on(runs).standings)


@pytest.mark.slow
def test_everybody_alike_with_a_generator_at_its_limit_is_one_group() -> None:
    """The same, where the generator's CPU was looked at: nobody is told apart, and the table says whose limit it is."""
    runs = [each for at in range(3) for each in good(f"c{at}", 400_000 * 1.03**at)]
    runs = [change_slices(each, cpu_user_ns=SECOND * 2 // 5, cpu_system_ns=SECOND * 3 // 5) for each in runs]
    assert "generator-bound" in doubts(runs)
    assert sorted(verdict_on(runs).winners) == ["c0", "c1", "c2"]


@pytest.mark.parametrize("manner", ["closes_announced", "closes_silent"])
def test_keep_alive_that_is_off_without_a_word(manner: str) -> None:
    """the-benchmarker #9714: switching it on again was worth a factor of 4 to 165."""
    found = doubts(closing(**{manner: 1}))
    assert "closes-connections" in found
    assert "1.00 requests per connection" in found["closes-connections"].sentence
    assert ("silent-close" in found) is (manner == "closes_silent")


def test_keep_alive_and_close_are_never_in_one_table() -> None:
    """The mode is part of what identifies a cell."""
    kept, closed = Load(connections=64, duration_s=2.0), Load(connections=64, duration_s=2.0, keep_alive=False)
    runs = [*(run("go", round_=r, load=kept) for r in (1, 2)), *(run("node", round_=r, load=closed) for r in (1, 2))]
    verdicts = analyse(plan(runs), FINGERPRINT, runs).verdicts
    assert [[each.contender for each in verdict.standings] for verdict in verdicts] == [["node"], ["go"]]


def test_one_answer_per_connection_in_half_a_minute() -> None:
    """Study S0, uWSGI "the slowest, 336/s": about one request per connection in 30 s, and an idle CPU."""

    def one(round_: int) -> Run:
        waited = np.full(672, 150e6)
        made = run(round_=round_, rate=336, latency_ns=waited, readings=readings(3, contender=0.2, driver=0.02))
        return change(made, summary={"connections_unanswered": 11})

    found = doubts([one(round_) for round_ in (1, 2, 3)])
    assert "20 % of one core while 64 clients waited" in found["idle-while-slow"].sentence
    assert found["starved-connections"].severity == "voids"


def test_the_last_second_of_a_run_as_its_rate() -> None:
    """the-benchmarker #9662: a ramp of 122,000/s over the run was stored as the 211,000/s of its last second."""
    ramp = [33_000.0, 211_000.0]
    whole = [change(run(round_=r), slices=slices(ramp)) for r in (1, 2, 3)]
    rate = standing(whole).rate
    assert rate is not None
    assert rate.value == pytest.approx(122_000)
    last = [change(each, slices=each.slices[-1:]) for each in whole]
    assert doubts(last)["part-of-phase"].severity == "voids"
    assert standing(last).place is None


def test_the_best_of_three() -> None:
    """HttpArena keeps the maximum of three runs, sharkbench the best ever: here all count, and the best is nowhere."""
    rate = standing(rated(9_000, 10_000, 12_500)).rate
    assert rate is not None
    assert rate.low is not None
    assert rate.high is not None
    assert 9_000 < rate.value < 11_000
    assert rate.low < 9_000


def test_measuring_again_until_it_suits() -> None:
    """The same ratchet by hand: rounds that were repeated are not ranked."""
    again = [*rated(9_000, 9_100, 9_050), *rated(9_900, 10_000, 9_950)]
    of = plan([*rated(1, 1, 1), *good("node", 9_500)])
    runs = [*again, *good("node", 9_500)]
    assert doubts(runs, of)["ran-again"].severity == "voids"
    assert verdict_on(runs, of).winners == ["node"]


def test_only_the_best_round_is_handed_in() -> None:
    """Rounds of the plan that are missing are missed, and one round has no interval and no winner."""
    of = plan([*rated(1, 1, 1), *rated(1, 1, 1, name="node")])
    best = [run("go", round_=3, rate=12_500), run("node", round_=2, rate=11_000)]
    found = doubts(best, of)
    assert found["incomplete"].numbers["missing"] == 4
    assert "few-rounds" in found
    assert verdict_on(best, of).winners == []


def test_one_worker_against_as_many_as_there_are_cores() -> None:
    """the-benchmarker: gunicorn with $(nproc) workers beside uWSGI with one; TFB #1502, #2325."""
    wide = change(RIG, contender_cores=(0, 1, 2, 3), driver_cores=(4, 5))
    runs = [*good("uwsgi", 5_000, rig=wide), *good("gunicorn", 16_000, rig=wide, workers=4)]
    assert "1 (uwsgi) to 4 (gunicorn) workers on 4 cores" in doubts(runs)["unequal-parallelism"].sentence


@pytest.mark.parametrize("kind", ["wrong-status", "wrong-body"])
def test_errors_that_are_counted_as_answers(kind: str) -> None:
    """HttpArena's wrk_parse, aspnet #320, the-benchmarker #3484: every answer was a 2xx because nobody looked."""
    fast = [change_slices(each, ok=2_000, errors={kind: 30_000}) for each in good("broken", 32_000)]
    runs = [*fast, *good("go", 10_000)]
    assert doubts(runs)["wrong-answers"].severity == "voids"
    rate = standing(runs, "broken").rate
    assert rate is not None
    assert rate.value == pytest.approx(2_000)
    assert verdict_on(runs).winners == ["go"]


def test_a_tool_that_looks_at_no_answer_is_told() -> None:
    """The same, with a tool that cannot know."""
    runs = [run(round_=r, driver="wrk", driver_can=WRK) for r in (1, 2, 3)]
    assert "wrk does not compare bodies with the correct answer" in doubts(runs)["driver-limits"].sentence


def test_the_spread_of_seconds_is_no_error_bar() -> None:
    """denosaurs prints the deviation within a run: steady seconds in rounds that differ have a wide interval here."""

    def steady(round_: int, rate: float) -> Run:
        return change(run(round_=round_), slices=slices([rate, rate * 1.0001]))

    rate = standing([steady(1, 9_000), steady(2, 10_000), steady(3, 11_000)]).rate
    assert rate is not None
    assert rate.low is not None
    assert rate.high is not None
    assert rate.high - rate.low > 2_000


def test_two_sittings_are_not_one_table() -> None:
    """HttpArena #1395, "the delta column compares two different sittings": other cores, other table."""
    runs = [*good("go")[:2], *good("go", rig=change(RIG, contender_cores=(0, 1)))[2:], *good("node", 9_000)]
    assert doubts(runs)["unlike-machines"].severity == "voids"
    assert verdict_on(runs).winners == []


def shown(**probe: Any) -> list[Run]:
    return good(probe=change(PROBE, **probe))


def test_a_server_of_another_protocol_version_in_the_same_table() -> None:
    """wsgiref and its like answer in HTTP/1.0, and were ranked as if they had kept connections."""
    assert "http-1.0" in doubts(shown(http_version="1.0", keep_alive=False))
