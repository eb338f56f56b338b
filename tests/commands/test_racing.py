"""The flags that make a race: what they become, and what is said of those that contradict each other."""

from pathlib import Path

import msgspec
import pytest

from tests.analyse.fakes import FINGERPRINT, plan, run
from tests.fakes import catalogue, contender, study
from webdyno.analyse.race_end import race_end
from webdyno.analyse.table import Evidence
from webdyno.analyse.words import length
from webdyno.commands.racing import Racing, costs, extent
from webdyno.model.claim import Claim
from webdyno.model.errors import UsageError
from webdyno.model.further import Further
from webdyno.model.race import Race
from webdyno.model.study import StudyLoad
from webdyno.model.trial import Plan
from webdyno.plan import make_plan
from webdyno.session.designs import design_of
from webdyno.store import Store


def many(rounds: int = 10) -> Plan:
    return plan([run(name, round_=r) for r in range(1, rounds + 1) for name in ("a", "b", "c")], rounds=rounds)


@pytest.mark.parametrize(
    ("flags", "race"),
    [
        (Racing(), None),
        (Racing(exhaustive=True), None),
        (Racing(budget="10m"), Race(budget_s=600.0)),
        (Racing(precision="5%"), Race(margin=0.05)),
        (Racing(precision="2", top=0), Race(margin=0.02, top=None)),
        (Racing(budget="90s", precision="1 %", top=1), Race(budget_s=90.0, margin=0.01, top=1)),
    ],
)
def test_flags_become_a_race(flags: Racing, race: Race | None) -> None:
    assert flags.race == race


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (Racing(budget="soon"), "--budget soon: give a duration"),
        (Racing(budget="nan"), "--budget nan: give a duration"),
        (Racing(precision="five"), "--precision five: give a share"),
        (Racing(precision="nan"), "--precision nan: give a share"),
        (Racing(precision="0%"), "--precision 0%: give a share"),
        (Racing(precision="500%"), "--precision 500%: give a share"),
        (Racing(budget="1m", top=-1), "--top -1"),
        (Racing(exhaustive=True, budget="1m"), "--exhaustive leaves nothing out"),
        (Racing(in_place=True, top=2), "--in-place measures every round of everything"),
        (Racing(in_place=True, exhaustive=True), "it excludes --budget"),
        (Racing(further="15m", exhaustive=True), "--further is for claims"),
        (Racing(further="15m", budget="10m"), "--further is for claims"),
    ],
)
def test_what_cannot_be_is_said(flags: Racing, says: str) -> None:
    with pytest.raises(UsageError, match=says.replace("(", r"\(")):
        _ = flags.race


QUICK = study("a", "b", "c", rounds=5)


@pytest.mark.parametrize(
    "changed",
    [
        {"rounds": 3},
        {"contenders": ["a"]},
        {"claims": [Claim(text="a is first", contenders=["a"], relation="highest")]},
        {"shows": ["p99"]},
        {"estimate": "trimmed"},
        {"loads": [StudyLoad(connections=[8], rate_per_s=[100.0], duration_s=1.0)]},
        {"design": "exhaustive"},
    ],
)
def test_a_study_of_rates_is_raced_unless_it_asks_for_more(changed: dict[str, object]) -> None:
    assert Racing().choice.of(QUICK) == Race()
    assert Racing(top=0).choice.of(QUICK) == Race(top=None)
    assert Racing(exhaustive=True).choice.of(QUICK) is None
    other = msgspec.structs.replace(QUICK, **changed)
    assert Racing().choice.of(other) is None
    assert Racing(budget="10m").choice.of(other) == Race(budget_s=600.0)
    assert Racing().choice.of(msgspec.structs.replace(other, design="race", rounds=5)) == Race()
    with pytest.raises(UsageError, match="--top says what a race settles, and study study in"):
        Racing(top=2).choice.of(other)
    with pytest.raises(UsageError, match="--top says what a race settles"):  # also what a race settles anyway
        Racing(top=3).choice.of(other)


def test_a_study_with_claims_may_be_given_more_time_for_those_that_are_open() -> None:
    given = msgspec.structs.replace(QUICK, design="exhaustive", further=Further(looks=[7, 9], budget_s=60.0))
    chosen = Racing(further="15m").choice.rounds_of(given).further
    assert chosen == Further(looks=[7, 9], budget_s=900.0), "when claims are judged stays as the study says"
    assert Racing().choice.rounds_of(given).further == given.further
    with pytest.raises(UsageError, match=r"--further soon: give a duration"):
        _ = Racing(further="soon").choice
    with pytest.raises(
        UsageError, match=r"--further: study study has no \[further\] rounds for its claims; leave it out"
    ):
        Racing(further="15m").choice.rounds_of(msgspec.structs.replace(given, further=None))
    with pytest.raises(UsageError, match="--further: study study has no"):  # a race, which has no claims either
        Racing(further="15m").choice.rounds_of(QUICK)


