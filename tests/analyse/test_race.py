"""The race's rules on figures made by hand, and its replay from Runs: what it does next, and when it is over."""

import json
import math

import msgspec
import numpy as np
import pytest

from tests.analyse.fakes import FINGERPRINT, LOAD, SECOND, change_slices, plan, robbed, run
from webdyno.analyse import analyse
from webdyno.analyse.compare import apart
from webdyno.analyse.doubts.table import ROWS
from webdyno.analyse.estimate import fit
from webdyno.analyse.floors import COUNTED, HELD_BACK
from webdyno.analyse.race import Heat, Reserve, comparisons, judge, spending
from webdyno.analyse.replay import comparisons_at, key_of, replay, trials_in_all
from webdyno.analyse.undecidable import RULES
from webdyno.model.race import Race
from webdyno.model.rig import Ceiling
from webdyno.model.run import Run
from webdyno.model.trial import Plan
from webdyno.model.verdict import Estimate
from webdyno.report.json import render_json
from webdyno.report.openmetrics import render_openmetrics

RACE = Race()
NAMES = ("a", "b", "c", "d", "e", "f")


def cells(rates: dict[str, float], rounds: int, noise: float = 0.01, seed: int = 1) -> dict[tuple[str, int], float]:
    rng = np.random.default_rng(seed)
    return {
        (name, r): rate * math.exp(rng.normal(0, noise)) for r in range(1, rounds + 1) for name, rate in rates.items()
    }


def test_all_looks_together_spend_alpha() -> None:
    assert sum(spending(0.05, look) for look in range(1, 100_000)) == pytest.approx(0.05, rel=1e-4)


def test_who_is_surely_behind_is_left_out_and_the_rest_goes_on() -> None:
    rates = {"a": 1000.0, "b": 960.0, "c": 930.0, "d": 300.0, "e": 200.0, "f": 100.0}
    heat = judge({"t": cells(rates, 3, 0.03, seed=3)}, {}, RACE, 1)["t"]
    assert heat.active is not None
    assert {"a", "b"} <= heat.active
    assert heat.active.isdisjoint({"d", "e", "f"})
    assert {("a", "d"), ("c", "f")} <= heat.told


def test_the_whole_order_keeps_those_at_the_end_too() -> None:
    rates = {"a": 1000.0, "b": 700.0, "c": 500.0, "d": 330.0, "e": 102.0, "f": 100.0}
    table = {"t": cells(rates, 3, 0.03)}
    assert judge(table, {}, RACE, 1)["t"].active == frozenset()
    assert judge(table, {}, Race(top=None), 1)["t"].active == {"e", "f"}


def test_who_will_not_be_ranked_takes_no_place_and_keeps_nobody_going() -> None:
    rates = {"a": 1050.0, "b": 1000.0, "c": 700.0, "d": 420.0, "e": 400.0, "f": 100.0}
    table = {"t": cells(rates, 3, 0.02, seed=5)}
    every, without = (
        judge(table, {}, RACE, 1)["t"],
        judge(table, {}, RACE, 1, {"t": Reserve(barred=frozenset("a"))})["t"],
    )
    assert every.active == {"a", "b"}
    assert without.active == {"d", "e"}  # one of them is third
    assert without.told == every.told
    assert judge(table, {}, RACE, 1, {"t": Reserve(barred=frozenset(rates))})["t"].active == frozenset()


def test_surely_equal_is_settled() -> None:
    rates = dict.fromkeys(NAMES, 1000.0)
    assert judge({"t": cells(rates, 6, 0.002)}, {}, RACE, 4)["t"] == Heat(frozenset(), frozenset())
    wide = judge({"t": cells(rates, 6, 0.02)}, {}, Race(margin=0.15), 4)["t"]
    assert wide.active == frozenset()
    assert judge({"t": cells(rates, 5, 0.02)}, {}, Race(margin=0.15), 3)["t"].active  # too few starts for that


