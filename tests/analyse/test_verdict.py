"""What is claimed, in words and in the table."""

import subprocess
import sys
import time
from typing import Any

import msgspec
import numpy as np
import pytest

from tests.analyse.fakes import FINGERPRINT, LOAD, change_slices, contender, plan, robbed, run, study, workload
from webdyno.analyse import analyse
from webdyno.analyse.recommend import recommend
from webdyno.model.doubt import Doubt
from webdyno.model.load import Load
from webdyno.model.race import Race
from webdyno.model.run import Run
from webdyno.model.verdict import Analysis, Verdict


def table(rates: dict[str, float], rounds: int = 3, noise: float = 0.01, seed: int = 1, **changes: Any) -> list[Run]:
    rng = np.random.default_rng(seed)
    return [
        run(name, round_=r, rate=rate * float(np.exp(rng.normal(0, noise))), **changes)
        for r in range(1, rounds + 1)
        for name, rate in rates.items()
    ]


def analysed(runs: list[Run]) -> Analysis:
    return analyse(plan(runs), FINGERPRINT, runs)


def verdict(runs: list[Run]) -> Verdict:
    [only] = analysed(runs).verdicts
    return only


def test_a_clear_winner_is_named_with_how_much_and_how_sure() -> None:
    said = verdict(table({"go": 48_000, "node": 36_000, "python": 9_000}))
    assert said.sentence.startswith("go served the most: 4")
    assert "x node (1." in said.sentence
    assert said.winners == ["go"]
    assert [(s.contender, s.place, s.letters) for s in said.standings] == [
        ("go", 1, "A"),
        ("node", 2, "B"),
        ("python", 3, "C"),
    ]


def test_a_tie_says_how_many_more_rounds_would_tell() -> None:
    said = verdict(table({"go": 10_300, "node": 10_000, "python": 3_000}, noise=0.02, seed=8))
    assert said.sentence.startswith("cannot tell yet who is first: go and node are tied at the top")
    assert "would separate the first two" in said.sentence
    assert set(said.winners) == {"go", "node"}
    assert said.standings[0].letters == said.standings[1].letters == "A"


def test_a_difference_that_is_sure_but_tiny_is_called_tiny() -> None:
    said = verdict(table({"go": 10_080, "node": 10_000, "python": 3_000}, rounds=10, noise=0.003))
    assert said.sentence.endswith("a difference below 3 % that hardly matters")
    assert said.winners == ["go"]


def test_contenders_within_three_percent_are_as_good_as_equal() -> None:
    said = verdict(table({"go": 10_000, "node": 10_000, "python": 3_000}, rounds=10, noise=0.01, seed=4))
    assert "practically equal (within 3 %)" in said.sentence


def test_equality_says_what_so_many_starts_cannot_rule_out_and_takes_six() -> None:
    equals = {"go": 10_000, "node": 10_000, "python": 3_000}
    said = verdict(table(equals, rounds=8, noise=0.005, seed=4)).sentence
    assert "go and node" in said or "node and go" in said
    assert said.endswith("; 8 starts of each cannot rule out that up to 31 % of starts are slower")
    assert "practically equal" not in verdict(table(equals, rounds=5, noise=0.002, seed=4)).sentence


def test_figures_within_one_step_of_their_answers_are_called_equal() -> None:
    """Handlers that sleep: 29 batches of four against 28, the same in every round."""

    def slept(name: str, answers: int) -> list[Run]:
        cut = {"ok": answers, "errors": {"unfinished": 4}}  # in each of two seconds
        return [change_slices(run(name, round_=at), **cut) for at in (1, 2, 3, 4)]

    runs = [*slept("go", 58), *slept("node", 56), *slept("flask", 20)]
    waits = workload("hello", service_floor_ms=69.0)
    [said] = analyse(plan(runs, workloads={"hello": waits}), FINGERPRINT, runs).verdicts
    assert said.sentence.startswith("go and node served the most and are equal within one step of their answers, ")
    assert "only a longer window would find a smaller difference" in said.sentence
    to_best = said.standings[1].ratio_to_best
    assert to_best is not None
    assert (to_best.high or 0) > 1  # 28/29 exactly, once
    assert [s.letters for s in said.standings] == ["A", "A", "B"]


