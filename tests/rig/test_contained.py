"""A container's processes: told from its client's, counted by themselves, ended whatever they do.

The engine here is a shell script with ``unshare``: what it starts leaves its client's session and has a pid namespace
and, where they can be made, cgroups of its own.
"""

from __future__ import annotations

import os
import shutil
import signal
import time
from pathlib import Path

import pytest

from tests.rig.layouts import proc
from tests.rig.strapping import gone, wait_for
from webdyno.rig import contained as module
from webdyno.rig.contained import Contained, cgroup_of
from webdyno.rig.here import Here
from webdyno.rig.host import Command
from webdyno.rig.mounts import Place, places
from webdyno.rig.process import mark_of, name_of, read_stat

CLIENT = """
setsid unshare --pid --fork --kill-child sh -c 'INSIDE' & inside=$!
trap 'kill -9 $inside; wait $inside; exit 0' TERM
echo up
wait $inside
"""
WORKERS = "sleep 60 & sleep 60 & wait"
needs_namespaces = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("unshare") is None or shutil.which("setsid") is None,
    reason="pid namespaces are made here by root with unshare and setsid (util-linux)",
)


def contained(host: Here, inside: str, client: str = CLIENT) -> Contained:
    command = Command(
        argv=["sh", "-c", client.replace("INSIDE", inside)],
        environment={"PATH": os.environ["PATH"]},
        role="contender",
        contained=True,
    )
    group = host.start(command)
    assert isinstance(group, Contained)
    return group


@pytest.mark.live
@needs_namespaces
@pytest.mark.parametrize("fixture", ["here", "strapped"])
def test_only_what_runs_in_the_container_is_the_group(fixture: str, request: pytest.FixtureRequest) -> None:
    group = contained(request.getfixturevalue(fixture), WORKERS)
    wait_for(lambda: len(group.pids()) == 3)
    assert group.pid not in group.pids()
    assert all((stat := read_stat(pid)) is not None and stat.session != group.pid for pid in group.pids())
    assert group.cpu_ns() is None  # this engine makes no cgroup, and the client's own would count the client
    inside = group.pids()
    assert group.end(5.0) == []
    assert all(map(gone, inside))
    assert group.pids() == []


@pytest.mark.live
@needs_namespaces
def test_a_container_is_killed_before_its_client_when_it_does_not_heed_sigterm(strapped: Here, tmp_path: Path) -> None:
    seen = tmp_path / "cleared"
    deaf = CLIENT.replace("kill -9 $inside; wait $inside; exit 0", ":") + f"wait $inside; touch {seen}"
    group = contained(strapped, f"trap : TERM; {WORKERS}", deaf)
    wait_for(lambda: len(group.pids()) == 3)
    inside = group.pids()
    assert group.end(0.2) == ["did not end within 0.2 s of SIGTERM and was killed"]
    assert all(map(gone, inside))
    assert seen.exists()  # the client outlived the container, and could clear it away


@pytest.mark.live
@needs_namespaces
def test_a_first_process_that_never_asked_for_sigterm_ends_at_once(strapped: Here) -> None:
    """Of a pid namespace it gets none that it does not catch; without a container it would have ended by it."""
    group = contained(
        strapped, WORKERS, CLIENT.replace("kill -9 $inside; wait $inside; exit 0", "wait $inside; exit 0")
    )
    wait_for(lambda: len(group.pids()) == 3)
    begun = time.monotonic()
    assert group.end(30.0) == []
    assert time.monotonic() - begun < 20.0
    assert group.pids() == []


@pytest.mark.live
@needs_namespaces
@pytest.mark.parametrize("limited", [True, False])
def test_a_container_killed_by_nobody_of_ours_went_past_its_limit_where_it_has_one(here: Here, limited: bool) -> None:
    group = contained(here, WORKERS, CLIENT + "exit 137")
    group.has_memory_limit = limited
    wait_for(lambda: len(group.pids()) == 3)
    inside = group.pids()
    os.kill(next(pid for pid in inside if (stat := read_stat(pid)) and stat.parent not in inside), signal.SIGKILL)
    assert group.wait(10.0) == 137
    assert group.oom_killed() is limited
    group.end(1.0)


