"""A command of the user's own: its status is ours, signals reach it, and what is to be done after it is done."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from collections.abc import Sequence

import pytest

from tests.rig.strapping import wait_for

OURS = """
import os, sys
from webdyno.rig.in_front import run_in_front, undisturbed
kill = os.kill
os.kill = lambda *it: print("handed on", flush=True) or kill(*it)
try:
    with undisturbed():
        status = run_in_front(sys.argv[1:])
        print("after it", status, flush=True)
except KeyboardInterrupt:
    print("too late", flush=True)
"""
SHELL = "trap 'echo got {name}; exit 5' {name}; echo up; for i in $(seq 500); do sleep 0.02; done"


def ours(argv: Sequence[str], **options: int | bool) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", OURS, *argv], text=True, stdout=subprocess.PIPE, **options)  # type: ignore[call-overload, no-any-return]


@pytest.mark.parametrize(("script", "status"), [("exit 0", "0"), ("exit 7", "7"), ("kill -9 $$", "-9")])
def test_its_status_is_said(script: str, status: str) -> None:
    with ours(["sh", "-c", script]) as done:
        assert done.communicate(timeout=30)[0] == f"after it {status}\n"


@pytest.mark.parametrize("name", ["INT", "TERM", "HUP", "QUIT"])
def test_a_signal_that_is_sent_to_us_reaches_it_and_what_is_after_it_is_done(name: str) -> None:
    with ours(["sh", "-c", SHELL.format(name=name)], start_new_session=True) as done:
        assert done.stdout
        assert done.stdout.readline() == "up\n"
        done.send_signal(getattr(signal, f"SIG{name}"))
        assert done.communicate(timeout=30)[0] == f"handed on\ngot {name}\nafter it 5\n"


def test_a_ctrl_c_of_the_terminal_reaches_it_once() -> None:
    count = (
        "import signal, sys, time\nsignal.signal(2, lambda *_: print('once', flush=True))\nprint('up', flush=True)\n"
    )
    count += "time.sleep(0.5); time.sleep(0.3)"
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, "-c", OURS, "sh", "-c", SHELL.format(name="INT")])
    seen = b""

    def has(text: bytes) -> bool:
        nonlocal seen
        seen += os.read(terminal, 4096)
        return text in seen

    wait_for(lambda: has(b"up"))
    os.write(terminal, b"\x03")
    wait_for(lambda: has(b"after it 5"))
    os.waitpid(pid, 0)
    os.close(terminal)
    assert b"got INT" in seen
    assert b"handed on" not in seen


def test_a_pipe_that_nobody_reads_ends_it_as_it_would_without_us() -> None:
    with ours(["sh", "-c", "(yes; echo $? >&2) | head -1 >/dev/null"], stderr=subprocess.PIPE) as done:
        assert done.communicate(timeout=30)[1].strip() == "141"  # not 1, after a complaint about the pipe
