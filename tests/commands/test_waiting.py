"""``--wait``: another webdyno is told of once, and a Ctrl-C ends the waiting."""

from __future__ import annotations

import threading

import pytest

from webdyno.commands import make_app
from webdyno.session.waiting import waiting


def test_who_does_not_want_to_wait_does_not() -> None:
    assert waiting(False) is None


def test_for_whom_is_told_once_and_again_for_another(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("webdyno.session.waiting._LOOK_S", 0.0)
    look = waiting(True)
    assert look is not None
    for holder in ("pid 1: webdyno run", "pid 1: webdyno run", "pid 2"):
        look(holder)
    said = capsys.readouterr().err.splitlines()
    assert said == [
        "waiting until another webdyno (pid 1: webdyno run) has ended; Ctrl-C ends the waiting",
        "waiting until another webdyno (pid 2) has ended; Ctrl-C ends the waiting",
    ]


def test_a_ctrl_c_that_was_noted_ends_it() -> None:
    interrupted = threading.Event()
    interrupted.set()
    look = waiting(True, interrupted)
    assert look is not None
    with pytest.raises(KeyboardInterrupt):
        look("pid 1")


@pytest.mark.parametrize("command", ["run", "check", "try", "capacity", "compare", "doctor"])
def test_every_command_that_takes_the_machine_can_wait(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    make_app(command)([command, "--help"], exit_on_error=False)
    assert "--wait" in capsys.readouterr().out
