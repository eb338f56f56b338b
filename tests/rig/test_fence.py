"""Commands that try to get away: out of their cgroup, from their cores, out of their tree."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rig.strapping import gone, python, wait_for
from webdyno.rig import here
from webdyno.rig.group import Group
from webdyno.rig.mounts import places
from webdyno.rig.process import set_dumpable
from webdyno.rig.strap import Strapped, strap

pytestmark = pytest.mark.live

SLEEP = "import time; print('up', flush=True); time.sleep(60)"
EVERYWHERE = "import os; os.sched_setaffinity(0, range(os.cpu_count()))\n" + SLEEP
A_THREAD = """
import os, threading, time
def stray():
    {stray}
    print("up", flush=True)
    time.sleep(60)
threading.Thread(target=stray).start()
"""
STOWAWAY = """
import ctypes, os, signal, sys, time
ctypes.CDLL(None).prctl(36, 0, 0, 0, 0)  # it adopts no orphans any more
reading, writing = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        {stray}
        os.write(writing, str(os.getpid()).encode())
        os.execve("/bin/sh", ["kworker", "-c", "{habit}exec sleep 60"], {{}})
    os._exit(0)
os.wait()
print(os.read(reading, 99).decode(), flush=True)
{then}
"""


@pytest.fixture
def owned(own_lock: Path, tmp_path: Path) -> Iterator[Strapped]:
    """A rig in a process that is webdyno and nothing else."""
    before = set_dumpable(False)
    try:
        with strap(None, tmp_path / "cache") as there:
            yield there
    finally:
        set_dumpable(before)


@pytest.fixture
def limited(owned: Strapped) -> Strapped:
    if owned.rig.cgroup == "none":
        pytest.skip(f"no cgroup can be written here: {owned.rig.cgroup_reason}")
    return owned


def line(group: Group) -> str:
    assert group.stdout is not None
    return group.stdout.readline().decode().strip()


def tops() -> list[Path]:
    """The top of each hierarchy of cgroups, where a process that left stands."""
    return sorted({place.mount for place in places().values() if os.access(place.mount / "cgroup.procs", os.W_OK)})


def leaving(name: str = "cgroup.procs") -> str:
    return f"[open(f'{{top}}/{name}', 'w').write('0') for top in {[str(top) for top in tops()]}]"


def test_who_stays_is_inside(owned: Strapped) -> None:
    with owned.start(python("import os\nos.fork()\n" + SLEEP)) as group:
        line(group)
        assert group.outside() is None
        assert group.outside(whole=True) is None


def test_who_leaves_its_cgroup_is_found_and_where(limited: Strapped) -> None:
    if not tops():
        pytest.skip("only root may leave here")
    with limited.start(python(f"{leaving()}\n{SLEEP}")) as group:
        line(group)
        found = group.outside()
        assert found is not None
        assert found.startswith(f"process {group.pid} (python")
        assert "left its cgroup and was found in /sys/fs/cgroup" in found
        assert group.pids() == [], "its cgroup alone does not know it any more"
        group.end(0.0)
        assert gone(group.pid)


@pytest.mark.parametrize("top", [place.mount for place in places().values()], ids=str)
def test_leaving_one_hierarchy_is_enough(limited: Strapped, top: Path) -> None:
    with limited.start(python(f"open('{top}/cgroup.procs', 'w').write('0')\n{SLEEP}")) as group:
        if line(group) != "up":
            pytest.skip(f"{top} may not be written")
        ours = group._cgroup.folders if group._cgroup else []
        assert (group.outside() is not None) == any(top in folder.parents for folder in ours)


def test_a_thread_that_leaves_alone_is_found(limited: Strapped) -> None:
    if not Path("/sys/fs/cgroup/memory/tasks").exists():
        pytest.skip("only groups of v1 have single threads in them")
    stray = "open('/sys/fs/cgroup/memory/tasks', 'w').write('0')"
    with limited.start(python(A_THREAD.format(stray=stray))) as group:
        line(group)
        found = group.outside()
        assert found is not None
        assert found.startswith("thread ")
        assert f"of process {group.pid} (python" in found


@pytest.mark.parametrize("code", [EVERYWHERE, A_THREAD.format(stray="os.sched_setaffinity(0, range(os.cpu_count()))")])
def test_who_runs_on_other_cores_is_found_where_no_cgroup_holds_it(
    owned: Strapped, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    if set(owned.rig.contender_cores) == os.sched_getaffinity(0):
        pytest.skip("there is one core for all")
    monkeypatch.setattr(owned, "_cgroups", None)
    with owned.start(python(code)) as group:
        line(group)
        found = group.outside()
        assert found is not None
        assert (
            f"may run on cores 0, 1, and was given core{'' if len(owned.rig.contender_cores) == 1 else 's'} " in found
        )


def test_who_pins_itself_within_its_cores_is_inside(owned: Strapped) -> None:
    pin = f"import os; os.sched_setaffinity(0, [{owned.rig.contender_cores[0]}])\n"
    with owned.start(python(pin + SLEEP)) as group:
        line(group)
        assert group.outside(whole=True) is None


@pytest.mark.parametrize(
    ("limit", "text"), [("memory.limit_in_bytes", "1073741824"), ("memory.max", "max"), ("pids.max", "max")]
)
def test_who_changes_its_limits_is_found(limited: Strapped, limit: str, text: str) -> None:
    with limited.start(python(SLEEP)) as group:
        line(group)
        files = [folder / limit for folder in group._cgroup.folders if (folder / limit).exists()]  # type: ignore[union-attr]
        if not files:
            pytest.skip(f"there is no {limit} here")
        files[0].write_text(text)
        assert f"the limit of its cgroup in {files[0]} was changed" in (group.outside() or "")


def test_a_stowaway_of_a_command_that_lives_is_found_by_its_parents(owned: Strapped) -> None:
    code = STOWAWAY.replace("ctypes.CDLL(None).prctl(36, 0, 0, 0, 0)", "").format(stray=leaving(), habit="", then=SLEEP)
    with owned.start(python(code)) as group:
        stowaway = int(line(group))
        assert stowaway in group.members()
        assert owned.stowaways() == []
        assert tops() == [] or f"process {stowaway} (" in (group.outside() or "")
        group.end(0.0)
        assert gone(stowaway)


@pytest.mark.parametrize("habit", ["", "kill -STOP $$; "], ids=["runs", "is stopped"])
def test_a_stowaway_without_any_sign_is_killed_and_told(owned: Strapped, habit: str) -> None:
    if owned.rig.cgroup != "none" and not tops():
        pytest.skip("only root may leave here")
    group = owned.start(python(STOWAWAY.format(stray=leaving(), habit=habit, then="")))
    stowaway = int(line(group))
    wait_for(lambda: stowaway in owned.stowaways())
    (note,) = group.end(0.5)
    assert "1 process hid from webdyno, without session, mark and parent: " in note
    assert f"(pid {stowaway}), killed" in note
    assert gone(stowaway)


def test_a_load_that_ends_leaves_the_stowaway_to_be_looked_at(owned: Strapped) -> None:
    if owned.rig.cgroup != "none" and not tops():
        pytest.skip("only root may leave here")
    with owned.start(python(STOWAWAY.format(stray=leaving(), habit="", then=SLEEP))) as group:
        stowaway = int(line(group))
        load = owned.start(python("", role="driver"))
        assert load.wait(10) == 0
        assert load.end(0.0) == []
        wait_for(lambda: stowaway in owned.stowaways())
    assert gone(stowaway)


def test_a_mark_that_is_forged_hides_nobody(owned: Strapped) -> None:
    if owned.rig.cgroup != "none" and not tops():
        pytest.skip("only root may leave here")
    forging = STOWAWAY.replace("{{}}", f"{{{{'WEBDYNO_RIG': '{owned.token}.contender.99'}}}}")
    with owned.start(python(forging.format(stray=leaving(), habit="", then=""))) as group:
        stowaway = int(line(group))
        wait_for(lambda: stowaway in owned.stowaways())
        group.end(0.5)
        assert gone(stowaway)


def test_a_stowaway_in_a_pid_namespace_of_its_own_is_ended(owned: Strapped) -> None:
    unshare = "ctypes.CDLL(None).unshare(0x20000000) and os._exit(9)"
    code = STOWAWAY.replace("os.setsid()", f"os.setsid(); {unshare}").format(stray="pass", habit="", then=SLEEP)
    with owned.start(python(code)) as group:
        if line(group) != "1":  # what it is called in there
            pytest.skip("namespaces may not be made here")
        inside = [pid for pid in group.members() if pid != group.pid]
        group.end(0.0)
        assert len(inside) == 1
        assert all(map(gone, inside))


def test_in_a_program_that_is_not_webdynos_own_orphans_are_told_and_left_alone(strapped: Strapped) -> None:
    if strapped.rig.cgroup != "none" and not tops():
        pytest.skip("only root may leave here")
    group = strapped.start(python(STOWAWAY.format(stray=leaving(), habit="", then="")))
    stowaway = int(line(group))
    wait_for(lambda: stowaway in strapped.stowaways())
    (note,) = group.end(0.5)
    assert f"(pid {stowaway}), left alone" in note
    assert not gone(stowaway)
    os.kill(stowaway, 9)


def test_nobody_but_root_looks_into_webdyno_while_it_measures(own_lock: Path, tmp_path: Path) -> None:
    """A file that only its owner may read belongs to root then, whoever runs it; what is started can be looked at."""
    before = set_dumpable(True)
    try:
        with strap(None, tmp_path / "cache") as there:
            assert Path("/proc/self/environ").stat().st_uid == 0
            assert set_dumpable(False) is False
            with there.start(python(SLEEP)) as group:
                line(group)
                assert Path(f"/proc/{group.pid}/environ").stat().st_uid == os.getuid()
        assert set_dumpable(True) is True, "the program that it was a guest of is as it was"
    finally:
        set_dumpable(before)


BOMB = """
import os, time
for _ in range(3000):
    try:
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
    except OSError as error:
        print(error.errno, flush=True)
        break
