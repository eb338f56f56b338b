"""How long the machine slept, by two clocks of which one stands still then."""

from __future__ import annotations

import time

import pytest

from webdyno.rig.sleep import LEAST_NS, slept_ns

SECOND = 1_000_000_000


def clocks(patch: pytest.MonkeyPatch, monotonic: list[int], since_boot: list[int]) -> None:
    still, going = iter(monotonic), iter(since_boot)
    patch.setattr(time, "monotonic_ns", lambda: next(still))
    patch.setattr(time, "clock_gettime_ns", lambda _: next(going))


def test_the_clock_from_boot_is_ahead_by_what_it_slept(monkeypatch: pytest.MonkeyPatch) -> None:
    clocks(monkeypatch, [SECOND, SECOND + 500], [61 * SECOND])
    assert slept_ns() == 60 * SECOND


def test_who_is_stopped_between_two_clocks_reads_them_again(monkeypatch: pytest.MonkeyPatch) -> None:
    clocks(monkeypatch, [SECOND, 9 * SECOND, 9 * SECOND, 9 * SECOND + 500], [8 * SECOND, 9 * SECOND])
    assert slept_ns() == 0


def test_awake_it_stays_as_it_is() -> None:
    before = slept_ns()
    assert abs(slept_ns() - before) < LEAST_NS