def test_a_study_in_place_is_raced_only_when_asked_and_then_in_rounds() -> None:
    study = msgspec.structs.replace(QUICK, design="in-place")
    assert Racing().choice.of(study) is None
    assert Racing().choice.rounds_of(study).design == Racing(in_place=True).choice.rounds_of(QUICK).design == "in-place"
    assert Racing(budget="10m").choice.rounds_of(study).design == "race"
    assert Racing(exhaustive=True).choice.rounds_of(study).design == "exhaustive"


def test_a_study_with_many_rounds_may_have_as_many_in_its_race() -> None:
    assert Racing().choice.of(msgspec.structs.replace(QUICK, rounds=14)) == Race(most_rounds=14)


def test_it_is_raced_in_as_many_runs_as_its_rounds_would_be() -> None:
    slow = contender("c", ready_s=60)
    known = catalogue("a", "b", "c")
    known = msgspec.structs.replace(known, contenders={**known.contenders, "c": slow})
    alone = msgspec.structs.replace(QUICK, alone=True)
    plan = Racing().choice.on(make_plan(Racing().choice.rounds_of(alone), known, {}), alone)
    assert plan.race == Race(most_runs=60)
    assert (plan.rounds, len(plan.trials), plan.most_trials) == (8, 96, 60)
    assert extent(plan) == "a race of 36 to 60 trials"
    dear, cheap = 1.8 + 2.5, 0.6 + 2.5  # c takes three times as long to start; 20 of the last 24 may be its
    assert plan.seconds == pytest.approx(3 * (8 * cheap + 4 * dear) + 20 * dear + 4 * cheap)
    grid = 5 * (8 * cheap + 4 * dear)
    assert list(costs(plan))[1] == f"without a race (--exhaustive): {length(grid)} for all 5 rounds"
    assert Racing(exhaustive=True).choice.on(make_plan(QUICK, known, {}), QUICK).race is None


def test_a_budget_too_small_for_three_rounds_is_refused_with_what_they_take() -> None:
    with pytest.raises(UsageError, match="--budget 10 s: 3 rounds of everything take 28 s"):
        Racing(budget="10s").choice.on(many(), QUICK)


def test_what_it_costs_is_told_before() -> None:
    made = Racing(budget="1m").choice.on(many(), QUICK)
    assert made.seconds == 60
    first, grid, classic = costs(made)
    assert "28 s for 3 rounds" in first
    assert "at most 1 min (the budget)" in first
    assert grid == "10 rounds of everything: 1 min 33 s"  # --exhaustive does the study's own 5
    assert classic == "as the original study wsgi did it, 4 times 30 s of everything: 6 min 13 s"
    assert list(costs(many())) == []


def test_how_much_longer_warm_ups_that_count_answers_may_take_is_told_before() -> None:
    known = catalogue("a", "b")
    compiling = msgspec.structs.replace(known.contenders["a"], warmup_s=30.0, warmup_requests=20_000)
    known = msgspec.structs.replace(known, contenders={**known.contenders, "a": compiling})
    asked = [trial for trial in make_plan(study("a", "b", rounds=2), known, {}).trials if trial.contender == "a"]
    told = list(costs(make_plan(study("a", "b", rounds=2), known, {})))
    assert told == [
        f"up to {length(len(asked) * 60)} more where a slow machine gives the answers of a warm-up late, "
        "or a server is still getting faster"
    ]


def test_a_race_on_a_budget_has_as_many_rounds_as_are_asked_for() -> None:
    many_rounds = msgspec.structs.replace(QUICK, rounds=12)
    assert Racing(budget="1h").choice.of(many_rounds) == Race(budget_s=3600.0, most_rounds=12)
    assert Racing(precision="5%").choice.rounds_of(many_rounds).rounds == 12


def test_trials_that_were_shorter_than_reckoned_leave_time_for_more(tmp_path: Path) -> None:
    """A Run is reckoned to take 3.1 s, and takes 1 s: 30 fit into 30 s."""
    race = Race(least_rounds=10, most_rounds=10, budget_s=30.0)
    names = ("a", "b", "c", "d", "e")
    made = plan([run(name, round_=r) for r in range(1, 11) for name in names], race=race, rounds=10)
    with Store.create(tmp_path / "r", made, FINGERPRINT) as store:
        while blocks := design_of(made, FINGERPRINT)(store.runs()):
            for (trial,) in blocks:
                store.append(run(trial.contender, round_=trial.round, trial=trial, seconds=1.0))
        assert len(store.runs()) == 30
        evidence = Evidence(made, FINGERPRINT, store.runs())
    assert race_end(evidence).startswith("Ended after 6 rounds, when its budget was spent; the order of ")