def test_a_load_that_ends_with_its_last_answer_cuts_no_step() -> None:
    """As ``ab -n`` asks: 200 answers in five batches of forty, none of them under way at the end."""
    counted = msgspec.structs.replace(LOAD, duration_s=None, count=200, warmup_s=0.0)
    warmed = msgspec.structs.replace(counted, warmup_s=0.5)  # begins somewhere within a batch
    waits = workload("hello", service_floor_ms=1000.0)
    widths = []
    for load in (counted, warmed):
        runs = [
            run(n, rate=r * (1 + 1e-3 * at), round_=at, load=load)
            for n, r in (("go", 39), ("b", 20))
            for at in (1, 2, 3)
        ]
        [said] = analyse(plan(runs, workloads={"hello": waits}), FINGERPRINT, runs).verdicts
        to_best = said.standings[1].ratio_to_best
        assert to_best is not None
        widths.append((to_best.high or 0) / (to_best.low or 1))
    assert widths[0] < 1.12 < 1.2 < widths[1]


def test_the_interval_in_the_sentence_of_a_race_allows_for_its_looks() -> None:
    runs = table({"go": 12_000, "node": 10_000, "python": 3_000}, rounds=6, noise=0.03)
    single, raced = plan(runs), plan(runs, race=Race(most_rounds=6), rounds=6)
    widths = []
    for made in (single, raced):
        to_best = analyse(made, FINGERPRINT, runs).verdicts[0].standings[1].ratio_to_best
        assert to_best is not None
        widths.append(np.log((to_best.high or 0) / (to_best.low or 1)))
    assert widths[1] > 1.4 * widths[0]  # the fourth look: 0.2 % instead of 5 %
    sentence = analyse(raced, FINGERPRINT, runs).verdicts[0].sentence
    assert sentence.startswith("go served the most")
    assert f"{1 / (to_best.high or 1):.2f}-" in sentence


def test_one_round_tells_nothing() -> None:
    said = analysed(table({"go": 10_000, "node": 100}, rounds=1))
    assert said.verdicts[0].sentence.startswith("cannot tell yet: go is ahead with 10,")
    assert said.verdicts[0].winners == []
    assert said.recommended is None
    assert said.recommended_command == []


def test_one_contender_alone_has_nobody_to_beat() -> None:
    said = verdict(table({"go": 10_000}))
    assert "there is no other contender to compare it with" in said.sentence
    assert said.winners == ["go"]


def test_nobody_served() -> None:
    said = analysed([run(round_=r, outcome="build-failed", slices=[]) for r in (1, 2)])
    assert said.verdicts[0].sentence == "no contender served this in a way that can be compared"
    assert said.recommended is None
    [standing] = said.verdicts[0].standings
    assert (standing.rate, standing.place, standing.outcomes) == (None, None, {"build-failed": 2})


def test_nothing_was_measured() -> None:
    assert analyse(plan([]), FINGERPRINT, []).sentence == "nothing was measured"


def test_a_voided_contender_is_shown_but_does_not_win() -> None:
    fast = [change_slices(each, errors={"wrong-body": 5_000}) for each in table({"liar": 90_000})]
    said = verdict([*fast, *table({"go": 48_000, "node": 36_000})])
    assert said.winners == ["go"]
    assert said.sentence.endswith("(liar is not ranked: see the doubts)")
    liar = said.standings[-1]
    assert (liar.contender, liar.place, liar.letters) == ("liar", None, "")
    assert liar.ratio_to_best is not None
    assert liar.ratio_to_best.value == pytest.approx(90 / 48, rel=0.05)


