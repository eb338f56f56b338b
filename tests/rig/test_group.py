"""The whole tree: found, ended, and accounted for, however it forked."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.rig.strapping import gone, python, wait_for
from webdyno.rig.group import Group
from webdyno.rig.here import Here
from webdyno.rig.strap import Strapped

pytestmark = pytest.mark.live

SLEEP = "import time; print('up', flush=True); time.sleep(60)"
DEAF = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"
DAEMON = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        print(os.getpid(), flush=True)
        time.sleep(60)
    os._exit(0)
os.wait()
print("up", flush=True)
"""
HIDING_DAEMON = DAEMON.replace(
    "time.sleep(60)", "os.execve('/bin/sleep', ['sleep', '60'], {})  # and its environment is gone too"
)
WORKERS = """
import os, signal, time
for _ in range(3):
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print(os.getpid(), flush=True)
        time.sleep(60)
time.sleep(60)
"""


@pytest.fixture(params=["bare", "strapped"])
def host(request: pytest.FixtureRequest) -> Here:
    """Both with and without cgroups."""
    found = request.getfixturevalue("here" if request.param == "bare" else "strapped")
    assert isinstance(found, Here)
    return found


def lines(group: Group, count: int) -> list[str]:
    assert group.stdout is not None
    return sorted(group.stdout.readline().decode().strip() for _ in range(count))


def test_a_process_that_obeys_is_ended_without_a_note(host: Here) -> None:
    group = host.start(python(SLEEP))
    lines(group, 1)
    assert group.pids() == [group.pid]
    assert group.poll() is None
    assert group.end(5.0) == []
    assert group.poll() == -15
    assert group.last_words() == "SIGTERM"
    assert group.pids() == []
    assert group.end(5.0) == []


def test_a_process_that_ignores_sigterm_is_killed_after_its_grace(host: Here) -> None:
    group = host.start(python(DEAF))
    lines(group, 1)
    begun = time.monotonic()
    assert group.end(0.2) == ["did not end within 0.2 s of SIGTERM and was killed"]
    assert 0.2 <= time.monotonic() - begun < 5
    assert gone(group.pid)


def test_workers_that_outlive_their_master_are_killed_and_told(host: Here) -> None:
    group = host.start(python(WORKERS))
    workers = [int(line) for line in lines(group, 3)]
    assert sorted(group.pids()) == sorted([group.pid, *workers])
    (note,) = group.end(0.3)
    assert note.startswith("3 processes (python")
    assert note.endswith(") outlived the first one and had to be killed")
    assert all(map(gone, workers))


def test_a_double_forking_daemon_is_found_and_ended(host: Here) -> None:
    group = host.start(python(DAEMON))
    daemon, _ = (line for line in lines(group, 2))
    wait_for(lambda: group.poll() == 0)
    assert group.pids() == [int(daemon)]
    assert group.end(1.0) == []  # it obeyed SIGTERM, which its session alone would never have got
    assert gone(int(daemon))


def test_a_daemon_that_drops_its_environment_is_still_found(strapped: Strapped) -> None:
    if strapped.rig.cgroup == "none":
        pytest.skip(f"only a cgroup can find it: {strapped.rig.cgroup_reason}")
    group = strapped.start(python(HIDING_DAEMON))
    daemon, _ = (line for line in lines(group, 2))
    wait_for(lambda: group.poll() == 0)
    assert group.pids() == [int(daemon)]
    group.end(1.0)
    assert gone(int(daemon))


def test_orphans_leave_no_zombies_behind(strapped: Strapped) -> None:
    group = strapped.start(python(WORKERS))
    workers = [int(line) for line in lines(group, 3)]
    group.end(0.1)
    wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in [group.pid, *workers]))


def test_nothing_is_left_when_an_interrupt_passes_through_the_block(host: Here) -> None:
    with pytest.raises(KeyboardInterrupt), host.start(python(WORKERS)) as group:
        workers = [int(line) for line in lines(group, 3)]
        raise KeyboardInterrupt
    assert all(map(gone, [group.pid, *workers]))


def test_an_interrupt_while_ending_still_ends_everything(host: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    group = host.start(python(DEAF))
    lines(group, 1)

    def interrupt(grace_s: float) -> list[str]:
        raise KeyboardInterrupt

    monkeypatch.setattr(group, "_ask", interrupt)
    with pytest.raises(KeyboardInterrupt):
        group.end(5.0)
    assert gone(group.pid)


def test_terminate_only_asks_and_its_output_can_be_read_to_the_end(host: Here) -> None:
    code = (
        "import signal, sys, time\n"
        "signal.signal(15, lambda *_: sys.exit('last word'))\n"
        "print('up', flush=True)\n"
        "time.sleep(60)"
    )
    group = host.start(python(code))
    lines(group, 1)
    group.terminate()
    assert lines(group, 1) == ["last word"]
    assert group.wait(5) == 1
    assert group.last_words() == "exit status 1"
    group.end(0)


def test_waiting_is_over_after_its_time(here: Here) -> None:
    with here.start(python(SLEEP)) as group:
        assert group.wait(0.01) is None


def test_cpu_of_workers_that_ended_is_counted(strapped: Strapped) -> None:
    if strapped.rig.cgroup == "none":
        pytest.skip(strapped.rig.cgroup_reason)
    code = "import os, time\nif os.fork() == 0:\n    while time.process_time() < 0.1: pass\n    os._exit(0)\nos.wait()"
    group = strapped.start(python(code))
    group.wait(20)
    group.end(0)
    cpu = group.cpu_ns()
    assert cpu is not None
    assert 100_000_000 <= sum(cpu) < 1_000_000_000


def test_a_bare_host_knows_no_cgroup_figures(here: Here) -> None:
    with here.start(python(SLEEP)) as group:
        assert (group.cpu_ns(), group.memory_peak_bytes(), group.throttled_ns()) == (None, None, None)
        assert group.oom_killed() is False


def test_ending_all_ends_every_group_and_removes_the_folders(own_lock: Path) -> None:
    host = Here()
    groups = [host.start(python(SLEEP)) for _ in range(2)]
    folder = host.folder()
    (folder / "file").write_text("x")
    host.end_all()
    assert all(gone(group.pid) for group in groups)
    assert not folder.exists()


def test_files_and_folders_are_put_and_fetched(here: Here, tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app/app.py").write_text("x")
    here.put(tmp_path / "app", tmp_path / "there/app")
    here.fetch(tmp_path / "there/app/app.py", tmp_path / "back/app.py")
    here.put(tmp_path / "app", tmp_path / "app")
    assert (tmp_path / "back/app.py").read_text() == "x"
    assert [path.name for path in (tmp_path / "there/app").iterdir()] == ["app.py"]


def test_a_daemon_has_not_ended_with_its_first_process_and_one_that_failed_has(here: Here) -> None:
    group = here.start(python(DAEMON))
    lines(group, 2)
    assert group.wait(10) == 0
    assert not group.has_ended()
    group.end(5.0)
    assert group.has_ended()
    failed = here.start(python(DAEMON + "os._exit(3)"))
    lines(failed, 2)
    assert failed.wait(10) == 3
    assert failed.has_ended()
    failed.end(5.0)