@pytest.mark.live
@needs_namespaces
def test_a_container_that_we_killed_went_past_no_limit(here: Here) -> None:
    group = contained(here, WORKERS, CLIENT.replace("exit 0", "exit 137"))
    group.has_memory_limit = True
    wait_for(lambda: len(group.pids()) == 3)
    group.end(0.2)
    assert not group.oom_killed()


@pytest.mark.live
@needs_namespaces
def test_a_container_that_was_made_after_ours_had_gone_is_never_taken_for_it(here: Here) -> None:
    """The kernel names a new pid namespace as one that is gone; ours was ended by its engine, and nobody told us."""
    ours = contained(here, WORKERS)
    wait_for(lambda: len(ours.pids()) == 3)
    inside = ours.pids()
    first = next(pid for pid in inside if (stat := read_stat(pid)) is not None and stat.parent not in inside)
    os.kill(first, signal.SIGKILL)  # all others of a namespace end with its first process
    wait_for(lambda: ours.pids() == [])
    assert ours.wait(10.0) is not None
    others = [contained(here, WORKERS) for _ in range(3)]
    wait_for(lambda: all(len(other.pids()) == 3 for other in others))
    assert ours.pids() == []
    ours.end(5.0)
    assert all(len(other.pids()) == 3 for other in others)
    others += [contained(here, WORKERS) for _ in range(3)]
    wait_for(lambda: all(len(other.pids()) == 3 for other in others))
    assert ours.pids() == [], "what it had held is free, and somebody has it"


@pytest.mark.live
@needs_namespaces
def test_a_server_that_writes_over_its_environment_was_found_before(here: Here, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    group = contained(here, f"while [ ! -e {gate} ]; do sleep 0.01; done; exec env -i /bin/sleep 60")
    wait_for(lambda: group.poll() is None and group._namespace)
    gate.touch()
    wait_for(lambda: [name_of(pid) for pid in group.pids()] == ["sleep"])
    assert mark_of(group.pids()[0]) is None
    group.end(5.0)
    assert group.pids() == []


@pytest.mark.live
def test_until_a_container_runs_there_is_nobody(here: Here) -> None:
    group = contained(here, "", "sleep 60")
    assert group.pids() == []
    assert group.memory_peak_bytes() is None
    assert not group.oom_killed()
    group.end(5.0)


def test_a_containers_cgroup_is_where_it_stands_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def place(name: str, own: str) -> Place:
        (tmp_path / name / own).mkdir(parents=True, exist_ok=True)
        return Place(tmp_path / name, tmp_path / name / own)

    standing = {
        "1": {name: place(name, "ours") for name in ("memory", "cpuacct", "")},
        "2": {"memory": place("memory", "libpod"), "cpuacct": place("cpuacct", ""), "": place("", "ours")},
        "3": {name: place(name, "ours") for name in ("memory", "cpuacct", "")},
    }
    monkeypatch.setattr(module, "places", lambda process: standing[process])
    found = cgroup_of(2, beside=1)
    assert found is not None
    assert found.folders == [tmp_path / "memory" / "libpod"]
    assert cgroup_of(3, beside=1) is None


def test_where_another_process_stands_is_read_from_its_own_lines(tmp_path: Path) -> None:
    mount = tmp_path / "memory"
    (mount / "libpod").mkdir(parents=True)
    told = proc(tmp_path, "4:memory:/\n", ("/", mount, "cgroup", "rw,memory"))
    (told / "42").mkdir()
    (told / "42" / "cgroup").write_text("4:memory:/libpod\n")
    assert places(told, "42") == {"memory": Place(mount, mount / "libpod")}
    assert places(told) == {"memory": Place(mount, mount)}