def test_who_is_ahead_of_one_held_back_must_be_so_with_the_whole_interval() -> None:
    table = {"t": cells({"a": 1300.0, "b": 1000.0, "c": 500.0, "d": 250.0}, 4, 0.02)}

    def told(times: float) -> frozenset[tuple[str, str]]:
        return judge(table, {}, RACE, 2, {"t": Reserve(handicaps={("a", "b"): times})})["t"].told

    ahead = judge(table, {}, RACE, 2)["t"].told
    assert ("a", "b") in ahead & told(1.1)
    assert told(1.28) == ahead - {("a", "b")}  # 1.3 is more, the low end of its interval is not
    assert told(math.inf) == ahead - {("a", "b")}


def test_nobody_beats_another_from_two_rounds() -> None:
    two = {key: value for key, value in cells({"a": 1000.0, "b": 500.0, "c": 250.0}, 3).items() if key != ("b", 3)}
    assert judge({"t": two}, {}, RACE, 1)["t"].told == {("a", "c")}


def test_a_first_look_asks_more_than_a_single_analysis() -> None:
    made = cells({"a": 1000.0, "b": 940.0, "c": 890.0, "d": 840.0, "e": 800.0, "f": 760.0}, 3, 0.02)
    fitted = fit(made)
    assert fitted is not None
    told = judge({"t": made}, {}, RACE, 1)["t"].told
    assert {frozenset(pair) for pair in told} <= apart(fitted, NAMES)


def test_more_tables_make_each_claim_dearer() -> None:
    made = cells({"a": 1000.0, "b": 930.0, "c": 880.0, "d": 840.0, "e": 800.0, "f": 760.0}, 3, 0.02, seed=3)
    alone = judge({"t": made}, {}, RACE, 1)["t"].told
    flat = {n: cells(dict.fromkeys(NAMES, 1000.0), 3, 0.02, seed=n) for n in range(10, 40)}
    among_many = judge({"t": made, **flat}, {}, RACE, 1)["t"].told
    assert among_many < alone


def test_a_claim_stays_until_another_look_says_the_contrary() -> None:
    flat = {"t": cells(dict.fromkeys(NAMES, 1000.0), 3)}
    before = {"t": Heat(frozenset({("a", "b")}), frozenset(NAMES))}
    assert ("a", "b") in judge(flat, before, RACE, 2)["t"].told
    against = {"t": cells({"a": 100.0, "b": 1000.0, "c": 500.0}, 4)}
    told = judge(against, before, RACE, 2)["t"].told
    assert {("a", "b"), ("b", "a")}.isdisjoint(told)
    assert ("b", "c") in told


@pytest.mark.parametrize(
    "table",
    [
        {},
        {("a", 1): 5.0},
        {("a", 1): 5.0, ("b", 1): 6.0},
        {("a", r): 0.0 for r in (1, 2, 3)} | {("b", r): 0.0 for r in (1, 2, 3)},
        {("a", r): math.nan for r in (1, 2, 3)} | {("b", r): 5.0 for r in (1, 2, 3)},
        {("a", 1): 5.0, ("b", 2): 6.0, ("c", 3): 7.0},
    ],
    ids=["nothing", "one figure", "one round", "zeros", "not numbers", "never in the same round"],
)
def test_where_nothing_can_be_compared_nothing_is_claimed_and_nobody_goes_on(
    table: dict[tuple[str, int], float],
) -> None:
    assert judge({"t": table}, {}, RACE, 1)["t"] == Heat(frozenset(), frozenset())


def test_figures_without_any_noise_are_settled() -> None:
    made = {(name, r): 100.0 + at for at, name in enumerate(NAMES) for r in (1, 2, 3)}
    heat = judge({"t": made}, {}, RACE, 1)["t"]
    assert heat.active == frozenset()
    assert ("f", "a") in heat.told


# Replay


RATES = {"a": 1000.0, "b": 968.0, "c": 940.0, "d": 400.0, "e": 200.0}


def planned(rounds: int = 10, **changes: object) -> Plan:
    runs = [run(name, round_=r) for r in range(1, rounds + 1) for name in RATES]
    return plan(runs, race=Race(**{"most_rounds": rounds, **changes}), rounds=rounds)


