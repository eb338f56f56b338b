"""Faults while a machine is held quiet: whatever ends webdyno, its settings do not stay changed."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time

import pytest

from tests.live.conftest import cache, environment
from tests.live.test_quiet import FILES, KEEP, LOUD, QUIET, Machine, machine
from tests.rig.strapping import wait_for

__all__ = ["cache", "environment", "machine"]

pytestmark = [
    pytest.mark.live,
    pytest.mark.torture,
    pytest.mark.timeout(300),
    pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("nsenter"), reason="needs root, unshare and nsenter"),
]


def test_kill_9_at_any_moment(machine: Machine) -> None:
    """webdyno killed with SIGKILL at 20 moments of doctor --quiet: the next one puts back every setting."""
    begun = time.monotonic()
    with machine.quieted("true") as done:
        done.communicate(timeout=60)
    whole_s, put_back = time.monotonic() - begun, 0
    for moment in range(20):
        with machine.quieted("sleep", "0.2") as done:
            time.sleep(whole_s * (0.6 + moment / 25))
            done.kill()
        code, out, err = machine.webdyno("doctor", "--quiet", "--undo")
        assert (code, machine.values(), machine.has_journal()) == (0, LOUD, False), (moment, out, err)
        put_back += "put back" in out
    assert put_back, "no moment was one at which anything was set"


def test_kill_9_while_its_command_goes_on(machine: Machine) -> None:
    """webdyno killed with SIGKILL while its command measures: that goes on undisturbed, and then all is put back."""
    measuring = [sys.executable, "-c", "import fcntl, os, sys, time; f = os.open(os.environ['WEBDYNO_LOCK'], 0); "]
    measuring[-1] += "fcntl.flock(f, fcntl.LOCK_EX); print('up', flush=True); time.sleep(8)"  # holds the machine
    with machine.quieted(*measuring) as done:
        assert done.stdout
        assert done.stdout.readline() == "up\n"
        done.kill()
        code, _, err = machine.webdyno("doctor", "--quiet", "--undo")
        assert (code, machine.values()) == (3, QUIET), err
    code, out, err = machine.webdyno("doctor", "--quiet", "--undo", "--wait")
    assert (code, machine.values()) == (0, LOUD), (out, err)


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"])
def test_a_signal_at_any_moment(name: str, machine: Machine) -> None:
    """webdyno interrupted at 8 moments of doctor --quiet: it puts every setting back before it ends."""
    for moment in range(8):
        with machine.quieted("sleep", "0.3") as done:
            if moment:
                machine.wait_until_quiet()
                time.sleep(moment / 20)
            else:
                wait_for(machine.has_journal, within_s=30)
            done.send_signal(signal.Signals[name])
            out, err = done.communicate(timeout=60)
        assert (machine.values(), machine.has_journal()) == (LOUD, False), (moment, out, err)


def test_somebody_else_sets_one_meanwhile(machine: Machine) -> None:
    """A setting changed by somebody else while webdyno holds it: theirs stays, is said, and the rest is put back."""
    with machine.quieted("sh", "-c", f"echo 1000 > {FILES[0]}") as done:
        _, err = done.communicate(timeout=60)
    assert machine.values() == ["1000", LOUD[1]]
    assert "somaxconn stays 1000, because somebody else changed it in the meantime: it was 128" in err


def test_two_at_once(machine: Machine) -> None:
    """A second doctor --quiet while one holds the machine: it is refused, and the first one's end is not harmed."""
    with machine.quieted("sleep", "8") as done:
        machine.wait_until_quiet()
        code, _, err = machine.webdyno("doctor", "--quiet", "--yes", KEEP, "--", "true")
        assert (code, machine.values()) == (3, QUIET)
        assert "keeps this machine quiet until its command ends" in err
        done.communicate(timeout=60)
    assert machine.values() == LOUD


def test_nothing_can_be_written_down(machine: Machine) -> None:
    """/run on a full disk or read-only: nothing is set, the command is not run, and one sentence says so."""
    machine.call("mount", "-o", "remount,ro", "/run")
    code, out, err = machine.webdyno("doctor", "--quiet", "--yes", KEEP, "--", "echo", "ran")
    assert (code, out, machine.values()) == (3, "", LOUD)
    assert "nothing was set" in err
