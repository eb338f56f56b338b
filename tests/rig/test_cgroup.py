"""Cgroup files of both versions, in trees laid out in a folder; no privilege needed."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.rig.layouts import proc, v2_group, write
from webdyno.rig import cgroup, cgroup_v1, cgroup_v2, cgroup_way
from webdyno.rig.cgroup import Cgroup
from webdyno.rig.cgroup_way import Cgroups, Way, find_cgroups
from webdyno.rig.mounts import Place


def empty(folder: Path) -> None:
    """The kernel removes a group's files with it; a folder's files must go before rmdir."""
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(autouse=True)
def rmdir_as_the_kernel_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "rmdir", empty)


# choosing where to make groups, v2


def test_the_nearest_group_that_gives_memory_to_its_children_is_chosen(tmp_path: Path) -> None:
    root = v2_group(tmp_path, controllers="cpuset cpu memory", given="memory")
    user = v2_group(root / "user.slice", controllers="memory", given="memory")
    own = v2_group(user / "session.scope", controllers="", procs=f"{os.getpid()}")
    assert cgroup_v2.choose_parent(own, root) == cgroup_v2.Parent(user, frozenset({"memory"}))


def test_controllers_a_group_has_are_handed_on_where_that_works(tmp_path: Path) -> None:
    own = v2_group(tmp_path, controllers="cpuset memory", given="memory")
    assert cgroup_v2.enable(own) == {"memory"} or "+cpuset" in (own / "cgroup.subtree_control").read_text()
    assert (own / "cgroup.subtree_control").read_text() == "+cpuset"  # the kernel would add it to what is there


def test_no_group_is_chosen_where_memory_is_not_to_be_had(tmp_path: Path) -> None:
    own = v2_group(tmp_path / "a/b", controllers="hugetlb")
    v2_group(tmp_path / "a", controllers="hugetlb")
    v2_group(tmp_path, controllers="hugetlb")
    assert cgroup_v2.choose_parent(own, tmp_path) is None


def test_a_group_that_cannot_be_written_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = v2_group(tmp_path, controllers="memory", given="memory")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert cgroup_v2.choose_parent(own, tmp_path) is None


# limits and figures


def test_v2_limits_are_written_and_swap_is_shut(tmp_path: Path) -> None:
    cgroup_v2.configure(tmp_path, frozenset({"memory", "cpuset"}), (0, 2), 512)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "cpuset.cpus": "0,2",
        "memory.max": "512",
        "memory.swap.max": "0",
    }


def test_v2_writes_no_limit_it_has_no_controller_for(tmp_path: Path) -> None:
    cgroup_v2.configure(tmp_path, frozenset(), (0,), 512)
    assert list(tmp_path.iterdir()) == []


def test_v1_sets_memory_nodes_before_cores_and_takes_them_from_its_parent(tmp_path: Path) -> None:
    cpuset = write(tmp_path / "cpuset", {"cpuset.mems": "0-1\n", "cpuset.cpus": "0-7\n"}) / "child"
    memory = tmp_path / "memory"
    cpuset.mkdir()
    memory.mkdir()
    cgroup_v1.configure({"cpuset": cpuset, "memory": memory}, (3,), 512)
    assert (cpuset / "cpuset.mems").read_text() == "0-1"
    assert (cpuset / "cpuset.cpus").read_text() == "3"
    assert (memory / "memory.limit_in_bytes").read_text() == "512"
    assert (memory / "memory.memsw.limit_in_bytes").read_text() == "512"


def test_v2_figures_are_read(tmp_path: Path) -> None:
    write(
        v2_group(tmp_path),
        {"memory.peak": "4096\n", "memory.events": "low 0\noom 2\noom_kill 1\n", "cgroup.kill": ""},
    )
    group = Cgroup({}, tmp_path)
    assert group.cpu_ns() == (20_000, 10_000)
    assert group.memory_peak_bytes() == 4096
    assert group.oom_kills() == 1
    assert group.throttled_ns() == 0  # since its start
    (tmp_path / "cpu.stat").write_text("user_usec 1\nsystem_usec 1\nthrottled_usec 12\n")
    assert group.throttled_ns() == 7000
    group.kill()
    assert (tmp_path / "cgroup.kill").read_text() == "1"


def test_v1_figures_are_read(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "cpuacct/cpuacct.usage": "1000\n",
            "cpuacct/cpuacct.stat": "user 3\nsystem 1\n",
            "memory/memory.max_usage_in_bytes": "4096\n",
            "memory/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n",
            "cpu/cpu.stat": "nr_periods 1\nthrottled_time 5\n",
        },
    )
    group = Cgroup({name: tmp_path / name for name in ("cpuacct", "memory")}, None, tmp_path / "cpu")
    assert group.cpu_ns() == (750, 250)
    assert group.memory_peak_bytes() == 4096
    assert group.oom_kills() == 1
    (tmp_path / "cpu/cpu.stat").write_text("throttled_time 8\n")
    assert group.throttled_ns() == 3


def test_cpu_time_is_limited_by_a_quota_where_its_controller_is(tmp_path: Path) -> None:
    cpu = tmp_path / "cpu"
    cpu.mkdir()
    cgroup_v1.configure({"cpu": cpu}, (), None, cpus=1.5)
    assert {path.name: path.read_text() for path in cpu.iterdir()} == {
        "cpu.cfs_period_us": "100000",
        "cpu.cfs_quota_us": "150000",
    }
    cgroup_v2.configure(tmp_path, frozenset({"cpu"}), (), None, cpus=0.25)
    assert (tmp_path / "cpu.max").read_text() == "25000 100000"
    (tmp_path / "none").mkdir()
    cgroup_v2.configure(tmp_path / "none", frozenset({"memory"}), (), None, cpus=1)
    assert not list((tmp_path / "none").iterdir())


def test_a_quota_asks_for_its_controller_beside_the_others(tmp_path: Path) -> None:
    own = v2_group(tmp_path, controllers="cpu memory", given="cpu memory")
    assert cgroup_v2.choose_parent(own, own) == cgroup_v2.Parent(own, frozenset({"memory"}))
    wanted = [*cgroup_v2.CONTROLLERS, "cpu"]
    assert cgroup_v2.choose_parent(own, own, wanted) == cgroup_v2.Parent(own, frozenset({"cpu", "memory"}))


def test_processes_are_limited_where_their_controller_is(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    pids.mkdir()
    cgroup_v1.configure({"pids": pids}, (), None, 100)
    cgroup_v2.configure(tmp_path, frozenset({"pids"}), (), None, 100)
    assert [(folder / "pids.max").read_text() for folder in (pids, tmp_path)] == ["100", "100"]
    cgroup_v2.configure(tmp_path / "none", frozenset({"memory"}), (), None, 100)  # nothing to write to, and no error


def test_refused_processes_are_counted_and_nobody_starts_one_while_all_are_killed(tmp_path: Path) -> None:
    write(
        v2_group(tmp_path),
        {"pids.max": "100\n", "pids.events": "max 3\n", "cgroup.kill": ""},
    )
    group = Cgroup({}, tmp_path)
    assert group.refused_forks() == 3
    group.kill()
    assert (tmp_path / "pids.max").read_text() == "0"
    (tmp_path / "pids.events").unlink()
    assert group.refused_forks() == 3
    assert Cgroup({"memory": tmp_path / "none"}, None).refused_forks() is None


def test_a_limit_that_was_changed_is_found_and_a_controller_that_is_gone_is_none(tmp_path: Path) -> None:
    write(tmp_path, {"memory.max": "512\n", "pids.max": "100\n"})
    group = Cgroup({}, tmp_path)
    group.hold()
    assert group.changed_limit() is None
    (tmp_path / "pids.max").unlink()
    assert group.changed_limit() is None
    (tmp_path / "memory.max").write_text("max\n")
    assert group.changed_limit() == tmp_path / "memory.max"


def test_members_of_groups_that_were_made_below_are_inside(tmp_path: Path) -> None:
    write(tmp_path, {"v2/cgroup.threads": "7\n8\n", "v2/below/cgroup.threads": "9\n", "memory/tasks": "7\n9\n"})
    group = Cgroup({"memory": tmp_path / "memory", "cpuset": tmp_path / "gone"}, tmp_path / "v2")
    assert group.threads() == {tmp_path / "memory": {7, 9}, tmp_path / "v2": {7, 8, 9}}


def test_throttling_by_a_group_above_counts(tmp_path: Path) -> None:
    write(tmp_path, {"cpu.stat": "throttled_usec 1\n", "own/cpu.stat": "throttled_usec 0\n"})
    group = Cgroup({}, tmp_path / "own")
    (tmp_path / "cpu.stat").write_text("throttled_usec 4\n")
    assert group.throttled_ns() == 3000


def test_figures_stay_readable_after_the_group_is_removed(tmp_path: Path) -> None:
    folder = write(v2_group(tmp_path / "g"), {"memory.peak": "4096\n", "memory.events": "oom_kill 1\n"})
    group = Cgroup({}, folder)
    assert group.remove() == []
    assert not folder.exists()
    assert group.pids() is None
    assert (group.cpu_ns(), group.memory_peak_bytes(), group.oom_kills()) == ((20_000, 10_000), 4096, 1)


def test_a_group_without_any_files_knows_nothing(tmp_path: Path) -> None:
    for group in (Cgroup({}, tmp_path), Cgroup({"memory": tmp_path, "cpuacct": tmp_path}, None)):
        assert (group.cpu_ns(), group.memory_peak_bytes(), group.oom_kills(), group.throttled_ns()) == (None,) * 4


def test_a_folder_that_stays_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(path: Path) -> None:
        raise OSError

    monkeypatch.setattr(Path, "rmdir", busy)
    monkeypatch.setattr(cgroup, "_REMOVE_S", 0.0)
    assert Cgroup({}, tmp_path).remove() == [f"the cgroup {tmp_path} could not be removed; the next run tries again"]


# the way, proven by a process


@pytest.fixture
def obliging(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that fills new groups with files."""
    make = Path.mkdir

    def mkdir(self: Path, *arguments: object, **options: object) -> None:
        make(self, *arguments, **options)  # type: ignore[arg-type]
        (self / "cgroup.procs").touch()

    monkeypatch.setattr(Path, "mkdir", mkdir)


