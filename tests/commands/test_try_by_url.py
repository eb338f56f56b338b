"""``webdyno try --url``: what is said of a server that runs already, over rounds that a recorded load stands for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.commands.test_load import recorded
from webdyno.commands import call
from webdyno.load.driver import Order
from webdyno.session.engine import Loaded
from webdyno.session.load_doubts import over_rounds
from webdyno.session.tryout import by_url

URL = "http://127.0.0.1:8000/"


@pytest.fixture
def rounds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[[Callable[[int], int]], None]]:
    """A way to say how many connections of each round, from 1, have no answer."""
    monkeypatch.setattr(by_url, "_judge", lambda _: None)
    monkeypatch.setenv("WEBDYNO_CACHE", str(tmp_path))

    def say(unanswered_of: Callable[[int], int]) -> None:
        numbers = count(1)

        def carry_out(order: Order, _: object) -> Loaded:
            base = recorded("timed")
            return Loaded(order, base.slices, base.summary | {"connections_unanswered": unanswered_of(next(numbers))})

        monkeypatch.setattr(by_url, "carry_out", carry_out)

    yield say


def test_a_doubt_whose_number_differs_from_round_to_round_is_one_line(
    rounds: Callable[[Callable[[int], int]], None], capsys: pytest.CaptureFixture[str]
) -> None:
    rounds(lambda number: number if number > 1 else 0)
    assert call(["try", "--url", URL, "--budget", "6s"]) == 0
    doubts = [line for line in capsys.readouterr().out.splitlines() if "starved" in line]
    assert doubts == [
        "  doubt: starved-connections: the server left 2 of 32 connections without a single answer; no percentile "
        "shows them (round 2; the same kind of doubt in 4 of 5 rounds)"
    ]


def test_a_doubt_that_is_the_same_in_every_round_is_said_as_it_is() -> None:
    assert over_rounds([["closed: a", "starved: 1"], ["closed: a"]]) == ["closed: a", "starved: 1"]
