"""What Ctrl-C, SIGTERM and a closed terminal do while a command has something to finish."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest

from tests.rig.strapping import own_lock
from webdyno.session import interrupts, machine
from webdyno.session.interrupts import listening_for_interrupts

__all__ = ["own_lock"]


def send(number: signal.Signals) -> None:
    """To ourselves; it has been handled when this returns."""
    signal.raise_signal(number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_sets_the_event_and_is_said_once(number: signal.Signals, capfd: pytest.CaptureFixture[str]) -> None:
    before = signal.signal(number, signal.SIG_DFL)
    try:
        with listening_for_interrupts() as interrupted:
            assert not interrupted.is_set()
            send(number)
            send(number)  # at once: what started us may have handed on the same one
            assert interrupted.is_set()
        assert signal.getsignal(number) is signal.SIG_DFL
    finally:
        signal.signal(number, before)
    assert capfd.readouterr().err.count("ending cleanly") == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_what_ends_at_once_is_ended_once_and_nothing_is_said(
    number: signal.Signals, capfd: pytest.CaptureFixture[str]
) -> None:
    ended: list[str] = []
    before = signal.signal(number, signal.SIG_DFL)
    try:
        with listening_for_interrupts(lambda: ended.append("it")) as interrupted:
            send(number)
            send(number)
            assert interrupted.is_set()
    finally:
        signal.signal(number, before)
    assert ended == ["it"]
    assert capfd.readouterr().err == ""


@pytest.mark.usefixtures("own_lock")
def test_the_machine_in_use_knows_that_its_user_wants_an_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(machine, "cache_folder", lambda: tmp_path / "cache")
    with machine.strapped_here(None) as strapped:
        assert not strapped.interrupted.is_set()
        send(signal.SIGTERM)
        assert strapped.interrupted.is_set()
    assert "ending cleanly" in capfd.readouterr().err


def test_what_was_ignored_stays_ignored(capfd: pytest.CaptureFixture[str]) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    try:
        with listening_for_interrupts() as interrupted:
            send(signal.SIGHUP)
            assert not interrupted.is_set()
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
    assert capfd.readouterr().err == ""


def test_a_terminal_that_is_gone_keeps_nothing_from_ending() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    kept = os.dup(2)
    os.close(2)  # writing to it fails from here on
    try:
        with listening_for_interrupts() as interrupted:
            send(signal.SIGHUP)
            assert interrupted.is_set()
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        signal.signal(signal.SIGHUP, before)


def test_a_second_ctrl_c_is_not_waited_for_and_a_second_hangup_is_nothing_new(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interrupts, "_AGAIN_S", -1.0)
    kept = [(number, signal.signal(number, signal.SIG_DFL)) for number in (signal.SIGINT, signal.SIGHUP)]
    try:
        with listening_for_interrupts() as interrupted:
            send(signal.SIGHUP)
            send(signal.SIGHUP)
            assert interrupted.is_set()
            with pytest.raises(KeyboardInterrupt):
                send(signal.SIGINT)
            with pytest.raises(KeyboardInterrupt):
                send(signal.SIGINT)
    finally:
        for number, before in kept:
            signal.signal(number, before)


def test_in_a_thread_of_a_program_the_program_hears_its_signals_itself() -> None:
    before = signal.getsignal(signal.SIGINT)
    seen: list[object] = []

    def inside() -> None:
        with listening_for_interrupts() as interrupted:
            seen.extend([interrupted.is_set(), signal.getsignal(signal.SIGINT)])

    thread = threading.Thread(target=inside)
    thread.start()
    thread.join()
    assert seen == [False, before]