else:
    print("all", flush=True)
time.sleep(60)
"""


def test_a_bomb_of_processes_is_stopped_at_their_number_and_ended(
    limited: Strapped, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(here, "MOST_PROCESSES", 100)
    with limited.start(python(BOMB)) as group:
        said = line(group)
        if group._cgroup is None or not group._cgroup.limits_processes:
            pytest.skip("no cgroup counts processes here")
        assert said == "11"  # EAGAIN
        assert group.refused_forks()
        assert len(group.pids()) == 100
        group.end(0.0)
        assert group.pids() == []
        assert group.refused_forks(), "it is still known"


def test_who_starts_few_processes_is_refused_none(limited: Strapped) -> None:
    with limited.start(python(SLEEP)) as group:
        line(group)
        assert not group.refused_forks()


FASTER = """
import os, signal, sys, time
signal.signal(15, signal.SIG_IGN)
print("up", flush=True)
for number in range(2000):
    if os.fork():
        os._exit(0)
    os.setsid()
time.sleep(60)
"""


def test_one_that_forks_faster_than_it_is_killed_is_ended(owned: Strapped) -> None:
    """Each process of it starts the next one in a new session, and ends: 2000 in a row at most."""
    group = owned.start(python(FASTER))
    line(group)
    group.end(0.0)
    with contextlib.suppress(FileNotFoundError):
        assert group.members() == set()
    assert owned.stowaways() == []