def test_two_contenders_that_exhaust_the_generator_are_not_told_apart() -> None:
    pair = [
        change_slices(each, cpu_user_ns=950_000_000, cpu_system_ns=0)
        for each in table({"go": 48_000, "rust": 60_000}, noise=0.002)
    ]
    said = verdict([*pair, *table({"node": 10_000}, noise=0.002)])
    assert set(said.winners) == {"go", "rust"}
    assert said.sentence.startswith("cannot tell who is first: rust and go are tied at the top; rust leads")
    assert said.sentence.endswith("; more rounds would not tell, because go may be faster than could be measured")


def exhausting(runs: list[Run], name: str) -> list[Run]:
    """``name`` leaves the load generator no CPU."""
    return [
        change_slices(each, cpu_user_ns=950_000_000, cpu_system_ns=0) if each.trial.contender == name else each
        for each in runs
    ]


def without_contenders_cpu(of: Run) -> Run:
    return msgspec.structs.replace(of, readings=[each for each in of.readings if each.role != "contender"])


def test_nobody_is_told_to_be_faster_than_one_that_the_generator_held_back() -> None:
    runs = table({"go": 60_000, "rust": 48_000, "node": 10_000}, noise=0.002)
    assert verdict(runs).winners == ["go"]
    floor = verdict(exhausting(runs, "rust"))
    assert [(s.contender, s.letters) for s in floor.standings] == [("go", "A"), ("rust", "A"), ("node", "B")]
    assert "more rounds would not tell, because rust may be faster" in floor.sentence
    assert verdict(exhausting(runs, "go")).winners == ["go"]  # a faster go would be first all the more


def test_nobody_is_told_to_be_faster_than_one_that_the_hypervisor_robbed() -> None:
    runs = table({"go": 60_000, "rust": 48_000, "node": 10_000, "php": 5_000}, noise=0.002)

    def hit(name: str) -> list[Run]:
        return [robbed(each, 0.2) if each.trial.contender == name else each for each in runs]

    unlucky = verdict(hit("rust"))
    assert unlucky.doubts[0].severity == "shades"
    assert [(s.contender, s.letters) for s in unlucky.standings[:3]] == [("go", "A"), ("rust", "A"), ("node", "B")]
    assert "only a quieter machine would tell, because rust may be faster" in unlucky.sentence
    assert verdict(hit("go")).winners == ["go"]


def test_a_floor_is_told_from_the_first_only_where_its_cores_had_too_little_left() -> None:
    """It used three quarters of its cores, and so may be twice as fast, but not six times."""
    runs = table({"go": 60_000, "rust": 48_000, "node": 10_000}, noise=0.002)
    far = verdict(exhausting(runs, "node"))
    assert [(s.contender, s.letters) for s in far.standings] == [("go", "A"), ("rust", "B"), ("node", "C")]
    near = verdict(exhausting(table({"go": 60_000, "rust": 48_000, "node": 40_000}, noise=0.002), "node"))
    assert [(s.contender, s.letters) for s in near.standings] == [("go", "A"), ("rust", "B"), ("node", "AB")]
    assert near.sentence.startswith("cannot tell who is first: go and node are tied")


def test_of_a_floor_whose_cpu_nobody_read_nothing_is_told() -> None:
    runs = exhausting(table({"go": 60_000, "rust": 48_000, "node": 10_000}, noise=0.002), "node")
    said = verdict([without_contenders_cpu(each) if each.trial.contender == "node" else each for each in runs])
    assert [(s.contender, s.letters) for s in said.standings] == [("go", "A"), ("rust", "B"), ("node", "AB")]


def test_a_table_of_unlike_machines_has_no_ranking() -> None:
    from tests.analyse.test_doubts import PROVOKED

    said = analysed(PROVOKED["unlike-machines"][0])
    assert said.verdicts[0].sentence.startswith("not compared: the runs of this table were made under 2 different")
    assert said.verdicts[0].winners == []
    assert said.recommended is None