def test_v2_is_used_where_it_can_be_written(tmp_path: Path, obliging: None) -> None:
    mount = v2_group(tmp_path / "cg", controllers="memory cpuset", given="memory cpuset")
    found = find_cgroups("t", None, proc(tmp_path, "0::/\n", ("/", mount, "cgroup2", "rw")))
    assert (found.kind, found.reason) == ("v2", "")
    made = found.make("webdyno-t-1-contender", (1,), 512)
    assert made is not None
    assert made.folders == [mount / "webdyno-t-1-contender"]
    assert (mount / "webdyno-t-1-contender/memory.max").read_text() == "512"
    assert not (mount / "webdyno-t-trial").exists()


def test_webdyno_steps_aside_when_only_itself_is_in_the_way(
    tmp_path: Path, obliging: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    mount = v2_group(tmp_path / "cg", controllers="memory", procs=f"{os.getpid()}\n{os.getppid()}\n")
    tries: list[Path] = []

    def enable(folder: Path, wanted: Sequence[str]) -> frozenset[str]:
        tries.append(folder)
        return frozenset() if len(tries) == 1 else frozenset({"memory"})  # EBUSY until the group is empty

    monkeypatch.setattr(cgroup_v2, "enable", enable)
    found = find_cgroups("t", None, proc(tmp_path, "0::/\n", ("/", mount, "cgroup2", "rw")))
    assert found.kind == "v2"
    assert (mount / "aside-for-webdyno/cgroup.procs").read_text() == str(os.getppid())


def test_nobody_elses_processes_are_moved(tmp_path: Path, obliging: None, monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen(["/bin/sleep", "60"]) as stranger:
        mount = v2_group(tmp_path / "cg", controllers="memory", procs=f"{os.getpid()}\n{stranger.pid}\n")
        monkeypatch.setattr(cgroup_v2, "enable", lambda folder, wanted: frozenset())
        found = find_cgroups("t", None, proc(tmp_path, "0::/\n", ("/", mount, "cgroup2", "rw")))
        stranger.kill()
    assert found.kind == "none"
    assert found.reason.startswith(
        f"there are other processes in {mount}, so it cannot delegate the memory controller;"
    )
    assert found.make("webdyno-t-1", (), None) is not None  # still counts CPU and kills


def test_an_unprivileged_user_is_told_how_to_get_a_memory_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mount = v2_group(tmp_path / "cg", controllers="memory")

    def refuse(self: Path, *arguments: object, **options: object) -> None:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(os, "access", lambda path, mode: False)
    monkeypatch.setattr(Path, "mkdir", refuse)
    monkeypatch.setattr(cgroup_way, "places", lambda proc: {"": Place(mount, mount)})
    found = find_cgroups("t")
    assert found.kind == "none"
    assert found.reason == (
        f"{mount} cannot be written by this user; start webdyno with: "
        "systemd-run --user --scope -p Delegate=yes webdyno ..., or as root"
    )
    assert found.make("webdyno-t-1", (0,), 512) is None


@pytest.mark.parametrize("step", ["mkdir", "join"])
def test_the_reason_does_not_differ_from_run_to_run(
    tmp_path: Path, obliging: None, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    mount = v2_group(tmp_path / "cg", controllers="memory", given="memory")
    text, make = Path.write_text, Path.mkdir

    def refuse_mkdir(self: Path, *arguments: object, **options: object) -> None:
        if step == "mkdir" and "trial" in self.name:
            raise PermissionError(13, "Permission denied", str(self))
        make(self, *arguments, **options)  # type: ignore[arg-type]

    def refuse_join(self: Path, data: str) -> int:
        if step == "join" and "trial" in str(self) and self.name == "cgroup.procs":
            raise PermissionError(13, "Permission denied", str(self))
        return text(self, data)

    monkeypatch.setattr(Path, "mkdir", refuse_mkdir)
    monkeypatch.setattr(Path, "write_text", refuse_join)
    monkeypatch.setattr(cgroup_way, "places", lambda proc: {"": Place(mount, mount)})
    reasons = {find_cgroups(token).reason for token in ("one", "two")}
    assert len(reasons) == 1
    assert f"in {mount}: permission denied; start webdyno with: systemd-run" in reasons.pop()


def test_a_machine_without_cgroups_says_so(tmp_path: Path) -> None:
    found = find_cgroups("t", None, tmp_path)
    assert (found.kind, found.reason) == ("none", "no cgroup hierarchy is mounted here")


def test_v1_beside_a_v2_without_controllers_uses_both(tmp_path: Path, obliging: None) -> None:
    memory = v2_group(tmp_path / "memory")
    cpuset = write(v2_group(tmp_path / "cpuset"), {"cpuset.mems": "0", "cpuset.cpus": "0-1"})
    cpuacct, unified = v2_group(tmp_path / "cpuacct"), v2_group(tmp_path / "unified")
    text = "4:memory:/\n3:cpuset:/\n2:cpuacct:/\n0::/\n"
    mounts = [("/", path, "cgroup", f"rw,{path.name}") for path in (memory, cpuset, cpuacct)]
    found = find_cgroups("t", None, proc(tmp_path, text, *mounts, ("/", unified, "cgroup2", "rw")))
    made = found.make("webdyno-t-1", (1,), 512)
    assert found.kind == "v1"
    assert made is not None
    assert {path.parent for path in made.folders} == {memory, cpuset, unified}


def test_v1_alone_counts_cpu_by_cpuacct(tmp_path: Path, obliging: None) -> None:
    memory, cpuacct = v2_group(tmp_path / "memory"), v2_group(tmp_path / "cpuacct")
    mounts = [("/", path, "cgroup", f"rw,{path.name}") for path in (memory, cpuacct)]
    found = find_cgroups("t", None, proc(tmp_path, "4:memory:/\n2:cpuacct:/\n", *mounts))
    made = found.make("webdyno-t-1", (1,), None)
    assert found.kind == "v1"
    assert made is not None
    assert {path.parent for path in made.folders} == {memory, cpuacct}


@pytest.mark.parametrize("refused", ["pids", "cpuset"])
def test_a_controller_of_v1_that_cannot_be_had_is_done_without(
    tmp_path: Path, obliging: None, monkeypatch: pytest.MonkeyPatch, refused: str
) -> None:
    mounted = {name: v2_group(tmp_path / name) for name in ("memory", "pids", "cpuset")}
    write(tmp_path, {"cpuset/cpuset.mems": "0", "cpuset/cpuset.cpus": "0-1"})
    make = Path.mkdir

    def mkdir(self: Path, *arguments: object, **options: object) -> None:
        if self.parent == mounted[refused]:
            raise PermissionError(13, "Permission denied", str(self))
        make(self, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Path, "mkdir", mkdir)
    mounts = [("/", path, "cgroup", f"rw,{name}") for name, path in mounted.items()]
    found = find_cgroups("t", None, proc(tmp_path, "4:memory:/\n3:cpuset:/\n8:pids:/\n", *mounts))
    made = found.make("webdyno-t-1", (1,), 512, 100)
    assert (found.kind, found.reason) == ("v1", "")
    assert made is not None
    assert {path.parent for path in made.folders} == {path for name, path in mounted.items() if name != refused}


def test_a_group_that_cannot_be_made_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(16, "Device or resource busy", "memory.max")

    monkeypatch.setattr(cgroup_v2, "configure", refuse)
    with pytest.raises(OSError, match="busy"):
        Cgroups("v2", "", Way(v2=tmp_path)).make("webdyno-t-1", (), 512)
    assert list(tmp_path.iterdir()) == []