def conducted(made: Plan, most: int = 1000, seed: int = 6) -> list[Run]:
    """What the race asks for, done one round after the other."""
    rng = np.random.default_rng(seed)
    runs: list[Run] = []
    while (trials := replay(made, runs).trials) and len(runs) < most:
        for trial in trials:
            rate = RATES[trial.contender] * 50 * math.exp(rng.normal(0, 0.02))
            runs.append(run(trial.contender, round_=trial.round, rate=rate, trial=trial))
    return runs


def test_a_race_leaves_out_who_is_settled_and_ends() -> None:
    made = planned()
    runs = conducted(made)
    end = replay(made, runs)
    assert end.trials == []
    assert end.end in ("settled", "rounds")
    rounds = {name: sum(each.trial.contender == name for each in runs) for name in RATES}
    assert rounds["d"] == rounds["e"] == 3
    assert rounds["a"] > 3


@pytest.mark.slow
def test_a_race_that_was_killed_goes_on_as_if_it_had_not_been() -> None:
    made = planned()
    whole = conducted(made)
    for cut in range(1, len(whole)):
        begun = whole[:cut]
        state = replay(made, begun)
        expected = [each.trial for each in whole[cut:] if each.trial.round == state.rounds]
        assert list(state.trials) == expected
    interrupted = msgspec.structs.replace(whole[4], outcome="interrupted")
    assert replay(made, [*whole[:4], interrupted]).trials[0] == whole[4].trial


def test_a_budget_ends_it() -> None:
    made = planned(budget_s=70.0)
    runs = conducted(made)  # each Run takes 3 s
    assert sum(each.seconds for each in runs) <= 70
    assert replay(made, runs).end in ("budget", "settled")
    tight = planned(budget_s=46.0)
    assert len(conducted(tight)) == 15
    assert replay(tight, conducted(tight)).end == "budget"


def test_as_many_runs_as_it_may_have_end_it() -> None:
    made = planned(most_runs=18)
    runs = conducted(made)
    assert len(runs) == 18
    assert replay(made, runs).end == "runs"
    whole = planned(most_runs=20)
    assert replay(whole, conducted(whole)).rounds == max(each.trial.round for each in conducted(whole))
    assert replay(planned(), runs).trials  # what was open stays open
    interrupted = msgspec.structs.replace(runs[3], outcome="interrupted")
    assert [trial.id for trial in replay(made, [*runs[:3], interrupted]).trials] == [
        each.trial.id for each in runs[3:] if each.trial.round == 1
    ]


def test_contenders_that_never_serve_do_not_keep_it_going() -> None:
    made = planned()
    runs = [
        msgspec.structs.replace(each, outcome="died", message="gone") if each.trial.contender == "b" else each
        for each in conducted(made)
    ]
    assert "b" not in {trial.contender for trial in replay(made, runs[:15]).trials}


@pytest.mark.parametrize("share", [0.0, 0.005, 0.02])
def test_a_race_is_not_about_who_answers_too_much_wrongly(share: float) -> None:
    made = planned()
    runs = [
        change_slices(each, errors={"wrong-body": round(share * 50_000)}) if each.trial.contender == "a" else each
        for each in conducted(made)[:15]
    ]
    assert ("a" in {trial.contender for trial in replay(made, runs).trials}) == (share < 0.01)
    [standing] = [s for s in analyse(made, FINGERPRINT, runs).verdicts[0].standings if s.contender == "a"]
    assert (standing.place is not None) == (share < 0.01)


@pytest.mark.parametrize("unanswered", [0, 3, 10])
def test_a_race_is_not_about_who_leaves_a_tenth_of_its_connections_unanswered(unanswered: int) -> None:
    made = planned()
    runs = [
        msgspec.structs.replace(each, summary={"connections_unanswered": unanswered})
        if each.trial.contender == "a"
        else each
        for each in conducted(made)[:15]
    ]
    ranked = unanswered < LOAD.connections / 10
    assert ("a" in {trial.contender for trial in replay(made, runs).trials}) == ranked
    [standing] = [s for s in analyse(made, FINGERPRINT, runs).verdicts[0].standings if s.contender == "a"]
    assert (standing.place is not None) == ranked