def test_each_workload_and_load_has_its_own_verdict_in_the_order_of_the_plan() -> None:
    runs = [
        run(name, workload=work, round_=r, load=load)
        for work in ("json", "hello")
        for load in (Load(connections=128, duration_s=2.0), LOAD)
        for name in ("go", "node")
        for r in (1, 2, 3)
    ]
    assert [(v.workload, v.load) for v in analysed(runs).verdicts] == [
        ("json", "64 connections, keep-alive"),
        ("json", "128 connections, keep-alive"),
        ("hello", "64 connections, keep-alive"),
        ("hello", "128 connections, keep-alive"),
    ]


def test_the_best_over_all_workloads_is_recommended_with_its_command() -> None:
    hello = table({"go": 40_000, "node": 39_000, "solo": 50_000}, noise=0.001)
    runs = [*hello, *table({"go": 20_000, "node": 5_000, "solo": 6_000}, noise=0.001, workload="json")]
    said = analysed(runs)
    assert said.recommended == "go"
    assert "at 89 % of the fastest rate on average" in said.sentence
    assert said.recommended_command == ["go", "--bind", "127.0.0.1:8000"]
    of_three = analysed([*runs, *table({"alone": 60_000}, noise=0.001)])
    assert "take go: the best of the 3 (of 4) that are ranked on every workload, at " in of_three.sentence


def test_a_recommended_command_says_its_pool() -> None:
    runs = [run("go", round_=r, rate=9_000 + r, workers=3) for r in (1, 2, 3)]
    runs += [run("node", round_=r, rate=4_000 + r) for r in (1, 2, 3)]
    pooled = contender("go", pool="6000 // workers", serve=["go", "{port}", "{pool}"])
    made = plan(runs, contenders={"go": pooled, "node": contender("node")})
    assert analyse(made, FINGERPRINT, runs).recommended_command == [
        "go",
        "8000",
        "2000",
    ]


def test_who_is_at_the_top_only_because_it_was_held_back_is_not_said_to_be_there() -> None:
    runs = [run(n, round_=r, rate=v) for r in (1, 2, 3) for n, v in (("fast", 9e4 + r), ("held", 2e4 + r))]
    [verdict] = analyse(plan(runs), FINGERPRINT, runs).verdicts
    held = Doubt(kind="generator-bound", severity="shades", subject="held", sentence="", advice="", numbers={})
    fast, slow = verdict.standings
    standings = [msgspec.structs.replace(fast, place=None), msgspec.structs.replace(slow, place=2, doubts=[held])]
    name, said = recommend([msgspec.structs.replace(verdict, standings=standings, winners=["fast", "held"])])
    assert name == "held"
    assert said.startswith("take held: the only one that is ranked on every workload, at 22 %")


def test_who_is_not_ranked_everywhere_is_not_recommended() -> None:
    runs = [*table({"go": 40_000, "node": 30_000}), *table({"node": 9_000, "other": 8_000}, workload="json")]
    assert analysed(runs).recommended == "node"


def test_what_runs_as_in_an_article_of_long_ago_is_no_choice() -> None:
    both = analysed(table({"go-as-2013": 40_000, "node": 30_000}))
    assert both.verdicts[0].winners == ["go-as-2013"]
    assert both.recommended == "node"
    assert "present-day contender is ranked" in analysed(table({"go-as-2013": 40_000, "node-as-2013": 30_000})).sentence


def test_a_trial_that_ran_again_counts_once_with_its_last_run() -> None:
    runs = table({"go": 10_000, "node": 5_000})
    again = [run("go", round_=1, outcome="interrupted", slices=[]), *runs]
    [first, *_] = analyse(plan(runs), FINGERPRINT, again).verdicts[0].standings
    assert (first.rounds_ok, first.rounds_failed, first.outcomes) == (3, 0, {"ok": 3})


def test_eighty_four_runs_are_analysed_in_less_than_a_second_of_cpu() -> None:
    made = study()
    analyse(*made)
    start = time.process_time()
    analyse(*made)
    assert time.process_time() - start < 1


def test_importing_costs_no_numpy() -> None:
    code = "import sys, webdyno.analyse, webdyno.report; sys.exit('numpy' in sys.modules or 'scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
