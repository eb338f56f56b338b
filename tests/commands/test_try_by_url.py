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
    """A way to say how many answers of each round, from 1, are HTTP/1.0."""
    monkeypatch.setattr(by_url, "_judge", lambda _: None)
    monkeypatch.setenv("WEBDYNO_CACHE", str(tmp_path))

    def say(http10_of: Callable[[int], int]) -> None:
        numbers = count(1)

        def carry_out(order: Order, _: object) -> Loaded:
            base = recorded("timed")
            return Loaded(order, base.slices, base.summary | {"http10_answers": http10_of(next(numbers))})

        monkeypatch.setattr(by_url, "carry_out", carry_out)

    yield say


def test_a_doubt_whose_number_differs_from_round_to_round_is_one_line(
    rounds: Callable[[Callable[[int], int]], None], capsys: pytest.CaptureFixture[str]
) -> None:
    rounds(lambda number: 298 + number if number > 1 else 0)
    assert call(["try", "--url", URL, "--budget", "6s"]) == 0
    doubts = [line for line in capsys.readouterr().out.splitlines() if "HTTP/1.0" in line]
    assert doubts == ["  doubt: HTTP/1.0: 300 answers were HTTP/1.0 (round 2; the same kind of doubt in 4 of 5 rounds)"]


def test_a_doubt_that_is_the_same_in_every_round_is_said_as_it_is() -> None:
    assert over_rounds([["closed: a", "starved: 1"], ["closed: a"]]) == ["closed: a", "starved: 1"]
