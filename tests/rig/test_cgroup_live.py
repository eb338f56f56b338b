"""The cgroups of this machine, where they can be written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.rig.strapping import LIMIT_BYTES, python
from webdyno.model.errors import MachineError
from webdyno.model.way import WayName
from webdyno.rig.group import Group
from webdyno.rig.strap import Strapped, strap

pytestmark = pytest.mark.live

EAT = "x = []\nwhile True: x.append(b'x' * 2**20)"
EAT_IN_A_WORKER = "import os, time\nif os.fork() == 0:\n    x = []\n    while True: x.append(b'x' * 2**20)\nos.wait()\n"


@pytest.fixture
def limited(strapped: Strapped) -> Strapped:
    if strapped.rig.cgroup == "none":
        pytest.skip(f"no cgroup can be written here: {strapped.rig.cgroup_reason}")
    return strapped


def folders(group: Group) -> list[Path]:
    assert group._cgroup is not None
    return group._cgroup.folders


@pytest.mark.parametrize("code", [EAT, EAT_IN_A_WORKER])
def test_the_memory_limit_kills_and_is_told(limited: Strapped, code: str) -> None:
    group = limited.start(python(code))
    assert group.wait(30) in (-9, 0)
    group.end(0)
    assert group.oom_killed()
    peak = group.memory_peak_bytes()
    assert peak is not None
    assert 0.8 * LIMIT_BYTES < peak <= LIMIT_BYTES


SPIN = "import time\nend = time.monotonic() + 1.5\nwhile time.monotonic() < end: pass"


@pytest.mark.parametrize("way", [None, "cgroup"])
def test_a_quota_holds_a_contender_back_and_not_its_driver(way: WayName | None, own_lock: Path, tmp_path: Path) -> None:
    try:
        strapping = strap(None, tmp_path / "cache", way=way, cpus=0.2)
        with strapping as strapped:
            contender, driver = strapped.start(python(SPIN)), strapped.start(python(SPIN, role="driver"))
            for group in (contender, driver):
                assert group.wait(30) == 0
                group.end(0)
    except MachineError as error:
        pytest.skip(str(error))
    assert strapped.rig.cpus == 0.2
    held, free = contender.throttled_ns(), driver.throttled_ns()
    assert held
    assert held > 0.3e9
    assert not free
    used = contender.cpu_ns()
    assert used
    assert sum(used) < 0.9e9


def test_bare_there_is_no_cgroup_and_nothing_to_hold_a_quota(own_lock: Path, tmp_path: Path) -> None:
    with strap(LIMIT_BYTES, tmp_path / "cache", way="bare") as strapped:
        assert (strapped.rig.way, strapped.rig.cgroup) == ("bare", "none")
        with strapped.start(python("input()")) as group:
            assert group._cgroup is None
            assert os.sched_getaffinity(group.pid) == set(strapped.rig.contender_cores)
    with pytest.raises(MachineError, match=r"--cpus 0\.2 cannot be enforced bare: choose --way cgroup or"):
        strap(None, tmp_path / "cache", way="bare", cpus=0.2).__enter__()


def test_a_driver_has_no_memory_limit(limited: Strapped) -> None:
    group = limited.start(python(f"x = b'x' * {2 * LIMIT_BYTES}", role="driver"))
    assert group.wait(30) == 0
    assert not group.oom_killed()
    group.end(0)


def test_contender_and_driver_are_siblings_and_their_cgroups_end_with_them(limited: Strapped) -> None:
    sleep = "import time; time.sleep(60)"
    contender, driver = limited.start(python(sleep)), limited.start(python(sleep, role="driver"))
    made = [*folders(contender), *folders(driver)]
    assert {path.parent for path in folders(contender)} == {path.parent for path in folders(driver)}
    assert all(path.is_dir() and path.name.startswith(f"webdyno-{limited.token}") for path in made)
    assert contender.pids() == [contender.pid]
    contender.end(1)
    driver.end(1)
    assert not any(path.exists() for path in made)
