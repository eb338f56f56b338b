"""``doctor --quiet`` on a real kernel: in a network and a ``/run`` of its own, so that nothing else is disturbed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.rig.strapping import wait_for

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("nsenter"), reason="needs root, unshare and nsenter"),
]

FILES = [f"/proc/sys/net/{name}" for name in ("core/somaxconn", "ipv4/ip_local_port_range")]
LOUD, QUIET = ["128", "32768\t60999"], ["4096", "16384\t65535"]
KEEP = "--keep=governor,turbo,huge-pages,open-files"  # which are the whole machine's
ALONE = "mount -t tmpfs none /run && echo 128 > /proc/sys/net/core/somaxconn && echo ready && exec cat"
JOURNAL = "/run/webdyno/quiet.json"


class Machine:
    """Namespaces in which commands are called."""

    def __init__(self, pid: int, environment: dict[str, str]) -> None:
        self._enter = ["nsenter", f"--target={pid}", "--net", "--mount", "--"]
        self._environment = environment

    def start(self, *argv: str) -> subprocess.Popen[str]:
        """With its own pid, for nsenter becomes it."""
        return subprocess.Popen(
            [*self._enter, *argv], env=self._environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def call(self, *argv: str) -> tuple[int, str, str]:
        """Exit status and what it said."""
        with self.start(*argv) as done:
            out, err = done.communicate(timeout=60)
        return done.returncode, out, err

    def webdyno(self, *words: str) -> tuple[int, str, str]:
        return self.call(sys.executable, "-m", "webdyno", *words)

    def quieted(self, *command: str) -> subprocess.Popen[str]:
        """A webdyno that holds it quiet."""
        return self.start(sys.executable, "-m", "webdyno", "doctor", "--quiet", "--yes", KEEP, "--", *command)

    def values(self) -> list[str]:
        return self.call("cat", *FILES)[1].splitlines()

    def has_journal(self) -> bool:
        return self.call("test", "-e", JOURNAL)[0] == 0

    def wait_until_quiet(self) -> None:
        wait_for(lambda: self.values() == QUIET, within_s=30)


@pytest.fixture
def machine(environment: dict[str, str]) -> Iterator[Machine]:
    own = {**environment, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(
        ["unshare", "--net", "--mount", "--propagation=private", "sh", "-c", ALONE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdin
        assert holder.stdout
        try:
            if holder.stdout.readline() != "ready\n":
                pytest.skip("no namespaces of one's own here")
            yield Machine(holder.pid, own)
        finally:
            holder.stdin.close()


def test_the_kernel_s_settings_hold_for_the_command_and_not_after_it(machine: Machine) -> None:
    assert machine.values() == LOUD
    with machine.quieted("sh", "-c", f"cat {' '.join(FILES)}; exit 7") as done:
        out, err = done.communicate(timeout=60)
    assert (done.returncode, out.splitlines()) == (7, QUIET), err
    assert "webdyno: put back: somaxconn 128, port-range 32768 60999" in err
    assert machine.values() == LOUD
    assert not machine.has_journal()


def test_after_a_kill_the_next_webdyno_that_measures_puts_it_back(machine: Machine) -> None:
    with machine.quieted("sleep", "0.5") as done:
        machine.wait_until_quiet()
        done.kill()
    assert machine.values() == QUIET
    assert "was killed left this machine quiet" in machine.webdyno("doctor", "--quiet")[1]
    assert machine.values() == QUIET  # looking changes nothing
    code, _, err = machine.webdyno("doctor")
    assert code == 0, err
    assert "put back: somaxconn 128, port-range 32768 60999" in err
    assert machine.values() == LOUD
    assert not machine.has_journal()
