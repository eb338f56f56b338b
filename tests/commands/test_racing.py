"""The flags that make a race: what they become, and what is said of those that contradict each other."""

import pytest

from tests.analyse.fakes import plan, run
from webdyno.commands.racing import Racing, costs
from webdyno.model.errors import UsageError
from webdyno.model.race import Race
from webdyno.model.trial import Plan


def many(rounds: int = 10) -> Plan:
    return plan([run(name, round_=r) for r in range(1, rounds + 1) for name in ("a", "b", "c")], rounds=rounds)


@pytest.mark.parametrize(
    ("flags", "race"),
    [
        (Racing(), None),
        (Racing(exhaustive=True), None),
        (Racing(budget="10m"), Race(budget_s=600.0)),
        (Racing(precision="5%"), Race(margin=0.05)),
        (Racing(precision="0.02", top=0), Race(margin=0.02, top=None)),
        (Racing(budget="90s", precision="1 %", top=1), Race(budget_s=90.0, margin=0.01, top=1)),
    ],
)
def test_flags_become_a_race(flags: Racing, race: Race | None) -> None:
    assert flags.race == race


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (Racing(budget="soon"), "--budget soon: give a length of time"),
        (Racing(budget="nan"), "--budget nan: give a length of time"),
        (Racing(precision="five"), "--precision five: give a share"),
        (Racing(precision="nan"), "--precision nan: give a share"),
        (Racing(precision="0%"), "--precision 0%: give a share"),
        (Racing(precision="500%"), "--precision 500%: give a share"),
        (Racing(budget="1m", top=-1), "--top -1"),
        (Racing(top=3), "--top says what a race settles"),
        (Racing(exhaustive=True, budget="1m"), "--exhaustive leaves nothing out"),
    ],
)
def test_what_cannot_be_is_said(flags: Racing, says: str) -> None:
    with pytest.raises(UsageError, match=says.replace("(", r"\(")):
        _ = flags.race


def test_a_budget_too_small_for_three_rounds_is_refused_with_what_they_take() -> None:
    with pytest.raises(UsageError, match="--budget 10s: 3 rounds of everything take 28 s"):
        Racing(budget="10s").on(many())


def test_what_it_costs_is_told_before() -> None:
    made = Racing(budget="1m").on(many())
    assert made.seconds == 60
    first, grid, classic = costs(made)
    assert "28 s for 3 rounds" in first
    assert "at most 1 min (the budget)" in first
    assert grid == "without a race: 1 min 33 s for all 10 rounds"
    assert classic == "as study S1 did it, 4 times 30 s of everything: 6 min 13 s"
    assert list(costs(many())) == []
