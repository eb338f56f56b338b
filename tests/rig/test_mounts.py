"""Where we stand in which hierarchy, in every disagreement of /proc/self/cgroup and mountinfo."""

from __future__ import annotations

from pathlib import Path

from tests.rig.layouts import proc
from webdyno.rig.mounts import Place, places


def folder(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path


def test_v2_alone(tmp_path: Path) -> None:
    mount = tmp_path / "cg"
    own = folder(mount / "user.slice/user-1000.slice/session-2.scope")
    found = places(proc(tmp_path, "0::/user.slice/user-1000.slice/session-2.scope\n", ("/", mount, "cgroup2", "rw")))
    assert found == {"": Place(mount, own)}


def test_hybrid_with_controllers_mounted_one_by_one_and_memory_nested(tmp_path: Path) -> None:
    memory, cpuset, unified = (
        folder(tmp_path / "memory/api/x").parent.parent,
        folder(tmp_path / "cpuset"),
        folder(tmp_path / "u"),
    )
    found = places(
        proc(
            tmp_path,
            "9:name=systemd:/\n4:memory:/api/x\n3:cpuset:/\n0::/\n",
            ("/", memory, "cgroup", "rw,memory"),
            ("/", cpuset, "cgroup", "rw,cpuset"),
            ("/", unified, "cgroup2", "rw"),
        )
    )
    assert found["memory"] == Place(memory, memory / "api/x")
    assert found["cpuset"] == Place(cpuset, cpuset)
    assert found[""] == Place(unified, unified)


def test_v1_controllers_mounted_together_are_found_by_each_name(tmp_path: Path) -> None:
    mount = folder(tmp_path / "cpu,cpuacct")
    found = places(proc(tmp_path, "2:cpu,cpuacct:/\n", ("/", mount, "cgroup", "rw,cpu,cpuacct")))
    assert found == {"cpu": Place(mount, mount), "cpuacct": Place(mount, mount)}


def test_a_container_with_only_its_part_mounted(tmp_path: Path) -> None:
    mount = folder(tmp_path / "memory")
    found = places(proc(tmp_path, "4:memory:/docker/abc\n", ("/docker/abc", mount, "cgroup", "ro,memory")))
    assert found == {"memory": Place(mount, mount)}


def test_a_container_below_its_own_cgroup_namespace(tmp_path: Path) -> None:
    mount = folder(tmp_path / "cg")
    assert places(proc(tmp_path, "0::/\n", ("/", mount, "cgroup2", "rw"))) == {"": Place(mount, mount)}
    assert places(proc(tmp_path, "0::/../other\n", ("/", mount, "cgroup2", "rw"))) == {"": Place(mount, mount)}


def test_blanks_in_a_mount_point_are_read(tmp_path: Path) -> None:
    mount = folder(tmp_path / "with blank")
    assert places(proc(tmp_path, "0::/\n", ("/", mount, "cgroup2", "rw"))) == {"": Place(mount, mount)}


def test_a_machine_without_proc_has_no_places(tmp_path: Path) -> None:
    assert places(tmp_path) == {}


def test_this_machine_has_folders_that_exist() -> None:
    assert all(place.own.is_dir() for place in places().values())
