"""Cgroup v2 as the kernel really has it, as far as a machine whose memory controller stands in v1 can show it.

What a controller that v2 has (often hugetlb alone) does is asked of it; that memory.max, cpuset.cpus, pids.max and
cpu.max hold is not shown here: that takes a machine whose controllers are v2's.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from webdyno.rig import cgroup_v2
from webdyno.rig.mounts import places

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(os.geteuid() != 0 or shutil.which("unshare") is None, reason="this takes root and unshare"),
]
ALONE = """
cd / && for mounted in $(awk '$3 ~ /^cgroup/ { print $2 }' /proc/mounts); do umount -l "$mounted"; done
mount -t cgroup2 none /sys/fs/cgroup && exec "$@"
"""
STRAPPED = """
import sys
from pathlib import Path
from webdyno.rig.host import Command
from webdyno.rig.strap import strap
spin = "import time\\nend = time.process_time() + 0.2\\nwhile time.process_time() < end: pass\\ninput()"
with strap(2**27, Path(sys.argv[1])) as strapped:
    print(strapped.rig.cgroup, strapped.rig.cgroup_reason, sep="|")
    argv = [sys.executable, "-S", "-c", spin]
    with strapped.start(Command(argv=argv, environment={}, role="contender", stdin="pipe")) as group:
        while sum(group.cpu_ns() or (0,)) < 2e8: pass
    print(group.cpu_ns() is not None, group.memory_peak_bytes(), group.pids(), sep="|")
"""


@pytest.fixture
def group() -> Iterator[Path]:
    """A fresh group of v2 with a controller to hand on."""
    unified = places().get("")
    if unified is None or not os.access(unified.mount, os.W_OK):
        pytest.skip("no cgroup v2 can be written here")
    controllers = (unified.mount / "cgroup.controllers").read_text().split()
    given = (unified.mount / "cgroup.subtree_control").read_text().split()
    if not controllers:
        pytest.skip("cgroup v2 has no controller here")
    ours = [name for name in controllers if name not in given]
    cgroup_v2.enable(unified.mount, controllers)
    folder = unified.mount / f"webdyno-test-{os.getpid()}"
    folder.mkdir()
    yield folder
    folder.rmdir()
    for name in ours:
        (unified.mount / "cgroup.subtree_control").write_text(f"-{name}")


def test_a_group_hands_controllers_on_once_nobody_is_in_it(group: Path) -> None:
    """Which is why webdyno steps aside into a child of its own."""
    wanted = (group / "cgroup.controllers").read_text().split()
    assert wanted
    with subprocess.Popen(["/bin/sleep", "60"]) as inside:
        (group / "cgroup.procs").write_text(str(inside.pid))
        assert cgroup_v2.pids(group) == [inside.pid]
        assert cgroup_v2.enable(group, wanted) == frozenset()
        assert cgroup_v2.cpu_ns(group) is not None
        assert cgroup_v2.kill(group)
    assert cgroup_v2.enable(group, wanted) == frozenset(wanted)


def test_in_a_namespace_with_v2_alone_and_no_memory_controller_it_is_said_and_cpu_is_counted(
    own_lock: Path, tmp_path: Path
) -> None:
    inside = ["unshare", "--cgroup", "--mount", "sh", "-c", ALONE, "sh"]
    command = [*inside, sys.executable, "-c", STRAPPED, str(tmp_path / "cache")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, cwd=tmp_path)
    if "unshare" in done.stderr or "mount:" in done.stderr:
        pytest.skip(done.stderr.strip().splitlines()[-1])
    assert done.returncode == 0, done.stderr
    kind, figures = (line.split("|") for line in done.stdout.splitlines())
    if kind[0] == "v2":
        pytest.skip("the controllers of this machine are v2's: test_cgroup_live.py shows more")
    assert kind == [
        "none",
        "the memory controller is not delegated to /sys/fs/cgroup; start webdyno with: systemd-run --user --scope -p "
        "Delegate=yes webdyno ..., or as root",
    ]
    assert figures == ["True", "None", "[]"]