def test_every_doubt_that_makes_more_rounds_moot_is_asked_in_a_race() -> None:
    void = {row.rule for row in ROWS if row.about == "contender" and "voids" in row.effect}
    floors = {row.rule for row in ROWS if row.kind in (*HELD_BACK, COUNTED)}
    assert set(RULES) == void | floors
    assert len(RULES) == 17


@pytest.mark.parametrize(("bound", "end"), [("", None), ("a", None), ("ab", None), ("abc", "settled")])
def test_a_race_does_not_ask_for_the_order_of_those_whom_the_load_generator_held_back(
    bound: str, end: str | None
) -> None:
    made = planned()
    busy = {"cpu_user_ns": SECOND * 95 // 100, "cpu_system_ns": 0}
    runs = [change_slices(each, **busy) if each.trial.contender in bound else each for each in conducted(made)[:15]]
    assert replay(made, runs).end == end


def test_a_race_goes_on_about_one_that_the_hypervisor_robbed_until_its_luck_has_turned() -> None:
    made = planned()
    quiet = conducted(made)[:15]
    assert replay(made, quiet).end is None

    def hit(cores: float) -> list[Run]:
        return [robbed(each, cores) if each.trial.contender == "e" else each for each in quiet]

    (key,) = {key_of(trial) for trial in made.trials}
    before, after = replay(made, quiet).heats[key], replay(made, hit(0.6)).heats[key]
    assert ("a", "e") in before.told
    assert {other for _, other in before.told - after.told} == {"e"}
    assert not {claim for claim in after.told if claim[1] == "e"}
    assert "e" in (after.active or set())
    assert "e" not in (before.active or set())
    assert ("a", "e") in replay(made, hit(0.12)).heats[key].told  # so far behind that no luck explains it


def test_a_rate_near_the_machines_ceiling_is_a_floor_in_a_race_too() -> None:
    made = planned()
    runs = conducted(made)[:15]
    rate = Estimate(value=48_000.0, low=None, high=60_000.0, rounds=5, unit="per_s")
    near = Ceiling(connections=64, threads=1, rate=rate, engine_busy=0.9)
    assert replay(made, runs).end is None
    assert replay(made, runs, [near]).end == "settled"
    calibrated = msgspec.structs.replace(FINGERPRINT, ceilings=[near])
    assert "incomplete" in {doubt.kind for doubt in analyse(made, FINGERPRINT, runs).doubts}
    assert "incomplete" not in {doubt.kind for doubt in analyse(made, calibrated, runs).doubts}


def test_a_race_that_is_over_has_the_trials_it_did_and_one_that_goes_on_the_most_it_may_do() -> None:
    made = planned(rounds=4, most_runs=18)
    rates = {"a": 1000.0, "b": 500.0, "c": 250.0, "d": 125.0, "e": 60.0}
    runs = [
        run(trial.contender, trial=trial, rate=rates[trial.contender] * (1 + at / 1000))
        for at, trial in enumerate(made.trials[:15])
    ]
    assert replay(made, runs).end == "settled"
    assert trials_in_all(made, runs) == 15
    again = [msgspec.structs.replace(runs[0], outcome="interrupted"), *runs]
    assert trials_in_all(made, again) == 15
    assert trials_in_all(made, runs[:7]) == made.most_trials == 18
    assert trials_in_all(msgspec.structs.replace(made, race=None), runs) == 20
    told = json.loads(render_json(made, FINGERPRINT, runs, analyse(made, FINGERPRINT, runs)))
    assert (told["runs_done"], told["runs_planned"]) == (15, 15)
    metrics = render_openmetrics(made, FINGERPRINT, runs, None)
    assert 'webdyno_trials_planned{study="fake"} 15\n' in metrics


def two_tables(**changes: object) -> Plan:
    """Three contenders at 64 and at 16 connections, in turn."""
    loads = (LOAD, msgspec.structs.replace(LOAD, connections=16))
    runs = [run(name, round_=r, load=load) for r in (1, 2, 3, 4) for name in "abc" for load in loads]
    return plan(runs, race=Race(**{"most_rounds": 4, **changes}), rounds=4)


@pytest.mark.parametrize(
    ("most", "asked"),
    [
        ({"most_runs": 6 + 1}, ""),
        ({"most_runs": 6 + 2}, "a64 b64"),
        ({"most_runs": 6 + 3}, "a64 b64 c64"),
        ({"most_runs": 6 + 4}, "a64 a16 b64 b16"),
        ({"most_runs": 6 + 5}, "a64 a16 b64 b16 c64"),
        ({"most_runs": 6 + 6}, "a64 a16 b64 b16 c64 c16"),
        ({"budget_s": 6 * 3.0 + 7}, "a64 b64"),  # each takes 3 s
    ],
)
def test_nobody_is_alone_with_its_table_in_a_round_that_is_cut_short(most: dict[str, float], asked: str) -> None:
    made = two_tables(**most)
    runs = [run(trial.contender, load=trial.load, trial=trial) for trial in made.trials if trial.round == 1]
    chosen = list(replay(made, runs).trials)
    assert " ".join(f"{trial.contender}{trial.load.connections}" for trial in chosen) == asked
    for at, trial in enumerate(chosen):  # also when it was killed in between
        assert list(replay(made, runs).trials) == chosen[at:]
        runs.append(run(trial.contender, load=trial.load, trial=trial))
    assert replay(made, runs).end == ("runs" if "most_runs" in most else "budget")


@pytest.mark.parametrize(("outcome", "goes_on"), [("died", False), ("wrong-answer", False), ("driver-failed", True)])
def test_who_failed_a_round_by_its_own_doing_is_out_of_the_race(outcome: str, goes_on: bool) -> None:
    made = planned()
    runs = conducted(made)[:20]
    assert [each.trial.round for each in runs if each.trial.contender == "a"][:4] == [1, 2, 3, 4]
    begun = [each for each in runs if each.trial.round < 4]
    at = next(at for at, each in enumerate(begun) if each.trial.contender == "a")
    begun[at] = msgspec.structs.replace(begun[at], outcome=outcome, slices=[])
    assert ("a" in {trial.contender for trial in replay(made, begun).trials}) == goes_on


def test_a_plan_without_a_race_is_all_its_rounds() -> None:
    made = msgspec.structs.replace(planned(rounds=3), race=None)
    assert list(replay(made, []).trials) == [trial for trial in made.trials if trial.round == 1]
    assert replay(made, conducted(made)).end == "rounds"


@pytest.mark.slow
def test_the_report_claims_what_the_race_told_and_misses_nothing() -> None:
    made = planned()
    runs = conducted(made)
    analysis = analyse(made, FINGERPRINT, runs)
    [verdict] = analysis.verdicts
    by_name = {standing.contender: standing for standing in verdict.standings}
    told = replay(made, runs).heats[key_of(made.trials[0])].told
    for one, other in told:
        assert set(by_name[one].letters).isdisjoint(by_name[other].letters)
    assert [standing.contender for standing in verdict.standings][-2:] == ["d", "e"]
    assert "incomplete" not in {doubt.kind for doubt in analysis.doubts}
    [cut] = [doubt for doubt in analyse(made, FINGERPRINT, runs[:7]).doubts if doubt.kind == "incomplete"]
    assert cut.sentence == "the race has not ended: 3 runs are missing in the current round"


def test_what_a_late_look_over_many_tables_asks_is_told_in_rounds() -> None:
    assert comparisons(1, 14, 1) == pytest.approx(91 * math.pi**2 / 6, abs=1)
    assert comparisons(5, 30, 3) > 5 * comparisons(1, 30, 3) - 5
    made = planned(rounds=3)
    runs = [run(name, round_=r) for r in (1, 2, 3) for name in ("a", "b")]
    raced = msgspec.structs.replace(made, trials=[each.trial for each in runs])
    assert comparisons_at(msgspec.structs.replace(made, race=None), runs) is None
    assert comparisons_at(raced, runs) == comparisons(1, 5, 1)
    assert comparisons_at(raced, []) == comparisons(1, 5, 1)


def test_a_contenders_own_warm_up_changes_the_load_asked_but_not_its_table() -> None:
    trial = msgspec.structs.replace(run().trial, warmup_s=10.0)
    assert trial.asked.warmup_s == 10.0
    assert trial.load == LOAD
    assert msgspec.structs.replace(trial, warmup_s=0.1).asked == LOAD
