"""The way container with the engine of this machine, and without a server: what docs/how-to/fences.md says of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rig.strapping import LIMIT_BYTES, gone, wait_for
from webdyno.model.errors import MachineError
from webdyno.rig.contained import Contained
from webdyno.rig.engines import LABEL
from webdyno.rig.group import Group
from webdyno.rig.host import Command
from webdyno.rig.process import all_stats, mark_of
from webdyno.rig.strap import Strapped, strap

# One after the other: an engine's containers are those of the whole machine.
pytestmark = [pytest.mark.live, pytest.mark.measures, pytest.mark.timeout(120)]
PROBE = """
import ctypes, os
def may_write(path):
    try:
        open(path, "w").close()
    except OSError:
        return False
    return True
io_uring = ctypes.CDLL(None).syscall(425, 1, ctypes.byref(ctypes.create_string_buffer(120)))
print(may_write("/usr/webdyno-was-here"), may_write(os.environ["HOME"] + "/mine"), may_write("/tmp/webdyno-was-here"))
print(len([name for name in os.listdir("/proc") if name.isdecimal()]), sorted(os.sched_getaffinity(0)), os.getuid())
print(os.path.isdir("/var/lib"), os.path.isdir("/usr/lib"), io_uring < 0, os.environ["SECRET"])
"""
EAT = "x = []\nwhile True: x.append(b'x' * 2**20)"
EAT_IN_A_WORKER = "import os, time\nif os.fork() == 0:\n    x = []\n    while True: x.append(b'x' * 2**20)\nos.wait()\n"
EAT_IN_A_WORKER += "time.sleep(60)"
SPIN = "while True: pass"
OWNER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from tests.rig.strapping import wait_for
from tests.rig.test_containers_live import begin
from webdyno.rig.strap import strap
folder = Path(sys.argv[1])
with strap(None, folder / "cache", way="container") as strapped:
    group = begin(strapped, folder, "import time; time.sleep(60)")
    wait_for(group.pids, 30)
    print(strapped.token, *group.pids(), flush=True)
    input()
"""


@pytest.fixture
def strapped(own_lock: Path, tmp_path: Path) -> Iterator[Strapped]:
    """Containers with a tenth of a core and a limit; the test is skipped where no engine can hold them to it."""
    try:
        strapping = strap(LIMIT_BYTES, tmp_path / "cache", way="container", cpus=0.1)
        there = strapping.__enter__()
    except MachineError as error:
        pytest.skip(str(error))
    yield there
    strapping.__exit__(None, None, None)
    assert left(there) == ""


def begin(strapped: Strapped, folder: Path, code: str) -> Group:
    """A few lines of Python as a contender, which write into ``folder``."""
    home, log = strapped.folder(), folder / "log"
    log.touch()
    return strapped.start(
        Command(
            argv=[sys.executable, "-S", "-c", code],
            cwd=home,
            environment={"HOME": str(home), "PATH": os.environ["PATH"], "SECRET": "open sesame"},
            role="contender",
            stdout=log,
        )
    )


def left(strapped: Strapped) -> str:
    """Containers that the engine still has of a rig's, running or not."""
    assert strapped._containers is not None
    engine = strapped._containers.engine
    command = [engine.program, "ps", "--all", "--quiet", "--filter", f"label={LABEL}={strapped.token}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_files_processes_cores_and_system_calls_are_as_the_page_says(strapped: Strapped, tmp_path: Path) -> None:
    with begin(strapped, tmp_path, PROBE) as group:
        assert isinstance(group, Contained)
        assert group.wait(30) == 0, (tmp_path / "log").read_text()
    wrote, seen, there = (tmp_path / "log").read_text().splitlines()
    assert wrote == "False True True"
    assert not Path("/tmp/webdyno-was-here").exists()
    assert seen == f"1 {list(strapped.rig.contender_cores)} {os.getuid()}"
    assert there == "False True True open sesame"


@pytest.mark.parametrize("code", [EAT, EAT_IN_A_WORKER])
def test_the_memory_limit_kills_and_is_told(strapped: Strapped, tmp_path: Path, code: str) -> None:
    with begin(strapped, tmp_path, code) as group:
        wait_for(lambda: (group.pids(), group.oom_killed())[1], 30)  # who looks at it, as the sampler does


def test_cpu_memory_and_quota_are_counted_of_the_container_alone(strapped: Strapped, tmp_path: Path) -> None:
    with begin(strapped, tmp_path, SPIN) as group:
        wait_for(lambda: group.pids() and group.throttled_ns(), 30)
        peak, used = group.memory_peak_bytes(), group.cpu_ns()
        assert len(group.pids()) == 1
    assert used
    assert sum(used) > 0
    assert peak
    assert peak < 30 * 2**20  # the client of an engine alone takes more


def test_a_killed_webdyno_leaves_a_container_that_the_next_one_ends(own_lock: Path, tmp_path: Path) -> None:
    root = str(Path(__file__).parents[2])
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, str(tmp_path), root],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": str(own_lock)},
    ) as owner:
        assert owner.stdout is not None
        token, *pids = owner.stdout.readline().decode().split() or ["", ""]
        os.kill(owner.pid, signal.SIGKILL)
    if not token:
        pytest.skip("no container could be started here")
    assert not any(gone(int(pid)) for pid in pids), "or there is nothing to show"
    with strap(None, tmp_path / "cache", way="container") as strapped:
        assert any("cleaned up after a webdyno that was killed" in told for told in strapped.swept)
        assert all(gone(int(pid)) for pid in pids)
        wait_for(lambda: not [pid for pid in all_stats() if (mark_of(pid) or "").startswith(token)])
        assert strapped._containers is not None
        engine = strapped._containers.engine
        command = [engine.program, "ps", "--all", "--quiet", "--filter", f"label={LABEL}={token}"]
        wait_for(lambda: subprocess.run(command, capture_output=True, check=True).stdout == b"")
