"""Who is seen to wait in a Run."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from webdyno.commands.trying import screening
from webdyno.commands.trying.screening import seen


@pytest.mark.parametrize(
    ("used", "rate", "waits"),
    [
        (0.1, 80.0, True),  # 4 of 32 are worked on, and the core is idle
        (0.1, 630.0, False),  # all of them are
        (0.9, 80.0, False),
        (None, 80.0, False),
    ],
)
def test_who_waits_has_idle_cores_and_requests_that_queue(
    monkeypatch: pytest.MonkeyPatch, used: float | None, rate: float, waits: bool
) -> None:
    run: Any = SimpleNamespace(rig=SimpleNamespace(contender_cores=(0,)))
    window = SimpleNamespace(contender_cores=used, rate_per_s=rate)
    monkeypatch.setattr(screening, "read_window", lambda _run, *, latencies: window)
    assert seen(run, 32, 0.05) == (run, rate, waits)


def test_a_run_that_failed_has_no_rate_and_says_nothing_of_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screening, "read_window", lambda _run, *, latencies: None)
    run: Any = None
    assert seen(run, 32, 0.05) == (None, 0.0, False)


def test_a_server_whose_answer_was_wrong_once_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def bench(*outcomes: str) -> tuple[Any, list[str]]:
        left = list(outcomes)
        measure = lambda *_: SimpleNamespace(outcome=left.pop(0))  # noqa: E731
        return SimpleNamespace(interrupted=threading.Event(), measure=measure), left

    for outcomes, last, unused in (
        (("ok", "ok"), "ok", 1),
        (("wrong-answer", "ok"), "ok", 0),
        (("wrong-answer", "wrong-answer", "ok"), "wrong-answer", 1),
        (("died", "ok"), "died", 1),
    ):
        there, left = bench(*outcomes)
        assert screening._measured(there, "a", 1.0).outcome == last
        assert len(left) == unused
