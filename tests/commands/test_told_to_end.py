"""SIGTERM and a closed terminal end ``load`` and a calibration as Ctrl-C does; tests/live has the real processes."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from webdyno import commands
from webdyno.load.driver import Order
from webdyno.session import ceilings
from webdyno.session.ceilings import calibrate
from webdyno.session.engine import carry_out

GOLDEN = Path(__file__).parent.parent / "golden" / "engine"


class Engine:
    """A Host and its Group: an engine in whose middle webdyno is told to end; once asked to, it speaks on."""

    def __init__(self, number: signal.Signals) -> None:
        self.number, self.asked = number, 0

    def start(self, command: object) -> Engine:
        return self

    @property
    def stdout(self) -> Iterator[bytes]:
        first, *rest = (GOLDEN / "by-hand.interrupted.txt").read_bytes().splitlines(keepends=True)
        yield first
        signal.raise_signal(self.number)
        yield from rest

    def terminate(self) -> None:
        self.asked += 1

    def end(self, grace_s: float) -> list[str]:
        return []


@pytest.fixture
def unheeded() -> Iterator[Callable[[signal.Signals], None]]:
    """Makes a signal that nobody listens for fail the test, instead of ending all tests."""
    before: dict[signal.Signals, Any] = {}

    def fail(number: int, _: object) -> None:
        raise AssertionError(f"{signal.Signals(number).name} was not listened for")

    def watch(number: signal.Signals) -> None:
        before[number] = signal.signal(number, fail)

    yield watch
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_load_that_is_told_to_end_says_what_it_has(
    number: signal.Signals, unheeded: Callable[[signal.Signals], None]
) -> None:
    unheeded(number)
    engine: Any = Engine(number)
    order = msgspec.json.decode((GOLDEN / "by-hand.interrupted.order.json").read_bytes(), type=Order)
    loaded = carry_out(order, lambda _: None, host=engine, keep_on_interrupt=True)
    assert engine.asked == 1
    assert loaded.summary["ended"] == "interrupted"
    assert loaded.ok


def test_a_calibration_that_is_told_to_end_begins_no_further_load(monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted, loads = threading.Event(), []

    @contextmanager
    def instant(_: object) -> Iterator[int]:
        yield 1

    def load(order: Order, *_: object, **__: object) -> object:
        loads.append(order)
        interrupted.set()
        return SimpleNamespace(per_s=1.0, summary={})

    monkeypatch.setattr(ceilings, "_instant", instant)
    monkeypatch.setattr(ceilings, "carry_out", load)
    strapped: Any = SimpleNamespace(rig=SimpleNamespace(driver_cores=(0,)), interrupted=interrupted)
    with pytest.raises(KeyboardInterrupt):
        calibrate(strapped)
    assert len(loads) == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_command_that_listens_for_nothing_ends_as_by_ctrl_c(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def app(*_: object, **__: object) -> None:
        signal.raise_signal(number)
        raise AssertionError("it went on")

    monkeypatch.setattr(commands, "make_app", lambda _: app)
    monkeypatch.setattr("sys.argv", ["webdyno", "list"])
    before = {each: signal.signal(each, signal.SIG_DFL) for each in (signal.SIGTERM, signal.SIGHUP)}
    try:
        with pytest.raises(SystemExit) as ended:
            commands.main()
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
    assert ended.value.code == 130
    assert capsys.readouterr().err == "webdyno: stopped by Ctrl-C\n"
