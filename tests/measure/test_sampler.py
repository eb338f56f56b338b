"""Readings of real process groups."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable

import pytest

from tests.rig.strapping import python, wait_for
from webdyno.measure import proc
from webdyno.measure.proc import GroupReader
from webdyno.measure.sampler import Sampler
from webdyno.model.sample import Reading
from webdyno.rig.group import Group
from webdyno.rig.here import Here
from webdyno.rig.strap import Strapped

pytestmark = pytest.mark.live

PARENT = """
import os, socket, sys, threading, time
sockets = [socket.socket() for _ in range(3)]
held = bytearray(32 * 2**20)
worker = os.fork()
if worker == 0:
    while time.process_time() < 0.15: pass
    print("worked", flush=True)
    sys.stdin.read()
    os._exit(0)
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
os.waitpid(worker, 0)
print("buried", flush=True)
time.sleep(60)
"""


RAISED = "import resource as r; hard = r.getrlimit(r.RLIMIT_NOFILE)[1]; r.setrlimit(r.RLIMIT_NOFILE, (hard, hard)); "


def start(host: Here, code: str) -> Group:
    return host.start(python(code))


def line(group: Group) -> str:
    assert group.stdout is not None
    return group.stdout.readline().decode().strip()


def of(role: str, sampler: Sampler) -> list[Reading]:
    return [reading for reading in sampler.readings if reading.role == role]


def test_a_whole_tree_is_summed(here: Here) -> None:
    group = start(here, PARENT.replace("sys.stdin.read()", "time.sleep(60)"))
    assert line(group) == "worked"
    wait_for(lambda: (GroupReader("contender", group).read().threads or 0) >= 3)
    reading = GroupReader("contender", group).read(pss=True)
    assert (reading.processes, reading.threads, reading.sockets) == (2, 3, 3)
    assert reading.cpu_user_ns is not None
    assert reading.cpu_system_ns is not None
    assert reading.cpu_user_ns + reading.cpu_system_ns >= 140_000_000
    assert reading.cpu_by_process is not None
    assert len(reading.cpu_by_process) == 2
    assert max(reading.cpu_by_process.values()) >= 140_000_000
    assert reading.pss_bytes is not None
    assert reading.swap_bytes is not None
    assert reading.rss_bytes is not None
    assert 32 * 2**20 < reading.pss_bytes < reading.rss_bytes  # the held bytes are shared, and counted once
    assert (reading.voluntary_switches or 0) > 0
    assert reading.throttled_ns is None


def test_cpu_of_a_process_that_ended_is_kept(here: Here) -> None:
    group = start(here, PARENT)
    reader = GroupReader("contender", group)
    assert line(group) == "worked"
    before = reader.read()
    assert line(group) == "buried"
    wait_for(lambda: len(group.pids()) == 1)
    after = reader.read()
    assert after.processes == 1
    assert before.cpu_user_ns is not None
    assert after.cpu_user_ns is not None
    assert after.cpu_user_ns >= before.cpu_user_ns
    assert (after.voluntary_switches or 0) >= (before.voluntary_switches or 0)


def test_a_cgroup_counts_those_that_came_and_went_between_two_looks(strapped: Strapped) -> None:
    if strapped.rig.cgroup == "none":
        pytest.skip(strapped.rig.cgroup_reason)
    group = start(strapped, PARENT)
    reader = GroupReader("contender", group)
    line(group), line(group)
    reading = reader.read()
    assert reading.cpu_user_ns is not None
    assert reading.cpu_system_ns is not None
    assert reading.cpu_user_ns + reading.cpu_system_ns >= 150_000_000


def test_processes_that_vanish_while_being_read_are_normal(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    group = start(here, "pass")
    group.wait(10)
    monkeypatch.setattr(group, "pids", lambda: [group.pid, 2**22 + 1])
    reading = GroupReader("driver", group).read(pss=True)
    assert (reading.processes, reading.threads, reading.rss_bytes, reading.pss_bytes) == (0, 0, 0, None)
    assert reading.swap_bytes is None


def test_dear_memory_reads_are_spaced_out(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webdyno.measure.proc._REST", 10**9)
    group = start(here, "import time; time.sleep(60)")
    reader = GroupReader("contender", group)
    wait_for(lambda: reader.read(pss=True).pss_bytes)
    assert reader.read().pss_bytes is None
    assert reader.read(pss=True).pss_bytes is not None


def test_sockets_are_counted_as_seldom_and_not_at_an_edge_of_the_load(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proc, "_REST", 10**9)
    group = start(here, PARENT)
    assert line(group) == "worked"
    reader = GroupReader("contender", group)
    assert reader.read().sockets == 3
    assert (reader.read().sockets, reader.read(pss=True).sockets) == (None, None)


def test_sockets_are_not_counted_where_there_may_be_thousands(here: Here) -> None:
    opening = (
        "import socket, time; held = [socket.socket() for _ in range({})]; print('up', flush=True); time.sleep(60)"
    )
    few, many = start(here, opening.format(200)), start(here, RAISED + opening.format(proc.MOST_DESCRIPTORS + 1))
    assert (line(few), line(many)) == ("up", "up")
    assert GroupReader("contender", few).read().sockets == 200
    assert GroupReader("contender", many).read().sockets is None


def test_looks_that_cost_are_made_less_often(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    group = start(here, "import time; time.sleep(60)")
    pids: Callable[[], list[int]] = group.pids
    looked: list[float] = []

    def burn() -> list[int]:
        begun = time.thread_time()
        while time.thread_time() < begun + 0.002:
            pass
        looked.append(time.monotonic())
        return pids()

    monkeypatch.setattr(group, "pids", burn)
    with Sampler({"contender": group}, period_s=0.001):
        wait_for(lambda: len(looked) >= 4)  # one on entering, the others by the thread
    first, second, third = looked[1:4]
    assert min(second - first, third - second) >= 100 * 0.002


def test_it_looks_at_the_begin_at_the_end_and_in_between(here: Here) -> None:
    group = start(here, "import time; time.sleep(60)")
    with Sampler({"contender": group}, period_s=0.02) as sampler:
        assert len(of("contender", sampler)) == len(of("host", sampler)) == 1
        wait_for(lambda: len(of("contender", sampler)) >= 4)
        thread = sampler._thread
    taken = len(sampler.readings)
    assert not thread.is_alive()
    assert len(of("contender", sampler)) == len(of("host", sampler)) == taken / 2
    stamps = [reading.at_ns for reading in of("contender", sampler)]
    assert stamps == sorted(stamps)


def test_a_group_may_join_later(here: Here) -> None:
    contender, driver = (start(here, "import time; time.sleep(60)") for _ in range(2))
    with Sampler({"contender": contender}) as sampler:
        sampler.add("driver", driver)
        sampler.look()
    assert [reading.role for reading in sampler.readings] == [
        "contender", "host", "contender", "driver", "host", "contender", "driver", "host",
    ]  # fmt: skip


def test_looks_from_several_threads_do_not_mix(here: Here) -> None:
    group = start(here, "import time; time.sleep(60)")
    with Sampler({"contender": group}, period_s=0.005) as sampler:
        threads = [threading.Thread(target=lambda: [sampler.look() for _ in range(10)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    roles = [reading.role for reading in sampler.readings]
    assert roles == ["contender", "host"] * (len(roles) // 2)
    assert len(roles) >= 80


def test_the_thread_ends_when_the_block_is_left_by_an_error(here: Here) -> None:
    with pytest.raises(RuntimeError), Sampler({}) as sampler:
        raise RuntimeError
    assert not sampler._thread.is_alive()


def test_a_failure_in_the_thread_is_raised_when_the_block_is_left(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    group = start(here, "import time; time.sleep(60)")
    failed = threading.Event()
    pids: Callable[[], list[int]] = group.pids

    def fail() -> list[int]:
        if threading.current_thread() is threading.main_thread():
            return pids()
        failed.set()
        raise ZeroDivisionError

    monkeypatch.setattr(group, "pids", fail)
    with pytest.raises(ZeroDivisionError), Sampler({"contender": group}, period_s=0.001):
        failed.wait(10)


@pytest.mark.measures
def test_it_costs_less_than_1_percent_of_a_core_for_10_processes(strapped: Strapped) -> None:
    code = "import os, time\nfor _ in range(9):\n    if os.fork() == 0: break\nprint('up', flush=True)\ntime.sleep(60)"
    group = start(strapped, code)
    for _ in range(10):
        line(group)
    reader = GroupReader("contender", group)
    reader.read(pss=True)
    looks = 20
    begun = time.thread_time_ns()
    for _ in range(looks):
        reader.read()
    cost = (time.thread_time_ns() - begun) / looks
    assert sys.platform == "linux"
    assert cost < 10_000_000  # of the second that lies between two looks


def test_a_reading_has_the_time_of_its_counters_and_not_of_the_dear_look_at_memory(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = start(here, "import time; print('up', flush=True); time.sleep(60)")
    looked: list[int] = []

    def look(pid: int) -> None:
        looked.append(time.monotonic_ns())

    monkeypatch.setattr(proc, "_mapped_by", look)
    assert line(group) == "up"
    reading = GroupReader("contender", group).read(pss=True)
    assert reading.at_ns <= looked[0]
