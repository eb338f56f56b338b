"""The cgroups of this machine, where they can be written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rig.strapping import LIMIT_BYTES, python
from webdyno.rig.group import Group
from webdyno.rig.strap import Strapped

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
