"""What a budget has to hold."""

from __future__ import annotations

from typing import Any

import pytest

from webdyno.model.errors import UsageError
from webdyno.session.tryout import budget as module
from webdyno.session.tryout.budget import Budget
from webdyno.session.tryout.final import LEAST_ROUNDS, LEAST_S


def budget(seconds: float = 60.0, **changes: Any) -> Budget:
    told = {"bases": 10, "current": True, "project": True, "ready_s": 0.4} | changes
    return Budget(typed=f"{seconds:g}s", seconds=seconds, **told)


def test_the_last_comparison_is_reserved_with_what_comes_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.shutil, "which", lambda _: None)
    assert budget().after_s == pytest.approx(0.4 + 0.5 + 0.6 + 2.0)
    assert budget().reserve_s(2.0, 10.5) == pytest.approx(LEAST_ROUNDS * (2 * (1.5 + LEAST_S) + 10.0 + LEAST_S) + 3.5)
    assert budget(current=False).reserve_s(2.0, 0.0) == pytest.approx(LEAST_ROUNDS * 2 * (1.5 + LEAST_S) + 3.5)
    assert budget(project=False).after_s == 0.0
    monkeypatch.setattr(module.shutil, "which", lambda _: "/usr/bin/py-spy")
    assert budget().after_s == pytest.approx(3.5 + 0.4 + 0.6 + 4.0)


def test_an_app_that_is_slow_to_answer_needs_longer_runs() -> None:
    slow = budget(least_s=10.0)
    assert slow.reserve_s(11.5, 11.5) - slow.after_s == pytest.approx(9 * 11.5)
    assert budget().most_s(2.2, 2.2) > budget().reserve_s(2.2, 2.2)


def test_fewer_are_compared_where_runs_are_long_and_never_less_than_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.shutil, "which", lambda _: None)
    assert [budget().finalists(left_s, 4.2, 4.2) for left_s in (200.0, 70.0, 50.0, 5.0)] == [4, 3, 2, 2]
    assert budget().finalists(70.0, 4.2, 14.2) == 2
    assert budget(current=False).finalists(70.0, 4.2) == 4


def test_a_budget_that_is_too_short_is_refused_with_what_it_takes() -> None:
    budget(120.0).refuse_short()
    with pytest.raises(UsageError, match=r"^--budget 20s: 10 servers once each .* about 52 s; give more, or"):
        budget(20.0).refuse_short()
    with pytest.raises(UsageError, match=r"--budget 3s: 1 server once each and the last .* about \d+ s; give more$"):
        budget(3.0, bases=1, current=False, project=False).refuse_short()
